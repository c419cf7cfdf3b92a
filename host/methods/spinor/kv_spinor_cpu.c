/* Not a density but the codec of this CPU (rpc/block/hx_block_codec.h): the same blocks without a DSP. */
#include <errno.h>
#include <stdlib.h>

#include "kv_spinor_dispatch.h"

static int failed(const struct hx_kv_spinor *s, const char *what, size_t layer, size_t pos, size_t i, struct hx_error *err)
{
    return hx_error_set(err, -EIO, "kv spinor-cpu: %s at layer %zu, position %zu", what, layer, pos + i / s->n_slots);
}

static int encode(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n, struct hx_error *err)
{
    const float *x = hx_spinor_x(s, layer, pos);
    uint8_t *blocks = hx_spinor_blocks(s, layer, pos);

    for (size_t i = 0; i < n * s->n_slots; i++)
        if (hx_codec_encode(s->codec, layer * s->n_slots + i % s->n_slots, x + i * s->shape->dh, blocks + i * s->shape->slot))
            return failed(s, "a vector cannot be encoded", layer, pos, i, err);
    return 0;
}

static int decode(struct hx_kv_spinor *s, size_t layer, size_t n, struct hx_error *err)
{
    float *x = hx_spinor_x(s, layer, 0);
    const uint8_t *blocks = hx_spinor_blocks(s, layer, 0);

    for (size_t i = 0; i < n * s->n_slots; i++)
        if (hx_codec_decode(s->codec, layer * s->n_slots + i % s->n_slots, blocks + i * s->shape->slot, x + i * s->shape->dh))
            return failed(s, "a block is corrupt", layer, 0, i, err);
    return 0;
}

static void *heap_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

static struct hx_calls calls(double layers, double kv_heads, double pos)
{
    (void)layers;
    (void)kv_heads;
    (void)pos;
    return (struct hx_calls){0, 0};
}

const struct hx_spinor_dispatch hx_spinor_dispatch_cpu = {
    .name = "cpu",
    .alloc = heap_alloc,
    .free = free,
    .encode = encode,
    .decode = decode,
    .calls = calls,
};
