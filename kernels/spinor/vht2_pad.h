/* VHT2 (rpc/block/hx_vht2.h) of padded lengths on HVX, in f32: the transform that a K or V vector of any head dimension
 * goes through.
 *
 * Each stage of the transform works on one digit of an index.  Those of the first primes, as many as give a product of at
 * most 32, are one small matrix here, applied to rows of consecutive elements, a row in a vector of its own; the stages of
 * the other primes combine whole rows.  154 = 2 * 7 * 11, say, is 11 rows of 14, and takes 11 * 14 + 11 * 11 products of
 * vectors.  Sums are qf32: an element is within 2^-20 of the largest |x| times sqrt n of what hx_vht2_f64() gives, and within
 * 2^-120 where that is less, because qf32 ends near 2^-127.
 *
 * Buffers are borrowed for the call and may have any alignment; any thread; AEE codes. */
#ifndef VHT2_PAD_H
#define VHT2_PAD_H

#include <stdint.h>

enum {
    HX_VHT2_PAD_MAX = 770, /* longest vector; the next legal length, 1155, is beyond any head dimension */
    HX_VHT2_PAD_SLACK = 31, /* floats behind a vector that are written as well */
};

/* The shortest length that a vector of dh floats can be padded to: a squarefree product of 2, 3, 5, 7 and 11, at most
 * HX_VHT2_PAD_MAX.  0: there is none. */
int hx_vht2_padded(int dh);

/* x[dh..n-1] = the mean of x[0..dh-1].  1 <= dh <= n. */
void hx_vht2_pad_fill(float *x, int dh, int n);

/* In place.  x: [n + HX_VHT2_PAD_SLACK], what follows the n floats is lost.  AEE_EBADPARM: n < 2 or not of that kind. */
int hx_vht2_pad_hvx(float *x, int n);

#endif
