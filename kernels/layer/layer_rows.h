/* What a layer does to rows beside its matrices, as near to f32 on a CPU as qf32 comes: its results are rounded to int8 again, and
 * a code that flips there is worth a thousand roundings here.
 *
 * Rows are f32, 128-byte aligned, n > 0 a multiple of 32; y may be x.  Elements are finite.  Functions borrow their buffers, allocate
 * nothing and may run on any thread; *_hvx need an HVX context.
 *
 * Error of HVX against the reference, in units of 2^-20:
 *   rmsnorm   the result's |y|
 *   rope      the larger |x| of the pair
 *   silu      max(|x|, |x up|)            gelu: 4 times that
 *   add       max(|x|, |y|) */
#ifndef LAYER_ROWS_H
#define LAYER_ROWS_H

/* y = x / sqrt(mean(x^2) + eps) * w, w: [n].  mean(x^2) + eps > 2^-126. */
void hx_layer_rmsnorm_ref(const float *x, const float *w, int n, float eps, float *y);
void hx_layer_rmsnorm_hvx(const float *x, const float *w, int n, float eps, float *y);

/* Turns the pairs (x[i], x[i + n/2]) in place; turn: n/2 cosines, then n/2 sines.  n: a multiple of 64. */
void hx_layer_rope_ref(float *x, const float *turn, int n);
void hx_layer_rope_hvx(float *x, const float *turn, int n);

/* x = act(x) * up: x / (1 + e^-x), or x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). */
void hx_layer_silu_ref(float *x, const float *up, int n);
void hx_layer_silu_hvx(float *x, const float *up, int n);
void hx_layer_gelu_ref(float *x, const float *up, int n);
void hx_layer_gelu_hvx(float *x, const float *up, int n);

/* sum = x + y; sum may be x.  Here elements may be anything: returns 1 when x, y and all sums are finite, else 0, and sum means nothing. */
int hx_layer_add_ref(const float *x, const float *y, int n, float *sum);
int hx_layer_add_hvx(const float *x, const float *y, int n, float *sum);

#endif
