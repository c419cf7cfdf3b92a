/* Who of the threads that work for one call goes on: a conservative discrete-event order.
 *
 * The threads of a call form a party: the thread that serves the call, those that a skel creates in it, and workers from earlier
 * calls from the moment at which a thread of the party wakes them.  A worker stays in a party until it ends or another call's
 * thread wakes it.  Parties do not wait for each other.
 *
 * An operation is whatever others can notice: on a mutex, signal, futex or barrier, on an HVX context, VTCM or DMA, creating and
 * joining a thread, the end of the call.  hx_turns_begin() returns when no thread of the party can still do anything at an earlier
 * virtual time, ties going to the thread that joined first.  An access to memory that the party shares (hx_turns_access()) is
 * ordered likewise, but in steps of HX_TURNS_QUANTUM pcycles from the begin of the call: within a step the thread that joined
 * first makes all of its accesses before the next one.  So neither the host's load nor the number of its cores shows in a figure.
 *
 * Between operations one thread of a party runs at a time, so that what threads do to plain memory (a counter of jobs, say) is
 * ordered, too.  A thread that computes for a while without touching what is shared (STEPS steps, or LEND_US of CPU time that it is
 * charged nothing for) lets the others run beside it from then on, until it has touched it ACCESSES times: emulated HVX code
 * without traces keeps all cores of the host busy.  The order of operations and accesses is the same, whoever runs beside whom.
 *
 * A thread may wait for another one in a way that is not seen here: it spins on memory, sleeps, waits for a lock of libc's.
 * While somebody waits for it, it is looked at: without any progress (pcycles, HVX operations) it is passed over after STUCK_CPU_MS
 * of CPU time, or 8 times that when it makes accesses, after STUCK_REAL_MS in which it got none, or after 8 times that; each time
 * that happens in a PD halves these, down to 2 ms.  It is back in the order with its next operation or charge.  Figures may
 * then depend on the host.
 *
 * There are places for HX_TURNS_PLACES threads and HX_TURNS_PARTIES calls; those beyond are not ordered.  This part knows
 * nothing of clocks: times are pcycles that its callers give. */
#ifndef HX_TURNS_H
#define HX_TURNS_H

#include <stdatomic.h>
#include <stdint.h>

enum { HX_TURNS_QUANTUM = 4096, HX_TURNS_PLACES = 768, HX_TURNS_PARTIES = 512 };
#define HX_TURNS_NEVER UINT64_MAX

struct hx_place;
struct hx_hvx_counts;

/* --- membership.  A party's number is greater than those of earlier ones; 0: none. */

/* A call begins on this thread at `now`: a party of its own, whose number is returned.  It leaves the one that it was in. */
uint64_t hx_turns_call(uint64_t now);
/* A place for a thread that is about to be started, as of pcycle `start`; NULL: none is left, or the party is over. */
struct hx_place *hx_turns_add(uint64_t party, uint64_t start);
/* The calling thread takes its place, and waits for its turn.  NULL is allowed. */
void hx_turns_take(struct hx_place *p);
/* The thread that place was meant for could not be started. */
void hx_turns_cancel(struct hx_place *p);
/* The calling thread ends, at the end of an operation at the latest. */
void hx_turns_leave(void);
/* The call that the calling thread serves ends: the thread leaves the party when the others have come to pcycle `at`, or wait.  For
 * those that are stuck it waits for a 16th of the times above. */
void hx_turns_call_over(uint64_t at);
/* Its place; NULL: it is not ordered. */
struct hx_place *hx_turns_place(void);

/* --- operations */

/* `now`: the thread's time.  Pairs; they do not nest. */
void hx_turns_begin(uint64_t now);
/* The thread is between the two. */
int hx_turns_inside(void);
/* Returns when the thread may go on. */
void hx_turns_end(uint64_t now);

/* In an operation: the thread is about to wait until another one wakes it, or until pcycle `limit` (HX_TURNS_NEVER: no limit). The
 * operation is over for the others; hx_turns_end() has to follow. */
void hx_turns_block(uint64_t limit);
/* It was woken by an operation of its party since. */
int hx_turns_woken(void);
/* The blocked thread gives up waiting at pcycle `at`: returns when no other can wake it before that any more (HX_TURNS_NEVER:
 * when all others wait, too), in an operation again; or when it was woken. */
void hx_turns_resume(uint64_t at);

/* The thread looks again at pcycle `limit`, or when another one says that there is something to see: returns that pcycle, when no thread
 * of the party can do anything before it, in an operation again. */
uint64_t hx_turns_doze(uint64_t limit);
/* What was said to a thread that does not doze yet is forgotten. */
void hx_turns_doze_begin(void);
/* There is something to see at pcycle `at` for the thread at `p`, which goes over to `party` if it dozes in another one; 0: it stays. */
void hx_turns_rouse(struct hx_place *p, uint64_t at, uint64_t party);
/* Who of the other threads could have something to say: somebody; nobody, for those that do not wait doze as well; nobody, they wait. */
enum hx_turns_company { HX_TURNS_AWAKE, HX_TURNS_DOZING, HX_TURNS_ALONE };
enum hx_turns_company hx_turns_company(void);
/* As hx_turns_doze(), but really sleeps first, for up to `us` or until somebody rouses the thread; nobody waits for it meanwhile. */
uint64_t hx_turns_nap(uint64_t limit, unsigned us);

/* A blocked thread is woken at `time`: into the party, when it is not 0. */
void hx_turns_wake(struct hx_place *p, uint64_t time, uint64_t party);
/* The calling thread, which is in an operation, joins another party at `now`. */
void hx_turns_move(uint64_t party, uint64_t now);
/* Whether the two are in the same party; NULL is in none. */
int hx_turns_together(const struct hx_place *a, const struct hx_place *b);

/* --- between operations */

/* The thread is about to touch what its party shares. */
void hx_turns_access(uint64_t now);
/* Its time has gone on to `now`. */
void hx_turns_passed(uint64_t now);

/* Threads of the party that do not wait; 1 for a thread alone.  Repeats only in an operation. */
unsigned hx_turns_runnable(void);

/* --- fast paths */

struct hx_place_fast {
    _Atomic uint64_t until;    /* before this pcycle the thread may run and touch what is shared; 0: it has to ask */
    _Atomic uint64_t time;     /* its clock is there, or further while it runs */
    _Atomic uint64_t accesses; /* so far */
    _Atomic int quiet;         /* others may run beside it */
};
struct hx_party_fast {
    _Atomic unsigned n;       /* threads */
    _Atomic uint64_t wanted;  /* somebody waits until those who run beside each other have passed this pcycle */
};
extern __thread struct hx_place_fast *hx_turns_fast;        /* NULL: no place */
extern __thread struct hx_party_fast *hx_turns_party; /* its party */

/* The thread has company. */
static inline int hx_turns_shared(void)
{
    return hx_turns_fast && atomic_load_explicit(&hx_turns_party->n, memory_order_relaxed) > 1;
}

/* Threads of the party, waiting ones included. */
static inline unsigned hx_turns_size(void)
{
    return hx_turns_fast ? atomic_load_explicit(&hx_turns_party->n, memory_order_relaxed) : 1;
}

#endif
