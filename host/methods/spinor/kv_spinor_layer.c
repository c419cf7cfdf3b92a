/* Density per-layer: one call for each layer and position, all heads, K and V together. */
#include "kv_spinor_dispatch.h"
#include "rpcmem.h"

static int encode(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++)
        rc = hx_spinor_encode_call(s, layer, s->n_slots, pos + i, 1, err);
    return rc;
}

static int decode(struct hx_kv_spinor *s, size_t layer, size_t n, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++)
        rc = hx_spinor_decode_call(s, layer, s->n_slots, i, 1, err);
    return rc;
}

static struct hx_calls calls(double layers, double kv_heads, double pos)
{
    (void)kv_heads;
    return (struct hx_calls){layers * (pos + 1), 0};
}

const struct hx_spinor_dispatch hx_spinor_dispatch_layer = {
    .name = "per-layer",
    .one_by_one = 1,
    .alloc = hx_spinor_shared_alloc,
    .free = rpcmem_free,
    .encode = encode,
    .decode = decode,
    .calls = calls,
};
