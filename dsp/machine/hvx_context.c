/* HVX contexts: qurt_hvx_lock() and its kin, and those that threads get without asking. */
#include "qurt_hvx.h"

#include <stdatomic.h>

#include "HAP_farf.h"
#include "hap_power.h"
#include "hexrig_hvx_count.h"
#include "base/export.h"
#include "base/machine.h"
#include "cost/trace.h"
#include "cost/vtime.h"
#include "units.h"

#define NONE HX_UNITS_NONE

static __thread int held = NONE;     /* index of the held HVX context */
static __thread uint64_t unlocked;   /* HVX operations of this call that ran without one ... */
static __thread uint64_t counted_to; /* ... up to this count of operations, when none is held */
static __thread int is_lazy;         /* the thread gets a context when it has run HVX code without one, ... */
static __thread int lazily;          /* ... as it has got the one that it holds */

static _Atomic uint32_t given; /* bit i: context i, to this PD since hx_hvx_contexts_begin() */

static struct hx_units contexts; /* of this PD's threads */

static struct hx_units *units(void)
{
    contexts.grant = hx_machine->hvx;
    contexts.n = hx_machine->hvx_contexts;
    return &contexts;
}

/* Whether the thread may ask for a context at all. */
static int may_lock(int mode)
{
    if (!hx_machine || mode != QURT_HVX_MODE_128B) {
        FARF(ERROR, "qurt_hvx_lock: mode %d, only 128-byte mode (%d) exists", mode,
             QURT_HVX_MODE_128B);
        return 0;
    }
    if (!hx_power_hvx_on()) {
        FARF(ERROR, "qurt_hvx_lock: this PD has switched HVX off by HAP_power_set_HVX");
        return 0;
    }
    if (held != NONE) {
        FARF(ERROR, "qurt_hvx_lock: this thread holds HVX context %d already", held);
        return 0;
    }
    return 1;
}

static int take_context(int wait)
{
    int found;

    hx_vt_order_begin();
    found = hx_units_take(units(), wait);
    held = found;
    if (found != NONE) {
        unlocked += hx_hvx_ops(&hx_hvx_counts) - counted_to;
        atomic_fetch_or(&given, 1u << found);
        hx_trace_hvx(found, hx_vt_now());
    }
    hx_vt_order_end();
    return found == NONE ? QURT_HVX_LOCK_ERROR : QURT_HVX_LOCK_SUCCESS;
}

static int lock_context(int mode, int wait)
{
    if (held != NONE && lazily) {
        lazily = 0;
        return QURT_HVX_LOCK_SUCCESS;
    }
    return may_lock(mode) ? take_context(wait) : QURT_HVX_LOCK_ERROR;
}

/* In an operation. */
static void give_context(void)
{
    const int given_back = held;

    hx_trace_hvx(NONE, hx_vt_now());
    held = NONE;
    lazily = 0;
    counted_to = hx_hvx_ops(&hx_hvx_counts);
    hx_units_give(units(), given_back);
}

HX_EXPORT int qurt_hvx_lock(int lock_mode)
{
    return lock_context(lock_mode, 1);
}

HX_EXPORT int qurt_hvx_try_lock(int lock_mode)
{
    return lock_context(lock_mode, 0);
}

HX_EXPORT int qurt_hvx_unlock(void)
{
    if (!hx_machine || held == NONE)
        return QURT_HVX_LOCK_ERROR;
    hx_vt_order_begin();
    give_context();
    hx_vt_order_end();
    return QURT_HVX_LOCK_SUCCESS;
}

/* --- without asking */

void hx_hvx_lazy(void)
{
    is_lazy = 1;
}

void hx_hvx_settle(void)
{
    if (!is_lazy || held != NONE || !hx_machine || hx_hvx_ops(&hx_hvx_counts) == counted_to || !hx_power_hvx_on())
        return;
    lazily = take_context(1) == QURT_HVX_LOCK_SUCCESS;
}

void hx_hvx_thread_waits(void)
{
    if (held != NONE && lazily)
        give_context();
}

HX_EXPORT int qurt_hvx_get_mode(void)
{
    return QURT_HVX_MODE_128B;
}

HX_EXPORT int qurt_hvx_get_units(void)
{
    return hx_machine ? (int)hx_machine->hvx_contexts << 8 : 0;
}

HX_EXPORT int qurt_hvx_get_lock_val(void)
{
    return held != NONE ? QURT_HVX_LOCKED : QURT_HVX_UNLOCKED;
}

static _Atomic int reserved; /* this PD has called qurt_hvx_reserve() */

HX_EXPORT int qurt_hvx_reserve(int num_units)
{
    int units = hx_machine ? 2 * (int)hx_machine->hvx_contexts : 0;

    if (num_units == QURT_HVX_RESERVE_ALL_AVAILABLE)
        num_units = units;
    if (num_units < 1 || num_units > units)
        return QURT_HVX_RESERVE_NOT_SUPPORTED;
    return atomic_exchange(&reserved, 1) ? QURT_HVX_RESERVE_ALREADY_MADE : num_units;
}

HX_EXPORT int qurt_hvx_cancel_reserve(void)
{
    return atomic_exchange(&reserved, 0) ? 0 : QURT_HVX_RESERVE_CANCEL_ERR;
}

void hx_hvx_call_begin(void)
{
    unlocked = counted_to = 0;
}

void hx_hvx_contexts_begin(void)
{
    atomic_store(&given, 0);
}

unsigned hx_hvx_contexts_used(void)
{
    return (unsigned)__builtin_popcount(atomic_load(&given));
}

uint64_t hx_hvx_unlocked_ops(void)
{
    return unlocked + (held == NONE ? hx_hvx_ops(&hx_hvx_counts) - counted_to : 0);
}

int hx_hvx_context_held(void)
{
    return held != NONE;
}

int hx_hvx_release_leaked(void)
{
    const int leaked = held != NONE && !lazily;

    qurt_hvx_unlock();
    return leaked;
}
