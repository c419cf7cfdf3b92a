/* y = W x for int8 weights in the layout of hx_weights.h and activations quantised to int8: what one group of 32 rows
 * gives for one vector or for four.
 *
 * Quantisation of a piece of x (a block of 32, or the whole vector; missing elements are 0): top = max |x|,
 * scale = top / 127, codes = trunc(v +- 0.5) with v = x * (127 / top) in f32, clamped to +-127: halves away from zero.
 * top <= 2^-120: codes and scale are 0.  An infinity or NaN anywhere makes the vector bad: its codes mean nothing.
 *
 *   Q8_0  y[r] = sum over blocks b of  S[b] * (w_scale[r][b] * scale[b])    S[b] = sum of the block's code * weight
 *   ROW8  y[r] = S * (w_scale[r] * scale)                                   S = sum of all of them
 *
 * Sums of codes are exact.  The reference does the rest in f64 and rounds once.  HVX has qf32: an integer S gets 1/32
 * too much (a qf32 significand is odd), and since it is not normalised, the product and the sum with others like it
 * are rounded to a 32nd, too; the rest rounds to 24 bits.  With c[b] = w_scale * scale of block b
 *     |hvx - ref| <= 2^-3 blocks max |c[b]| + 2^-22 (blocks + 3) sum of |S[b] c[b]|        (ROW8: one block)
 * plus what lies below 2^-125.  Rounding one activation to int8 moves S by up to 64.  The order of operations is the same
 * for one vector and for four and knows neither threads nor where weights lie, so results are the same bits.
 *
 * Wide activations have 16 bits, so that y follows W x in f32 closely enough for the next rounding not to matter: scale = top / 32512,
 * codes are clamped to +-32512, and each is 256 high + low with both int8.  Block b becomes two, of highs and of lows, at 2 b and
 * 2 b + 1, and weights meet both while they are in registers.  S and the bound are of the 16-bit codes (ROW8: with 2^6 |c| in
 * place of 2^-3 |c|, as highs and lows are summed apart).  Rounding one activation moves S as far, but c is a 256th.
 *
 * Functions borrow their buffers, allocate nothing, and may run on any thread; those of *_hvx.c need an HVX context. */
#ifndef VRMPY_LINEAR_H
#define VRMPY_LINEAR_H

#include <stddef.h>
#include <stdint.h>

#include "hx_weights.h"

#define HX_LINEAR_TINY 0x1p-120f /* 127 / it is finite, and so is what follows */
#define HX_LINEAR_WIDE 32512.0f  /* 127 * 256: what the largest wide activation becomes */

/* 32 quantised activations. */
struct hx_linear_block {
    int32_t code[HX_WEIGHTS_BLOCK / 4]; /* four int8 each, the first in the low byte */
    int32_t start;                      /* -128 * sum of the codes; ROW8: block 0 has the whole vector's */
    float scale;                        /* ROW8: the same in all blocks; wide: of the 16-bit codes */
};

/* Of so many blocks of columns. */
static inline size_t hx_linear_quantized(size_t blocks, int wide)
{
    return wide ? 2 * blocks : blocks;
}

/* A part of a matrix times vectors. */
struct hx_linear_job {
    enum hx_weights_type type;
    size_t blocks;                     /* per row */
    const uint8_t *w;                  /* groups, 128-byte aligned */
    size_t rows;                       /* rows of these groups that exist */
    const struct hx_linear_block *x;   /* [n][hx_linear_quantized(blocks, wide)] */
    size_t n;                          /* vectors */
    int wide;                          /* 1: activations of 16 bits */
    float *y;                          /* of the first of these rows; any alignment of a float */
    size_t y_stride;                   /* floats from vector to vector */
};

/* Quantises x [cols] to out [hx_weights_blocks(cols)].  Returns 0, or 1 when the vector is bad. */
int hx_linear_quantize_ref(enum hx_weights_type type, const float *x, size_t cols,
                           struct hx_linear_block *out);
int hx_linear_quantize_dsp(enum hx_weights_type type, const float *x, size_t cols,
                           struct hx_linear_block *out);

/* The same as wide ones: out [2 * hx_weights_blocks(cols)]. */
int hx_linear_quantize_wide_ref(enum hx_weights_type type, const float *x, size_t cols, struct hx_linear_block *out);
int hx_linear_quantize_wide_dsp(enum hx_weights_type type, const float *x, size_t cols, struct hx_linear_block *out);

void hx_linear_rows_ref(const struct hx_linear_job *job);
void hx_linear_rows_hvx(const struct hx_linear_job *job);

/* First index of the largest of y [n], n >= 1 (+0 and -0 are equal), or -1 when one is an infinity or NaN.  HVX: y is
 * 128-byte aligned. */
long hx_linear_argmax_ref(const float *y, size_t n);
long hx_linear_argmax_hvx(const float *y, size_t n);

#endif
