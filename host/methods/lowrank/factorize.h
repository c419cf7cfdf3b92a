/* Makes the factors of a basis out of its matrices' weights.
 *
 * W [D][d]: the matrices of a basis, one below the other; k: the rank.
 *   weights   P: the first k eigenvectors of W^T W, [d][k]; down = P^T, up = W P.  The least error of this rank, for all matrices
 *             together.  Where D < d (down matrices), U: the first k of W W^T, [D][k]; up = U, down = U^T W: the same product, from the
 *             smaller side.
 *   text      C = sum of x x^T over what the model put in while it ran a text; U: the first k of W C W^T; up = U, down = U^T W.
 *             The least error of outputs over that text.
 * By slot, each matrix counts as if its norm were 1 when eigenvectors are chosen.
 * With gains g of the residual stream, those are chosen as if the stream were G x: columns of matrices that read it count 1/g, rows
 * of those that write it (wo, down) count g.  The factors are without gains again, so at full rank nothing changes.
 *
 * With a sink s (sink.h), of bases of weights that read the stream (not those of the smaller side): where the first k - 1 eigenvectors
 * hold less than HX_LOWRANK_SINK of it, the basis is s and then they, orthogonal to it and to each other, so that it is held at every rank.
 *
 * Up to HX_LOWRANK_WHOLE rows the eigenvectors are LAPACK's of the whole matrix, above that or where it is asked for those of subspace
 * iteration (hx_eigen_top()).  Sums are in double.  Sources: Eckart & Young 1936; for the shared basis the published GRC, in its
 * form for weights of [out][in]. */
#ifndef HX_LOWRANK_FACTORIZE_H
#define HX_LOWRANK_FACTORIZE_H

#include "factors.h"

enum { HX_LOWRANK_WHOLE = 1024, HX_LOWRANK_STEPS = 3 };

/* Ours: the published test asks for the largest cosine with one direction, and says nothing about what they hold together. */
#define HX_LOWRANK_SINK 0.9

enum hx_lowrank_solver { HX_LOWRANK_AUTO, HX_LOWRANK_EIGEN, HX_LOWRANK_SUBSPACE };

struct hx_lowrank_how {
    enum hx_lowrank_solver solver;
    int by_slot;
    const double *const *sink; /* [n_bases] of length 1, or NULL each; NULL: there are none */
    const double *gain; /* [width of the stream], of bases of weights; NULL: all are 1 */
};

/* Fills what basis `b`'s down and its parts' ups point at, and the parts' figures.  moments: C, [cols][cols]; NULL: of the weights alone.
 * Other bases may be made at the same time by other threads, once hx_blas() has been there.
 * 0; -EDOM: a weight is infinite or no number (it is named), or there are no eigenvectors; -ELIBACC; -ENOMEM. */
int hx_lowrank_factorize(struct hx_lowrank_factors *f, struct hx_lowrank_basis *b, const struct hx_lowrank_how *how,
                         const double *moments, struct hx_error *err);

/* The directions of a basis of weights, of W^T W and not of the smaller side, as they are before gains: out [rank][cols].  0; -ENOMEM. */
int hx_lowrank_directions(const struct hx_lowrank_basis *b, const double *gain, double *out, struct hx_error *err);

/* Makes the factors of directions [rank][cols], orthonormal, in place of eigenvectors; figures stay as they were.  Threads and errors as
 * above. */
int hx_lowrank_turn(struct hx_lowrank_factors *f, struct hx_lowrank_basis *b, const double *gain, const double *directions,
                    struct hx_error *err);

/* The squares of a matrix's singular values, falling: values [min(rows, cols)].  Of p its matrix and what it is
 * called are used.  Threads and errors as above. */
int hx_lowrank_spectrum(const struct hx_lowrank_part *p, double *values, struct hx_error *err);

#endif
