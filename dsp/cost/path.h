/* A path that lines take one after the other, in virtual time: how much of each stretch of time is taken already.
 *
 * Whoever asks later, in real time, for an earlier moment still finds what was free then; so threads need not ask in the order of
 * their clocks, and only those that want the same stretch wait for each other. */
#ifndef HX_COST_PATH_H
#define HX_COST_PATH_H

#include <stddef.h>
#include <stdint.h>

struct hx_path {
    uint32_t *taken;  /* [stretches] of each, in 1/256 pcycle: sums do not depend on their order; NULL before the first question */
    size_t stretches; /* that there is memory for */
    size_t used;      /* up to the last one that was taken of */
};

/* Nothing is taken any more.  Also makes a zeroed struct ready. */
void hx_path_clear(struct hx_path *p);

/* Takes `pcycles` of the path from `at` on (pcycles since the clear).  Returns when they have gone by: at + pcycles, or later.  Without
 * memory for the table nobody waits. */
double hx_path_take(struct hx_path *p, double at, double pcycles);

/* Frees the memory; the struct can still be used. */
void hx_path_free(struct hx_path *p);

#endif
