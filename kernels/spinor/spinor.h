/* Encode and decode of spinor blocks (rpc/block/hx_block.h, docs/block.md) on the DSP: the fp64 reference of every head
 * dimension, basis and code (rpc/block/hx_block_codec.h) in batches, and HVX versions.
 *
 * What runs on HVX: all head dimensions, bases vht2, vht2w and klt, code sign; and code sheet with klt, which predicts nothing,
 * so that a lane is its deviation.  Code sheet with the other bases turns a prediction round lane by lane, which cannot be folded
 * into rows: such blocks, and those with other numbers of lanes than the published ones (hx_spinor_has_hvx()), are coded step by step
 * (spinor_steps.h).
 *
 * Exactness.  Given equal residuals and amax, the reference and hx_spinor_pack_hvx() give the same bytes.  From equal
 * inputs every coefficient is within 2^-17 of the largest one; so a stored half may be its neighbour near a tie,
 * and a magnitude may differ by 1, only where 7|r|/amax lies within 2^-10 of a half, as long as amax is at least 2^-6 of
 * the largest coefficient (below that rounding noise of fp32 decides) and 2^-90 (qf32 ends near 2^-127).
 * Decode multiplies integers: rows of the basis with 16 bits, the skeleton with 15 bits below its largest exponent, the
 * signed magnitudes as they are.  A decoded value is within 2^-12 of the largest of: a coefficient, four times
 * an entry of the mean, 2^-14.  Rounding a coefficient to fp16 may cost as much.  tests/kernels/check_spinor.c and check_spinor_hvx.c
 * hold all of this.
 *
 * All functions return AEE codes.  They allocate nothing and keep nothing; every buffer is
 * borrowed for the call.  Any thread may call them; a struct hx_spinor is read-only after hx_spinor_init().
 *
 * Input domain of an encode: every |x| <= HX_SPINOR_MAX_ABS (so neither NaN nor infinity) and skeleton coefficients that
 * fp16 can hold (below 65520); anything else is AEE_EBADPARM. */
#ifndef SPINOR_H
#define SPINOR_H

#include <stddef.h>
#include <stdint.h>

#include <hexagon_types.h>

#include "AEEStdErr.h"
#include "hx_block_codec.h"

#define HX_SPINOR_MAX_ABS HX_CODEC_MAX_ABS

/* --- what both versions agree on (spinor_tables.c) */

/* AEE_EBADPARM unless the skeleton ascends through squarefree indices below 154, W is finite and reserved is 0. */
int hx_spinor_check_table(const struct hx_block_table *t);

/* AEE_EBADITEM when hx_block_fault() finds one: no encoder wrote it. */
int hx_spinor_check_block(const struct hx_block *b);

/* The vectors of which a batch complains.  at: indices pos * n_slots + (slot - first), ascending. */
enum { HX_SPINOR_FAULTS = 16 };
struct hx_spinor_faults {
    size_t n; /* all, also those that `at` has no room for */
    size_t at[HX_SPINOR_FAULTS];
};

void hx_spinor_note(struct hx_spinor_faults *faults, size_t index);

/* --- reference (spinor_ref.c) */

/* n_pos positions of slots first..first+n_slots-1 of any format, no HVX: x [n_pos][n_slots][dh], blocks
 * [n_pos][n_slots][slot bytes].  x 4-byte aligned.  Errors and *faults as of the HVX batches below. */
int hx_spinor_encode_batch_ref(const struct hx_codec *c, size_t first, size_t n_slots, size_t n_pos,
                               const float *x, void *blocks, struct hx_spinor_faults *faults);
int hx_spinor_decode_batch_ref(const struct hx_codec *c, size_t first, size_t n_slots, size_t n_pos,
                               const void *blocks, float *x, struct hx_spinor_faults *faults);

/* The rest is head dimension 128, basis vht2, code sign: what spinor_hvx.c is compared with. */
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

/* n_res lanes, from the codec. */
void hx_spinor_predict_ref(const struct hx_codec *c, size_t slot,
                           const uint16_t *skeleton, float *prediction);

/* Fills magnitudes, phases, amax and CRC of *b, whose skeleton is set: hx_codec_pack().  amax >= 0, both finite. */
void hx_spinor_pack_ref(const float residual[HX_BLOCK_RES], float amax, struct hx_block *b);

