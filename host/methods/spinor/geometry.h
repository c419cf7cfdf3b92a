/* Geometries of models that are not here: how many layers, KV heads and values a K or V vector has.  With random vectors and
 * made-up tables a KV cache makes the same calls for them as for the model itself, so their cost can be told without weights.
 *
 * Everything random is a function of layer, position and slot: two runs do the same. */
#ifndef HX_GEOMETRY_H
#define HX_GEOMETRY_H

#include "cal_file.h"
#include "calibrate.h"
#include "engine/kv.h"
#include "model/model.h"
#include "base/error.h"

struct hx_geometry {
    const char *name;
    size_t n_layer, n_kv, dh;
    float rope_base;
};

/* Ends with a NULL name. */
extern const struct hx_geometry hx_geometries[];

/* Names of all, NULL-terminated. */
extern const char *const hx_geometry_names[];

/* What a KV cache looks at in a model; the rest is zero. */
struct hx_model hx_geometry_model(const struct hx_geometry *g);

/* Legal tables of noise for every slot: what is coded with them comes back wrong, at the right cost.  The caller frees *out.
 * 0; -EINVAL: blocks have no such dh; -ENOMEM. */
int hx_geometry_cal(struct hx_cal **out, const struct hx_geometry *g, const struct hx_cal_cfg *cfg,
                    struct hx_error *err);

/* Stores noise as K and V of positions pos..pos+n-1 of every layer. */
int hx_geometry_fill(struct hx_kv *kv, size_t pos, size_t n, struct hx_error *err);

/* What the forward pass asks of the cache for one token at `pos`: per layer K and V in, the past out. */
int hx_geometry_token(struct hx_kv *kv, size_t pos, struct hx_error *err);

#endif
