/* One direction of a dspqueue: packets, and how both ends sleep and wake each other: rpc/queue/hx_pktq.c, rpc/queue/hx_dspq_wait.c.
 * Run by tests/cases/model_check.sh; docs/testing.md says what comes out.
 *
 * WRITERS threads write (hx_dspq_write()) and READERS read (hx_dspq_read()) PACKETS packets through SLOTS slots, without a limit of time;
 * when all are read, both ends are ended (hx_dspq_end()).  spin's -D sets these numbers, and:
 *   CALLBACK       the reader is the thread of packet callbacks (hx_dspq_wait_packets(), run_callbacks() of dsp/queue/dspqueue.c)
 *   SIGNALS        a client without doorbells: wake_peer() looks at wait_count and asks the other end's service to ring
 *   END_ANY_TIME   the ends may be ended at any time
 *
 * What stands for what:
 *   memory[W_POS], memory[W_COUNT], memory[R_POS], memory[R_COUNT]   position and packet_count of struct dspqueue_packet_queue_state,
 *                               of the writer and the reader; positions count packets, of one size here
 *   memory[W_LOCK], memory[R_LOCK]   write_lock and read_lock of struct hx_dspq
 *   w_pos, r_pos, w_count, r_count   pos and count of struct hx_pktq; r_pos_seen: its r_pos
 *   rings[b], sleepers[b], wait_count[b]   of struct hx_bell, and the published count that goes with it
 *   asleep[i]                   thread i is in the kernel's queue of the futex rings[asleep[i] - 1]
 *
 * Properties: every packet is read once, in order, with its content; nobody sleeps for ever while there is a packet to read, room to
 * write, or the end (the search finds states that nothing leaves).  The 500 ms after which the C looks again are left out, and so is
 * the polling before a sleep, which only makes it rarer.
 *
 * Faults, one at a time, each of which the search has to find:
 *   NO_FENCE      publish() stores the count with release only
 *   NO_RECHECK    sleep_on() does not look once more
 *   LATE_SEEN     sleep_on() reads the bell after it looked
 *   COUNT_FIRST   CALLBACK: publish() stores the count before the position
 *   NO_RELEASE    the position may be seen before the packet */
#ifndef SLOTS
#define SLOTS 3 /* one stays empty */
#endif
#ifndef PACKETS
#define PACKETS 4
#endif
#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef READERS
#define READERS 1
#endif

#define W_POS 0
#define W_COUNT 1
#define R_POS 2
#define R_COUNT 3
#define W_LOCK 4
#define R_LOCK 5
#define SLOT 6
#define VARIABLES (SLOT + SLOTS)
#define THREADS (WRITERS + READERS)
#define DEPTH 4
#include "store_buffer.pml"

#define PACKET 0 /* bells */
#define SPACE 1

byte w_pos, w_count, r_pos_seen;
byte r_pos, r_count;
byte rings[2], sleepers[2], wait_count[2], asleep[THREADS];
bool signalled[2];
bool ended;

#ifdef SIGNALS /* processes start in the order of this file: store buffers, services, writers, readers */
#define FIRST_WRITER (THREADS + 2)
#else
#define FIRST_WRITER THREADS
#endif

/* --- bells --- */

inline ring(bell)
{
    rings[bell]++;
    d_step {
        for (i : 0 .. THREADS - 1) {
            if
            :: asleep[i] == bell + 1 -> asleep[i] = 0
            :: else
            fi
        }
        i = 0
    }
}

inline wake_peer(bell)
{
    if
#ifdef SIGNALS
    :: wait_count[bell] != 0 -> signalled[bell] = true
#else
    :: sleepers[bell] != 0 -> FENCE(me); ring(bell)
#endif
    :: else
    fi
}

#ifdef SIGNALS
/* The other end's thread in the service: hx_dspq_poke(). */
active [2] proctype service()
{
    byte i, which = _pid - THREADS;

end:
    do
    :: atomic { signalled[which] -> signalled[which] = false };
        ring(PACKET);
        ring(SPACE)
    od
}
#endif

/* --- fulfilled() --- */

#define HAS_PACKET (memory[W_POS] != r_pos)
#define HAS_ROOM(r) ((w_pos + 1) % SLOTS != r)

inline find_room() /* find_room_now(): what was seen last, else what is there now */
{
    yes = HAS_ROOM(r_pos_seen);
    if
    :: !yes -> r_pos_seen = memory[R_POS]; yes = HAS_ROOM(r_pos_seen)
    :: else
    fi
}

