/* The file of --resume: each row of a sweep as it is done, so that an interrupted sweep goes on where it was.
 *
 * Lines of JSON: {"hexrig_density": 1, "sweep": {...}}, where `sweep` says all that rows depend on, then for each row
 * {"key": {...}, "line": {...}}: what is swept, density and position; and the line of work.h.  A last line without its end was not
 * written to the end, and is cut off. */
#ifndef HX_DENSITY_RESUME_H
#define HX_DENSITY_RESUME_H

#include "sweep.h"

enum { HX_RESUME_VERSION = 1 };

struct hx_resume {
    int fd;      /* -1: there is no file */
    json_t *old; /* "key" as text -> line, of rows that were there */
};

/* path NULL: nothing is kept.  Returns an enum hx_exit after a message: a file of another sweep, or none, with the line. */
int hx_resume_open(struct hx_resume *r, const struct hx_sweep *s, const char *path);

/* The line of a point that is there, borrowed; NULL: it is not. */
json_t *hx_resume_find(const struct hx_resume *r, const struct hx_sweep *s, const struct hx_sweep_point *p);

/* Adds a point's line.  Returns an enum hx_exit after a message. */
int hx_resume_add(const struct hx_resume *r, const struct hx_sweep *s, const struct hx_sweep_point *p, json_t *line);

void hx_resume_close(struct hx_resume *r);

#endif
