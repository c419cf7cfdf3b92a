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

void hx_vt_call_begin(uint64_t now_ns, uint32_t khz)
{
    uint64_t p = hx_machine ? atomic_load_explicit(&hx_machine->shared->pcycles, memory_order_relaxed) : 0;

    leave_call();
    hx_shared_open(p);
    hx_vt_thread_begin(&(struct hx_vt_origin){.start_pcycles = p, .call_pcycles = p, .call_ns = now_ns, .clock_khz = khz,
                                              .party = hx_turns_call(p), .call = hx_shared_call()});
}

void hx_vt_call_tell(void)
{
    uint64_t now = hx_vt_now(), seen;

    if (!hx_machine)
        return;
    seen = atomic_load_explicit(&hx_machine->shared->pcycles, memory_order_relaxed);
    while (seen < now && !atomic_compare_exchange_strong_explicit(&hx_machine->shared->pcycles, &seen, now, memory_order_relaxed,
                                                                  memory_order_relaxed))
        ;
}

void hx_vt_call_end(void)
{
    leave_call();
    hx_shared_close((double)hx_vtime_spent().exec_pcycles);
    hx_vt_call_tell();
}
