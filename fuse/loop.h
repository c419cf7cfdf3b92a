/* The driver's event loop: one thread, descriptors and deadlines.  Everything in fuse/ runs in it, so nothing in fuse/
 * needs a lock. */
#ifndef HX_LOOP_H
#define HX_LOOP_H

#include <stdint.h>

typedef void (*hx_loop_fn)(void *arg);

struct hx_watch { /* owned by whoever watches; must stay put while it is added */
    int fd;
    hx_loop_fn ready; /* fd is readable, or its other end is gone */
    void *arg;
};

struct hx_loop {
    int epoll;
    int stop;      /* hx_loop_run() returns when set */
    hx_loop_fn tick; /* called after every round and at least every tick_ms */
    void *tick_arg;
    int tick_ms;
};

/* All return 0 or negative errno. */
int hx_loop_init(struct hx_loop *l);
int hx_loop_add(struct hx_loop *l, struct hx_watch *w);
int hx_loop_run(struct hx_loop *l);

/* Safe from inside any callback, also for the watch that is being served.  No effect when it is not added. */
void hx_loop_del(struct hx_loop *l, struct hx_watch *w);

/* Also waits for room to write (1) or no longer (0). */
int hx_loop_want_write(struct hx_loop *l, struct hx_watch *w, int on);

uint64_t hx_now_ms(void); /* monotonic */

#endif