/* --- HVX */

enum {
    HX_SPINOR_LANES = 32,        /* f32 lanes of a vector, blocks of a group */
    HX_SPINOR_SKEL_LANES = 16,   /* 14 skeleton lanes, the mean, 0 */
    HX_SPINOR_SKEL_QUADS = 4,
    HX_SPINOR_MAX_QUADS = 75,    /* residual lanes / 4 */
    HX_SPINOR_MAX_WORDS = 48,    /* of a slot */
    HX_SPINOR_MAX_RES_VECTORS = 10,
    HX_SPINOR_MAX_COEF_VECTORS = 25,
};

/* Rows of the decoder's basis as bytes, four rows to a word, for vrmpy.  A row's int16 plus 2^15 is 256 hi + lo.
 * [quad] of one vector of outputs; the vectors follow each other. */
struct hx_spinor_rows {
    HVX_Vector hi, lo;
};

/* What one slot has of its own, in front of its vectors. */
struct hx_spinor_slot {
    uint16_t skel_lane[HX_BLOCK_SKEL]; /* the encoder's: where it lies among the lanes */
    uint16_t mean_half;   /* fp16 power of two that the mean's row is a multiple of; 0: no mean */
    int16_t skel_exp;     /* row in units of 2^-skel_exp */
    float res_unit;       /* value of 1 in the residual rows */
};

/* All tables of a handle.  The encoder has columns: input i -> its part of every coefficient lane, residual lanes first (in
 * whole vectors), then the squarefree ones (klt: the skeleton).  The decoder has rows: for the skeleton with the predictor
 * folded in, x = mean + sum of skeleton times row + sum of residual times row.  `*_at` are bytes from the beginning. */
struct hx_spinor {
    struct hx_codec_format f;
    uint32_t n_slots;
    uint16_t out_vectors, res_vectors, coef_vectors; /* of values, residual lanes, all lanes */
    uint16_t quads;        /* residual quads */
    uint16_t slot_words;   /* 4-byte words of a block's slot */
    uint16_t res_shift;    /* a sum over residual rows has this many bits of room */
    size_t columns_at;     /* [dh][coef_vectors] f32; 0: each slot has its own */
    size_t res_rows_at;    /* [out_vectors][quads]; 0: each slot has its own */
    size_t slot_at, slot_bytes;
    /* Bytes from a slot's beginning; 0: the basis has none.  First what decode uses, from encode_in on what encode does. */
    size_t skel_rows_in;   /* [out_vectors][4] */
    size_t res_rows_in;
    size_t encode_in;
    size_t mean_in;        /* [out_vectors] f32 */
    size_t columns_in;
    size_t w_in;           /* [14][res_vectors] f32, predictor columns */
    HVX_Vector shift3;    /* u32 lane j: 3 * (j mod 8) */
    HVX_Vector shift1;    /* u32 lane j: j */
    HVX_Vector tail_mask; /* ones in the residual lanes of the last residual vector */
    uint32_t crc[8][HX_SPINOR_MAX_WORDS]; /* bits of a slot whose parity is 0 when it is good */
    uint32_t fill[HX_SPINOR_MAX_WORDS];   /* bits that must be 0 */
};

/* 1 when a format has HVX versions. */
int hx_spinor_has_hvx(const struct hx_codec_format *f);

/* Bytes of tables for n_slots, or 0 when that overflows 32 bits (the DSP's size_t) or the format has no HVX version. */
size_t hx_spinor_bytes(const struct hx_codec_format *f, size_t n_slots);

/* Format, offsets and constants of *k, without any tables: all that hx_spinor_pack_hvx() and hx_spinor_residual_hvx() need, with
 * n_slots 0.  Returns the bytes of everything, 0 when that overflows 32 bits. */
size_t hx_spinor_lay_out(struct hx_spinor *k, const struct hx_codec_format *f, size_t n_slots);

/* Builds the tables at `memory` (128-byte aligned, `bytes` long; VTCM where it fits) from n_slots tables as hx_block.h lays
 * them out.  AEE_EBADPARM: misaligned, n_slots 0, or a table fails hx_codec_check_table(); AEE_ENOMEMORY: bytes <
 * hx_spinor_bytes().  Takes milliseconds. */
int hx_spinor_init(struct hx_spinor *memory, size_t bytes, const struct hx_codec_format *f,
                   const void *tables, size_t n_slots);

