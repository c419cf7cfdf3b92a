/* The performance monitor: packets of the calling thread, by the cost model. */
#include "qurt_pmu.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/export.h"
#include "cost/vtime.h"

enum { COUNTERS = 8, CONFIGURED_BY_ONE = 4 };

/* What the PD has set.  Threads that set it at once have themselves to blame, as on the device. */
static _Atomic uint32_t config;
static _Atomic uint32_t events[COUNTERS / CONFIGURED_BY_ONE]; /* QURT_PMUEVTCFG, QURT_PMUEVTCFG1 */
static _Atomic int is_stopped;
static _Atomic uint32_t cleared[COUNTERS]; /* how often: threads that see another number begin anew */

/* A thread's view of a counter: what it shows is packets now - `base`, or `held` while counters stand still. */
struct view {
    uint32_t base, held, cleared;
    int is_held;
};
static __thread struct view views[COUNTERS];

static uint32_t event_of(unsigned i)
{
    const uint32_t low = atomic_load(&events[i / CONFIGURED_BY_ONE]) >> 8 * (i % CONFIGURED_BY_ONE) & 0xff;

    return low | (atomic_load(&config) >> 2 * i & 3) << 8;
}

/* Of all the thread's calls.  What a call did after the thread has last looked is not known any more when the next one has begun. */
static uint32_t packets(void)
{
    static __thread uint64_t seen, of_former_calls;
    const uint64_t now = hx_vt_packets();

    if (now < seen)
        of_former_calls += seen;
    seen = now;
    return (uint32_t)(of_former_calls + now);
}

static struct view *view_of(unsigned i)
{
    struct view *v = &views[i];
    const uint32_t times = atomic_load(&cleared[i]);

    if (v->cleared != times)
        *v = (struct view){.base = packets(), .cleared = times};
    return v;
}

static uint32_t count_of(unsigned i)
{
    struct view *v = view_of(i);

    if (event_of(i) != QURT_PMU_COMMITTED_PACKETS)
        return 0;
    return v->is_held ? v->held : packets() - v->base;
}

/* The thread's counters follow qurt_pmu_enable(). */
static void follow(void)
{
    const int stopped = atomic_load(&is_stopped);

    for (unsigned i = 0; i < COUNTERS; i++) {
        struct view *v = view_of(i);

        if (stopped && !v->is_held)
            v->held = packets() - v->base;
        if (!stopped && v->is_held)
            v->base = packets() - v->held;
        v->is_held = stopped;
    }
}

static void clear(unsigned first, unsigned n)
{
    for (unsigned i = first; i < first + n; i++)
        atomic_fetch_add(&cleared[i], 1);
}

/* A counter's number, or -1. */
static int counter_of(int reg)
{
    return reg >= QURT_PMUCNT0 && reg <= QURT_PMUCNT3 ? reg : reg >= QURT_PMUCNT4 && reg <= QURT_PMUCNT7 ? reg - QURT_PMUCNT4 + 4 : -1;
}

HX_EXPORT void qurt_pmu_set(int reg_id, unsigned int reg_value)
{
    const int counter = counter_of(reg_id), second = reg_id == QURT_PMUEVTCFG1;

    follow();
    if (counter >= 0) {
        views[counter].base = packets() - reg_value;
        views[counter].held = reg_value;
    } else if (reg_id == QURT_PMUCFG) {
        atomic_store(&config, reg_value);
    } else if (reg_id == QURT_PMUEVTCFG || second) {
        atomic_store(&events[second], reg_value);
        clear(second ? CONFIGURED_BY_ONE : 0, CONFIGURED_BY_ONE);
        follow();
    }
}

HX_EXPORT unsigned int qurt_pmu_get(int reg_id)
{
    const int counter = counter_of(reg_id);

    follow();
    if (counter >= 0)
        return count_of((unsigned)counter);
    if (reg_id == QURT_PMUCFG)
        return atomic_load(&config);
    if (reg_id == QURT_PMUEVTCFG || reg_id == QURT_PMUEVTCFG1)
        return atomic_load(&events[reg_id == QURT_PMUEVTCFG1]);
    return 0;
}

HX_EXPORT void qurt_pmu_enable(int enable)
{
    follow();
    atomic_store(&is_stopped, !enable);
    follow();
}

HX_EXPORT int qurt_pmu_get_pmucnt(void *buf)
{
    unsigned int counts[COUNTERS];

    follow();
    for (unsigned i = 0; i < COUNTERS; i++)
        counts[i] = count_of(i);
    memcpy(buf, counts, sizeof(counts));
    return QURT_EOK;
}
