/* KV cache of projections: of each K and V [dh] the r coefficients z = U^T x are kept, U [dh][r] the first directions of a basis
 * (kv_basis.h), in f16 or f32; what comes back is U z.  r = dh is the plain cache, up to rounding.
 *
 * K is projected after RoPE, or before it: then it is turned back when it is put, and turned when it comes back.  A position is all that
 * is known of a K then, so only a cache with K after RoPE takes trees of tokens, where a token's place is not its position. */
#ifndef HX_PROJ_CACHE_H
#define HX_PROJ_CACHE_H

#include "engine/kv.h"
#include "kv_basis.h"

/* By enum hx_kv_z: "f16", "f32", NULL. */
enum hx_kv_z { HX_KV_Z_F16, HX_KV_Z_F32 };
extern const char *const hx_kv_z_names[];

/* Bytes of a coefficient. */
static inline size_t hx_kv_z_bytes(enum hx_kv_z z)
{
    return z == HX_KV_Z_F16 ? 2 : 4;
}

/* basis: of this model; not kept.  0, -ENOMEM; -EINVAL: rank is 0 or more than dh. */
int hx_kv_proj_open(struct hx_kv **out, const struct hx_model *m, const struct hx_kv_basis *basis, size_t rank, enum hx_kv_z z,
                    size_t n_ctx, struct hx_error *err);

/* -EINVAL: there is no such rank. */
int hx_kv_proj_check_rank(size_t rank, size_t dh, struct hx_error *err);

/* Whose basis it is, and whether K is projected after RoPE. */
struct hx_kv_proj_kind {
    enum hx_kv_basis_from from;
    int k_after_rope;
};
struct hx_kv_proj_kind hx_kv_proj_kind(const struct hx_kv *kv);

/* How near what comes back is to what was put: |x - U z| / |x| of each vector, mean and largest; of K (is_v 0) or V. */
struct hx_kv_proj_seen {
    size_t vectors;
    double mean, max;
};
struct hx_kv_proj_seen hx_kv_proj_seen(const struct hx_kv *kv, int is_v);

#endif
