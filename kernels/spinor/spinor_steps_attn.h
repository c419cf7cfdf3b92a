/* Attention over blocks that have no tables of rows and columns (spinor_steps.h): each block is decoded, once for up to 32 queries of
 * its head, and meets them in qf32; the softmax is that of one position after the other, sums being scaled again when the maximum
 * grows.  All of it has a listing.
 *
 * Against the reference of spinor_attn.h: a score within 2^-16 |scale| |q| |k| of its own, an output as far from the weighted sum
 * as decoded values are from vectors, after the change that the scores' differences make.  tests/kernels/check_spinor_steps.c prints and
 * holds both.
 *
 * k: laid out for the codec's format, as there.  Whole calls only: row, out_row and v_tables of the struct are not looked at.  Buffers
 * are borrowed for the call: floats at multiples of 4, blocks anywhere.  The calling thread holds an HVX context.  AEE codes,
 * *faults and *in_v as those of the reference. */
#ifndef SPINOR_STEPS_ATTN_H
#define SPINOR_STEPS_ATTN_H

#include "spinor_attn.h"

int hx_steps_scores(const struct hx_spinor *k, const struct hx_codec *c, const struct hx_spinor_attn *a,
                    struct hx_spinor_faults *faults);
int hx_steps_attend(const struct hx_spinor *k, const struct hx_codec *c, const struct hx_spinor_attn *a,
                    struct hx_spinor_faults *faults, int *in_v);

#endif
