/* The clock of a DSP thread: where it stands, and what its time went to. */
#include "vtime.h"

#include <string.h>

#include "base/machine.h"
#include "hexrig_hvx_count.h"
#include "pending.h"
#include "trace.h"

static __thread struct {
    struct hx_vt_origin from;
    double pcycles;            /* since from.start_pcycles */
    double spent[HX_VT_KINDS];
    uint64_t others_hvx_ops;
} thread;

uint32_t hx_vt_clock_khz(void)
{
    if (thread.from.clock_khz)
        return thread.from.clock_khz;
    return hx_machine ? (uint32_t)(hx_machine->clock_mhz * 1000.0 + 0.5) : 1000000;
}

double hx_vt_clock_ratio(void)
{
    return hx_machine ? hx_vt_clock_khz() / (hx_machine->clock_mhz * 1000.0) : 1;
}

void hx_vt_clock_start(const struct hx_vt_origin *o)
{
    memset(&thread, 0, sizeof(thread));
    thread.from = *o;
}

void hx_vt_trace(uint64_t key)
{
    thread.from.trace_key = key;
    hx_trace_begin(key, thread.from.call_pcycles, thread.from.start_pcycles);
}

struct hx_vt_origin hx_vt_origin(void)
{
    struct hx_vt_origin o = thread.from;

    o.start_pcycles = hx_vt_now();
    return o;
}

static uint64_t time_at(double pcycles)
{
    return thread.from.start_pcycles + (uint64_t)(pcycles + 0.5);
}

static void move_on(enum hx_vt_kind kind, double pcycles)
{
    double before = thread.pcycles;

    thread.pcycles += pcycles;
    thread.spent[kind] += pcycles;
    if (__builtin_expect(thread.from.trace_key != 0, 0) && pcycles > 0)
        hx_trace_spend(kind, time_at(before), time_at(thread.pcycles), pcycles);
}

/* Code that nobody has charged yet. */
static void settle(void)
{
    move_on(HX_VT_CODE, hx_cost_pending());
}

uint64_t hx_vt_now(void)
{
    settle();
    return time_at(thread.pcycles);
}

uint64_t hx_vt_now_ns(void)
{
    double spent = (double)(hx_vt_now() - thread.from.call_pcycles);

    return thread.from.call_ns + (uint64_t)(spent * 1e6 / hx_vt_clock_khz());
}

uint64_t hx_vt_pcycles_of_ns(uint64_t ns)
{
    return (uint64_t)((double)ns * hx_vt_clock_khz() / 1e6);
}

void hx_vt_spend(enum hx_vt_kind kind, double pcycles)
{
    if (kind > HX_VT_STALL)
        settle(); /* a wait begins after the code before it */
    move_on(kind, pcycles);
}

void hx_vt_scope(const char *name)
{
    if (__builtin_expect(thread.from.trace_key != 0, 0))
        hx_trace_scope(name, hx_vt_now());
}

void hx_vt_reach(enum hx_vt_kind kind, uint64_t t)
{
    if (t > hx_vt_now())
        hx_vt_spend(kind, (double)(t - hx_vt_now()));
}

struct hx_vtime hx_vtime_spent(void)
{
    double queue = thread.spent[HX_VT_HVX] + thread.spent[HX_VT_VTCM];

    settle();
    return (struct hx_vtime){
        .exec_pcycles = (uint64_t)(thread.pcycles - queue + 0.5),
        .idle_pcycles = (uint64_t)(thread.spent[HX_VT_SLEEP] + thread.spent[HX_VT_DMA]),
        .queue_pcycles = (uint64_t)(queue + 0.5),
        .hvx_ops = hx_hvx_ops(&hx_hvx_counts) + thread.others_hvx_ops,
    };
}

void hx_vt_add_hvx_ops(uint64_t n)
{
    thread.others_hvx_ops += n;
}
