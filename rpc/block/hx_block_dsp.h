/* The codec of spinor blocks in the numbers of the DSP: bit for bit what kernels/spinor makes on HVX (qf32 columns to encode, integer rows
 * to decode), computed here without HVX.  So blocks and values do not depend on where they were made.
 *
 * Formats that the DSP has no tables for (hx_block_dsp_has(): 0) it codes step by step, and these have no such codec; hx_block_codec.h
 * has one for every format, which is near it, as kernels/spinor/spinor.h says.
 *
 * Any thread may call; a codec is read-only after hx_block_dsp_open().  Buffers are borrowed for the call, any alignment. */
#ifndef HX_BLOCK_DSP_H
#define HX_BLOCK_DSP_H

#include "hx_block_codec.h"

/* 1: published numbers of lanes, and code sign or basis klt. */
int hx_block_dsp_has(const struct hx_codec_format *f);

/* Tables of all slots as columns and rows: about 4 times the bytes of f32 tables. */
struct hx_block_dsp;

/* n_slots tables that passed hx_codec_check_table(), one after the other; not kept.  NULL: no memory, n_slots 0, or a format that has
 * none. */
struct hx_block_dsp *hx_block_dsp_open(const struct hx_codec_format *f, const void *tables, size_t n_slots);

/* Accepts NULL. */
void hx_block_dsp_close(struct hx_block_dsp *d);

/* As hx_codec_encode() and hx_codec_decode(), with their errors. */
int hx_block_dsp_encode(const struct hx_block_dsp *d, size_t slot, const float *x, void *block);
int hx_block_dsp_decode(const struct hx_block_dsp *d, size_t slot, const void *block, float *x);

#endif
