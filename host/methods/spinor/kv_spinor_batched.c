/* Density batched: for each layer one encode of all new positions and one decode of all past ones. */
#include "kv_spinor_dispatch.h"
#include "rpcmem.h"

static int encode(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n, struct hx_error *err)
{
    return hx_spinor_encode_call(s, layer, s->n_slots, pos, n, err);
}

static int decode(struct hx_kv_spinor *s, size_t layer, size_t n, struct hx_error *err)
{
    return n ? hx_spinor_decode_call(s, layer, s->n_slots, 0, n, err) : 0;
}

static struct hx_calls calls(double layers, double kv_heads, double pos)
{
    (void)kv_heads;
    return (struct hx_calls){pos > 0 ? 2 * layers : layers, 0};
}

const struct hx_spinor_dispatch hx_spinor_dispatch_batched = {
    .name = "batched",
    .alloc = hx_spinor_shared_alloc,
    .free = rpcmem_free,
    .encode = encode,
    .decode = decode,
    .calls = calls,
};
