/* Density per-vector: one call for each K or V vector, in ordinary memory, so that its bytes are copied.  The wall. */
#include <stdlib.h>

#include "kv_spinor_dispatch.h"

static int encode(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n, struct hx_error *err)
{
    const size_t dh = s->shape->dh, bytes = s->shape->slot;

    for (size_t i = 0; i < n * s->n_slots; i++) {
        size_t slot = layer * s->n_slots + i % s->n_slots, at = pos + i / s->n_slots;
        int code = sp_hex_hier_encode_f32(s->dsp.handle, (int32_t)slot,
                                          hx_spinor_x(s, layer, pos) + i * dh, (int)dh,
                                          hx_spinor_blocks(s, layer, pos) + i * bytes, (int)bytes);
        if (code)
            return hx_spinor_failed(s, "hier_encode_f32", layer, at, at, code, err);
    }
    return 0;
}

static int decode(struct hx_kv_spinor *s, size_t layer, size_t n, struct hx_error *err)
{
    const size_t dh = s->shape->dh, bytes = s->shape->slot;

    for (size_t i = 0; i < n * s->n_slots; i++) {
        size_t slot = layer * s->n_slots + i % s->n_slots, at = i / s->n_slots;
        int code = sp_hex_hier_decode_f32(s->dsp.handle, (int32_t)slot,
                                          hx_spinor_blocks(s, layer, 0) + i * bytes, (int)bytes,
                                          hx_spinor_x(s, layer, 0) + i * dh, (int)dh);
        if (code)
            return hx_spinor_failed(s, "hier_decode_f32", layer, at, at, code, err);
    }
    return 0;
}

static void *heap_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

static struct hx_calls calls(double layers, double kv_heads, double pos)
{
    return (struct hx_calls){2 * layers * kv_heads * (1 + pos), 0};
}

const struct hx_spinor_dispatch hx_spinor_dispatch_vector = {
    .name = "per-vector",
    .one_by_one = 1,
    .alloc = heap_alloc,
    .free = free,
    .encode = encode,
    .decode = decode,
    .calls = calls,
};
