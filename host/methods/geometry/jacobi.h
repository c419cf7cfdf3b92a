/* Jacobi propagators: what becomes of a small displacement, and of a small change of direction, along a geodesic. */
#ifndef HX_JACOBI_H
#define HX_JACOBI_H

#include "geodesic.h"

enum { HX_JACOBI_MOST = 2 * HX_METRIC_MOST };

/* A geodesic's propagator. */
struct hx_jacobi {
    size_t n;
    double phi[HX_JACOBI_MOST * HX_JACOBI_MOST]; /* [2n][2n] of [J, J'], in the frame that is carried along */
    struct hx_geodesic start, end;               /* with frames */
    double speed2;                               /* g(v, v) at the start */
    double drift;                                /* of hx_geodesic_run() */
    double most_k;                               /* the largest eigenvalue of K on the way, over g(v, v): of sectional curvatures along v */
};

/* Phi = product of E = I + hA + h^2 A^2 / 2 + h^3 A^3 / 6 with A = [[0, I], [-K, 0]] at the middle of each step (Magnus 1954, to third
 * order).  0; -ELIBACC; -EDOM; others of the field. */
int hx_jacobi_run(const struct hx_metric *m, const double *x, const double *v, double step, size_t steps, struct hx_jacobi *out,
                  struct hx_error *err);

/* The same step by step: where it starts, with Phi = 1, and one step more. */
int hx_jacobi_start(const struct hx_metric *m, const double *x, const double *v, struct hx_jacobi *out, struct hx_error *err);
int hx_jacobi_step(const struct hx_metric *m, double step, struct hx_jacobi *j, struct hx_error *err);

/* to [n][n]: by what a displacement of the start, in coordinates, has to be multiplied for that of the end, where the velocity keeps its
 * coordinates.  0 or the field's errno. */
int hx_jacobi_of_start(const struct hx_metric *m, const struct hx_jacobi *j, double *to, struct hx_error *err);

/* How far the end may be from conjugate points, in lengths of the metric: pi over the root of the largest curvature that was met;
 * INFINITY where none is positive. */
double hx_jacobi_reach(const struct hx_jacobi *j);

#endif
