/* VHT2 of power-of-two length, that is the Walsh-Hadamard transform with 1/sqrt 2 in every stage: orthonormal and
 * its own inverse.  In place; n a power of two, 2..1024 (HVX: n >= 32 and 128-byte aligned), else AEE_EBADPARM. Both
 * float versions stay within 2^-20 times log2 n of the largest |x| times sqrt n of the reference. */
#ifndef VHT2_H
#define VHT2_H

enum { HX_VHT2_MAX = 1024 };

int hx_vht2_ref(float *x, int n);    /* in fp64 */
int hx_vht2_scalar(float *x, int n); /* fp32, as published: all stages on the scalar unit */
int hx_vht2_hvx(float *x, int n);    /* strides 1-16 on the scalar unit, the others qf32 */

#endif
