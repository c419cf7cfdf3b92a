/* Measures points of a sweep, a process for each case (work.h), and hands on each line as it comes. */
#ifndef HX_DENSITY_MEASURE_H
#define HX_DENSITY_MEASURE_H

#include "work.h"

struct hx_measure {
    struct hx_sweep *s;
    const char *wanted;                    /* [hx_sweep_points()]: 1: it has to be measured, unless `claims` says that another one does */
    const struct hx_density_claims *claims; /* NULL: all that are wanted */
    /* A point's line, borrowed.  Returns an enum hx_exit after a message. */
    int (*take)(void *arg, size_t point, json_t *line);
    void *arg;
};

/* Until all is measured, or a signal comes (stop.h), which is no error.  Returns an enum hx_exit after a message. */
int hx_measure(const struct hx_measure *m);

#endif
