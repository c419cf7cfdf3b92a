/* KV cache `ntt`: K as transforms, made once per token; V in f32.
 *
 * One block per (layer, position, KV head) of 8 N bytes, 64-byte aligned: u32 [2][N], residues modulo q1 and q2, or u64 [N]
 * modulo the 60-bit prime.  2048 bytes at N = 256, four times an f16 key: this trades memory for time and compresses nothing.
 *
 * Of two processes that share a model (cfg->shard), each keeps the residues of one prime, 4 N bytes a block; scores() and
 * rows() then swap once per call, and both processes must make the same calls.
 *
 * scores() is exact: hx_poly_score() of the inner products of round(Delta q) and round(Delta k).  rows() transforms back:
 * its K is round(Delta k) / Delta, which encodes to the same block; V is as it was put. */
#ifndef HX_KV_NTT_H
#define HX_KV_NTT_H

#include "engine/kv.h"
#include "methods/ntt/ring/poly.h"
#include "base/pool.h"

struct hx_kv_shape {
    size_t n_layer, n_kv, dh, n_ctx;
};

/* The most memory that keys on the DSP may take; 0: no VTCM, as much of its heap as there is. */
struct hx_kv_ntt_limits {
    size_t vtcm_bytes, heap_bytes;
    int packets; /* 1: calls go as packets (dsp/packets.h) */
};

/* pool: borrowed, may be NULL.  0; -ENOMEM; -EINVAL: schoolbook has no transforms; -EPIPE and others of
 * hx_shard_swap(); as hx_poly_open(). */
int hx_kv_ntt_open(struct hx_kv **out, const struct hx_kv_shape *shape,
                   const struct hx_poly_cfg *cfg, struct hx_pool *pool, struct hx_error *err);

/* The same with the blocks in the DSP's memory (ntt/ntt_dsp.h): one call per layer for put(), scores() and rows(), whatever the
 * batch, but for scores of more than 2^24 residues, which take several.  V stays here.
 *
 * Blocks fill VTCM up to its limit, then the DSP's heap, position by position; those of the positions behind that stay here and
 * are multiplied here, with the same bits.  Nothing is moved: each score reads all keys of its window once, so that a policy of
 * replacement would throw out what is wanted next.  limits: NULL: none.
 *
 * With cfg->shard each process's DSP has one prime, so that each wants a rig of its own.
 * -EINVAL, too, for the 60-bit prime, which a 32-bit DSP has no use for; -EIO. */
int hx_kv_ntt_dsp_open(struct hx_kv **out, const struct hx_kv_shape *shape,
                       const struct hx_poly_cfg *cfg, const struct hx_kv_ntt_limits *limits, struct hx_pool *pool,
                       struct hx_error *err);

/* What it computes with. */
const struct hx_poly *hx_kv_ntt_ring(const struct hx_kv *kv);

/* Where blocks are, and what scores() has read of them. */
enum hx_ntt_place { HX_NTT_VTCM, HX_NTT_DDR, HX_NTT_HOST, HX_NTT_PLACES };
extern const char *const hx_ntt_places[]; /* "vtcm", "ddr", "host", NULL */
struct hx_ntt_held {
    size_t positions[HX_NTT_PLACES];
    uint64_t read_bytes[HX_NTT_PLACES];
};

/* What the cache has done; of one on the DSP this is a call.  0 or -EIO. */
int hx_kv_ntt_seen(const struct hx_kv *kv, struct hx_poly_seen *seen, struct hx_ntt_held *held, struct hx_error *err);

#endif
