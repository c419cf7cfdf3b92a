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
 * plus what lies below 2^-125.  `fine` takes Q8_0's 32nd out again, for a few packets more a block, and the second term
 * alone is left, as with sums in f32 (ROW8: nothing changes).  Rounding one activation to int8 moves S by up to 64.  The order of operations is the same
 * for one vector and for four and knows neither threads nor where weights lie, so results are the same bits.
 *
 * Functions borrow their buffers, allocate nothing, and may run on any thread; those of *_hvx.c need an HVX context. */
#ifndef VRMPY_LINEAR_H
#define VRMPY_LINEAR_H

#include <stddef.h>
#include <stdint.h>

#include "hx_weights.h"

#define HX_LINEAR_TINY 0x1p-120f /* 127 / it is finite */

/* 32 quantised activations. */
struct hx_linear_block {
    int32_t code[HX_WEIGHTS_BLOCK / 4]; /* four int8 each, the first in the low byte */
    int32_t start;                      /* -128 * sum of the codes; ROW8: block 0 has the whole vector's */
    float scale;                        /* ROW8: the same in all blocks */
};

/* A part of a matrix times vectors. */
struct hx_linear_job {
    enum hx_weights_type type;
    size_t blocks;                     /* per row */
    const uint8_t *w;                  /* groups, 128-byte aligned */
    size_t rows;                       /* rows of these groups that exist */
    const struct hx_linear_block *x;   /* [n][blocks] */
    size_t n;                          /* vectors */
    int fine;                          /* 1: Q8_0 by the tighter bound */
    float *y;                          /* of the first of these rows; any alignment of a float */
    size_t y_stride;                   /* floats from vector to vector */
};

/* Quantises x [cols] to out [hx_weights_blocks(cols)].  Returns 0, or 1 when the vector is bad. */
int hx_linear_quantize_ref(enum hx_weights_type type, const float *x, size_t cols,
                           struct hx_linear_block *out);
int hx_linear_quantize_dsp(enum hx_weights_type type, const float *x, size_t cols,
                           struct hx_linear_block *out);

void hx_linear_rows_ref(const struct hx_linear_job *job);
void hx_linear_rows_hvx(const struct hx_linear_job *job);

/* First index of the largest of y [n], n >= 1 (+0 and -0 are equal), or -1 when one is an infinity or NaN.  HVX: y is
 * 128-byte aligned. */
long hx_linear_argmax_ref(const float *y, size_t n);
long hx_linear_argmax_hvx(const float *y, size_t n);

#endif
