/* Starts a call, or a thread that works for one: clock, cost model, counters, trace.  This file stands above all of them, so
 * that the clock need not know what moves it. */
#include <stdatomic.h>

#include "base/machine.h"
#include "code.h"
#include "cost.h"
#include "hexrig_hvx_count.h"
#include "shared.h"
#include "trace.h"
#include "traffic.h"
#include "turns.h"
#include "vtime.h"

void hx_vt_thread_begin(const struct hx_vt_origin *o)
{
    hx_vt_clock_start(o);
    hx_hvx_reset();
    hx_hvx_call_begin();
    hx_cost_begin(o->call);
    hx_traffic_begin();
    hx_code_begin();
    hx_trace_begin(o->trace_key, o->call_pcycles, o->start_pcycles);
}

/* The next call cannot come sooner than this after a call's end: far below the shortest dispatch (hx_profile.h).  Threads that the
 * call has started or woken get that far before it ends, so the next call finds those waiting that serve calls. */
enum { GAP_PCYCLES = 20000 };

static void leave_call(void)
{
    hx_turns_call_over(hx_vt_now() + GAP_PCYCLES);
}

/* Of this PD's calls so far: the latest virtual time, and the core's clock. */
static _Atomic uint64_t latest_ns;
static _Atomic uint32_t latest_khz;

static void raise_to(_Atomic uint64_t *latest, uint64_t value)
{
    uint64_t seen = atomic_load_explicit(latest, memory_order_relaxed);

    while (seen < value && !atomic_compare_exchange_strong_explicit(latest, &seen, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

static uint64_t machine_pcycles(void)
{
    return hx_machine ? atomic_load_explicit(&hx_machine->shared->pcycles, memory_order_relaxed) : 0;
}

static void begin_at(uint64_t pcycles, uint64_t now_ns, uint32_t khz)
{
    leave_call();
    hx_shared_open(pcycles);
    hx_vt_thread_begin(&(struct hx_vt_origin){.start_pcycles = pcycles, .call_pcycles = pcycles, .call_ns = now_ns, .clock_khz = khz,
                                              .party = hx_turns_call(pcycles), .call = hx_shared_call()});
}

void hx_vt_call_begin(uint64_t now_ns, uint32_t khz)
{
    const uint64_t p = machine_pcycles();

    atomic_store_explicit(&latest_khz, khz, memory_order_relaxed);
    raise_to(&latest_ns, now_ns);
    begin_at(p, now_ns, khz);
}

void hx_vt_call_begin_next(int apart)
{
    const uint64_t seen = hx_vt_seen(), machine = machine_pcycles();

    raise_to(&latest_ns, hx_vt_seen_ns());
    begin_at((machine > seen ? machine : seen) + (apart ? GAP_PCYCLES : 0), atomic_load_explicit(&latest_ns, memory_order_relaxed),
             atomic_load_explicit(&latest_khz, memory_order_relaxed));
}

void hx_vt_call_tell(void)
{
    const uint64_t now = hx_vt_now();

    raise_to(&latest_ns, hx_vt_seen_ns());
    if (hx_machine)
        raise_to(&hx_machine->shared->pcycles, now);
}

void hx_vt_call_leave(void)
{
    leave_call();
}

void hx_vt_call_end(void)
{
    leave_call();
    hx_shared_close((double)hx_vtime_spent().exec_pcycles);
    hx_vt_call_tell();
}
