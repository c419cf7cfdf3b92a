/* The order among the threads of a party, and who goes on. */
#include "turns_state.h"

#define NOBODY ((struct hx_turns_key){HX_TURNS_NEVER, ~0u})

int hx_turns_before(struct hx_turns_key a, struct hx_turns_key b)
{
    return a.time != b.time ? a.time < b.time : a.number < b.number;
}

/* Where the step begins in which `time` lies. */
static uint64_t step_of(const struct hx_party *y, uint64_t time)
{
    return time > y->start ? time - (time - y->start) % HX_TURNS_QUANTUM : y->start;
}

struct hx_turns_key hx_turns_key(const struct hx_place *p)
{
    if (p->state == ABSENT || (p->state == BLOCKED && p->asked == HX_TURNS_NEVER))
        return NOBODY;
    if (p->state == BLOCKED)
        return (struct hx_turns_key){step_of(p->party, p->asked), p->number};
    if (p->state == ASKS && p->orders)
        return (struct hx_turns_key){p->asked, p->number};
    return (struct hx_turns_key){step_of(p->party, hx_turns_time(p)), p->number};
}

static struct hx_place *first_that_asks(const struct hx_party *y)
{
    struct hx_place *best = NULL;

    for (struct hx_place *p = y->first; p; p = p->next)
        if (hx_turns_asks(p) && (!best || hx_turns_before(hx_turns_key(p), hx_turns_key(best))))
            best = p;
    return best;
}

static struct hx_turns_key least_of_others(const struct hx_place *than)
{
    struct hx_turns_key least = NOBODY;

    for (struct hx_place *p = than->party->first; p; p = p->next)
        if (p != than && hx_turns_before(hx_turns_key(p), least))
            least = hx_turns_key(p);
    return least;
}

/* Whether the first that asks may go on. */
static int may_go(const struct hx_party *y, const struct hx_place *p)
{
    if (y->op || (y->runner && !hx_turns_is_quiet(p)))
        return 0;
    return p->state == READY || hx_turns_before(hx_turns_key(p), least_of_others(p));
}

void hx_turns_grant(struct hx_party *y, struct hx_place *p)
{
    if (p->state == ASKS && p->orders)
        y->op = p;
    if (!hx_turns_is_quiet(p))
        y->runner = p;
    p->state = RUNS;
    hx_turns_call_up(p);
}

/* The other threads' times have changed, so what this one may do. */
void hx_turns_revoke(const struct hx_party *y)
{
    for (struct hx_place *p = y->first; p; p = p->next)
        atomic_store_explicit(&p->fast.until, 0, memory_order_relaxed);
}

/* Lets go whoever may, after any change. */
void hx_turns_settle(struct hx_party *y)
{
    struct hx_place *p;

    while ((p = first_that_asks(y)) && may_go(y, p))
        hx_turns_grant(y, p);
    if (p && y->watcher != p)
        hx_turns_call_up(p);
    y->watcher = p;
    atomic_store_explicit(&y->fast.wanted, p && p->state == ASKS ? hx_turns_key(p).time : HX_TURNS_NEVER, memory_order_relaxed);
    if (p)
        hx_turns_revoke(y);
}

/* The pcycle up to which a thread that runs need not ask. */
uint64_t hx_turns_until(const struct hx_place *p)
{
    const struct hx_turns_key least = least_of_others(p);
    const uint64_t step = step_of(p->party, least.time);

    if (hx_turns_is_quiet(p))
        return 0;
    if (least.time >= HX_TURNS_NEVER - HX_TURNS_QUANTUM)
        return HX_TURNS_NEVER;
    if (step != least.time || p->number < least.number)
        return step + HX_TURNS_QUANTUM;
    return step;
}

/* The thread no longer runs. */
void hx_turns_stop(struct hx_place *p)
{
    struct hx_party *y = p->party;

    if (y->op == p)
        y->op = NULL;
    if (y->runner == p)
        y->runner = NULL;
}
