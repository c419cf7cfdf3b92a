/* int8 matrix times f32 rows, the weights as codes -127..127 with one scale per row:
 *     y[t][r] = w_scale[r] * sum over i of w[r][i] * x[t][i]
 * Each row of x is quantised to eight bits first: u[i] = 128 + trunc(v +- 0.5), v = x[i] * (127 / max|x|) in f32,
 * clamped to 1..255, which rounds halves away from zero; a row with max|x| <= 2^-120 is all zeros.  The 128 is taken
 * out again by 128 times the row's sum of weights.
 *
 * Weights: [rows][stride] with stride = `in` rounded up to 128, padded with 0, 128-byte aligned.  x: [tokens][in],
 * y: [tokens][rows].  u: scratch of `stride` bytes, 128-byte aligned.  HVX versions: AEE_EBADPARM when misaligned. */
#ifndef VRMPY_MATMUL_H
#define VRMPY_MATMUL_H

#include <stdint.h>

#define HX_MATMUL_TINY 0x1p-120f /* 127 / it is finite */

struct hx_vrmpy_matmul {
    int tokens, in, rows;
};

static inline int hx_matmul_stride(int in)
{
    return (in + 127) & ~127;
}

/* Exact integer sums; the float steps in the order of the HVX versions, so results agree bit for bit. */
void hx_matmul_ref(const struct hx_vrmpy_matmul *shape, const float *x, const int8_t *w,
                   const float *w_scale, float *y);

/* Quantises one row and returns max|x|. */
float hx_matmul_quantize(const float *x, int in, uint8_t *u);

/* Row sums of weights by a scalar scan. */
void hx_matmul_row_sums(const int8_t *w, int rows, int stride, int32_t *sum);

/* Rows first .. first+n-1 of all tokens: one context's share.  `w` points to row `first`; sum, w_scale and y are
 * those of the whole matrix. */
struct hx_matmul_half {
    struct hx_vrmpy_matmul shape;
    int first, n;
};

/* Token outer, row inner.  single: row sums are found along the way (sum is not read); half: they are in the table. */
int hx_matmul_single_hvx(const struct hx_matmul_half *half, const float *x, const int8_t *w,
                         const int32_t *sum, const float *w_scale, float *y, uint8_t *u);
int hx_matmul_half_hvx(const struct hx_matmul_half *half, const float *x, const int8_t *w,
                       const int32_t *sum, const float *w_scale, float *y, uint8_t *u);

#endif
