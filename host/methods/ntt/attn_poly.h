/* Attention `poly`: scores are exact inner products of integers, found as coefficient 0 of ring products (ntt/poly.h); then
 * softmax and V as the fp32 reference has them.  docs/ring-attention.md.
 *
 * Keys are encoded from the f32 rows of any cache at every run (per step), those of the tokens themselves from their own
 * K; the cache `ntt` (kv_ntt.h) keeps them encoded, so that only queries are.  All modes, kernels, batches and numbers of
 * threads give the same bits. */
#ifndef HX_ATTN_POLY_H
#define HX_ATTN_POLY_H

#include "engine/attn.h"
#include "methods/ntt/ring/poly.h"
#include "base/pool.h"

/* pool: borrowed, may be NULL.  0; -ENOMEM; as hx_poly_open().  Runs fail with -ERANGE where an inner product need not fit
 * the moduli. */
int hx_attn_poly_open(struct hx_attn **out, const struct hx_poly_cfg *cfg, size_t dh,
                      struct hx_pool *pool, struct hx_error *err);

/* What a method opened by hx_attn_poly_open() computes with. */
const struct hx_poly *hx_attn_poly(const struct hx_attn *a);

/* Sets *seen to what it has done; where the cache keeps transforms, those of its keys are not in it. */
void hx_attn_poly_seen(const struct hx_attn *a, struct hx_poly_seen *seen);

#endif
