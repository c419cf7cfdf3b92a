/* A basis that follows what it is shown, by Oja's rule with deflation: the published Online Basis.
 *
 *     x <- x / |x|;  for i = 1..k:  c = w_i x;  w_i <- (w_i + eta c x) / | |;  x <- x - (x w_i) w_i
 *     eta_t = eta0 / sqrt(t), as published, or eta0 / t, whose squares add up to something (Robbins and Monro)
 *
 * Rows stay only nearly orthogonal under it, so they are made orthonormal behind each lot of samples, in their order. */
#ifndef HX_OJA_H
#define HX_OJA_H

#include <stddef.h>

enum hx_oja_decay { HX_OJA_SQRT, HX_OJA_LINEAR };

/* t: of the sample, from 1 on. */
double hx_oja_eta(double eta0, enum hx_oja_decay decay, size_t t);

/* w: [k][d], orthonormal rows; x: [d], lost.  1, or 0: |x|^2 is below 1e-12, and w is as it was. */
int hx_oja_step(double *w, size_t k, size_t d, double *x, double eta);

/* Gram-Schmidt in the modified form, twice.  Rows are k different directions. */
void hx_oja_orthonormalise(double *w, size_t k, size_t d);

/* The largest entry of |w w^T - 1|. */
double hx_oja_error(const double *w, size_t k, size_t d);

#endif
