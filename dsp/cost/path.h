/* A path that lines take one after the other, in virtual time: how much of each stretch of time is taken already.
 *
 * Whoever asks later, in real time, for an earlier moment still finds what was free then; so threads need not ask in the order of
 * their clocks, and only those that want the same stretch wait for each other. */
#ifndef HX_COST_PATH_H
#define HX_COST_PATH_H

#include <stddef.h>
#include <stdint.h>

struct hx_stretch {
    uint32_t taken; /* in 1/256 pcycle: sums do not depend on their order */
    uint32_t users; /* that took some of it by hx_path_pace() */
};

struct hx_path {
    struct hx_stretch *of; /* [stretches]; NULL before the first question */
    size_t stretches;      /* that there is memory for */
    size_t used;           /* up to the last one that was taken of */
};

/* One of those who share a path evenly; zeroed: has taken nothing. */
struct hx_path_user {
    uint64_t stretch; /* 1 + the one that it took of last */
    uint32_t now, before[2]; /* what it took of that one, of the one before, and of the one before that */
};

/* Nothing is taken any more.  Also makes a zeroed struct ready. */
void hx_path_clear(struct hx_path *p);

/* Takes `pcycles` of the path from `at` on (pcycles since the clear).  Returns when they have gone by: at + pcycles, or later.  Without
 * memory for the table nobody waits. */
double hx_path_take(struct hx_path *p, double at, double pcycles);

/* Takes `pcycles` from `at` on for a user that gets its share of what is busy: an even one, or what the others left in the two
 * stretches before, for some of them may not have come to the end of the last one yet.  No more than `most` users, at least 1, come
 * at a time: others that take of the same stretch do so in its place, by another clock.  Returns how far apart the user's takes have to
 * be in the long run, `pcycles` or more. */
double hx_path_pace(struct hx_path *p, struct hx_path_user *u, double at, double pcycles, unsigned most);

/* Frees the memory; the struct can still be used. */
void hx_path_free(struct hx_path *p);

#endif
