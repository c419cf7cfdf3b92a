/* Virtual time, see vtime.h. */
#include "vtime.h"

#include <string.h>

#include "cost.h"
#include "hexrig_hvx_count.h"
#include "base/machine.h"
#include "trace.h"

static __thread struct {
    struct hx_vt_origin from;
    double pcycles;            /* since from.start_pcycles */
    double spent[HX_VT_KINDS];
    uint64_t others_hvx_ops;
} now;

uint32_t hx_vt_clock_khz(void)
{
    if (now.from.clock_khz)
        return now.from.clock_khz;
    return hx_machine ? (uint32_t)(hx_machine->clock_mhz * 1000.0 + 0.5) : 1000000;
}

double hx_vt_clock_ratio(void)
{
    return hx_machine ? hx_vt_clock_khz() / (hx_machine->clock_mhz * 1000.0) : 1;
}

static void begin(const struct hx_vt_origin *o)
{
    memset(&now, 0, sizeof(now));
    now.from = *o;
    hx_hvx_reset();
    hx_hvx_call_begin();
    hx_cost_begin();
    hx_trace_begin(o->trace_key, o->call_pcycles, o->start_pcycles);
}

void hx_vt_call_begin(uint64_t now_ns, uint32_t khz)
{
    uint64_t p = hx_machine ? __atomic_load_n(&hx_machine->pcycles, __ATOMIC_RELAXED) : 0;

    hx_cost_call();
    begin(&(struct hx_vt_origin){p, p, now_ns, khz, 0});
}

void hx_vt_trace(uint64_t key)
{
    now.from.trace_key = key;
    hx_trace_begin(key, now.from.call_pcycles, now.from.start_pcycles);
}

void hx_vt_call_end(void)
{
    uint64_t end = hx_vt_now(), seen;

    if (!hx_machine)
        return;
    seen = __atomic_load_n(&hx_machine->pcycles, __ATOMIC_RELAXED);
    while (seen < end && !__atomic_compare_exchange_n(&hx_machine->pcycles, &seen, end, 0,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

struct hx_vt_origin hx_vt_origin(void)
{
    struct hx_vt_origin o = now.from;

    o.start_pcycles = hx_vt_now();
    return o;
}

void hx_vt_thread_begin(const struct hx_vt_origin *o)
{
    begin(o);
}

static uint64_t time_at(double pcycles)
{
    return now.from.start_pcycles + (uint64_t)(pcycles + 0.5);
}

static void move_on(enum hx_vt_kind kind, double pcycles)
{
    double before = now.pcycles;

    now.pcycles += pcycles;
    now.spent[kind] += pcycles;
    if (__builtin_expect(now.from.trace_key != 0, 0) && pcycles > 0)
        hx_trace_spend(kind, time_at(before), time_at(now.pcycles), pcycles);
}

/* Code that nobody has charged yet. */
static void settle(void)
{
    move_on(HX_VT_CODE, hx_cost_pending());
}

uint64_t hx_vt_now(void)
{
    settle();
    return time_at(now.pcycles);
}

uint64_t hx_vt_now_ns(void)
{
    double spent = (double)(hx_vt_now() - now.from.call_pcycles);

    return now.from.call_ns + (uint64_t)(spent * 1e6 / hx_vt_clock_khz());
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
    if (__builtin_expect(now.from.trace_key != 0, 0))
        hx_trace_scope(name, hx_vt_now());
}

void hx_vt_reach(enum hx_vt_kind kind, uint64_t t)
{
    if (t > hx_vt_now())
        hx_vt_spend(kind, (double)(t - hx_vt_now()));
}

struct hx_vtime hx_vtime_spent(void)
{
    double queue = now.spent[HX_VT_HVX] + now.spent[HX_VT_VTCM];

    settle();
    return (struct hx_vtime){
        .exec_pcycles = (uint64_t)(now.pcycles - queue + 0.5),
        .idle_pcycles = (uint64_t)(now.spent[HX_VT_SLEEP] + now.spent[HX_VT_DMA]),
        .queue_pcycles = (uint64_t)(queue + 0.5),
        .hvx_ops = hx_hvx_ops(&hx_hvx_counts) + now.others_hvx_ops,
    };
}

void hx_vt_add_hvx_ops(uint64_t n)
{
    now.others_hvx_ops += n;
}
