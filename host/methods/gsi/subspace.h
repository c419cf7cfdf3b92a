/* An orthonormal basis V of k directions that can grow, and how far a vector lies outside of its span.
 *
 * One thread at a time, but for hx_subspace_project(): threads may take parts of the directions. */
#ifndef HX_SUBSPACE_H
#define HX_SUBSPACE_H

#include <stddef.h>

struct hx_subspace {
    float *v;       /* [room][cols], of which k rows are set */
    size_t k, room, cols;
    double *work;   /* [cols + room] */
};

/* 0 or -ENOMEM; to be freed in any case. */
int hx_subspace_open(struct hx_subspace *s, size_t cols, size_t room);

/* Accepts zeros. */
void hx_subspace_free(struct hx_subspace *s);

/* z[i][j] = inner product of direction j and vector i, first <= j < end <= k.  x: [n][cols]; z: [n][room].  A product depends on neither n
 * nor the other directions. */
void hx_subspace_project(const struct hx_subspace *s, const float *x, size_t n, size_t first, size_t end, float *z);

double hx_norm2(const float *x, size_t n);

/* |x - V z|^2 with z = V^T x as projected, x2 = |x|^2: |x|^2 - |z|^2, or, where that is less than a thousandth of |x|^2 and hence mostly
 * rounding, added up element by element. */
double hx_subspace_rest2(const struct hx_subspace *s, const float *x, double x2, const float *z);

/* Adds the direction of what of x lies outside, made orthogonal once more where little is left (Daniel, Gragg, Kaufman, Stewart 1976), as
 * row k.  1; 0: |x - V V^T x| <= 1e-6 |x|, or x is not finite, or there is no room. */
int hx_subspace_add(struct hx_subspace *s, const float *x);

/* The largest |V^T V - I| of any element. */
double hx_subspace_defect(const struct hx_subspace *s);

#endif
