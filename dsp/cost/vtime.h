/* Virtual time of DSP threads, in pcycles.
 *
 * Every thread has a clock of its own.  It moves when the thread's code is charged (cost.h) and when the thread waits for
 * something whose time is known: another thread's release of a lock, the end of a DMA transfer, a timer.  Real time plays
 * no part: the threads of a call meet in the order of their clocks (turns.h).
 *
 * Synchronisation objects keep the time of their last release; whoever acquires them calls hx_vt_reach() with it, all of it
 * in an operation, whose turn it is when no other thread of the call is behind:
 *
 *     hx_vt_order_begin();  ... lock, unlock, wake, or wait between hx_turns_block() and being woken ...  hx_vt_order_end();
 *
 * All functions concern the calling thread.  Between operations those that charge code (hx_vt_spend(), and whatever asks for the
 * time where HVX operations are not charged yet) may wait for the thread's turn: no lock may be held that another thread of the
 * call could need. */
#ifndef HX_VTIME_H
#define HX_VTIME_H

#include <stdint.h>

/* What a thread's time went to.  The first two are exec, the others waiting. */
enum hx_vt_kind {
    HX_VT_CODE,  /* packets */
    HX_VT_STALL, /* packets that wait for memory */
    HX_VT_SYNC,  /* mutexes, barriers, signals, joins between threads */
    HX_VT_DMA,   /* dmwait */
    HX_VT_SLEEP, /* timers */
    HX_VT_HVX,   /* no free HVX context: reported as `queue` */
    HX_VT_VTCM,  /* no free VTCM: reported as `queue` */
    HX_VT_KINDS
};

/* A call begins on this thread.  now_ns: virtual time of its arrival; clock_khz: the core's clock; 0 for the profile's.
 * The pcycle counter goes on where the machine's last call ended. */
void hx_vt_call_begin(uint64_t now_ns, uint32_t clock_khz);

/* The same for what comes without the driver: no earlier than this PD's last call has ended and than the thread has seen it to be, at
 * the clock of that call.  apart: 1 for as much later as calls of the driver's are at least, so that the threads that the last call has
 * left behind are there. */
void hx_vt_call_begin_next(int apart);

/* The call that has just begun on this thread is traced under `key` (trace.h). */
void hx_vt_trace(uint64_t key);

/* Somebody is about to learn what the call has done so far: calls that begin from here on begin after it. */
void hx_vt_call_tell(void);

/* The call is over; tells the machine. */
void hx_vt_call_end(void);

/* The thread no longer works for the call that it was started or woken in. */
void hx_vt_call_leave(void);

/* A thread that a skel started begins at pcycle `start`, as part of its creator's call. */
struct hx_vt_origin {
    uint64_t start_pcycles; /* of the new thread */
    uint64_t call_pcycles;  /* when the call began */
    uint64_t call_ns;
    uint32_t clock_khz;
    uint64_t trace_key; /* 0: the call is not traced */
    uint64_t party;     /* turns.h; 0: of no call */
    double queue;       /* pcycles of `queue` that have led to start_pcycles */
    uint64_t call;      /* hx_shared_call() */
};
struct hx_vt_origin hx_vt_origin(void);

/* Sets only the thread's clock; hx_vt_thread_begin() and hx_vt_call_begin() also start whatever else goes with a call.  Neither
 * this nor hx_vt_thread_begin() makes the thread a member of the party. */
void hx_vt_clock_start(const struct hx_vt_origin *o);
void hx_vt_thread_begin(const struct hx_vt_origin *o);

/* The thread is between two packets that it reads by itself (queue_cost.h): what it does until its next call begins is nobody's, and how
 * much that is depends on the host.  For others its clock stands still where its last call has ended; what its skel reads goes on. */
void hx_vt_off_duty(void);
int hx_vt_is_off_duty(void);

/* The thread's pcycle counter; the same as the thread's skel reads it, and its virtual time in ns. */
uint64_t hx_vt_now(void);
uint64_t hx_vt_seen(void);
uint64_t hx_vt_seen_ns(void);
/* Packets that the thread has been charged since its call began. */
uint64_t hx_vt_packets(void);
/* The clock of the core during the thread's call. */
uint32_t hx_vt_clock_khz(void);

/* The thread's clock divided by the profile's top one.  Memory does not slow down with the core, so what it takes in pcycles
 * shrinks with the clock. */
double hx_vt_clock_ratio(void);

/* Pcycles that take `ns` at the thread's clock. */
uint64_t hx_vt_pcycles_of_ns(uint64_t ns);

/* Moves the thread on by `pcycles` (fractions add up).  Code and stalls take longer than that where more threads of the call run
 * than the core has room for: `hw_threads` of the profile share the core's hardware threads, and code of more than
 * `issue_threads` its issue slots.  Threads that share advance alike. */
void hx_vt_spend(enum hx_vt_kind kind, double pcycles);

/* The thread enters a function with a listing (`name`, for traces); NULL: it leaves the last one. */
void hx_vt_scope(const char *name);

/* Moves the thread on to pcycle `t`; nothing happens when it is there already. */
void hx_vt_reach(enum hx_vt_kind kind, uint64_t t);

/* The thread was woken by one that `queue` pcycles of waiting have led to its time. */
void hx_vt_woken(double queue);

/* An operation that the other threads of the call can notice, see turns.h.  In it the clock only moves by what its thread waits
 * or is charged, and no turn is waited for. */
void hx_vt_order_begin(void);
void hx_vt_order_end(void);

/* The thread is about to touch caches or other state of the model that the threads of its call share. */
void hx_vt_share(void);

/* What the call on this thread has spent so far. */
struct hx_vtime {
    uint64_t exec_pcycles;  /* everything but queue */
    uint64_t idle_pcycles;  /* of these, asleep or waiting for DMA: the core does nothing */
    uint64_t queue_pcycles; /* HX_VT_HVX + HX_VT_VTCM of this thread, or of those that it had to wait for */
    uint64_t hvx_ops;       /* of this thread, and those added by hx_vt_add_hvx_ops() */
};
struct hx_vtime hx_vtime_spent(void);

/* Other threads made these HVX operations for the call on this one. */
void hx_vt_add_hvx_ops(uint64_t n);

#endif
