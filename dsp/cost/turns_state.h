/* What the files of turns.h share: who is in which party, and what may go on.
 *
 * Everybody's place in the order is a key: virtual time, then number.  What asks to go on goes when its key is the least of its
 * party, counting for a thread that runs the earliest that it may still ask for.  One lock protects all of it. */
#ifndef HX_TURNS_STATE_H
#define HX_TURNS_STATE_H

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "turns.h"

enum hx_turns_state {
    RUNS,    /* the skel's code, or an operation */
    READY,   /* may not run yet */
    ASKS,    /* for an operation or an access */
    BLOCKED, /* waits for somebody's operation */
    ABSENT   /* waits for something that is not seen here: does not count */
};

/* What was seen of a thread that somebody waits for. */
struct hx_turns_sight {
    uint64_t progress, accesses, hvx_ops;
    uint64_t moved_accesses;     /* when it last did anything else */
    uint64_t looked, cpu;        /* real time and its CPU time at the last look, in ns */
    uint64_t untouched;          /* CPU time since the last access, */
    uint64_t worked, idle;       /* CPU time and real time since it did anything else: of each look, only so much */
};

struct hx_place {
    struct hx_place_fast fast; /* written by its own thread; `until` is also set to 0 by others */
    struct hx_party *party;       /* NULL: the place is free */
    struct hx_place *next;     /* in the party, or among the free ones */
    unsigned number;
    enum hx_turns_state state;
    int orders;                /* ASKS for an operation: by the exact time */
    uint64_t quiet_since;      /* its accesses when it became quiet */
    uint64_t touched;          /* its accesses when it last gave way, */
    unsigned untouched;        /* and how often it did so without any between */
    int woken;
    int hurries;               /* it waits only for the end of its call */
    uint64_t asked;            /* ASKS: for this pcycle; BLOCKED: until then */
    int dozes;                 /* ASKS, and would rather be roused before */
    uint64_t roused;           /* pcycle, or HX_TURNS_NEVER */
    uint64_t operations;
    struct hx_turns_sight seen;
    sem_t go;                  /* up when it may have become the turn of its thread, which waits */
    int is_made;
    clockid_t cpu;
    const struct hx_hvx_counts *hvx; /* its counters; NULL: the thread has not begun */
    /* of its own thread */
    int inside;                /* between begin and end */
    int owns, waits;           /* it was made party->op; it has blocked in this operation */
};

struct hx_party {
    struct hx_party_fast fast;
    uint64_t id;               /* 0: free */
    uint64_t start;            /* pcycle, from which steps are counted: figures do not depend on when a call begins */
    struct hx_place *first;
    unsigned numbers;          /* given out */
    struct hx_place *op;       /* is in an operation */
    struct hx_place *runner;   /* the one that runs, unless quiet */
    struct hx_place *watcher;  /* the first of those who ask looks after the others */
};

/* --- turns_lock.c */

/* The calling thread's place, or NULL; takes no lock. */
static inline struct hx_place *hx_turns_me(void)
{
    return (struct hx_place *)hx_turns_fast; /* its first member */
}

/* Protects places and parties, but for what belongs to a thread or is atomic. */
void hx_turns_enter(void);
/* Wakes those who were called meanwhile. */
void hx_turns_exit(void);
/* Under the lock: it may be the turn of p's thread, which may be waiting for that. */
void hx_turns_call_up(struct hx_place *p);

static inline uint64_t hx_turns_time(const struct hx_place *p)
{
    return atomic_load_explicit(&p->fast.time, memory_order_relaxed);
}

static inline void hx_turns_set_time(struct hx_place *p, uint64_t time)
{
    atomic_store_explicit(&p->fast.time, time, memory_order_relaxed);
}

/* Others may run beside `p` from now on, or no longer may. */
static inline void hx_turns_set_quiet(struct hx_place *p, int quiet)
{
    atomic_store_explicit(&p->fast.quiet, quiet, memory_order_relaxed);
    p->quiet_since = atomic_load_explicit(&p->fast.accesses, memory_order_relaxed);
}

static inline int hx_turns_is_quiet(const struct hx_place *p)
{
    return atomic_load_explicit(&p->fast.quiet, memory_order_relaxed);
}

/* --- under the lock: turns_order.c */

struct hx_turns_key {
    uint64_t time;
    unsigned number;
};
struct hx_turns_key hx_turns_key(const struct hx_place *p);
int hx_turns_before(struct hx_turns_key a, struct hx_turns_key b);

static inline int hx_turns_asks(const struct hx_place *p)
{
    return p->state == ASKS || p->state == READY;
}

/* Lets `p`, the first that asks, go on. */
void hx_turns_grant(struct hx_party *y, struct hx_place *p);
/* Lets go whoever may, after any change. */
void hx_turns_settle(struct hx_party *y);
/* The times of some threads have changed, so what the others may do. */
void hx_turns_revoke(const struct hx_party *y);
/* The pcycle up to which a thread that runs need not ask. */
uint64_t hx_turns_until(const struct hx_place *p);
/* The thread no longer runs. */
void hx_turns_stop(struct hx_place *p);

/* --- under the lock: turns.c */

/* The calling thread's place asks for an operation at pcycle `at`, or at what `asked` becomes meanwhile: returns when it has it. */
void hx_turns_ask(struct hx_place *p, uint64_t at);

/* --- under the lock: turns_wait.c */

/* Waits until `p`, the calling thread's, is allowed to run. */
void hx_turns_wait(struct hx_place *p);

/* --- under the lock: turns_party.c */

/* The calling thread is at `p` from now on, which is in a party. */
void hx_turns_sit(struct hx_place *p);
/* The calling thread was alone when its operation began, and has company now. */
void hx_turns_own(void);
/* NULL: that party is over. */
struct hx_party *hx_turns_party_of(uint64_t id);
void hx_turns_join(struct hx_place *p, struct hx_party *y, uint64_t time);
void hx_turns_part(struct hx_place *p);

#endif
