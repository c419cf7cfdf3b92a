/* KV caches of models that are not here (model/geometry.h): with random vectors and made-up tables a cache makes the same calls for
 * them as for the model itself, so their cost can be told without weights.
 *
 * Everything random is a function of layer, position and slot: two runs do the same. */
#ifndef HX_GEOMETRY_CACHE_H
#define HX_GEOMETRY_CACHE_H

#include "cal_file.h"
#include "calibrate.h"
#include "engine/kv.h"
#include "model/geometry.h"
#include "model/model.h"
#include "base/error.h"

/* Legal tables of noise for every slot: what is coded with them comes back wrong, at the right cost.  The caller frees *out.
 * 0; -EINVAL: blocks have no such dh; -ENOMEM. */
int hx_geometry_cal(struct hx_cal **out, const struct hx_geometry *g, const struct hx_cal_cfg *cfg,
                    struct hx_error *err);

/* Stores noise as K and V of positions pos..pos+n-1 of every layer. */
int hx_geometry_fill(struct hx_kv *kv, size_t pos, size_t n, struct hx_error *err);

/* What the forward pass asks of the cache for a batch of n tokens from `pos` on in one layer: K and V in, the past out. */
int hx_geometry_layer(struct hx_kv *kv, size_t layer, size_t pos, size_t n, struct hx_error *err);

/* Of a cache that attends by itself: the attention of positions pos..pos+n-1 of a layer, with noise as Q, K and V.  n_head: a multiple of
 * the cache's n_kv. */
int hx_geometry_attend(struct hx_kv *kv, size_t n_head, size_t layer, size_t pos, size_t n, struct hx_error *err);

#endif
