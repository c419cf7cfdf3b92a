/* Not a density but this CPU's codecs: the same blocks without a DSP.  Where the DSP has tables, rpc/block/hx_block_dsp.h computes with its
 * numbers and has its bits; what it codes step by step is left to the fp64 codec, which is close (hx_block_codec.h). */
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

    for (size_t i = 0; i < n * s->n_slots; i++) {
        const size_t slot = layer * s->n_slots + i % s->n_slots;
        const float *from = x + i * s->shape->dh;
        uint8_t *to = blocks + i * s->shape->slot;

        if (s->exact ? hx_block_dsp_encode(s->exact, slot, from, to) : hx_codec_encode(s->codec, slot, from, to))
            return failed(s, "a vector cannot be encoded", layer, pos, i, err);
    }
    return 0;
}

static int decode(struct hx_kv_spinor *s, size_t layer, size_t n, struct hx_error *err)
{
    float *x = hx_spinor_x(s, layer, 0);
    const uint8_t *blocks = hx_spinor_blocks(s, layer, 0);

    for (size_t i = 0; i < n * s->n_slots; i++) {
        const size_t slot = layer * s->n_slots + i % s->n_slots;
        const uint8_t *from = blocks + i * s->shape->slot;
        float *to = x + i * s->shape->dh;

        if (s->exact ? hx_block_dsp_decode(s->exact, slot, from, to) : hx_codec_decode(s->codec, slot, from, to))
            return failed(s, "a block is corrupt", layer, 0, i, err);
    }
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
