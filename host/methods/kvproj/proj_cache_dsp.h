/* The cache of projections (proj_cache.h) on the DSP, with attention where it is: interface kv_proj (kernels/kvproj).  A layer's
 * batch is one call, which projects and stores its K and V and attends; nothing of the past crosses.  K is projected after RoPE.
 *
 * Positions that are put again replace those that were there, so that a batch of guesses needs nothing to be taken back. */
#ifndef HX_PROJ_CACHE_DSP_H
#define HX_PROJ_CACHE_DSP_H

#include "proj_cache.h"

/* basis: of this model, K after RoPE; not kept.  packets: 1: calls go as packets (dsp/packets.h).
 * 0, -ENOMEM; -EINVAL: rank, a head dimension that is no multiple of 32, more than 2 GiB; -EIO; as hx_skel_open(). */
int hx_kv_proj_dsp_open(struct hx_kv **out, const struct hx_model *m, const struct hx_kv_basis *basis, size_t rank, enum hx_kv_z z,
                        int packets, size_t n_ctx, struct hx_error *err);

/* Bytes of the bases, and of those in VTCM; of the past, for all positions. */
struct hx_kv_proj_places {
    struct hx_kv_proj_kind kind;
    size_t bases, bases_in_vtcm, past;
};
struct hx_kv_proj_places hx_kv_proj_dsp_places(const struct hx_kv *kv);

#endif
