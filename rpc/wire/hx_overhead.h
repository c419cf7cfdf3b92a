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

#endif
