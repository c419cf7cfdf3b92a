/* Dot products in qf32: of two f32 vectors, and of int8 weights that are widened to f32 on the stack (the
 * predecessor of vrmpy_matmul.h, same shapes).  Both sum 32 lanes in order, then the lanes pairwise; the results are
 * within 2^-18 * (sum of |products|) of the exact sum. */
#ifndef QF32_DOT_H
#define QF32_DOT_H

#include <stdint.h>

#include "vrmpy_matmul.h"

/* sums[i] = sum of a[i*n+j] * b[i*n+j]; HVX: n a positive multiple of 32, a and b 128-byte aligned, else
 * AEE_EBADPARM. */
int hx_qf32_dot_ref(const float *a, const float *b, int n, int count, float *sums); /* in fp64 */
int hx_qf32_dot_hvx(const float *a, const float *b, int n, int count, float *sums);

/* y[t][r] = w_scale[r] * sum over i of w[r][i] * x[t][i] for rows first .. first+n-1 of all tokens; row outer, token
 * inner. HVX: arguments as hx_matmul_single_hvx(), sum and u are not used; `in` a multiple of 32, x 128-byte
 * aligned, else AEE_EBADPARM. */
int hx_qf32_matmul_ref(const struct hx_vrmpy_matmul *shape, const float *x, const int8_t *w,
                       const float *w_scale, float *y); /* all rows, in fp64 */
int hx_qf32_matmul_hvx(const struct hx_matmul_half *half, const float *x, const int8_t *w,
                       const int32_t *sum, const float *w_scale, float *y, uint8_t *u);

#endif
