/* Who of a PD's threads gets which of the machine's units, and when. */
#include "units.h"

#include "cost/turns.h"
#include "cost/vtime.h"

/* 1 when a unit that is free from `a` on suits a thread at `now` better than one that is from `b` on: no waiting, and
 * of those without it the one that was used last, so that threads which run one after the other here, but side by side on
 * the device, leave the others' units alone. */
static int suits_better(uint64_t a, uint64_t b, uint64_t now)
{
    if ((a <= now) != (b <= now))
        return a <= now;
    return a <= now ? a > b : a < b;
}

/* Under the machine's lock. */
static int pick_free(const struct hx_units *u)
{
    const uint64_t now = hx_vt_now();
    int best = HX_UNITS_NONE;

    for (int i = 0; i < (int)u->n; i++)
        if (u->grant[i].client == 0 && (best == HX_UNITS_NONE || suits_better(u->grant[i].free_at, u->grant[best].free_at, now)))
            best = i;
    return best;
}

/* A thread that waits for a unit. */
struct hx_unit_waiter {
    struct hx_unit_waiter *next;
    struct hx_place *place;
    uint64_t asked, freed; /* pcycle; freed: when a thread of its call gave one back for it, if it is chosen */
    int chosen;
};

static void stand_in_line(struct hx_units *u, struct hx_unit_waiter *w)
{
    struct hx_unit_waiter **at = &u->line;

    while (*at)
        at = &(*at)->next;
    *at = w;
}

static void leave_line(struct hx_units *u, const struct hx_unit_waiter *w)
{
    struct hx_unit_waiter **at = &u->line;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

/* The calling thread has given a unit back at `now`. */
static void choose_next(struct hx_units *u, uint64_t now)
{
    for (struct hx_unit_waiter *w = u->line; w; w = w->next)
        if (!w->chosen && hx_turns_together(w->place, hx_turns_place())) {
            w->chosen = 1;
            w->freed = now;
            hx_turns_wake(w->place, now > w->asked ? now : w->asked, 0);
            return;
        }
}

/* Whether the thread may try, although none of its call has given a unit back for it: others have, or their PD has ended. */
static int may_try(const struct hx_units *u, const struct hx_unit_waiter *w)
{
    unsigned unused = 0;

    for (unsigned i = 0; i < u->n; i++)
        unused += u->grant[i].client == 0;
    for (const struct hx_unit_waiter *o = u->line; o && unused; o = o->next) {
        if (o == w)
            return 1;
        unused -= hx_turns_together(o->place, w->place) ? 1 : 0;
    }
    return 0;
}

/* Waits for a unit, under the machine's lock, and is in an operation again when it has found one. */
static int wait_in_line(struct hx_units *u)
{
    struct hx_unit_waiter w = {.place = hx_turns_place(), .asked = hx_vt_now()};
    int found;

    stand_in_line(u, &w);
    do {
        w.chosen = 0;
        hx_turns_block(HX_TURNS_NEVER);
        while (!w.chosen && !may_try(u, &w))
            hx_machine_wait(50);
        hx_machine_unlock();
        if (w.chosen)
            hx_vt_reach(HX_VT_HVX, w.freed);
        hx_vt_order_begin();
        hx_machine_lock();
        found = pick_free(u);
    } while (found == HX_UNITS_NONE);
    leave_line(u, &w);
    return found;
}

int hx_units_take(struct hx_units *u, int wait)
{
    int found;

    hx_machine_lock();
    found = pick_free(u);
    if (found == HX_UNITS_NONE && wait)
        found = wait_in_line(u);
    if (found != HX_UNITS_NONE) {
        u->grant[found].client = hx_pd_client ? hx_pd_client : -1;
        hx_vt_reach(HX_VT_HVX, u->grant[found].free_at);
    }
    hx_machine_unlock();
    return found;
}

void hx_units_give(struct hx_units *u, int unit)
{
    hx_machine_lock();
    u->grant[unit].client = 0;
    u->grant[unit].free_at = hx_vt_now();
    choose_next(u, hx_vt_now());
    hx_machine_freed();
    hx_machine_unlock();
}
