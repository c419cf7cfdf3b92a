/* A sweep at work: lines of points, in whatever order they come, become rows in the order of points. */
#ifndef HX_DENSITY_RUN_H
#define HX_DENSITY_RUN_H

#include "bar.h"
#include "budget/gate.h"
#include "launcher.h"
#include "resume.h"
#include "rows.h"

struct hx_density_run {
    struct hx_sweep s;
    struct hx_gate gate;
    const char *plot, *resume; /* paths; NULL: not asked for */
    int csv;
    struct hx_launcher l;
    size_t part, parts; /* parts 0: all of it */
    int slurm;          /* which word asks for a script; 0: none does */

    struct hx_resume kept;
    struct hx_bar bar;
    json_t **line;   /* [points]: NULL: not there yet */
    size_t points, printed, there; /* printed: points in front of this one are */
    json_t *rows, *first, *uncosted; /* uncosted: [cases], of each an array */
    json_t *failures; /* {"reason": ["batched@5000", ...]}, of rows that could not be measured */
};

/* Opens the file of --resume and prints what is known from there.  Returns an enum hx_exit after a message. */
int hx_run_begin(struct hx_density_run *d);

/* Which points are to be measured, [points]; the caller frees.  NULL: out of memory. */
char *hx_run_wanted(const struct hx_density_run *d);

/* A point's line, borrowed: kept, and printed when all points in front of it are.  Returns an enum hx_exit after a message. */
int hx_run_take(struct hx_density_run *d, size_t point, json_t *line);

/* What comes behind the last row, also when it was not the last that was asked for; rc: what the sweep has come to, not 0: nothing more is
 * told, rows that failed before are measured again.  Returns what the command does: rc, an enum hx_exit after a message, or 128 + the
 * signal. */
int hx_run_finish(struct hx_density_run *d, int rc);

void hx_run_free(struct hx_density_run *d);

#endif
