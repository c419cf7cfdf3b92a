/* Eigenvectors of symmetric matrices by LAPACK (blas.h). */
#ifndef HX_EIGEN_H
#define HX_EIGEN_H

#include <stddef.h>

#include "error.h"

/* a: [n][n], symmetric; becomes the eigenvectors, one per row, by falling eigenvalue; the first entry of each whose
 * absolute value exceeds 1e-12 is positive.  values: [n].  One thread.  0, -ELIBACC (no LAPACK), -EDOM (it did not converge, or a is
 * not finite). */
int hx_eigen_symmetric(double *a, size_t n, double *values, struct hx_error *err);

/* The eigenvalues alone, falling; a is lost. */
int hx_eigen_values(double *a, size_t n, double *values, struct hx_error *err);

/* A symmetric matrix of n rows that need not exist as one: out [m][n] = A times each of the vectors in [m][n]. */
struct hx_eigen_op {
    void (*apply)(void *arg, const double *in, double *out, size_t m);
    void *arg;
    size_t n;
};

/* The first k eigenvectors of a positive semidefinite A, k <= n, about: `steps` times the vectors of a space of k + 16 are multiplied by
 * A and made orthonormal again, then the space's own eigenvectors are taken (subspace iteration with Rayleigh-Ritz; Halko, Martinsson,
 * Tropp 2011).  The start is always the same.  vectors: [k][n], signs as above; values: [k].  One thread.  0; -ELIBACC; -EDOM; -ENOMEM. */
int hx_eigen_top(const struct hx_eigen_op *op, size_t k, size_t steps, double *vectors, double *values, struct hx_error *err);

#endif
