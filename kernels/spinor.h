/* Encode and decode of the 63-byte spinor block (rpc/wire/hx_block.h, docs/block.md), dh 128, basis vht2 with a
 * calibrated predictor: a plain C reference in fp64 and an HVX version.
 *
 * Exactness.  Given equal residuals and amax, hx_spinor_pack_ref() and hx_spinor_pack_hvx() give the same bytes.  From
 * equal inputs every coefficient is within 2^-17 of the largest one; so a stored half may be its neighbour near a tie,
 * and a magnitude may differ by 1, only where 7|r|/amax lies within 2^-10 of a half, as long as amax is at least 2^-6 of
 * the largest coefficient (below that rounding noise of fp32 decides) and 2^-90 (qf32 ends near 2^-127).
 * A decoded value is within 2^-16 of the largest coefficient.  tests/check_spinor.c holds all of this.
 *
 * All functions return AEE codes without the DSP offset.  They allocate nothing and keep nothing; every buffer is
 * borrowed for the call.  Any thread may call them; a struct hx_spinor is read-only after hx_spinor_init().
 *
 * Input domain of an encode: every |x| <= HX_SPINOR_MAX_ABS (so neither NaN nor infinity) and skeleton coefficients that
 * fp16 can hold (below 65520); anything else is AEE_EBADPARM and writes nothing. */
#ifndef SPINOR_H
#define SPINOR_H

#include <stddef.h>
#include <stdint.h>

#include <hexagon_types.h>

#include "AEEStdErr.h"
#include "hx_block.h"

#define HX_SPINOR_MAX_ABS 0x1p100f

/* --- what both versions agree on (spinor_tables.c) */

/* The 60 residual rows: coefficient indices i, ascending, with i+1 not squarefree. */
void hx_spinor_residual_rows(uint8_t rows[HX_BLOCK_RES]);

/* AEE_EBADPARM unless the skeleton ascends through squarefree indices below 154, W is finite and reserved is 0. */
int hx_spinor_check_table(const struct hx_block_table *t);

/* AEE_EBADITEM when the CRC is wrong, or the skeleton or amax of an intact block is not finite, or amax is negative:
 * no encoder wrote it. */
int hx_spinor_check_block(const struct hx_block *b);

/* What magnitude m of a block means before its sign: m * amax / 7, computed in fp64, rounded to f32. */
void hx_spinor_levels(float amax, float level[8]);

/* --- reference (spinor_ref.c) */

int hx_spinor_encode_ref(const struct hx_block_table *t, const float x[HX_BLOCK_DH],
                         struct hx_block *out);
int hx_spinor_decode_ref(const struct hx_block_table *t, const struct hx_block *in,
                         float x[HX_BLOCK_DH]);

/* The steps of the encode, for comparing one at a time.  c: the 154 coefficients.  The prediction is made from the
 * skeleton as given; residuals are rounded to f32, amax is the largest of their absolute values. */
void hx_spinor_coefficients_ref(const float x[HX_BLOCK_DH], double c[HX_BLOCK_PAD]);
void hx_spinor_residual_ref(const struct hx_block_table *t, const double c[HX_BLOCK_PAD],
                            const uint16_t skeleton[HX_BLOCK_SKEL], float residual[HX_BLOCK_RES],
                            float *amax);

/* Fills magnitudes, phases, amax and CRC of *b, whose skeleton is set.  amax >= 0, both finite.
 * The magnitude of r is the number of k in 0..6 with 14|r| >= (2k+1) * amax, in exact arithmetic: 7|r|/amax rounded
 * half away from zero, and 0 for every lane when amax is 0. */
void hx_spinor_pack_ref(const float residual[HX_BLOCK_RES], float amax, struct hx_block *b);

/* --- HVX (spinor_hvx.c) */

enum {
    HX_SPINOR_LANES = 32,     /* f32 lanes of a vector */
    HX_SPINOR_COEF_VECTORS = 5, /* 154 coefficients in 160 lanes, the 60 residual ones first */
    HX_SPINOR_RES_VECTORS = 2,
    HX_SPINOR_OUT_VECTORS = 4,  /* 128 values */
};

/* Tables of one slot.  A coefficient's lane is its place in the order "60 residual rows, then 94 squarefree rows". */
struct hx_spinor_slot {
    HVX_Vector w[HX_BLOCK_SKEL][HX_SPINOR_RES_VECTORS]; /* predictor columns f32, lanes 60..63 zero */
    uint8_t skel_lane[HX_BLOCK_SKEL];                   /* 60..153 */
};

/* All tables of a handle, in VTCM.  3712 B per slot and 161,280 B in common. */
struct hx_spinor {
    HVX_Vector analysis[HX_BLOCK_DH][HX_SPINOR_COEF_VECTORS]; /* input i -> its part of each lane */
    HVX_Vector synthesis[HX_BLOCK_PAD][HX_SPINOR_OUT_VECTORS]; /* lane -> its part of each output */
    HVX_Vector shift3;    /* u32 lane j: 3 * (j mod 8) */
    HVX_Vector shift1;    /* u32 lane j: j */
    HVX_Vector tail_mask; /* u32: ones in lanes 0..27, which hold residual rows 32..59 */
    uint32_t n_slots;
    struct hx_spinor_slot slot[];
};

/* Bytes of tables for n_slots, or 0 when that overflows 32 bits (the DSP's size_t). */
size_t hx_spinor_bytes(size_t n_slots);

/* Builds the tables at `vtcm` (128-byte aligned, `bytes` long).  AEE_EBADPARM: misaligned, n_slots 0, or a table
 * fails hx_spinor_check_table(); AEE_ENOMEMORY: bytes < hx_spinor_bytes(n_slots).  Takes milliseconds. */
int hx_spinor_init(struct hx_spinor *vtcm, size_t bytes, const struct hx_block_table *tables,
                   size_t n_slots);

/* One vector of one slot.  x: [128] f32, 128-byte aligned; blocks 64-byte aligned, else AEE_EBADPARM; slot >= n_slots is
 * AEE_EBADPARM.  The sequence of HVX operations does not depend on the data.  A block that fails
 * hx_spinor_check_block() is AEE_EBADITEM and writes nothing.  The calling thread holds an HVX context. */
int hx_spinor_encode_hvx(const struct hx_spinor *k, size_t slot, const float *x,
                         struct hx_block *out);
int hx_spinor_decode_hvx(const struct hx_spinor *k, size_t slot, const struct hx_block *in,
                         float *x);

/* n_pos positions of slots first..first+n_slots-1: x [n_pos][n_slots][128], blocks [n_pos][n_slots].  The same bits as
 * one call per vector.  At an error *bad is the failing vector's index pos * n_slots + (slot - first), vectors before
 * it are written, it and later ones are not. */
int hx_spinor_encode_batch_hvx(const struct hx_spinor *k, size_t first, size_t n_slots,
                               size_t n_pos, const float *x, struct hx_block *out, size_t *bad);
int hx_spinor_decode_batch_hvx(const struct hx_spinor *k, size_t first, size_t n_slots,
                               size_t n_pos, const struct hx_block *in, float *x, size_t *bad);

/* hx_spinor_pack_ref() on HVX, integer operations only.  residual: [64] f32, 128-byte aligned, the last 4 ignored. */
int hx_spinor_pack_hvx(const struct hx_spinor *k, const float *residual, float amax,
                       struct hx_block *b);

#endif
