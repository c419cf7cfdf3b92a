/* Attention over spinor blocks that stay as they are: scores of queries against cached K, and the weighted sum of cached V.
 * No cached vector is ever made.  A query is projected once onto the rows of the basis; its product with a block is then a
 * sum over the block's own integers.  V is summed in coefficients, and one vector is made of the sums at the end.
 *
 * K must have been coded after RoPE: a query fits a block as it stands.  All bases and head dimensions that have HVX
 * versions (hx_spinor_has_hvx()); the reference (codec) takes every format.
 *
 * Exactness, HVX against reference: a score is within 2^-11 |scale| |q| c, where c is what spinor.h measures decoded values by,
 * of K, times the square root of dh; an output as far from the weighted sum as decoded values are from vectors, after the
 * change that the scores' differences make.  tests/kernels/check_spinor_attn.c prints and holds both.
 *
 * Buffers are borrowed for the call; any thread; AEE codes.  Floats 128-byte aligned, blocks
 * 64-byte aligned (AEE_EBADPARM otherwise; the reference: 4 bytes and none).  Corrupt blocks are AEE_EBADITEM and listed in
 * *faults as index pos * row + slot; what then stands in scores and out is not to be used. */
#ifndef SPINOR_ATTN_H
#define SPINOR_ATTN_H

#include "spinor.h"

struct hx_spinor_attn {
    size_t n_slots; /* KV heads: slots k_first.., v_first.. */
    size_t n_q;     /* queries of each head, >= 1 */
    size_t n_pos;   /* cached positions */
    size_t k_first, v_first;
    const void *k, *v; /* [n_pos][n_slots][slot bytes] */
    const float *q;    /* [n_slots][n_q][dh] */
    const float *k_own, *v_own; /* [n_slots][dh], a position more that is in f32; both or neither (NULL) */
    /* For parts of a call; the reference takes whole ones only, with 0 and NULL, or what these stand for. */
    size_t row;        /* blocks from one position to the next; 0: n_slots */
    size_t out_row;    /* scores: floats from one query to the next; 0: n_pos */
    const struct hx_spinor *v_tables; /* HVX: where V's slots are; NULL: where K's are */
    float scale;       /* > 0, finite: of the products, before the softmax */
    float *out;        /* attend: [n_slots][n_q][dh]; scores: [n_slots][n_q][n_pos] */
};

/* out = scale * q . k.  v, v_first, k_own and v_own are not looked at. */
int hx_spinor_scores_ref(const struct hx_codec *c, const struct hx_spinor_attn *a,
                         struct hx_spinor_faults *faults);

/* out = sum over positions of softmax(scale * q . k) * v.  AEE_EBADPARM also when there is no position at all.  *faults lists
 * K's corrupt blocks and, if K has none, V's; *in_v tells. */
int hx_spinor_attend_ref(const struct hx_codec *c, const struct hx_spinor_attn *a,
                         struct hx_spinor_faults *faults, int *in_v);

/* Bytes that the HVX versions need to work in, for n_q queries and n_pos positions; 0: more than 32 bits. */
size_t hx_spinor_attn_bytes(const struct hx_spinor *k, size_t n_q, size_t n_pos);

/* work: 128-byte aligned, hx_spinor_attn_bytes(). */
int hx_spinor_scores_hvx(const struct hx_spinor *k, const struct hx_spinor_attn *a, void *work,
                         struct hx_spinor_faults *faults);
int hx_spinor_attend_hvx(const struct hx_spinor *k, const struct hx_spinor_attn *a, void *work,
                         struct hx_spinor_faults *faults, int *in_v);

#endif
