/* Transforms modulo two 30-bit primes on HVX: Z_q[x]/(x^n + 1), n = 64, 128, 256 or 512, q1 = 1073738753, q2 = 1073732609.
 *
 * V[i] = v(psi^(2 brv(i) + 1)), brv = reversal of log2(n) bits, psi = the power of the smallest base that has order 2n:
 * the order and the bits of host/methods/ntt/ring/ntt.h.  (kernels/skel/ntt.h is the published kernel, in natural order, most of
 * whose stages are scalar; its tables are these ones' source.)
 *
 * Values are residues 0..q-1 throughout.  Vectors are 128-byte aligned, else AEE_EBADPARM.  Functions borrow their buffers,
 * allocate nothing, may run on any thread and need an HVX context.  They return AEE codes. */
#ifndef RING_NTT_H
#define RING_NTT_H

#include "skel/kernel.h"
#include "skel/ntt.h"

enum { HX_RING_PRIMES = 2, HX_RING_LANE_STAGES = 5 };

/* Factors w of a modulus, and floor(2^31 w / q), with which a product needs no division (Shoup). */
struct hx_ring_weights {
    uint32_t w[HX_NTT_MAX], ws[HX_NTT_MAX]; /* w[brv(i)] = psi^i: block i of a stage of m blocks uses w[m + i] */
    /* Of the stages of distance 16, 8, 4, 2, 1: [pair of vectors][stage][w, ws][32]; lane i of the stage of distance d wants
     * weight n/(2d) + pair * 32/d + i/d. */
    _Alignas(128) uint32_t lanes[HX_NTT_MAX * HX_RING_LANE_STAGES];
};

/* One prime, one n. */
struct hx_ring {
    int n;
    uint32_t q, mu, n_inv, n_inv_s; /* mu: floor(2^60 / q) */
    uint32_t two_32;                /* 2^32 mod q */
    struct hx_ring_weights forward, inverse;
};

/* Fills *r (128-byte aligned); scalar code.  AEE_EBADPARM: unknown n or prime (0: q1, 1: q2). */
int hx_ring_make(struct hx_ring *r, int n, int prime);

/* v[n] <- residues of the integers a[n], which lie at any word. */
int hx_ring_lift_hvx(const struct hx_ring *r, uint32_t *v, const int32_t *a);

/* In place. */
int hx_ring_forward_hvx(const struct hx_ring *r, uint32_t *v);
int hx_ring_inverse_hvx(const struct hx_ring *r, uint32_t *v);

/* v <- v / n: what makes the dot product with a transformed query coefficient 0. */
int hx_ring_scale_hvx(const struct hx_ring *r, uint32_t *v);

/* c = a b by element; c may be a or b. */
int hx_ring_pointwise_hvx(const struct hx_ring *r, uint32_t *c, const uint32_t *a, const uint32_t *b);

/* sums[k] = sum of a[i] b[i] mod q for the vectors b, b + stride, ... (words), k < count.  64-bit sums of 8 products at most
 * are split before they are reduced. */
int hx_ring_dots_hvx(const struct hx_ring *r, uint32_t *sums, const uint32_t *a, const uint32_t *b,
                     size_t stride, size_t count);

#endif