inline may_write()
{
    LOCK(me, W_LOCK);
    find_room();
    UNLOCK(me, W_LOCK)
}

inline may_read()
{
    LOCK(me, R_LOCK);
    yes = HAS_PACKET;
    UNLOCK(me, R_LOCK)
}

/* --- sleep_on() --- */

inline say_asleep(bell)
{
    FENCE(me);
    wait_count[bell]++;
    sleepers[bell]++;
#ifndef LATE_SEEN
    seen = rings[bell];
#endif
    yes = ended
}

inline sleep(bell) /* unless fulfilled() */
{
#ifdef NO_RECHECK
    yes = false;
#endif
#ifdef LATE_SEEN
    seen = rings[bell];
#endif
    if
    :: !yes ->
        d_step { /* FUTEX_WAIT: the kernel compares and queues in one step */
            if
            :: rings[bell] == seen -> asleep[me] = bell + 1
            :: else
            fi
        }
        asleep[me] == 0
    :: else
    fi;
    FENCE(me);
    sleepers[bell]--;
    wait_count[bell]--;
    seen = 0
}

/* --- publish() --- */

inline publish(pos_variable, pos, count_variable, count)
{
#ifdef COUNT_FIRST
    STORE(me, count_variable, count);
    STORE(me, pos_variable, pos);
#else
    STORE(me, pos_variable, pos);
    STORE(me, count_variable, count);
#endif
#ifndef NO_FENCE
    FENCE(me)
#else
    skip
#endif
}

/* --- hx_dspq_write() --- */

#define CONTENT(count) (count + 16)

inline put()
{
    byte at;

    at = w_pos;
    w_pos = (w_pos + 1) % SLOTS;
    w_count++;
#ifdef NO_RELEASE
    publish(W_POS, w_pos, W_COUNT, w_count);
    STORE(me, SLOT + at, CONTENT(w_count))
#else
    STORE(me, SLOT + at, CONTENT(w_count));
    publish(W_POS, w_pos, W_COUNT, w_count)
#endif
    ;
    at = 0
}

active [WRITERS] proctype writer()
{
    byte me = _pid - FIRST_WRITER, seen, i, written;
    bool yes;

    do
    :: written == PACKETS / WRITERS || ended -> break
    :: else ->
        LOCK(me, W_LOCK); /* write_now() */
        find_room();
        if
        :: yes -> put(); wake_peer(PACKET); written++
        :: else
        fi;
        UNLOCK(me, W_LOCK);
        if
        :: !yes ->
            say_asleep(SPACE);
            if
            :: !yes -> may_write()
            :: else
            fi;
            sleep(SPACE)
        :: else
        fi
    od
}

/* --- hx_dspq_read() --- */

inline read_now() /* yes: there was a packet */
{
    LOCK(me, R_LOCK);
    yes = HAS_PACKET;
    if
    :: yes ->
        assert(memory[SLOT + r_pos] == CONTENT(r_count + 1));
        r_pos = (r_pos + 1) % SLOTS;
        r_count++;
        publish(R_POS, r_pos, R_COUNT, r_count);
        wake_peer(SPACE)
    :: else
    fi;
    UNLOCK(me, R_LOCK)
}

active [READERS] proctype reader()
{
    byte me = _pid - FIRST_WRITER, seen, i;
    bool yes;
#ifdef CALLBACK
    byte count; /* seen of struct hx_wish */

    do
    :: ended -> break
    :: else ->
        if
        :: memory[W_COUNT] != count ->
            count = memory[W_COUNT];
            do /* the callback reads all that there is */
            :: read_now();
                if
                :: yes
                :: else -> break
                fi
            od
        :: else ->
            say_asleep(PACKET);
            yes = yes || memory[W_COUNT] != count;
            sleep(PACKET)
        fi
    od
#else
    do
    :: read_now();
        if
        :: yes
        :: !yes && ended -> break
        :: else ->
            say_asleep(PACKET);
            if
            :: !yes -> may_read()
            :: else
            fi;
            sleep(PACKET)
        fi
    od
#endif
}

/* --- hx_dspq_end(), of both ends --- */

active proctype ender()
{
    byte i;

#ifndef END_ANY_TIME
    r_count == PACKETS;
#endif
    ended = true;
    ring(PACKET);
    ring(SPACE)
}
