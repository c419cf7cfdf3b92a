/* How many dimensions a cloud of points has, by two estimates.  Each is bounded by how many points there are, so what it says of a cloud
 * says nothing before the same was asked of noise. */
#ifndef HX_DIMENSION_H
#define HX_DIMENSION_H

#include <stddef.h>

#include "base/error.h"

/* Principal components of points that have been centred, by falling variance: the first min(n - 1, d) of them.  x: [n][d].
 * shares: [min(n, d)] of the variance; axes: [min(n, d)][d] unit vectors, or NULL; mean: [d], or NULL.
 * 0, -ENOMEM, -ELIBACC, -EDOM. */
int hx_principal(const double *x, size_t n, size_t d, double *shares, double *axes, double *mean, struct hx_error *err);

/* The fewest components that hold `share` of the variance; at most n. */
size_t hx_fewest(const double *shares, size_t n, double share);

/* Variance of x [n][d] along a unit vector [d], as a multiple of the mean over all axes; 0 where there is none. */
double hx_variance_along(const double *x, size_t n, size_t d, const double *axis);

/* TwoNN: of the quotients of the distances to the second and the first neighbour, the slope through the origin of -ln(1 - F) over their
 * logarithm, without the largest tenth.  Source: Facco et al. 2017.  Points that are there twice count once.  x: [n][d].  0: fewer than
 * three different points, or all equally far. */
double hx_two_nn(const double *x, size_t n, size_t d, struct hx_error *err);

/* Of shares of the variance that layers hold [n_layer]: the first layer from which on none differs by more than 1e-3 from the last one's.
 * The published depth sink, in the only reading that always gives a layer. */
size_t hx_depth_sink(const double *held, size_t n_layer);

#endif
