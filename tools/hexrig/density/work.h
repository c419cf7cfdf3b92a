/* The work of a sweep, in a process of its own for each case: it has the case's rig, and goes with all it holds when it is interrupted.
 * Rows come back one by one as lines of JSON:
 *     {"row": {...}, "basis": "klt", "n_layer": 36, "front_end": "fuse", "profile": "s22u-577", "uncosted": [...],
 *      "point": 3, "seconds": 0.2}
 * `uncosted` only if the cost model could not cost all of it; `seconds` passed here.  Of a row that could not be measured it is
 *     {"failed": "why", "point": 3, "seconds": 0.2} */
#ifndef HX_DENSITY_WORK_H
#define HX_DENSITY_WORK_H

#include <stdio.h>
#include <sys/types.h>

#include "sweep.h"

/* What a child returns, without a message, that could not hand on a line. */
enum { HX_DENSITY_WORK_LOST = 64 };

struct hx_density_work {
    pid_t pid;
    FILE *lines; /* from the child */
};

/* Who else measures points of this sweep: `claim` is asked in the child in front of each.  1: it is this process's; 0: another one's. */
struct hx_density_claims {
    int (*claim)(void *arg, size_t point);
    void *arg;
};

/* Measures those points of a case for which `wanted` (by index, [hx_sweep_points()]) is 1, and that can be claimed (NULL: all).
 * 0 or negative errno. */
int hx_density_work_begin(struct hx_density_work *w, struct hx_sweep *s, size_t at, const char *wanted,
                          const struct hx_density_claims *claims);

/* The next line, which the caller releases; NULL: there are no more.  0 or negative errno, -EINTR for a signal. */
int hx_density_work_next(struct hx_density_work *w, json_t **line);

/* stop 1: ends the child now.  Returns its enum hx_exit, and it has printed why; HX_DENSITY_WORK_LOST; or minus the signal that ended
 * it. */
int hx_density_work_end(struct hx_density_work *w, int stop);

#endif
