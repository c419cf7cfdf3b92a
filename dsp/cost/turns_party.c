/* Parties and places: who is in the order of which call. */
#include "turns_state.h"

#include "hexrig_hvx_count.h"

enum { SLOT_BITS = 10 }; /* of a party's number: its slot */
_Static_assert(HX_TURNS_PARTIES < 1 << SLOT_BITS, "one slot number is none");

/* Under the lock. */
static struct hx_place places[HX_TURNS_PLACES], *free_place;
static struct hx_party parties[HX_TURNS_PARTIES];
static unsigned used_places, search; /* from the start of places[]; where to look for a free party */
static uint64_t calls;

static __thread int was_quiet; /* of the thread's last place */

struct hx_party *hx_turns_party_of(uint64_t id)
{
    const unsigned slot = id & ((1u << SLOT_BITS) - 1);

    return id && slot < HX_TURNS_PARTIES && parties[slot].id == id ? &parties[slot] : NULL;
}

void hx_turns_join(struct hx_place *p, struct hx_party *y, uint64_t time)
{
    p->party = y;
    p->next = y->first;
    y->first = p;
    p->number = y->numbers++;
    hx_turns_set_time(p, time);
    atomic_fetch_add_explicit(&y->fast.n, 1, memory_order_relaxed);
    hx_turns_revoke(y);
}

void hx_turns_part(struct hx_place *p)
{
    struct hx_party *y = p->party;
    struct hx_place **at = &y->first;

    hx_turns_stop(p);
    if (y->watcher == p)
        y->watcher = NULL;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    p->party = NULL;
    atomic_fetch_sub_explicit(&y->fast.n, 1, memory_order_relaxed);
    if (y->first)
        hx_turns_settle(y);
    else
        y->id = 0;
}

static struct hx_place *new_place(void)
{
    struct hx_place *p = free_place;

    if (!p && used_places == HX_TURNS_PLACES)
        return NULL;
    if (p)
        free_place = p->next;
    else
        p = &places[used_places++];
    if (!p->is_made)
        sem_init(&p->go, 0, 0);
    p->is_made = 1;
    p->state = READY;
    hx_turns_set_quiet(p, 0);
    p->untouched = 0;
    p->woken = p->hurries = p->inside = p->owns = p->waits = p->dozes = 0;
    p->roused = HX_TURNS_NEVER;
    p->hvx = NULL;
    p->seen = (struct hx_turns_sight){0};
    return p;
}

static void give_back(struct hx_place *p)
{
    hx_turns_part(p);
    p->next = free_place;
    free_place = p;
}

/* The calling thread is at `p` from now on, which is in a party. */
void hx_turns_sit(struct hx_place *p)
{
    hx_turns_fast = &p->fast;
    hx_turns_party = &p->party->fast;
    if (!p->hvx && pthread_getcpuclockid(pthread_self(), &p->cpu) == 0)
        p->hvx = &hx_hvx_counts;
}

static struct hx_party *new_party(uint64_t start)
{
    for (unsigned i = 0; i < HX_TURNS_PARTIES; i++, search++) {
        struct hx_party *y = &parties[search % HX_TURNS_PARTIES];

        if (!y->id) {
            *y = (struct hx_party){
                .fast = {.wanted = HX_TURNS_NEVER}, .id = calls << SLOT_BITS | search % HX_TURNS_PARTIES, .start = start};
            return y;
        }
    }
    return NULL;
}

uint64_t hx_turns_call(uint64_t now)
{
    struct hx_place *p;
    struct hx_party *y;
    uint64_t id;

    hx_turns_leave();
    hx_turns_enter();
    id = ++calls << SLOT_BITS | HX_TURNS_PARTIES;
    p = new_place();
    y = p ? new_party(now) : NULL;
    if (y) {
        id = y->id;
        hx_turns_set_quiet(p, was_quiet);
        hx_turns_join(p, y, now);
        hx_turns_grant(y, p);
        hx_turns_sit(p);
    } else if (p) {
        p->next = free_place;
        free_place = p;
    }
    hx_turns_exit();
    return id;
}

struct hx_place *hx_turns_place(void)
{
    return hx_turns_me();
}

/* The calling thread was alone when its operation began, and has company now. */
void hx_turns_own(void)
{
    struct hx_place *p = hx_turns_me();

    if (p && p->inside && !p->waits && !p->party->op) {
        p->party->op = p;
        p->owns = 1;
    }
}

/* A thread that creates others touches what its party shares, how many they are: it runs alone meanwhile, or those that it has made
 * would run ahead of those that it is about to make. */
static void run_alone(void)
{
    struct hx_place *p = hx_turns_me();

    if (!p)
        return;
    atomic_fetch_add_explicit(&p->fast.accesses, 1, memory_order_relaxed);
    hx_turns_set_quiet(p, 0);
}

struct hx_place *hx_turns_add(uint64_t id, uint64_t start)
{
    struct hx_place *p = NULL;
    struct hx_party *y;

    hx_turns_enter();
    y = hx_turns_party_of(id);
    if (y)
        p = new_place();
    if (p) {
        hx_turns_own();
        run_alone();
        hx_turns_join(p, y, start);
        hx_turns_settle(y);
    }
    hx_turns_exit();
    return p;
}

void hx_turns_take(struct hx_place *p)
{
    if (!p)
        return;
    hx_turns_enter();
    hx_turns_sit(p);
    hx_turns_settle(p->party);
    hx_turns_wait(p);
    atomic_store_explicit(&p->fast.until, hx_turns_until(p), memory_order_relaxed);
    hx_turns_exit();
}

void hx_turns_cancel(struct hx_place *p)
{
    if (!p)
        return;
    hx_turns_enter();
    give_back(p);
    hx_turns_exit();
}

void hx_turns_leave(void)
{
    if (!hx_turns_me())
        return;
    hx_turns_enter();
    was_quiet = hx_turns_is_quiet(hx_turns_me());
    give_back(hx_turns_me());
    hx_turns_fast = NULL;
    hx_turns_party = NULL;
    hx_turns_exit();
}

int hx_turns_together(const struct hx_place *a, const struct hx_place *b)
{
    int same;

    hx_turns_enter();
    same = a && b && a->party == b->party;
    hx_turns_exit();
    return same;
}
