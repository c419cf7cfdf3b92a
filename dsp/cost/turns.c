/* What a thread that has company asks for: to run, to touch what is shared, operations. */
#include "turns_state.h"

enum {
    STEPS = 4,       /* of a thread that touches nothing shared, before others run beside it */
    ACCESSES = 1000, /* of a quiet thread, until it runs alone again */
};

/* --- running ----------------------------------------------------------------------------------------------------- */

/* The thread, which runs or has been passed over, is at `now`. */
static void show(struct hx_place *p, uint64_t now)
{
    if (now > hx_turns_time(p))
        hx_turns_set_time(p, now);
    if (p->state == ABSENT)
        p->state = RUNS;
}

/* Goes on when the thread may, and knows then for how long. */
static void go_on(struct hx_place *p)
{
    hx_turns_settle(p->party);
    hx_turns_wait(p);
    atomic_store_explicit(&p->fast.until, hx_turns_until(p), memory_order_relaxed);
}

static void ask(struct hx_place *p, uint64_t at, int orders)
{
    hx_turns_stop(p);
    p->state = ASKS;
    p->orders = orders;
    p->asked = at;
    go_on(p);
    p->owns = p->party->op == p;
}

void hx_turns_ask(struct hx_place *p, uint64_t at)
{
    ask(p, at, 1);
}

/* Whether somebody waits whom a thread that runs has passed. */
static int is_passed(const struct hx_place *p)
{
    const struct hx_turns_key own = hx_turns_key(p);

    for (const struct hx_place *o = p->party->first; o; o = o->next)
        if (o != p && hx_turns_asks(o) && hx_turns_before(hx_turns_key(o), own))
            return 1;
    return 0;
}

/* A thread that goes on without touching what is shared gives way in vain: the others may as well run beside it. */
static void note_step(struct hx_place *p)
{
    const uint64_t accesses = atomic_load_explicit(&p->fast.accesses, memory_order_relaxed);

    p->untouched = accesses == p->touched ? p->untouched + 1 : 0;
    p->touched = accesses;
    if (p->untouched >= STEPS)
        hx_turns_set_quiet(p, 1);
}

/* Between operations: lets the others run who are behind.  is_step: the thread comes from a step of its own. */
static void give_way(struct hx_place *p, int is_step)
{
    struct hx_party *y = p->party;

    if (!hx_turns_is_quiet(p) && p->state == RUNS) {
        if (is_passed(p) || (y->runner && y->runner != p)) {
            hx_turns_stop(p);
            if (is_step)
                note_step(p);
            p->state = hx_turns_is_quiet(p) ? RUNS : READY;
        } else {
            y->runner = p;
        }
    }
    go_on(p);
}

