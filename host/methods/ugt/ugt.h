/* UGT: a basis of k coordinates for a model's final hidden states, which other models can have, too.
 *
 * H [n][d] are states, one a row, and B [d, k] the first k *right* singular vectors of H minus its mean: directions of the width, which is
 * the only reading of the published [d, k] that fits (the text says left).  A state h has the coordinates B^T (h - mean).
 *
 * Here a basis is kept as its transpose, k rows of d numbers, orthonormal.  All in doubles, on the calling thread, by LAPACK
 * (base/blas.h): -ELIBACC where there is none.  -ENOMEM; -EDOM: numbers that are not finite. */
#ifndef HX_UGT_H
#define HX_UGT_H

#include <stddef.h>

#include "base/error.h"

struct hx_ugt {
    size_t d, k;
    double *mean;    /* [d] */
    double *basis;   /* [k][d] */
    double held;     /* share of the states' variance along the basis, 0..1 */
};

/* h [n][d], 1 <= k <= min(n - 1, d), else -EINVAL with the limit: more directions than n states differ in mean nothing.  In any case to
 * be freed. */
int hx_ugt_build(struct hx_ugt *u, const double *h, size_t n, size_t d, size_t k, struct hx_error *err);

/* Accepts zeroes. */
void hx_ugt_free(struct hx_ugt *u);

/* z [n][k] of states h [n][d]. */
void hx_ugt_coordinates(const struct hx_ugt *u, const double *h, size_t n, double *z);

/* Share of the variance of other states, h [n][d], that the basis holds. */
double hx_ugt_held(const struct hx_ugt *u, const double *h, size_t n);

/* ||A^T B||_F^2 / k: 1 of bases of the same span, about k / d of random ones.  Their d and k are the same. */
double hx_ugt_overlap(const struct hx_ugt *a, const struct hx_ugt *b);

/* The largest of |B^T B - I|. */
double hx_ugt_skew(const double *basis, size_t k, size_t d);

/* Rows [k][d], k <= d, become orthonormal: the Q of a QR decomposition whose R has a positive diagonal, so that rows that are orthonormal
 * already stay what they are.  0, -ELIBACC, -ENOMEM, -EDOM. */
int hx_ugt_orthonormal(double *rows, size_t k, size_t d, struct hx_error *err);

#endif
