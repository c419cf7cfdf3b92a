/* The ring of messages between driver and DSP, and how its consumers sleep: rpc/wire/hx_ring.c.  Run by
 * tests/cases/model_check.sh; docs/testing.md says what comes out.
 *
 * One of three rings, as spin's -D says:
 *   REQUEST  driver -> user PD: worker threads sleep in hx_ring_wait() (hx_channel_send(), hx_dsp_channel_take())
 *   REPLY    DSP -> driver: the event loop sleeps in epoll_wait() (hx_dsp_channel_answer(), hx_loop_run())
 *   ROOT     driver -> root PD: a semaphore that is rung for every message (hx_channel_send(), hx_dsp_channel_take_rung())
 *
 * What stands for what:
 *   memory[TAIL], memory[HEAD], memory[SLEEPERS], memory[SLOT + i]    members of struct hx_ring_shared
 *   memory[MUTEX]   the mutex of the side with several threads: pop or push of struct hx_dsp_channel
 *   own_tail, own_head   the same index as its only writer knows it
 *   asleep[i]       thread i is in the kernel's queue of the futex
 *   bell            the eventfd: REPLY an edge that epoll_wait() has not reported yet, ROOT the semaphore's value
 *   in_flight       of struct hx_channel: requests that are not answered yet
 *
 * Properties: every message is taken once, in order, with the content that was pushed; nobody sleeps for ever while there is a
 * message (the search finds states that nothing leaves); two workers whose messages wait for each other both get one; a ring with
 * as many slots as contexts is never full.  Indices start two below the wrap-around.
 *
 * Faults, one at a time, each of which the search has to find:
 *   NO_FENCE        hx_ring_push() publishes the tail with release only
 *   NO_DOZE_FENCE   REPLY: hx_ring_doze() is not sequentially consistent
 *   NO_RECHECK      a consumer that said that it sleeps does not look once more
 *   NO_RELEASE      the tail may be seen before the slot's content
 *   NO_FULL_CHECK   hx_ring_push() does not look at the head
 *   EARLY_HEAD      hx_ring_pop() gives the slot back before it copied it
 *   EARLY_BELL      ROOT: the bell rings before the message is in the ring */
#define SLOTS 2
#define START 254 /* of the indices, which wrap around at 256 here */

#define TAIL 0
#define HEAD 1
#define SLEEPERS 2
#define MUTEX 3
#define SLOT 4
#define THREADS 3
#define VARIABLES (SLOT + SLOTS)
#define DEPTH 4
#include "store_buffer.pml"

#define FIRST_WORKER (THREADS + 2) /* processes start in the order of this file: store buffers, init, driver, workers */

byte own_tail = START, own_head = START;
byte bell;
bool ready; /* before that nobody moves */

init
{
    d_step { memory[TAIL] = START; memory[HEAD] = START; ready = true }
}

/* --- hx_ring_push() and hx_ring_pop() --- */

#define USED(tail, head) ((tail - head) & 255)
#define CONTENT(index) ((index + 3) & 255) /* of the message with that index */

#ifdef NO_FULL_CHECK
#define IS_FULL false
#else
#define IS_FULL (USED(own_tail, memory[HEAD]) == SLOTS)
#endif

inline push(me) /* when the ring is not full */
{
#ifdef NO_RELEASE
    STORE(me, TAIL, (own_tail + 1) & 255);
    STORE(me, SLOT + own_tail % SLOTS, CONTENT(own_tail));
#else
    STORE(me, SLOT + own_tail % SLOTS, CONTENT(own_tail));
    STORE(me, TAIL, (own_tail + 1) & 255);
#endif
    own_tail = own_tail + 1;
#ifndef NO_FENCE
    FENCE(me);
#endif
}

inline pop(me, got, index) /* got: whether there was one */
{
    got = memory[TAIL] != own_head;
    if
    :: got ->
        index = own_head;
#ifdef EARLY_HEAD
        STORE(me, HEAD, (own_head + 1) & 255);
#endif
        assert(memory[SLOT + own_head % SLOTS] == CONTENT(own_head));
        own_head = own_head + 1;
#ifndef EARLY_HEAD
        STORE(me, HEAD, own_head);
#endif
    :: else
    fi
}

#ifdef REQUEST
/* --- the request ring of a user PD: thread 0 is the driver, 1 and 2 are workers --- */

#define WORKERS 2
#define MESSAGES 4 /* then one more for each worker, which ends it */

bool asleep[THREADS];
bool taken[MESSAGES + WORKERS];

active proctype driver()
{
    byte i;

    ready;
    for (i : 1 .. MESSAGES + WORKERS) {
        !IS_FULL;
        push(0);
        if
        :: memory[SLEEPERS] != 0 -> /* hx_ring_must_wake() */
            FENCE(0);
            if /* hx_ring_wake(): one of those that sleep, any */
            :: d_step { asleep[1] -> asleep[1] = false }
            :: d_step { asleep[2] -> asleep[2] = false }
            :: else
            fi
        :: else
        fi
    }
}

