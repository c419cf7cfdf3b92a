/* KV cache of spinor blocks (63 bytes at head dimension 128) that the DSP encodes and decodes over FastRPC (interface sp_hex).
 *
 * Density says how the work is cut into calls:
 *   per-vector  one call per K or V vector, in ordinary memory, so that its bytes are copied;
 *   per-layer   one call per layer and position, all heads, K and V;
 *   batched     per layer one encode of all new positions and one decode of all past ones;
 *   per-token   one decode of all layers before a token, one encode of all layers after it;
 *   queue       one dspqueue packet per token, which encodes what the last one brought and decodes all layers; no calls.
 * All but the first keep their bytes in rpcmem, so that they are shared.  Where there is no past nothing is decoded.  Tokens of a
 * prompt come in batches with `batched` alone, one by one else.  What the cache returns does not depend on the density.
 *
 * The calibration says whether blocks hold K before RoPE: then put() turns K back by its position first, and rows() turns
 * what was decoded forth again, so that callers see K after RoPE either way. */
#ifndef HX_KV_SPINOR_H
#define HX_KV_SPINOR_H

#include "cal_file.h"
#include "engine/kv.h"
#include "engine/method.h"
#include "model/model.h"
#include "pager/spill.h"

/* Names of the densities, NULL-terminated. */
extern const char *const hx_kv_spinor_densities[];

/* For one token at position pos, 0-based, unless calls go as packets.  `density` is a name of the table above. */
struct hx_calls hx_kv_spinor_calls(const char *density, size_t n_layer, size_t n_kv, size_t pos);

/* 1: a call has the blocks of all layers. */
int hx_kv_spinor_by_token(const char *density);

/* What the blocks of an open cache hold. */
const struct hx_codec_format *hx_kv_spinor_format(const struct hx_kv *kv, int *k_after_rope);

/* Opens sp_hex on the CDSP in an unsigned PD and hands it the tables (borrowed for the call), which must be of this
 * model.  Of the model, only geometry, rope and fingerprint are looked at.  packets: 1: calls go as packets (dsp/packets.h).
 * 0; -EINVAL (unknown density, tables of another model, context too long for one call); -ENOMEM; -EIO (the DSP refused or damaged
 * something). */
int hx_kv_spinor_open(struct hx_kv **out, const struct hx_model *m, const struct hx_cal *cal,
                      const char *density, int packets, size_t n_ctx, struct hx_error *err);

/* Blocks of an open cache without positions go to a file page by page from now on (host/pager/spill.h): those of one layer are in memory
 * at a time, and are what is coded.  positions: of a page.  0; -EINVAL: the density has all layers in one call; errors of
 * hx_spill_open(). */
int hx_kv_spinor_page(struct hx_kv *kv, size_t positions, const struct hx_pager_how *how, struct hx_error *err);

/* For a text with a drafter: from now on a batch may have guesses at every density, in the calls of one token where a call has all
 * that a token needs.  cal: as at open, borrowed for the call.  Where per-token and queue have a format without the DSP's numbers
 * (hx_block_dsp_has()) nothing changes.  0 or -ENOMEM. */
int hx_kv_spinor_take_guesses(struct hx_kv *kv, const struct hx_cal *cal, struct hx_error *err);

/* What was paged; NULL: blocks are not, or out of memory. */
json_t *hx_kv_spinor_paging(const struct hx_kv *kv);

/* The same blocks, coded by this CPU: no rig, no calls.  Where the DSP has tables for the format (rpc/block/hx_block_dsp.h)
 * blocks and values have its bits.  Else the fp64 codec makes them: bytes but for the neighbours that docs/block.md allows,
 * values within what kernels/spinor/spinor_steps.h allows.
 * Errors likewise. */
int hx_kv_spinor_cpu_open(struct hx_kv **out, const struct hx_model *m, const struct hx_cal *cal, size_t n_ctx,
                          struct hx_error *err);

#endif
