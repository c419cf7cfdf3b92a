/* Threads that wait for memory to change: they ask for a turn at some time, and get an earlier one when another thread has changed it. */
#include "turns_state.h"

void hx_turns_doze_begin(void)
{
    struct hx_place *p = hx_turns_me();

    if (!p)
        return;
    hx_turns_enter();
    p->roused = HX_TURNS_NEVER;
    hx_turns_exit();
}

/* Asks for an operation at pcycle `at`, which hx_turns_rouse() may change meanwhile; when it got it. */
static uint64_t ask(struct hx_place *p, uint64_t at)
{
    hx_turns_ask(p, at);
    hx_turns_sit(p); /* it may have gone over to another party */
    p->dozes = 0;
    p->roused = HX_TURNS_NEVER;
    return p->asked;
}

uint64_t hx_turns_doze(uint64_t limit)
{
    struct hx_place *p = hx_turns_me();
    uint64_t at;

    if (!p)
        return limit;
    hx_turns_enter();
    p->dozes = 1;
    at = ask(p, p->roused < limit ? p->roused : limit);
    hx_turns_exit();
    return at;
}

static struct timespec after_us(unsigned us)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += (long)us * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

uint64_t hx_turns_nap(uint64_t limit, unsigned us)
{
    static sem_t nobody_posts;
    const struct timespec end = after_us(us);
    struct hx_place *p = hx_turns_me();
    int rc = 0;
    uint64_t at;

    if (!p) {
        sem_clockwait(&nobody_posts, CLOCK_MONOTONIC, &end);
        return limit;
    }
    hx_turns_enter();
    hx_turns_stop(p);
    p->dozes = 1;
    p->state = BLOCKED;
    p->asked = HX_TURNS_NEVER;
    hx_turns_settle(p->party);
    while (p->state == BLOCKED && p->roused == HX_TURNS_NEVER && !rc) {
        hx_turns_exit();
        rc = sem_clockwait(&p->go, CLOCK_MONOTONIC, &end);
        hx_turns_enter();
    }
    at = ask(p, p->state != BLOCKED ? p->asked : p->roused < limit ? p->roused : limit);
    hx_turns_exit();
    return at;
}

void hx_turns_rouse(struct hx_place *p, uint64_t at, uint64_t id)
{
    struct hx_party *y;

    if (!p)
        return;
    hx_turns_enter();
    y = hx_turns_party_of(id);
    hx_turns_own();
    if (at < p->roused)
        p->roused = at;
    if (p->dozes && p->state != RUNS) {
        if (y && y != p->party) {
            hx_turns_part(p);
            hx_turns_join(p, y, at);
            p->asked = at;
        } else if (p->state == BLOCKED || at < p->asked) {
            p->asked = at;
        }
        p->state = ASKS;
        p->orders = 1;
        hx_turns_revoke(p->party);
        hx_turns_settle(p->party);
    }
    hx_turns_call_up(p);
    hx_turns_exit();
}

enum hx_turns_company hx_turns_company(void)
{
    const struct hx_place *me = hx_turns_me();
    enum hx_turns_company company = HX_TURNS_ALONE;

    if (!me)
        return company;
    hx_turns_enter();
    for (const struct hx_place *p = me->party->first; p && company != HX_TURNS_AWAKE; p = p->next)
        if (p != me && p->state != BLOCKED && p->state != ABSENT)
            company = p->dozes ? HX_TURNS_DOZING : HX_TURNS_AWAKE;
    hx_turns_exit();
    return company;
}
