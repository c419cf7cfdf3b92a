/* What a synchronous call costs beside its copies and its execution, as a function of who was idle for how long.
 *
 * Both sides go to sleep when they have nothing to do, and the deeper the longer they have had nothing:
 *
 *     dispatch_us                                      both awake, caches warm: calls back to back
 *   + dsp_wake_us   (1 - exp(-t / dsp_wake_tau_us))    t: for how long the DSP has been asleep when the call arrives
 *   + host_cold_us  (1 - exp(-t / host_cold_tau_us))   t: the host's own work before the call: caches, scheduler
 *   + host_sleep_us (1 - exp(-t / host_sleep_tau_us))  t: what the caller waited for the DSP beyond host_sleep_after_us: its core
 *                                                         entered a deeper idle state and has to leave it
 *
 * A DSP that has worked stays awake for linger_ratio times as long as it worked, at most linger_us.  docs/timing.md says which of
 * these are measured.  Microseconds everywhere; pure functions. */
#ifndef HX_OVERHEAD_H
#define HX_OVERHEAD_H

#include <stdint.h>

#include "hx_profile.h"

/* Why the caller's side or the DSP's has no past: it was idle for ever. */
#define HX_OVERHEAD_NEVER 1e18

/* For how long the DSP stays awake after `busy_us` of work. */
double hx_overhead_linger(const struct hx_profile *p, double busy_us);

/* Waking a DSP that has slept for `asleep_us`; 0: it is awake. */
double hx_overhead_dsp_wake(const struct hx_profile *p, double asleep_us);

/* A call after `work_us` of the host's own work. */
double hx_overhead_host_cold(const struct hx_profile *p, double work_us);

/* What a call that has executed for exec_us takes longer, because dispatch_us contains more execution than that.  Until it has
 * executed it is charged dispatch_us without dispatch_contains_us. */
double hx_overhead_contained(const struct hx_profile *p, double exec_us);

/* Waking a caller that has waited for the DSP for `wait_us`. */
double hx_overhead_host_wake(const struct hx_profile *p, double wait_us);

/* All of it that is known before the call has executed: the host has worked for work_us before it, the DSP has slept for asleep_us. */
double hx_overhead_way_there(const struct hx_profile *p, double work_us, double asleep_us);

/* And the rest, once it has executed for exec_us: the caller has waited for wait_us, which is that and what it had to queue for. */
double hx_overhead_way_back(const struct hx_profile *p, double wait_us, double exec_us);

/* The copies of a call or packet, and the caches of its shared buffers. */
double hx_overhead_marshal(const struct hx_profile *p, uint64_t copied_bytes, uint64_t shared_buffers);

/* For how long a client's own calls have kept the DSP awake. */
struct hx_awake { /* machine time, ns; zeroed: nothing has run for this client yet */
    uint64_t busy_from_ns, busy_until_ns; /* the last work without a gap, calls that overlap together */
    uint64_t from_ns, until_ns;           /* the last stretch without sleep */
    uint64_t before_ns;                   /* end of the one before it; 0: there was none */
};

/* Something executes from start_ns to end_ns. */
void hx_awake_extend(struct hx_awake *a, const struct hx_profile *p, uint64_t start_ns, uint64_t end_ns);

/* The end of the last stretch that had begun by at_ns; 0: that is not known any more. */
uint64_t hx_awake_until(const struct hx_awake *a, uint64_t at_ns);

#endif
