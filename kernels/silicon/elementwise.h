/* Small kernels over arrays: axpby, echo, copy, argmax. */
#ifndef ELEMENTWISE_H
#define ELEMENTWISE_H

#include <stddef.h>
#include <stdint.h>

/* y[i] = saturate16((alpha * x[i] + beta) >> 15): alpha in Q15, beta in units of 2^-15 with -2^30 <= beta < 2^30.
 * HVX: n a multiple of 64, x and y 128-byte aligned, else AEE_EBADPARM. */
int hx_axpby_ref(int16_t *y, const int16_t *x, int n, int16_t alpha, int32_t beta);
int hx_axpby_hvx(int16_t *y, const int16_t *x, int n, int16_t alpha, int32_t beta);

/* out[i] = in[i], a byte at a time: what the published echo skel does. */
void hx_echo(uint8_t *out, const uint8_t *in, int n);

/* to[0..bytes-1] = from[], both 128-byte aligned, 128 bytes at a time and the rest by bytes: the memcpy that runs on
 * the DSP around the kernels. */
void hx_copy_hvx(void *to, const void *from, int bytes);

/* The same of buffers at any address, each a different one, by unaligned accesses. */
void hx_copy_unaligned_hvx(void *to, const void *from, size_t bytes);

/* Index of the first largest of n >= 1 values; x at any even address. */
int hx_argmax_ref(const uint16_t *x, int n);
int hx_argmax_hvx(const uint16_t *x, int n);

#endif
