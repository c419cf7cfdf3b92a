/* The orthogonal map that takes one set of states to another: min over R^T R = I of sum |R x_i - y_i|^2.
 * Source: Schonemann 1966: R = U V^T of the singular value decomposition of sum y_i x_i^T. */
#ifndef HX_UGT_PROCRUSTES_H
#define HX_UGT_PROCRUSTES_H

#include <stddef.h>

#include "base/error.h"

/* x, y [n][d]: states of the same tokens in two models.  r [d][d]: y about R x, row i of r makes y[i].  *residual: what is left of y,
 * sqrt(sum |R x - y|^2 / sum |y|^2).  Where the states do not reach into all d directions R is still orthogonal, but says nothing
 * about the others.  0, -ELIBACC, -ENOMEM, -EDOM. */
int hx_procrustes(double *r, const double *x, const double *y, size_t n, size_t d, double *residual, struct hx_error *err);

#endif
