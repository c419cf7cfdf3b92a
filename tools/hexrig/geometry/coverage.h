/* How many states lie near a few that are kept. */
#ifndef HX_GEOMETRY_COVERAGE_H
#define HX_GEOMETRY_COVERAGE_H

#include "cli/gnuplot.h"
#include "space.h"

/* Percent; [0] by distance in whitened coordinates, [1] by the nearest kept point's own metric. */
struct hx_covered {
    double rest[2]; /* of the cloud's other points */
    double held[2]; /* of the states that are scored */
};

/* n_kept points, chosen `repeats` times by key; the mean.  The cloud's metric is there.  0, -ENOMEM, -ELIBACC, -EDOM. */
int hx_coverage(const struct hx_cloud *c, size_t n_kept, double eps, size_t repeats, uint64_t key, struct hx_covered *out,
                struct hx_error *err);

/* "no evidence" where both differ by less than 4 points. */
const char *hx_coverage_verdict(double states, double noise);

#endif
