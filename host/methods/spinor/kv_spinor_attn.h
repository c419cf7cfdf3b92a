/* The cache of spinor blocks when attention is where the blocks are: no K or V ever comes back, only what attention makes of
 * them.  Blocks must hold K after RoPE; the rule of kv.h is the same, so each position attends to itself in f32.
 *
 * Densities, calls for one token (L layers, H KV heads), whatever its position:
 *   per-vector  2LH encodes + LH attn_block, in ordinary memory, so that all blocks of the past are copied each time,
 *               unless calls go as packets;
 *   per-layer   L encodes + L attn_block;
 *   batched     L attn_layer, each of which does both.
 * Those with fewer calls than layers (per-token, queue) are refused: a layer's queries follow from the layer before. */
#ifndef HX_KV_SPINOR_ATTN_H
#define HX_KV_SPINOR_ATTN_H

#include "cal_file.h"
#include "engine/kv.h"
#include "model/model.h"

/* 1 when a density cannot have its attention on the DSP; 0 for NULL, which stands for the default. */
int hx_kv_attn_refuses(const char *density);

/* INVOKEs for one token; density: one that is not refused. */
double hx_kv_attn_calls(const char *density, size_t n_layer, size_t n_kv);

/* What the blocks of an open cache hold; K after RoPE. */
const struct hx_codec_format *hx_kv_spinor_attn_format(const struct hx_kv *kv);

/* As hx_kv_spinor_open(); also -EINVAL: a density that is refused, or tables of K before RoPE.  This cache has no put() and
 * no rows(); attend() takes any model without windows and soft-caps. */
int hx_kv_spinor_attn_open(struct hx_kv **out, const struct hx_model *m, const struct hx_cal *cal,
                           const char *density, int packets, size_t n_ctx, struct hx_error *err);

#endif