/* Tables for some slots only, and for one direction: what a part of VTCM holds of tables that lie in DDR.  *window is laid out
 * for slots 0..n_slots-1, whose tables follow at `slots` in window->slot_bytes each, and the common tables of `all` (its bytes
 * from hx_spinor_common() to slot_at) at `common`.  Both lie behind *window.  Which bytes of a slot go there:
 * hx_spinor_window_parts().  Such tables work in the batches of their direction; prediction needs those of encode. */
enum hx_spinor_use { HX_SPINOR_ENCODE, HX_SPINOR_DECODE, HX_SPINOR_USES };
size_t hx_spinor_common(void);
size_t hx_spinor_window_slot(const struct hx_spinor *all, enum hx_spinor_use use); /* slot_bytes of a window */
void hx_spinor_window(const struct hx_spinor *all, enum hx_spinor_use use, size_t n_slots,
                      const void *common, const void *slots, struct hx_spinor *window);

/* `bytes` from offset `from` of a slot in `all` go to offset `to` of that slot in a window; returns how many parts there are. */
struct hx_spinor_piece {
    size_t from, to, bytes;
};
enum { HX_SPINOR_PIECES = 2 };
size_t hx_spinor_window_parts(const struct hx_spinor *all, enum hx_spinor_use use,
                              struct hx_spinor_piece piece[HX_SPINOR_PIECES]);

/* A rectangle of a batch: n_pos positions of slots first..first+n_slots-1, `row` >= n_slots vectors from position to
 * position. */
struct hx_spinor_area {
    size_t first, n_slots, n_pos, row;
};

/* n_pos positions of slots first..first+n_slots-1: x [n_pos][n_slots][dh], 128-byte aligned; blocks [n_pos][n_slots][slot
 * bytes], 64-byte aligned; else AEE_EBADPARM.  The operations do not depend on the data.  The calling thread holds an HVX
 * context.
 *
 * encode: AEE_EBADPARM and the vector's index in *faults where one is out of range; those before it are written, it and later
 * ones are not.  decode reads each slot once, two per vector load, checks what it read and decodes that: corrupt blocks
 * are AEE_EBADITEM and listed in *faults, their values are not written; all other vectors are. */
int hx_spinor_encode_batch_hvx(const struct hx_spinor *k, size_t first, size_t n_slots,
                               size_t n_pos, const float *x, void *blocks,
                               struct hx_spinor_faults *faults);
int hx_spinor_decode_batch_hvx(const struct hx_spinor *k, size_t first, size_t n_slots,
                               size_t n_pos, const void *blocks, float *x,
                               struct hx_spinor_faults *faults);

/* The same for a rectangle; x and blocks are those of its first vector, *faults counts from there: pos * row + slot - first. */
int hx_spinor_encode_area_hvx(const struct hx_spinor *k, const struct hx_spinor_area *a,
                              const float *x, void *blocks, struct hx_spinor_faults *faults);
int hx_spinor_decode_area_hvx(const struct hx_spinor *k, const struct hx_spinor_area *a,
                              const void *blocks, float *x, struct hx_spinor_faults *faults);

/* Planes, amax, fill and CRC of a block whose skeleton is set, as hx_codec_pack() makes them, with integer operations only.
 * residual: [32 * res_vectors] f32, 128-byte aligned (else AEE_EBADPARM), what follows n_res is ignored. */
int hx_spinor_pack_hvx(const struct hx_spinor *k, const float *residual, float amax, void *block);

/* The way back: residual [32 * res_vectors] as hx_codec_levels() means them, the same bits; what follows n_res is 0.  Looks at
 * nothing but planes and amax.  AEE_EBADPARM: residual not 128-byte aligned; AEE_EBADITEM: amax is no finite f32 >= 0. */
int hx_spinor_residual_hvx(const struct hx_spinor *k, const void *block, float *residual);


/* Prediction of the residual lanes from a stored skeleton: [32 * res_vectors], 128-byte aligned (else AEE_EBADPARM), zeros
 * after n_res and for klt, which predicts nothing.  Within 2^-20 of the sum of |w * skeleton|. */
int hx_spinor_predict_hvx(const struct hx_spinor *k, size_t slot,
                          const uint16_t skeleton[HX_BLOCK_SKEL], float *prediction);

#endif
