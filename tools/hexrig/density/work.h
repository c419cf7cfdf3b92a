/* The work of a sweep, in a process of its own for each case: it has the case's rig, and goes with all it holds when it is interrupted.
 * Rows come back one by one as lines of JSON:
 *     {"row": {...}, "basis": "klt", "n_layer": 36, "front_end": "fuse", "profile": "s22u-577"}
 * and behind a case's last one, if its cost model could not cost all of it: {"uncosted": [...]}. */
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

/* Measures those points of a case for which `wanted` (by index, [hx_sweep_points()]) is 1.  0 or negative errno. */
int hx_density_work_begin(struct hx_density_work *w, struct hx_sweep *s, size_t at, const char *wanted);

/* The next line, which the caller releases; NULL: there are no more.  0 or negative errno, -EINTR for a signal. */
int hx_density_work_next(struct hx_density_work *w, json_t **line);

/* stop 1: ends the child now.  Returns its enum hx_exit, and it has printed why; HX_DENSITY_WORK_LOST; or minus the signal that ended
 * it. */
int hx_density_work_end(struct hx_density_work *w, int stop);

#endif
