/* How far a vector lies outside of a subspace: steps of the gate of class calls (hex_linear.idl, `gated`).
 *
 * The subspace has orthonormal directions v, rows of a basis in f16 (hx_weights.h, HX_WEIGHTS_BASIS); z = V^T x, and what lies outside is
 * x - V z.  |x|^2 - |z|^2 would be less work, but where that is less than a thousandth of |x|^2 it is mostly rounding, so that x - V z has
 * to be added up element by element there.  Here it is so always: a direction is in registers and caches when its product with x is known,
 * and takes its part away then, so that the basis is read once either way, and nothing cancels.
 * Source: the published Gated Subspace Inference, with its rule for small differences.
 *
 * Vectors are `pairs` pairs of HVX vectors, 64 floats each, 0 behind the last element.  Spread ones have in each pair the elements with
 * even numbers first, as f16 becomes floats on HVX.  `within` is the kernel's own: all bytes 0 is the vector 0, and only the same
 * kernel's rest() reads it.
 *
 * Float: |hvx - ref| of z and of each element of rest is at most 2^-19 |x|, of |x|^2 2^-19 |x|^2; of what rest() returns 2^-18 |x| |rest| +
 * 2^-36 |x|^2.  All 2^-120 more, as qf32 has no 0.
 *
 * Buffers are 128-byte aligned and borrowed for the call, nothing is allocated; any thread; *_hvx need an HVX context. */
#ifndef SUBSPACE_GATE_H
#define SUBSPACE_GATE_H

#include <stdint.h>

/* Spreads x.  Returns |x|^2; *top: the largest |x|, which is not finite where an element is not, and then x and the result mean nothing. */
float hx_gate_spread_ref(float *x, int pairs, float *top);
float hx_gate_spread_hvx(float *x, int pairs, float *top);

/* z = v . x, x spread; within += z v. */
float hx_gate_direction_ref(const uint16_t *v, const float *x, int pairs, float *within);
float hx_gate_direction_hvx(const uint16_t *v, const float *x, int pairs, float *within);

/* The same of four directions, each `apart` rows behind the one before it, bit by bit; z of each goes `z_apart` floats behind the one
 * before. */
void hx_gate_four_hvx(const uint16_t *v, int apart, const float *x, int pairs, float *within, float *z, int z_apart);

/* rest = x - even - odd, the two sums of z v; it may be x.  Returns |rest|^2. */
float hx_gate_rest_ref(const float *x, const float *even, const float *odd, int pairs, float *rest);
float hx_gate_rest_hvx(const float *x, const float *even, const float *odd, int pairs, float *rest);

/* v = the f16 nearest to by * r, r spread, or one next to it. */
void hx_gate_narrow_ref(const float *r, float by, int pairs, uint16_t *v);
void hx_gate_narrow_hvx(const float *r, float by, int pairs, uint16_t *v);

/* x = v as floats in their order, or ones next to them; of v below 2^-14 within 2^-36. */
void hx_gate_widen_ref(const uint16_t *v, int pairs, float *x);
void hx_gate_widen_hvx(const uint16_t *v, int pairs, float *x);

#endif
