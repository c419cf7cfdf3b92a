/* What a client can block for ever, and how the loop carries on regardless.
 *
 * Reading or writing a client's memory waits where the client's own page fault would: for its userfaultfd handler, or for
 * the server of a FUSE file that it has mapped.  Linux has no call that does not wait, and only a signal that ends the whole
 * rig interrupts it.  So the loop's thread marks when it goes in and when it comes out (a store and a compare-and-swap), and
 * the main thread looks at that four times a second.  A thread that has not moved for a second, or has been inside for five,
 * is replaced: a new thread gives up what the old one was doing and goes on with the loop.  The old one is left alone until its
 * system call returns, and then ends without touching anything.
 *
 * Everybody waits for that second, so whose memory is touched at all is limited by user: core/blame.h, and HX_HANGING_OF_USER. */
#ifndef HX_CLIENT_WATCHDOG_H
#define HX_CLIENT_WATCHDOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

struct hx_session;
struct hx_watchdog;

/* Threads that hang at a time: more of one user's are not risked; at the second limit, with that many users of ill will, the last one
 * is not replaced and the rig waits for it. */
enum { HX_HANGING_OF_USER = 8, HX_HANGING_MAX = 256 };

/* Ends what a replaced thread was doing, as if the client's memory were not there.  In the loop's new thread. */
typedef void (*hx_give_up_fn)(void *arg, struct hx_watchdog *stall);

/* A thread of the loop; when it is replaced, also what its system call may still touch. */
struct hx_watchdog {
    pthread_t thread;
    _Atomic pid_t tid;     /* written by the thread, read by the main one */
    _Atomic unsigned turn; /* odd: inside; top bit: replaced */
    _Atomic int back;      /* replaced, and its system call has returned */
    unsigned mine;         /* the thread's own idea of turn */
    uid_t uid;             /* whose memory it is or was inside */
    hx_give_up_fn give_up;
    void *arg;
    struct hx_watchdog *next; /* of those that are replaced */
    /* the loop's, once it is replaced: */
    struct hx_session *session; /* whose memory it is; NULL = closed since, or no session's */
    uint64_t offset, bytes;     /* piece of the session's arena that stays taken */
    uint8_t *arena;             /* the whole arena, when the channel went first */
};

/* Runs loop(arg) in a thread of its own, once more after each replacement, and watches.  Returns what it returned. */
int hx_watchdog_run(int (*loop)(void *arg), void *arg);

/* Around whatever touches the memory of a client of `uid`; not nested.  No effect outside hx_watchdog_run().  leave() does not
 * return in a thread that was replaced. */
void hx_watchdog_enter(uid_t uid, hx_give_up_fn give_up, void *arg);
void hx_watchdog_leave(void);

/* fn(arg) in the main thread, which lives as long as the rig: a child gets its PR_SET_PDEATHSIG when the thread that made it
 * ends.  At once outside hx_watchdog_run(). */
void hx_watchdog_on_main(void (*fn)(void *arg), void *arg);

/* Frees what replaced threads held, once they have come back.  Called at the end of each round of the loop. */
void hx_watchdog_collect(void);

/* The session's channel is about to be closed, or the session to be freed. */
void hx_watchdog_keep_arena(struct hx_session *s);
void hx_watchdog_forget(struct hx_session *s);

/* Number of threads that hang right now; in memory of that user. */
unsigned hx_watchdog_count(void);
unsigned hx_watchdog_count_of(uid_t uid);

#endif
