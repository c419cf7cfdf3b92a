/* Exact inner products by two processes that have a prime each (shard/shard.h), for attn_poly.c and kv_ntt.c: blocks are
 * u32 [N], residues modulo this process's prime.  Residues of many products are found, swapped in one go, and combined.
 *
 * Any thread may call these, but for the swap. */
#ifndef HX_HOST_POLY_SHARD_H
#define HX_HOST_POLY_SHARD_H

#include "poly.h"

/* r[i] = coefficient 0 of query and the key at keys + i * stride (bytes), modulo this process's prime. */
void hx_poly_residues(const struct hx_poly *p, uint32_t *r, const void *query, const void *keys,
                      size_t stride, size_t n);

/* scores[i] as hx_poly_scaled() has them, of this process's residues and the other's. */
void hx_poly_combine(const struct hx_poly *p, float *scores, float scale, const uint32_t *mine,
                     const uint32_t *theirs, size_t n);

/* residues [N] <- block of a key, transformed back; hx_poly_combine_key() makes k [dh] of both as hx_poly_decode_key()
 * does. */
void hx_poly_key_residues(const struct hx_poly *p, uint32_t *residues, const void *block);
void hx_poly_combine_key(const struct hx_poly *p, float *k, const uint32_t *mine,
                         const uint32_t *theirs);

#endif
