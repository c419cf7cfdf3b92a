/* What the dispatches of the spinor cache share: where vectors and blocks lie, moving them, the calls for batches, and their errors. */
#include <stdio.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "kv_spinor_dispatch.h"
#include "rpcmem.h"

/* Where a position's vectors of a layer are, counted in the n_slots of one. */
static size_t at(const struct hx_kv_spinor *s, size_t layer, size_t pos, size_t layer_stride)
{
    return (s->dispatch->by_token ? pos * s->kv.n_layer + layer : layer * layer_stride + pos) *
           s->n_slots;
}

float *hx_spinor_x(const struct hx_kv_spinor *s, size_t layer, size_t pos)
{
    return s->x + at(s, layer, pos, 0) * s->shape->dh;
}

uint8_t *hx_spinor_blocks(const struct hx_kv_spinor *s, size_t layer, size_t pos)
{
    return s->blocks + at(s, layer, pos, s->spill ? 0 : s->kv.n_ctx) * s->shape->slot;
}

size_t hx_spinor_stride(const struct hx_kv_spinor *s)
{
    return (s->dispatch->by_token ? s->kv.n_layer : 1) * s->n_slots * s->shape->dh;
}

void *hx_spinor_shared_alloc(size_t bytes)
{
    return rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);
}

void hx_spinor_gather(void *entries, const size_t *index, size_t n, size_t bytes)
{
    char *p = entries;

    for (size_t i = 0; i < n; i++) /* ascending: nothing is overwritten before it was moved */
        memmove(p + i * bytes, p + index[i] * bytes, bytes);
}

int hx_spinor_failed(const struct hx_kv_spinor *s, const char *method, size_t layer, size_t first,
                     size_t last, int code, struct hx_error *err)
{
    char where[48];

    if (s->dispatch->by_token)
        snprintf(where, sizeof(where), "layers 0..%zu", s->kv.n_layer - 1);
    else
        snprintf(where, sizeof(where), "layer %zu", layer);
    return hx_dsp_error(err, HX_DSP_CALL, s->dsp.node, code,
                      "kv spinor: %s failed at %s, positions %zu..%zu", method, where, first, last);
}

int hx_spinor_encode_call(struct hx_kv_spinor *s, size_t layer, size_t n_slots, size_t pos, size_t n,
                          struct hx_error *err)
{
    const size_t vectors = n * n_slots;
    int code = sp_hex_hier_encode_batch_f32(s->dsp.handle, (int32_t)(layer * s->n_slots),
                                            (int32_t)n_slots, (int32_t)n,
                                            hx_spinor_x(s, layer, pos),
                                            (int)(vectors * s->shape->dh),
                                            hx_spinor_blocks(s, layer, pos),
                                            (int)(vectors * s->shape->slot));

    return code ? hx_spinor_failed(s, "hier_encode_batch_f32", layer, pos, pos + n - 1, code, err)
                : 0;
}

int hx_spinor_decode_call(struct hx_kv_spinor *s, size_t layer, size_t n_slots, size_t pos, size_t n,
                          struct hx_error *err)
{
    const size_t vectors = n * n_slots;
    int code = sp_hex_hier_decode_batch_f32(s->dsp.handle, (int32_t)(layer * s->n_slots),
                                            (int32_t)n_slots, (int32_t)n,
                                            hx_spinor_blocks(s, layer, pos),
                                            (int)(vectors * s->shape->slot),
                                            hx_spinor_x(s, layer, pos),
                                            (int)(vectors * s->shape->dh));

    return code ? hx_spinor_failed(s, "hier_decode_batch_f32", layer, pos, pos + n - 1, code, err)
                : 0;
}
