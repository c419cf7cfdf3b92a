/* What a transformer layer does beside its matmuls, on rows of f32: as scalar loops, which is how the published forward
 * pass runs them, and on HVX.
 *
 * The scalar versions call the elementary functions of layer_scalar.c, which stand for the C library's: expf, tanhf,
 * powf, sinf and cosf have to be compiled with a kernel to have packets that can be counted.  How many packets the
 * library's own take was not published.
 *
 * Rows of the HVX versions begin 128-byte aligned and are padded to whole vectors; what lies in the padding of an input
 * does not matter, that of a result is undefined.  y may be x.  NaN and infinity are not for here. */
#ifndef LAYER_H
#define LAYER_H

#include <stddef.h>

#define HX_NORM_EPS 1e-6f
#define HX_ROPE_BASE 1e6f

/* One row of n elements.  `other` is what the operation takes beside x, `row` the row's number.  Returns AEE_SUCCESS or,
 * HVX only, AEE_EBADPARM: misaligned, or an n that it does not have.
 *
 *   rmsnorm   y = x / sqrt(mean(x^2) + HX_NORM_EPS) * other, other: weights [n].  HVX: n a multiple of 32
 *   rope      rotates the pairs (x[i], x[i + n/2]) by row * HX_ROPE_BASE^(-2i/n), n even.  other, HVX only: n/2 cosines, then
 *             n/2 sines of this row; n a multiple of 64
 *   softmax   y = exp(x - max) / sum; other is not read.  n >= 1
 *   gelu      y = x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) / 2 * other, other: [n]
 *   silu      y = x / (1 + exp(-x)) * other, other: [n]
 *   add       y = x + other, other: [n]
 *
 * Error against the reference in double, scalar / HVX: 2^-19 / 2^-15 of the result (rmsnorm), of the longest element of x
 * times 1 + row / 8 (rope), of the result times 1 + max|x| / 4 + n / 1024 (softmax), of |x| * max(1, |other|) + |other| (gelu,
 * silu, add).
 */
typedef int hx_row_op(const float *x, const float *other, int n, int row, float *y);

hx_row_op hx_rmsnorm_scalar, hx_rope_scalar, hx_softmax_scalar, hx_gelu_scalar, hx_silu_scalar, hx_add_scalar;
hx_row_op hx_rmsnorm_hvx, hx_rope_hvx, hx_softmax_hvx, hx_gelu_hvx, hx_silu_hvx, hx_add_hvx;
hx_row_op hx_rmsnorm_ref, hx_rope_ref, hx_softmax_ref, hx_gelu_ref, hx_silu_ref, hx_add_ref;

/* Attention of one head's query [dh] to n positions, whose keys and values are rows of `stride` floats.
 * scores[i] = scale * q . k[i], in f32 one product after the other; y = sum of weight[i] * v[i]. */
void hx_scores_scalar(const float *q, const float *k, int stride, int n, int dh, float scale, float *scores);
void hx_weighted_scalar(const float *weight, const float *v, int stride, int n, int dh, float *y);

/* Both with the softmax between them, in double. */
void hx_attend_ref(const float *q, const float *k, const float *v, int stride, int n, int dh, float scale, float *y);

/* The elementary functions, for their test.  exp: beyond -87..88 what these give; pow: x > 0 and normal; sin, cos:
 * |x| < 2^20.  Within 4 ulp. */
float hx_scalar_exp(float x);
float hx_scalar_tanh(float x);
float hx_scalar_pow(float x, float y);
float hx_scalar_sin(float x);
float hx_scalar_cos(float x);

#endif