/* hx_ring_wait() */
inline ring_wait(me)
{
    tail = memory[TAIL];
    if
    :: tail != memory[HEAD]
    :: else ->
        atomic { FENCE(me) -> memory[SLEEPERS] = memory[SLEEPERS] + 1 }
        /* FUTEX_WAIT: the kernel compares and queues in one step */
#ifdef NO_RECHECK
        asleep[me] = true;
#else
        asleep[me] = (memory[TAIL] == tail);
#endif
        !asleep[me];
        atomic { FENCE(me) -> memory[SLEEPERS] = memory[SLEEPERS] - 1 }
    fi;
    tail = 0
}

active [WORKERS] proctype worker()
{
    byte me = _pid - FIRST_WORKER + 1, index, tail;
    bool got;

    ready;
    do
    ::  LOCK(me, MUTEX);
        pop(me, got, index);
        UNLOCK(me, MUTEX);
        if
        :: !got -> ring_wait(me)
        :: else ->
            index = USED(index, START);
            assert(!taken[index]);
            taken[index] = true;
            if
            :: index >= MESSAGES -> break
            :: else -> taken[index ^ 1] /* a method that waits for the other message's */
            fi
        fi
    od
}
#endif

#ifdef REPLY
/* --- the reply ring: thread 0 is the driver's loop, 1 and 2 are workers of a PD --- */

#define WORKERS 2
#define CONTEXTS SLOTS
#define MESSAGES 5

byte asked; /* requests that no worker has taken: the request ring */
byte in_flight;
byte sent;

inline ask()
{
    FENCE(0); /* hx_ring_push() of the request ring */
    sent++;
    in_flight++;
    asked++
}

/* replies_ready(): all that there are; each makes room for another request */
inline take_replies()
{
    do
    ::  pop(0, got, index);
        if
        :: got ->
            in_flight--;
            if
            :: sent < MESSAGES -> ask()
            :: else
            fi
        :: else -> break
        fi
    od
}

active proctype driver()
{
    byte index;
    bool got, is_empty, rung;
    bool is_disturbed = false; /* epoll_wait() once returned for another reason */

    ready;
    do
    :: sent < CONTEXTS -> ask()
    :: else -> break
    od;
    do
    :: in_flight == 0 -> break
    :: else ->
        if /* serve_rings() */
        :: memory[TAIL] != own_head -> take_replies()
        :: else
        fi;
        if
        :: in_flight == 0 -> break
        :: else
        fi;
        STORE(0, SLEEPERS, 1); /* fall_asleep(): hx_ring_doze() */
#ifndef NO_DOZE_FENCE
        FENCE(0);
#endif
#ifdef NO_RECHECK
        is_empty = true;
#else
        is_empty = (memory[TAIL] == own_head); /* hx_ring_is_empty() */
#endif
        if /* epoll_wait(): edge-triggered; without a limit or not at all */
        :: d_step { bell != 0 -> bell = 0; rung = true }
        :: d_step { bell == 0 && !is_empty -> rung = false }
        :: d_step { !is_disturbed -> is_disturbed = true; rung = false }
        fi;
        STORE(0, SLEEPERS, 0); /* wake_up(): hx_ring_rouse() */
        if
        :: rung -> take_replies()
        :: else
        fi
    od;
    assert(USED(own_head, START) == MESSAGES)
}

active [WORKERS] proctype worker()
{
    byte me = _pid - FIRST_WORKER + 1;

    ready;
end:
    do
    :: atomic { asked > 0 -> asked-- };
        LOCK(me, MUTEX); /* hx_dsp_channel_answer() */
        assert(!IS_FULL);
        push(me);
        UNLOCK(me, MUTEX);
        if
        :: memory[SLEEPERS] != 0 -> FENCE(me); bell = 1
        :: else
        fi
    od
}
#endif

#ifdef ROOT
/* --- the request ring of the root PD: thread 0 is the driver, 1 the root PD, which sleeps in poll() --- */

#define MESSAGES 5

active proctype driver()
{
    byte i;

    ready;
    for (i : 1 .. MESSAGES) {
        !IS_FULL;
#ifdef EARLY_BELL
        FENCE(0);
        bell++;
        push(0);
#else
        push(0);
        FENCE(0); /* write() */
        bell++;
#endif
    }
}

active proctype root_pd()
{
    byte index;
    bool got;

    ready;
    do
    :: USED(own_head, START) == MESSAGES -> break
    :: atomic { bell > 0 -> bell-- };
        pop(1, got, index);
        assert(got) /* otherwise the root PD gives up: "the bell rang for nothing" */
    od
}
#endif
