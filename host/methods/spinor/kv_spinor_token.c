/* Density per-token: one decode of all layers before a token, one encode of all layers after it. */
#include "kv_spinor_dispatch.h"
#include "rpcmem.h"

static int encode(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n, struct hx_error *err)
{
    if (layer + 1 < s->kv.n_layer)
        return 0;
    return hx_spinor_encode_call(s, 0, s->kv.n_layer * s->n_slots, pos, n, err);
}

static int decode(struct hx_kv_spinor *s, size_t layer, size_t n, struct hx_error *err)
{
    (void)layer;
    return n ? hx_spinor_decode_call(s, 0, s->kv.n_layer * s->n_slots, 0, n, err) : 0;
}

static struct hx_calls calls(double layers, double kv_heads, double pos)
{
    (void)layers;
    (void)kv_heads;
    return (struct hx_calls){pos > 0 ? 2 : 1, 0};
}

const struct hx_spinor_dispatch hx_spinor_dispatch_token = {
    .name = "per-token",
    .by_token = 1,
    .one_by_one = 1,
    .alloc = hx_spinor_shared_alloc,
    .free = rpcmem_free,
    .encode = encode,
    .decode = decode,
    .calls = calls,
};
