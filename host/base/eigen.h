/* Eigenvectors of symmetric matrices by LAPACK (package liblapacke), which is loaded at the first call: OpenBLAS starts
 * threads when it is loaded, and only few commands need it. */
#ifndef HX_EIGEN_H
#define HX_EIGEN_H

#include <stddef.h>

#include "error.h"

/* a: [n][n], symmetric; becomes the eigenvectors, one per row, by falling eigenvalue; the first entry of each whose
 * absolute value exceeds 1e-12 is positive.  values: [n].  One thread.  0, -ELIBACC (no LAPACK), -EDOM (it did not converge, or a is
 * not finite). */
int hx_eigen_symmetric(double *a, size_t n, double *values, struct hx_error *err);

#endif
