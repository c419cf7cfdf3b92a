/* Waiting for a turn, and for those who are waited for: they are looked at meanwhile, and passed over when they are stuck. */
#include "turns_state.h"

#include <errno.h>

#include "hexrig_hvx_count.h"

enum {
    LEND_US = 1000,      /* CPU time of a thread that touches nothing shared, before others run beside it, */
    LEND_MOST_US = 250,  /* and what counts of that from one look to the next: what a host takes from its guest looks like CPU time */
    STUCK_CPU_MS = 250,  /* see turns.h */
    STUCK_REAL_MS = 1000,
    STUCK_LEAST_MS = 2,
    HURRY = 16,          /* the end of a call waits for so much less */
    LOOK_MS = 1,         /* how often those who are waited for are looked at, */
    LOOK_LATER_MS = 4,   /* after the first LOOKS times */
    LOOKS = 4,
    LOOK_MOST_MS = 16,   /* what counts of the time from one look to the next: the machine may have stood still */
};

static unsigned escapes; /* of this PD; under the lock */

static uint64_t ns_of(clockid_t clock)
{
    struct timespec t = {0, 0};

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t patience_ns(unsigned ms)
{
    const unsigned now = ms >> (escapes < 10 ? escapes : 10);

    return (now > STUCK_LEAST_MS ? now : STUCK_LEAST_MS) * 1000000ull;
}

/* The thread counts meanwhile; what is read here only has to change when it does anything. */
__attribute__((no_sanitize("thread"))) static uint64_t hvx_ops(const struct hx_hvx_counts *c)
{
    uint64_t sum = 0;

    for (int i = 0; i < HX_SLOT_CLASSES; i++)
        sum += *(const volatile uint64_t *)&c->op[i];
    return sum;
}

static void lend(struct hx_place *p)
{
    hx_turns_set_quiet(p, 1);
    p->party->runner = NULL;
}

static void pass_over(struct hx_place *p)
{
    hx_turns_stop(p);
    p->state = ABSENT;
    atomic_store_explicit(&p->fast.until, 0, memory_order_relaxed);
    escapes++;
}

/* accesses: it has made some, which may be a loop that waits for memory to change, or one that was charged in advance. */
static int is_stuck(uint64_t cpu, uint64_t real, int accesses, int hurry)
{
    const uint64_t patience = patience_ns(STUCK_REAL_MS) / (hurry ? HURRY : 1);

    return cpu >= patience_ns(STUCK_CPU_MS) / (hurry ? HURRY : 1) * (accesses ? 8 : 1) || real >= 8 * patience ||
           (real >= patience && cpu < patience / 64);
}

static uint64_t at_most(uint64_t ns, unsigned us)
{
    return ns < us * 1000ull ? ns : us * 1000ull;
}

/* Somebody has waited for `p`, which runs. */
static void look_at(struct hx_place *p, int hurry)
{
    const uint64_t accesses = atomic_load_explicit(&p->fast.accesses, memory_order_relaxed);
    const uint64_t progress = p->operations + hx_turns_time(p);
    const uint64_t cpu = ns_of(p->cpu), real = ns_of(CLOCK_MONOTONIC), ops = hvx_ops(p->hvx);
    struct hx_turns_sight *s = &p->seen;
    const uint64_t passed = at_most(real - s->looked, LOOK_MOST_MS * 1000), ran = at_most(cpu - s->cpu, LOOK_MOST_MS * 1000);

    s->untouched = accesses != s->accesses || !s->looked ? 0 : s->untouched + at_most(ran, LEND_MOST_US);
    if (progress != s->progress || ops != s->hvx_ops || !s->looked) {
        s->moved_accesses = accesses;
        s->worked = s->idle = 0;
    } else {
        s->worked += ran;
        s->idle += passed;
    }
    s->looked = real;
    s->cpu = cpu;
    s->progress = progress;
    s->accesses = accesses;
    s->hvx_ops = ops;
    if (p->party->runner == p && p->party->op != p && s->untouched >= LEND_US * 1000u)
        lend(p);
    if (is_stuck(s->worked, s->idle, accesses != s->moved_accesses, hurry))
        pass_over(p);
}

static void look_after_others(struct hx_place *self)
{
    struct hx_party *y = self->party;

    for (struct hx_place *p = y->first; p; p = p->next)
        if (p != self && p->state == RUNS && p->hvx)
            look_at(p, self->hurries);
    hx_turns_settle(y);
}

/* The watcher's wait; 1 when nobody has called.  Not under the lock. */
static int sleep_a_while(struct hx_place *p, unsigned looks)
{
    const uint64_t at = ns_of(CLOCK_MONOTONIC) + (looks < LOOKS ? LOOK_MS : LOOK_LATER_MS) * 1000000ull;
    const struct timespec t = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)};

    return sem_clockwait(&p->go, CLOCK_MONOTONIC, &t) && errno == ETIMEDOUT;
}

void hx_turns_wait(struct hx_place *p)
{
    for (unsigned looks = 0; hx_turns_asks(p);) {
        const int watches = p->party->watcher == p;
        int alone = 0;

        hx_turns_exit();
        if (watches)
            alone = sleep_a_while(p, looks++);
        else
            sem_wait(&p->go); /* a signal is as good as a call */
        hx_turns_enter();
        if (alone && hx_turns_asks(p))
            look_after_others(p);
    }
}
