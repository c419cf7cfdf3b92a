/* Whole layers on the DSP, through interface hex_layer: a cache that does not only keep K and V but runs the layers that make and read
 * them.  Hidden states go there and come back, one call for a layer and a batch; weights and K and V stay. */
#ifndef HX_KV_LAYER_H
#define HX_KV_LAYER_H

#include "engine/kv.h"
#include "engine/method.h"

extern const struct hx_method hx_method_kv_layer;

/* The model is kept until close.  placement: index into hx_placements (methods/dsp/linear_dsp.h); packets: calls are packets.
 * 0; -ENOTSUP: the model has something that the DSP has not; -EINVAL: it is too large; -EIO: the DSP refused something;
 * -ENOMEM. */
int hx_kv_layer_open(struct hx_kv **out, const struct hx_model *m, size_t n_ctx, uint32_t placement, int softmax_int,
                     int packets, struct hx_error *err);

/* Where the matrices are; see hx_linear_dsp_report(). */
json_t *hx_kv_layer_report(const void *self, const struct hx_kv *kv, const struct hx_plan *p);

#endif
