/* Geodesics of a metric field, and what is carried along them: x'' = -Gamma(x', x'), e' = -Gamma(x', e). */
#ifndef HX_GEODESIC_H
#define HX_GEODESIC_H

#include "metric.h"

/* A point of a geodesic, its velocity, and vectors that are carried along (parallel transport). */
struct hx_geodesic {
    double x[HX_METRIC_MOST], v[HX_METRIC_MOST];
    double frame[HX_METRIC_MOST][HX_METRIC_MOST]; /* [carried][n] */
    size_t carried;                               /* 0..HX_METRIC_MOST */
};

/* One step of Runge and Kutta's fourth-order method.  0 or the field's errno. */
int hx_geodesic_step(const struct hx_metric *m, struct hx_geodesic *s, double step, struct hx_error *err);

/* `steps` of them; path [steps + 1][n], the first is where it starts; NULL: only the end is wanted.  *drift, if given, becomes the largest
 * |g(v, v) / g(v, v at the start) - 1|, which an exact geodesic does not have.  0 or the field's errno. */
int hx_geodesic_run(const struct hx_metric *m, struct hx_geodesic *s, double step, size_t steps, double *path, double *drift,
                    struct hx_error *err);

/* An orthonormal frame at s->x, carried from there on; Gram and Schmidt's, of the axes.  0, -EDOM (g is not positive definite). */
int hx_geodesic_frame(const struct hx_metric *m, struct hx_geodesic *s, struct hx_error *err);

/* A velocity with which the geodesic from x comes near `to` after the time `length`: the straight line's, and half of what Gamma takes
 * from it on the way (published as v0 prior).  0 or the field's errno. */
int hx_geodesic_aim(const struct hx_metric *m, const double *x, const double *to, double length, double *v, struct hx_error *err);

#endif
