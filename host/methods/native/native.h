/* A matrix that lives in k dimensions: W_n = B_out C B_in^T, B_out [rows][k] and B_in [cols][k] with orthonormal columns, C [k][k].
 *
 * Loss: |W_n - W|^2 / |W|^2, Frobenius.  Calibrated, with M = sum of x x^T over what the model puts in while it runs a text: the same of
 * outputs, tr(E M E^T) / tr(W M W^T), E = W_n - W.  No W_n has less than the bound, the share behind the k largest eigenvalues of W M W^T
 * (Eckart & Young 1936; M = 1 for the plain loss), and hx_native_optimum() has exactly that.
 *
 * In memory bases lie as rows: out [k][rows], in [k][cols]; a column of B is a row here, so bases grow at their ends.  In double; one
 * thread; others may do the same with other matrices once hx_blas() has been there.
 * Source: the published NativeLinear (XII); gradients by hand. */
#ifndef HX_NATIVE_H
#define HX_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { HX_NATIVE_WHOLE = 1024 }; /* rows up to which all eigenvalues are taken; above that the first k, about */

struct hx_native {
    size_t rows, cols, k, room; /* room: k that there is memory for, min(rows, cols) at most */
    double *out, *core, *in;    /* [k][rows], [k][k], [k][cols] */
};

/* k: of them in use; contents: 0.  -ENOMEM; in any case to be freed. */
int hx_native_alloc(struct hx_native *n, size_t rows, size_t cols, size_t k, size_t room, struct hx_error *err);
void hx_native_free(struct hx_native *n); /* accepts zeros */

/* to: of the same shape and room. */
void hx_native_copy(struct hx_native *to, const struct hx_native *from);

/* --- numbers of parameters */

/* k^2 + k (rows + cols), and, of a square matrix with one basis for both sides, k^2 + k d. */
uint64_t hx_native_params(size_t rows, size_t cols, size_t k);
uint64_t hx_native_params_square(size_t d, size_t k);

/* The published k* = 42.7 L2 [MB], and what fits: the largest k with count k^2 + sum k <= numbers, of `count` matrices whose rows and
 * columns are `sum` together. */
double hx_native_k_star(double l2_mb);
size_t hx_native_k_fit(size_t count, size_t sum, double numbers);

/* --- what is fitted to */

struct hx_native_target {
    size_t rows, cols;
    const double *w; /* [rows][cols] */
    const double *m; /* M [cols][cols], NULL: 1 */
    double *wm;      /* W M; NULL: w */
    double norm2;    /* tr(W M W^T); above 0 */
};

/* Borrows w and m.  -EDOM: it is 0, or not finite; -ELIBACC; -ENOMEM.  In any case to be closed. */
int hx_native_target_open(struct hx_native_target *t, size_t rows, size_t cols, const double *w, const double *m, struct hx_error *err);
void hx_native_target_close(struct hx_native_target *t);

/* The least loss of k = 1, 2, .., count, count = min(rows, cols): bounds [count].  -EDOM: more than HX_NATIVE_WHOLE of either; others as
 * hx_eigen_values(). */
int hx_native_bounds(const struct hx_native_target *t, double *bounds, struct hx_error *err);

/* n: of the target's shape, its k and room given.  Becomes the best of that k.  *bound: its loss out of the eigenvalues; -1: there are more
 * than HX_NATIVE_WHOLE, so that it is about the best.  Errors as hx_eigen_symmetric(), hx_eigen_top(). */
int hx_native_optimum(struct hx_native *n, const struct hx_native_target *t, double *bound, struct hx_error *err);

/* --- steps */

/* Memory of the functions below, for k up to n->room. */
struct hx_native_work {
    double *p, *cp;                    /* [k][rows] */
    double *ut, *vm;                   /* [k][cols] */
    double *s, *go, *gi, *kk, *kk2, *tau; /* [k][k]; tau: [k] */
};
int hx_native_work_open(struct hx_native_work *w, const struct hx_native *n, struct hx_error *err);
void hx_native_work_close(struct hx_native_work *w);

/* The loss; with g, also its gradients by out, core and in, of n's shape.  Bases need not be orthonormal. */
double hx_native_loss(const struct hx_native *n, const struct hx_native_target *t, struct hx_native_work *w, struct hx_native *g);

/* Bases become orthonormal by QR with R's diagonal positive, and C becomes R_out C R_in^T: W_n stays what it is.  -EDOM: LAPACK failed. */
int hx_native_retract(struct hx_native *n, struct hx_native_work *w, struct hx_error *err);

/* C* for orthonormal bases, the core of the least loss: B_out^T W B_in, or B_out^T W M B_in (B_in^T M B_in)^-1.  -EDOM, -ENOMEM. */
int hx_native_solve(struct hx_native *n, const struct hx_native_target *t, struct hx_native_work *w, struct hx_error *err);

/* The gradients' tangents at orthonormal bases: G - B sym(B^T G) (Edelman, Arias, Smith 1998). */
void hx_native_tangent(const struct hx_native *n, struct hx_native *g, struct hx_native_work *w);

/* `more` columns, of normal numbers by key and made orthonormal to those before, which stay bit by bit; their core is 0, so that W_n stays
 * what it is.  k + more <= room. */
int hx_native_grow(struct hx_native *n, size_t more, uint64_t key, struct hx_error *err);

/* Bases as those of grow() from k = 0 on, and the core 0. */
int hx_native_start(struct hx_native *n, uint64_t key, struct hx_error *err);

/* The largest |B^T B - 1| of either basis. */
double hx_native_skew(const struct hx_native *n, struct hx_native_work *w);

#endif
