/* Refinement of a basis: zones' centroids are turned apart.
 *
 * L = + sum over i < j of cos(B^T c_i, B^T c_j) + lambda ||B^T B - I||_F over the centroids c of zones, centred as the basis centres
 * states (the published sign pulls zones together).  A step of AdamW along the gradient on the Grassmann manifold, G - G B^T B in rows,
 * then QR with a positive diagonal.  Behind each step B is orthonormal, so the second term is what rounding leaves.  The weight decay
 * of AdamW scales B, which QR undoes.  Moments are not transported.
 * The best basis of all steps is kept, that in front of the first among them, so L never rises. */
#ifndef HX_UGT_REFINE_H
#define HX_UGT_REFINE_H

#include "ugt.h"

struct hx_ugt_refine {
    size_t steps;
    double rate, lambda, decay; /* AdamW's step and decay; betas are .9 and .999 */
};

/* 200 steps of 0.01, lambda 1, decay 0.01. */
struct hx_ugt_refine hx_ugt_refine_usual(void);

struct hx_ugt_refined {
    double loss_before, loss_after;
    double cosine_before, cosine_after; /* mean over pairs of centroids */
    size_t best_step;                   /* 0: no step was better */
};

/* centroids [zones][d], zones >= 2.  L and its gradient [k][d] at the basis. */
double hx_ugt_loss(const struct hx_ugt *u, const double *centroids, size_t zones, double lambda, double *gradient);

/* Changes u->basis; `held` is then of the old one.  0; -EINVAL: fewer than two zones, or a centroid that has no direction in the basis;
 * -ENOMEM; -ELIBACC; -EDOM. */
int hx_ugt_refine(struct hx_ugt *u, const double *centroids, size_t zones, const struct hx_ugt_refine *how, struct hx_ugt_refined *out,
                  struct hx_error *err);

#endif
