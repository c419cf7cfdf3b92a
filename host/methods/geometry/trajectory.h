/* A geodesic that is kept, and what makes it serve its neighbours: a question x near its start q gets end + M (x - q), where M is what the
 * Jacobi propagator makes of a displacement of the start. */
#ifndef HX_TRAJECTORY_H
#define HX_TRAJECTORY_H

#include "jacobi.h"

enum { HX_TRAJECTORY_POINTS = 17 }; /* the start, and where each of 16 steps ends */

struct hx_trajectory {
    size_t n;
    double q[HX_METRIC_MOST], v[HX_METRIC_MOST], end[HX_METRIC_MOST];
    double way[HX_TRAJECTORY_POINTS][HX_METRIC_MOST];  /* at equal times */
    double correct[HX_METRIC_MOST * HX_METRIC_MOST];   /* M [n][n] */
    double g[HX_METRIC_MOST * HX_METRIC_MOST];         /* the metric at q */
    double drift;  /* of the squared speed on the way */
    double reach;  /* hx_jacobi_reach() */
};

/* Of the geodesic from x with velocity v, of steps (a multiple of 16) times step.  0; -ELIBACC; -EDOM: it left what numbers can say;
 * others of the field. */
int hx_trajectory_make(const struct hx_metric *m, const double *x, const double *v, double step, size_t steps, struct hx_trajectory *t,
                       struct hx_error *err);

/* One question x [n]: to [n].  Any thread. */
void hx_trajectory_correct(const struct hx_trajectory *t, const double *x, double *to);

/* Many at once: x and to are [n][many], a coordinate's values beside each other, and do not overlap.  The same
 * bits as one by one. */
void hx_trajectory_correct_all(const struct hx_trajectory *t, const double *x, size_t many, double *to);

/* How wrong corrections are `eps` away from q, in the direction [n], which is a unit: |corrected - true| over |true - end|.  0 or the
 * field's errno; *absolute, if given, is |corrected - true|. */
int hx_trajectory_error(const struct hx_metric *m, const struct hx_trajectory *t, double step, size_t steps, const double *direction,
                        double eps, double *relative, double *absolute, struct hx_error *err);

/* The correction as the best product of n x rank and rank x n: relative error in Frobenius' norm of M, and of M - 1 likewise.  0, -ELIBACC,
 * -EDOM. */
int hx_trajectory_rank_error(const struct hx_trajectory *t, size_t rank, double *of_m, double *of_change, struct hx_error *err);

#endif