void hx_turns_access(uint64_t now)
{
    struct hx_place *p = hx_turns_me();

    atomic_store_explicit(&p->fast.accesses, atomic_load_explicit(&p->fast.accesses, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (p->inside || now < atomic_load_explicit(&p->fast.until, memory_order_relaxed))
        return;
    hx_turns_enter();
    show(p, now);
    if (hx_turns_is_quiet(p) && atomic_load_explicit(&p->fast.accesses, memory_order_relaxed) - p->quiet_since > ACCESSES)
        hx_turns_set_quiet(p, 0);
    ask(p, now, 0);
    hx_turns_exit();
}

void hx_turns_passed(uint64_t now)
{
    struct hx_place *p = hx_turns_me();

    if (p->inside || now < atomic_load_explicit(&p->fast.until, memory_order_relaxed))
        return;
    if (hx_turns_is_quiet(p) && now < atomic_load_explicit(&hx_turns_party->wanted, memory_order_relaxed)) {
        hx_turns_set_time(p, now);
        return;
    }
    hx_turns_enter();
    show(p, now);
    give_way(p, 1);
    hx_turns_exit();
}

unsigned hx_turns_runnable(void)
{
    unsigned n = 0;

    if (!hx_turns_shared())
        return 1;
    hx_turns_enter();
    for (const struct hx_place *p = hx_turns_me()->party->first; p; p = p->next)
        n += p->state != BLOCKED && p->state != ABSENT;
    hx_turns_exit();
    return n;
}

/* --- operations -------------------------------------------------------------------------------------------------- */

void hx_turns_begin(uint64_t now)
{
    struct hx_place *p = hx_turns_me();

    if (!p)
        return;
    p->inside = 1;
    if (!hx_turns_shared() && !p->waits) {
        hx_turns_set_time(p, now);
        return;
    }
    p->waits = 0;
    hx_turns_enter();
    p->operations++;
    show(p, now);
    ask(p, now, 1);
    hx_turns_exit();
}

int hx_turns_inside(void)
{
    return hx_turns_me() && hx_turns_me()->inside;
}

void hx_turns_end(uint64_t now)
{
    struct hx_place *p = hx_turns_me();

    if (!p)
        return;
    p->inside = 0;
    if (!hx_turns_shared() && !p->owns && !p->waits) {
        hx_turns_set_time(p, now);
        return;
    }
    hx_turns_enter();
    p->waits = p->woken = p->owns = 0;
    hx_turns_sit(p); /* it may have been woken into another party */
    if (p->party->op == p)
        p->party->op = NULL;
    show(p, now);
    if (p->state == BLOCKED)
        p->state = READY;
    give_way(p, 0);
    hx_turns_exit();
}

void hx_turns_block(uint64_t limit)
{
    struct hx_place *p = hx_turns_me();

    if (!p)
        return;
    hx_turns_enter();
    p->waits = 1;
    p->woken = 0;
    hx_turns_stop(p);
    p->state = BLOCKED;
    p->asked = limit;
    hx_turns_settle(p->party);
    hx_turns_exit();
}

int hx_turns_woken(void)
{
    int woken;

    if (!hx_turns_me())
        return 0;
    hx_turns_enter();
    woken = hx_turns_me()->woken;
    hx_turns_exit();
    return woken;
}

void hx_turns_resume(uint64_t at)
{
    struct hx_place *p = hx_turns_me();

    if (!p)
        return;
    hx_turns_enter();
    if (p->state == BLOCKED)
        ask(p, at == HX_TURNS_NEVER ? at - 1 : at, 1);
    hx_turns_exit();
}

void hx_turns_wake(struct hx_place *p, uint64_t time, uint64_t id)
{
    struct hx_party *y;

    if (!p)
        return;
    hx_turns_enter();
    y = hx_turns_party_of(id);
    hx_turns_own();
    p->woken = 1;
    if (y && y != p->party && p->state != RUNS) {
        hx_turns_part(p);
        hx_turns_join(p, y, hx_turns_time(p));
    }
    if (time > hx_turns_time(p))
        hx_turns_set_time(p, time);
    if (p->state == BLOCKED || p->state == ASKS)
        p->state = hx_turns_is_quiet(p) ? RUNS : READY;
    hx_turns_revoke(p->party);
    hx_turns_settle(p->party);
    hx_turns_exit();
}

void hx_turns_move(uint64_t id, uint64_t now)
{
    struct hx_place *p = hx_turns_me();
    struct hx_party *y;

    if (!p)
        return;
    hx_turns_enter();
    y = hx_turns_party_of(id);
    if (y && y != p->party) {
        hx_turns_part(p);
        hx_turns_join(p, y, now);
        p->state = hx_turns_is_quiet(p) ? RUNS : READY;
        p->waits = 1; /* hx_turns_end() waits for it */
        hx_turns_sit(p);
        hx_turns_settle(y);
    }
    hx_turns_exit();
}

void hx_turns_call_over(uint64_t at)
{
    if (!hx_turns_me())
        return;
    if (hx_turns_shared()) {
        hx_turns_me()->hurries = 1;
        hx_turns_begin(at);
    }
    hx_turns_leave();
}
