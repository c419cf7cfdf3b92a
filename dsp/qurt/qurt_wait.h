/* What all QuRT objects are made of: threads that park on an address, and the time that wakes them.
 *
 * One lock (hx_qurt_enter) protects every QuRT object of the PD and the list of threads.  It is taken in the order of virtual
 * time (dsp/cost/turns.h): what a thread finds there is what the threads of its call have done at earlier times.  Whoever releases
 * something picks
 * the thread that gets it (highest priority, then first come), hands it over under the lock, and gives it the release's
 * pcycle; so a woken thread goes on at the time of exactly the event that woke it, and never loses a race for it.
 *
 * A thread that outlives the call in which it was created becomes part of the later call whose thread wakes it, from then on.
 *
 * Waits with a time limit end by the virtual clock: an event later than the limit does not count, however early it really
 * came.  A wait ends without an event when no other thread of the call can make one before the limit any more, and
 * HX_QURT_PATIENCE_MS of real time have passed in which a timer or another call could. */
#ifndef HX_QURT_WAIT_H
#define HX_QURT_WAIT_H

#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>

#include "base/export.h"
#include "cost/vtime.h"

enum {
    HX_QURT_PATIENCE_MS = 50,
    HX_QURT_PRIORITY = 192, /* of threads that serve calls, as a V69 logs it */
    HX_QURT_NAME_BYTES = 16,
};
#define HX_QURT_FOREVER UINT64_MAX

enum hx_qurt_state { HX_QURT_RUNS, HX_QURT_ENDED };

/* A thread of the PD: one that qurt_thread_create() started, or any other that has used QuRT. */
struct hx_qthread {
    struct hx_qthread *next;     /* in the list of threads */
    unsigned id;                 /* from 1 up, never used twice */
    unsigned short priority;     /* 1..255, lower is more urgent */
    unsigned short detach_state; /* QURT_THREAD_ATTR_CREATE_* */
    char name[HX_QURT_NAME_BYTES];
    unsigned n_held;             /* mutexes that it holds */

    /* while it is parked */
    const void *key;             /* what it waits for, NULL = nothing */
    struct hx_qthread *next_parked;
    uint64_t mask;               /* qurt_signal: what it waits for */
    int all;                     /* qurt_signal: all of it */
    uint64_t limit;              /* pcycle at which it gives up */
    int result;                  /* 0, or ETIMEDOUT */
    uint64_t at;                 /* pcycle of the event that woke it */
    struct hx_vt_origin from;    /* of the thread that woke it */
    struct hx_place *place;      /* its own, turns.h */
    struct hx_vt_origin mine;
    int serves;                  /* it has a call of its own, and follows nobody */
    int follows;                 /* it works for the call of `from` now */
    pthread_cond_t woken;

    /* of threads that qurt_thread_create() started */
    int created;
    unsigned lane;               /* in traces, from 1 up; the lowest that was free */
    enum hx_qurt_state state;
    int joined;                  /* somebody waits in qurt_thread_join() */
    int status;                  /* what it gave to qurt_thread_exit() */
    uint64_t end_pcycles;
    int ends_off_duty;           /* it waited for packets: nobody knows when */
    pthread_t host;
    void *low_stack;             /* hx_low_map() of ours, or NULL: the caller's memory */
    size_t low_stack_bytes;
    void *stack_addr;            /* what the caller gave */
    unsigned stack_size;
    jmp_buf end;                 /* qurt_thread_exit() goes there */
};

/* The calling thread's record, created on first use.  Aborts the PD when there is no memory. */
struct hx_qthread *hx_qurt_self(void);
/* Makes `t` the calling thread's record. */
void hx_qurt_set_self(struct hx_qthread *t);

/* An operation in the order of virtual time, and the lock.  _leave() may wait for the thread's turn. */
void hx_qurt_enter(void);
void hx_qurt_leave(void);

/* The lock alone, for what threads of a call do not notice. */
void hx_qurt_lock(void);
void hx_qurt_unlock(void);

/* --- under the lock */

/* List of threads; ids come from hx_qurt_add(). */
extern struct hx_qthread *hx_qurt_threads;
void hx_qurt_add(struct hx_qthread *t);
void hx_qurt_remove(struct hx_qthread *t);
struct hx_qthread *hx_qurt_find(unsigned id);

/* Parks the calling thread on `key` until hx_qurt_unpark(), for `us` at most; releases the lock meanwhile.  Returns 0 or
 * ETIMEDOUT, and has moved the thread's clock on to the event or to the limit.  The thread has called hx_qurt_self(). */
int hx_qurt_park(const void *key, uint64_t us);

/* The same without a limit in virtual time: it ends after `ms` of real time, once no other thread of the call runs. */
int hx_qurt_park_briefly(const void *key, unsigned ms);

/* The thread that hx_qurt_unpark() would wake; NULL: none.  Threads whose limit is before `at` are timed out. */
struct hx_qthread *hx_qurt_waiter(const void *key, uint64_t at);
struct hx_qthread *hx_qurt_unpark(const void *key, uint64_t at);

/* --- anywhere */

/* The calling thread, in an operation, has to wait for an event at pcycle `at`, `us` at most.  0: it was before the limit, and the
 * thread has gone on to it (plus the hand-off where it had to wait); ETIMEDOUT: the thread has gone on to the limit. */
int hx_qurt_meet(uint64_t at, uint64_t us);

/* Whether a thread that a skel started, the calling one, would work for call `from` if it was woken by it, which is a later one than its
 * own.  Then, in an operation: it does, from pcycle `at` on. */
int hx_qurt_is_to_follow(const struct hx_vt_origin *from);
void hx_qurt_join(const struct hx_vt_origin *from, uint64_t at);

/* The calling thread, in an operation, has been woken by a thread of call `from`: one that a skel started works for that call from now on,
 * when it is a later one than its own. */
void hx_qurt_follow(const struct hx_vt_origin *from);

/* The calling thread, in an operation, takes on work that was given away at from->start_pcycles: it goes on to that, and works for
 * that call, when it is another one than its own. */
void hx_qurt_work_for(const struct hx_vt_origin *from);

/* Errors that the device answers with an exception, and waits that would never end: says why and ends the PD. */
_Noreturn void hx_qurt_fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
