/* Exact sums of products: int32 weights in the layout of hx_ok_weights.h times int32 activations, in 64 bits.
 *
 *     acc[t][p] += sum over the tile's columns j of  w[j][p] * x[t][j]      lane by lane = row by row, modulo 2^64
 *
 * A product of 32 by 32 bits is two multiplications of 32 by 16 whose halves come out as a low and a high word (vmpye,
 * vmpyo); the sum keeps low and high words in two vectors and hands the carry from one to the other.  No sum crosses lanes,
 * so the result is the same however columns, vectors and rows are cut.
 *
 * Functions borrow their buffers, allocate nothing, and may run on any thread; *_hvx needs an HVX context. */
#ifndef OK_SUMS_H
#define OK_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "hx_ok_weights.h"

/* 32 sums: word l of low and of high are row l's. */
struct hx_ok_acc {
    uint32_t low[HX_OKW_ROWS], high[HX_OKW_ROWS];
} __attribute__((aligned(HX_OKW_VECTOR)));

/* Some columns of one group of rows, for n vectors. */
struct hx_ok_tile {
    const uint8_t *w;   /* [cols][planes] vectors, 128-byte aligned */
    size_t cols, planes;
    const int32_t *x;   /* of the tile's first column, vector 0 */
    size_t x_stride;    /* int32 from vector to vector */
    size_t n;
    struct hx_ok_acc *acc; /* [n][planes] */
};

void hx_ok_sums_ref(const struct hx_ok_tile *tile);
void hx_ok_sums_hvx(const struct hx_ok_tile *tile);

/* The first `rows` sums of acc as int64, 1 to 32; any alignment of an int64. */
void hx_ok_store_ref(int64_t *y, const struct hx_ok_acc *acc, size_t rows);
void hx_ok_store_hvx(int64_t *y, const struct hx_ok_acc *acc, size_t rows);

#endif
