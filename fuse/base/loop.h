/* The driver's event loop: one thread at a time, descriptors and deadlines.  Everything in fuse/ runs in it, so nothing in fuse/
 * needs a lock. */
#ifndef HX_LOOP_H
#define HX_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "hx_ring.h"

typedef void (*hx_loop_fn)(void *arg);

struct hx_watch { /* owned by whoever adds it; must not move while it is added */
    int fd;
    hx_loop_fn ready; /* fd is readable, or its other end is gone */
    void *arg;
};

/* A ring, and the eventfd that its producer rings while we sleep; owned likewise. */
struct hx_ring_watch {
    struct hx_watch bell; /* ready: there are entries */
    struct hx_ring_shared *ring;
    const unsigned *expected; /* entries to come; while it is 0 nobody looks into the ring */
    struct hx_ring_watch *next;
};

struct hx_timer { /* owned by whoever arms it; zeroed = not armed */
    uint64_t at_us; /* monotonic; 0 = not armed */
    hx_loop_fn fn;
    void *arg;
    struct hx_timer *next;
};

/* Looking for the next event before going to sleep.  A processor that idles takes long to wake, and most of a call in a series of calls
 * would be that.  It is done less and less often while nothing comes of it, as when clients and driver share a core. */
struct hx_loop_poll {
    bool due;        /* a call is under way, or its answer has just come: the next may be near */
    unsigned misses; /* in a row, polls that found nothing */
    unsigned rest;   /* how many sleeps more begin without one */
};

struct hx_loop {
    int epoll;
    int stop;      /* hx_loop_run() returns when set */
    bool has_work; /* set by whoever goes on in the next round, which then does not wait for an event */
    hx_loop_fn tick; /* called after every round and at least every tick_ms */
    void *tick_arg;
    int tick_ms;
    struct hx_watch timer_watch;
    struct hx_timer *timers; /* ascending */
    struct hx_timer tick_timer;
    struct hx_ring_watch *rings;
    struct hx_ring_watch *next_ring; /* of the pass over them that is under way */
    struct hx_loop_poll poll;
};

/* All return 0 or negative errno. */
int hx_loop_init(struct hx_loop *l);
int hx_loop_add(struct hx_loop *l, struct hx_watch *w);
/* Looks into the ring once a round, and marks in it when we sleep, so that the bell rings.  Ends with hx_loop_del(&w->bell). */
int hx_loop_add_ring(struct hx_loop *l, struct hx_ring_watch *w);
/* May be called again by another thread when the one inside hangs in a callback (client_watchdog.h). */
int hx_loop_run(struct hx_loop *l);

/* Closes what hx_loop_init() opened; accepts a zeroed loop. */
void hx_loop_close(struct hx_loop *l);

/* Safe from inside any callback, also for the watch that is being served.  No effect when it is not added. */
void hx_loop_del(struct hx_loop *l, struct hx_watch *w);

/* What to wait for: something to read, room to write.  That the other side has gone is reported in any case. */
int hx_loop_want(struct hx_loop *l, struct hx_watch *w, bool in, bool out);

/* Calls fn(arg) once, `us` from now.  t must not be armed. */
void hx_loop_after(struct hx_loop *l, struct hx_timer *t, uint64_t us, hx_loop_fn fn, void *arg);

/* Disarms; no effect when t is not armed. */
void hx_loop_cancel(struct hx_loop *l, struct hx_timer *t);

uint64_t hx_now_ms(void); /* monotonic */

#endif
