/* The error that the gate allows: |W x - (W V) z| <= |W|_2 eps |x| where |x - V z| <= eps |x|, as W x - (W V) z = W (x - V z).
 * Source: the published Gated Subspace Inference, theorem 3.1. */
#ifndef HX_GSI_BOUND_H
#define HX_GSI_BOUND_H

#include "classes.h"

enum { HX_GSI_POWER_STEPS = 30 };

/* *norm: W's largest singular value by so many power iterations, and a hundredth more, as they come from below.  0 or -ENOMEM. */
int hx_gsi_norm(const struct hx_linear *w, double *norm, struct hx_error *err);

/* Holds an image's result y [rows] for x, |x|^2 = x2, against W x by the reference, and counts.  exact: [rows]; scratch: [cols].  0, or as
 * the reference's apply(). */
int hx_gsi_check(struct hx_gsi_counts *c, const struct hx_gsi_part *p, const float *x, double x2, double eps, const float *y, float *exact,
                 float *scratch, struct hx_error *err);

#endif
