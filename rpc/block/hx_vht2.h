/* VHT2, the staged Hartley transform behind the spinor block, and the Moebius classes of its coefficients.
 *
 * n must be a squarefree product of {2, 3, 5, 7, 11}.  For each prime p | n in ascending order, with stride s
 * (1 at first, then multiplied by p), every group of p elements that lie s apart becomes
 *   y_k = (1/sqrt p) * sum_j cas(2 pi k j / p) x_j,   cas = cos + sin.
 * The transform is orthonormal and its own inverse.  docs/block.md says the same in words. */
#ifndef HX_VHT2_H
#define HX_VHT2_H

#include <stddef.h>

/* Smallest legal transform length >= dh (64 -> 66, 128 -> 154, 256 -> 330, 512 -> 770); 0 when dh > 2310 or dh == 0. */
size_t hx_vht2_pad(size_t dh);

/* In place, fp64.  x: [n].  Returns 0, or -EINVAL when n is not a squarefree product of {2, 3, 5, 7, 11}. */
int hx_vht2_f64(double *x, size_t n);

/* The transform of powers of two, Walsh-Hadamard with 1/sqrt 2 in every stage: orthonormal and its own inverse, too.  In place, fp64.
 * Returns 0, or -EINVAL when n is not one. */
int hx_wht_f64(double *x, size_t n);

/* 1 when the 1-based index i + 1 is squarefree (Moebius mu(i + 1) != 0). */
int hx_squarefree_index(size_t i);

#endif
