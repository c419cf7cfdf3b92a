/* The client's threads on its virtual clock: each caller has a time of its own, which its calls move on.
 *
 * The rig does not see how the threads of a client wait for each other.  It takes them for one thread, whose calls follow each other,
 * as long as their calls do: a call begins when the last call of any such thread came back.  Two threads that have once had
 * calls in flight together are taken for independent of each other from then on: neither begins its calls after the other's.  So threads
 * that hand work over are added up, as a main thread and its workers are, and callers side by side are not.  A thread can also say that it
 * is independent (HX_IOCTL_OWN_CLOCK): then nothing depends on whether its calls really met others.
 *
 * Times are the session's, in ns. */
#ifndef HX_CALLERS_H
#define HX_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

enum { HX_CALLERS = 64 };

struct hx_caller {
    uint32_t thread;    /* its number, as the front end knows it */
    bool independent;
    unsigned in_flight; /* calls; more than one when threads share this entry */
    uint64_t now_ns;    /* when its last call came back */
    uint64_t beside;    /* bit i: independent of caller i */
};

struct hx_callers { /* zeroed: none */
    struct hx_caller at[HX_CALLERS];
    unsigned n;
    uint64_t floor_ns; /* nothing begins before this */
};

/* A call of `thread` goes out: *start_ns is when its client made it.  Returns the caller's index, for the two below. */
unsigned hx_callers_begin(struct hx_callers *c, uint32_t thread, uint64_t *start_ns);

/* A caller's clock goes on to now_ns. */
void hx_callers_reach(struct hx_callers *c, unsigned i, uint64_t now_ns);

/* Its call is answered. */
void hx_callers_end(struct hx_callers *c, unsigned i);

/* `thread` is independent of the session's other threads from now, the latest time of all, on. */
void hx_callers_own_clock(struct hx_callers *c, uint32_t thread);

/* The latest time of all: the session's wall clock. */
uint64_t hx_callers_latest(const struct hx_callers *c);

/* All go on to now_ns. */
void hx_callers_reach_all(struct hx_callers *c, uint64_t now_ns);

#endif
