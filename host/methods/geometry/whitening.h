/* Few coordinates of states: their first principal components, each divided by its standard deviation, so that in them a cloud has the
 * covariance 1 (Mahalanobis distances are plain ones there). */
#ifndef HX_WHITENING_H
#define HX_WHITENING_H

#include <stddef.h>

#include "base/error.h"

struct hx_whitening {
    size_t n, width;
    double *mean;      /* [width] */
    double *axes;      /* [n][width] orthonormal */
    double *deviation; /* [n], falling */
    double held;       /* share of the states' variance along these axes */
};

/* Of states [points][width], n <= width.  0; -EINVAL: the states have fewer than n dimensions, said with how many they have; -ENOMEM;
 * -ELIBACC; -EDOM.  In any case to be freed. */
int hx_whitening_fit(struct hx_whitening *w, const float *states, size_t points, size_t width, size_t n, struct hx_error *err);
void hx_whitening_free(struct hx_whitening *w);

/* x [points][n] of states [points][width]. */
void hx_whitening_place(const struct hx_whitening *w, const float *states, size_t points, double *x);

/* Moves a state [width] as far as dx [n] says; what the axes do not hold of it stays. */
void hx_whitening_move(const struct hx_whitening *w, const double *dx, float *state);

#endif
