/* HVX contexts: qurt_hvx_lock() and its kin.
 *
 * A thread really waits until a context is free, and its virtual clock goes on to the time at which the context was given
 * back.  Threads of one call get contexts in the order of virtual time: who gives one back chooses who is next, the
 * thread that has asked first.  Where callers overlap, figures depend on how their threads really interleaved. */
#include "qurt_hvx.h"

#include <stdatomic.h>

#include "HAP_farf.h"
#include "hap_power.h"
#include "hexrig_hvx_count.h"
#include "base/export.h"
#include "base/machine.h"
#include "cost/trace.h"
#include "cost/turns.h"
#include "cost/vtime.h"

#define NONE (-1)

static __thread int held = NONE;     /* index of the held HVX context */
static __thread uint64_t unlocked;   /* HVX operations of this call that ran without one ... */
static __thread uint64_t counted_to; /* ... up to this count of operations, when none is held */

static _Atomic uint32_t given; /* bit i: context i, to this PD since hx_hvx_contexts_begin() */

/* 1 when a context that is free from `a` on suits a thread at `now` better than one that is from `b` on: no waiting, and
 * of those without it the one that was used last, so that threads which run one after the other here, but side by side on
 * the device, leave the others' contexts alone. */
static int suits_better(uint64_t a, uint64_t b, uint64_t now)
{
    if ((a <= now) != (b <= now))
        return a <= now;
    return a <= now ? a > b : a < b;
}

/* Under the machine's lock. */
static int pick_free(void)
{
    const uint64_t now = hx_vt_now();
    int best = NONE;

    for (int i = 0; i < (int)hx_machine->hvx_contexts; i++)
        if (hx_machine->hvx[i].client == 0 &&
            (best == NONE || suits_better(hx_machine->hvx[i].free_at, hx_machine->hvx[best].free_at, now)))
            best = i;
    return best;
}

/* Threads of this PD that wait for a context, in the order in which they have asked; under the machine's lock. */
struct waiter {
    struct waiter *next;
    struct hx_place *place;
    uint64_t asked, freed; /* pcycle; freed: when a thread of its call gave one back for it, if it is chosen */
    int chosen;
};
static struct waiter *line;

static void stand_in_line(struct waiter *w)
{
    struct waiter **at = &line;

    while (*at)
        at = &(*at)->next;
    *at = w;
}

static void leave_line(const struct waiter *w)
{
    struct waiter **at = &line;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

/* The calling thread has given a context back at `now`. */
static void choose_next(uint64_t now)
{
    for (struct waiter *w = line; w; w = w->next)
        if (!w->chosen && hx_turns_together(w->place, hx_turns_place())) {
            w->chosen = 1;
            w->freed = now;
            hx_turns_wake(w->place, now > w->asked ? now : w->asked, 0);
            return;
        }
}

/* Whether the thread may try, although none of its call has given a context back for it: others have, or their PD has ended. */
static int may_try(const struct waiter *w)
{
    unsigned unused = 0;

    for (unsigned i = 0; i < hx_machine->hvx_contexts; i++)
        unused += hx_machine->hvx[i].client == 0;
    for (const struct waiter *o = line; o && unused; o = o->next) {
        if (o == w)
            return 1;
        unused -= hx_turns_together(o->place, w->place) ? 1 : 0;
    }
    return 0;
}

/* Waits for a context, under the machine's lock, and is in an operation again when it has found one. */
static int wait_in_line(void)
{
    struct waiter w = {.place = hx_turns_place(), .asked = hx_vt_now()};
    int found;

    stand_in_line(&w);
    do {
        w.chosen = 0;
        hx_turns_block(HX_TURNS_NEVER);
        while (!w.chosen && !may_try(&w))
            hx_machine_wait(50);
        hx_machine_unlock();
        if (w.chosen)
            hx_vt_reach(HX_VT_HVX, w.freed);
        hx_vt_order_begin();
        hx_machine_lock();
        found = pick_free();
    } while (found == NONE);
    leave_line(&w);
    return found;
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

static int lock_context(int mode, int wait)
{
    int found;

    if (!may_lock(mode))
        return QURT_HVX_LOCK_ERROR;
    hx_vt_order_begin();
    hx_machine_lock();
    found = pick_free();
    if (found == NONE && wait)
        found = wait_in_line();
    held = found;
    if (found != NONE) {
        unlocked += hx_hvx_ops(&hx_hvx_counts) - counted_to;
        hx_machine->hvx[found].client = hx_pd_client ? hx_pd_client : -1;
        atomic_fetch_or(&given, 1u << found);
        hx_vt_reach(HX_VT_HVX, hx_machine->hvx[found].free_at);
        hx_trace_hvx(found, hx_vt_now());
    }
    hx_machine_unlock();
    hx_vt_order_end();
    return found == NONE ? QURT_HVX_LOCK_ERROR : QURT_HVX_LOCK_SUCCESS;
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
    hx_machine_lock();
    hx_machine->hvx[held].client = 0;
    hx_machine->hvx[held].free_at = hx_vt_now();
    hx_trace_hvx(NONE, hx_vt_now());
    held = NONE;
    counted_to = hx_hvx_ops(&hx_hvx_counts);
    choose_next(hx_vt_now());
    hx_machine_freed();
    hx_machine_unlock();
    hx_vt_order_end();
    return QURT_HVX_LOCK_SUCCESS;
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
    return qurt_hvx_unlock() == QURT_HVX_LOCK_SUCCESS;
}
