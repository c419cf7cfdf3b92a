/* A model's layers in the DSP's layout, for interface hex_layer: vectors first, then matrices (rpc/block/hx_weights.h). */
#ifndef HX_LAYER_PACK_H
#define HX_LAYER_PACK_H

#include "base/error.h"
#include "hex_layer.h"
#include "model/model.h"

struct hx_layer_pack {
    hex_layer_shape shape;
    hex_layer_matrix *matrices; /* [n_matrices] in the DSP's order */
    hex_layer_vectors *vectors; /* [shape.layers] */
    size_t n_matrices;
    size_t bytes;               /* of the buffer that all of it lies in */
};

/* 0 when the DSP can do the model's layers; -ENOTSUP with what they have that it has not. */
int hx_layer_pack_check(const struct hx_model *m, struct hx_error *err);

/* Where everything will lie, with n_ctx positions; p: zeroed, and to be freed also after an error.  0; -ENOTSUP as above; -EINVAL: a
 * matrix, or all of them, are too large; -ENOMEM. */
int hx_layer_pack_measure(struct hx_layer_pack *p, const struct hx_model *m, size_t n_ctx, int softmax_int, struct hx_error *err);

/* Fills out, p->bytes at a multiple of 128, zeroed.  0; -EDOM: a weight is an infinity or no number; -ENOMEM. */
int hx_layer_pack_fill(const struct hx_layer_pack *p, const struct hx_model *m, uint8_t *out, struct hx_error *err);

void hx_layer_pack_free(struct hx_layer_pack *p);

#endif
