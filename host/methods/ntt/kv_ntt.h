/* KV cache `ntt`: K as transforms, made once per token; V in f32.
 *
 * One block per (layer, position, KV head) of 8 N bytes, 64-byte aligned: u32 [2][N], residues modulo q1 and q2, or u64 [N]
 * modulo the 60-bit prime.  2048 bytes at N = 256, four times an f16 key: this trades memory for time and compresses nothing.
 *
 * Of two processes that share a model (cfg->shard), each keeps the residues of one prime, 4 N bytes a block; scores() and
 * rows() then swap once per call, and both processes must make the same calls.
 *
 * scores() is exact: hx_poly_score() of the inner products of round(Delta q) and round(Delta k); it also knows the position
 * that was put last.  rows() transforms back: its K is round(Delta k) / Delta, which encodes to the same block; V is as it
 * was put. */
#ifndef HX_KV_NTT_H
#define HX_KV_NTT_H

#include "engine/kv.h"
#include "methods/ntt/ring/poly.h"
#include "base/pool.h"

struct hx_kv_shape {
    size_t n_layer, n_kv, dh, n_ctx;
};

/* pool: borrowed, may be NULL.  0; -ENOMEM; -EINVAL: schoolbook has no transforms; -EPIPE and others of
 * hx_shard_swap(); as hx_poly_open(). */
int hx_kv_ntt_open(struct hx_kv **out, const struct hx_kv_shape *shape,
                   const struct hx_poly_cfg *cfg, struct hx_pool *pool, struct hx_error *err);

/* The same with the blocks in the DSP's memory (ntt/ntt_dsp.h): one call per layer for put(), scores() and rows().  V stays here.
 * With cfg->shard each process's DSP has one prime, so that each wants a rig of its own.
 * -EINVAL, too, for the 60-bit prime, which a 32-bit DSP has no use for; -EIO. */
int hx_kv_ntt_dsp_open(struct hx_kv **out, const struct hx_kv_shape *shape,
                       const struct hx_poly_cfg *cfg, struct hx_pool *pool, struct hx_error *err);

/* What it computes with. */
const struct hx_poly *hx_kv_ntt_ring(const struct hx_kv *kv);

#endif
