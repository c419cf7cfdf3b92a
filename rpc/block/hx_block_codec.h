/* The reference codec of spinor blocks in fp64: every head dimension, basis and code.  Host tools, the DSP (for what has
 * no HVX version) and every check use this one.  docs/block.md says the same in words.
 *
 * Any thread may call; a struct hx_codec is read-only after hx_codec_init().  Buffers are borrowed for the call and may
 * have any alignment unless said otherwise; nothing is allocated.
 *
 * Vectors.  Zero, denormal and negative-zero values are values like others: a skeleton coefficient below 2^-25 becomes an
 * fp16 zero, amax may be denormal, and when amax is 0 all lanes are coded 0.  Refused with -EDOM, and nothing written: NaN,
 * infinity, a value above HX_CODEC_MAX_ABS; a skeleton coefficient that rounds to fp16 infinity (65520 and more); a
 * residual beyond f32. */
#ifndef HX_BLOCK_CODEC_H
#define HX_BLOCK_CODEC_H

#include "hx_block.h"

#define HX_CODEC_MAX_ABS 0x1p100f

struct hx_codec_format {
    const struct hx_block_shape *shape;
    uint32_t basis; /* enum hx_block_basis */
    uint32_t code;  /* enum hx_block_code */
};

/* Tables of all slots, widened to f32. */
struct hx_codec;

/* 0; -EINVAL: unknown dh, basis or code.  *out is filled when 0. */
int hx_codec_format(struct hx_codec_format *out, size_t dh, uint32_t basis, uint32_t code);

/* The same with other numbers of lanes (hx_block_shape_of()), 0: as published. */
int hx_codec_format_lanes(struct hx_codec_format *out, size_t dh, size_t n_skel, size_t n_res, uint32_t basis,
                          uint32_t code);

/* One table as hx_block.h lays it out, 2-byte aligned: 0, or -EINVAL when an index or a number in it is not legal. */
int hx_codec_check_table(const struct hx_codec_format *f, const void *table);

/* Bytes that hx_codec_init() needs, or 0 when they exceed 32 bits (the DSP's size_t) or n_slots is 0. */
size_t hx_codec_bytes(const struct hx_codec_format *f, size_t n_slots);

/* Builds a codec at `memory` (16-byte aligned, hx_codec_bytes() long) from n_slots tables that passed
 * hx_codec_check_table(), which lie one after the other.  Neither is kept except `memory`, which the codec is. */
struct hx_codec *hx_codec_init(void *memory, const struct hx_codec_format *f, const void *tables,
                               size_t n_slots);

const struct hx_codec_format *hx_codec_format_of(const struct hx_codec *c);
size_t hx_codec_slots(const struct hx_codec *c);

/* x: [dh]; block: one slot of f.shape->slot bytes; slot < n_slots.  encode: 0, -EDOM.  decode: 0, or -EBADMSG and nothing
 * written when hx_block_fault() finds one.  decode_payload() looks at neither CRC nor fill. */
int hx_codec_encode(const struct hx_codec *c, size_t slot, const float *x, void *block);
int hx_codec_decode(const struct hx_codec *c, size_t slot, const void *block, float *x);
int hx_codec_decode_payload(const struct hx_codec *c, size_t slot, const void *payload, float *x);

/* --- the steps of an encode, for comparing one at a time */

/* Coefficients of x: [pad] by index (vht2, vht2w), or [n_skel + n_res], residual lanes divided by their scale (klt). */
size_t hx_codec_n_coefficients(const struct hx_codec_format *f);
void hx_codec_coefficients(const struct hx_codec *c, size_t slot, const float *x, double *coef);

/* Where the skeleton and the residual lanes lie in it: [n_skel] and [n_res], borrowed until the codec goes. */
const uint16_t *hx_codec_skeleton_at(const struct hx_codec *c, size_t slot);
const uint16_t *hx_codec_lanes_at(const struct hx_codec *c, size_t slot);

/* The slot's table behind its indices, widened: w[rows][n_skel] (vht2, vht2w), or mean[dh], scale[n_res], basis[n_skel + n_res][dh] (klt).
 * Borrowed likewise. */
const float *hx_codec_values(const struct hx_codec *c, size_t slot);

struct hx_codec_residual {
    float r[HX_BLOCK_MAX_RES];       /* coefficient - prediction (sheet: + or - prediction), rounded to f32 */
    uint8_t sheet[HX_BLOCK_MAX_RES]; /* code sheet: 1 when the negated prediction is nearer; code sign: 0 */
    float amax;                      /* largest |r| */
};

/* Residuals against the prediction that a decoder makes from `skeleton` (fp16, as stored). */
void hx_codec_residual(const struct hx_codec *c, size_t slot, const double *coef,
                       const uint16_t *skeleton, struct hx_codec_residual *out);

/* Sets planes, amax, fill and CRC of a block whose skeleton is set.  Exact arithmetic on f32 values:
 *   sign   magnitude = number of k in 0..6 with 14 |r| >= (2k+1) amax; phase = r < 0 and magnitude > 0
 *   sheet  magnitude = number of k in 0..6 with 7 r >= (2k-6) amax;    phase = sheet
 * that is 7|r|/amax rounded half away from zero, or 3.5 (r/amax + 1) rounded half up, at most 7.  All magnitudes are 0 when
 * amax is 0. */
void hx_codec_pack(const struct hx_codec_format *f, const struct hx_codec_residual *r, void *block);

/* What magnitude m means: m amax / 7 before its sign (sign), (2m - 7) amax / 7 (sheet); fp64 rounded to f32. */
void hx_codec_levels(uint32_t code, float amax, float level[8]);

#endif
