/* KV cache in half precision: a worked example of a method, see docs/add-a-method.md.  Rows: [layer][K, V][position][row]. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "hx_f16.h"
#include "engine/kv.h"

struct kv_f16 {
    struct hx_kv kv; /* first, so that a struct hx_kv * is one of ours */
    uint16_t *halves;
    float *rows;     /* what rows() returns: K and V of one layer */
    size_t row;      /* numbers per position: n_kv * dh */
};

static uint16_t *part(const struct kv_f16 *c, size_t layer, size_t is_v)
{
    return c->halves + (layer * 2 + is_v) * c->kv.n_ctx * c->row;
}

static int put(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const float *k, const float *v,
               struct hx_error *err)
{
    struct kv_f16 *c = (struct kv_f16 *)kv;

    (void)err; /* memory cannot fail */
    for (size_t i = 0; i < n * c->row; i++) {
        part(c, layer, 0)[pos * c->row + i] = hx_f16_from_f32(k[i]);
        part(c, layer, 1)[pos * c->row + i] = hx_f16_from_f32(v[i]);
    }
    return 0;
}

static int rows(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view,
                struct hx_error *err)
{
    struct kv_f16 *c = (struct kv_f16 *)kv;
    float *k = c->rows, *v = k + kv->n_ctx * c->row;

    (void)err;
    for (size_t i = 0; i < n * c->row; i++) {
        k[i] = hx_f32_from_f16(part(c, layer, 0)[i]);
        v[i] = hx_f32_from_f16(part(c, layer, 1)[i]);
    }
    *view = (struct hx_kv_view){k, v, c->row};
    return 0;
}

static void close_f16(struct hx_kv *kv)
{
    struct kv_f16 *c = (struct kv_f16 *)kv;

    free(c->halves);
    free(c->rows);
    free(c);
}

static const struct hx_kv_ops ops = {.name = "f16", .put = put, .rows = rows, .close = close_f16};

static int hx_kv_f16_open(struct hx_kv **out, size_t n_layer, size_t n_kv, size_t dh, size_t n_ctx,
                          struct hx_error *err)
{
    struct kv_f16 *c = calloc(1, sizeof(*c));

    if (!c)
        return hx_error_set(err, -ENOMEM, "kv f16: out of memory");
    c->kv = (struct hx_kv){&ops, n_layer, n_kv, dh, n_ctx, n_ctx};
    c->row = n_kv * dh;
    c->halves = calloc(n_layer * 2 * n_ctx, c->row * sizeof(*c->halves));
    c->rows = calloc(2 * n_ctx, c->row * sizeof(*c->rows));
    if (!c->halves || !c->rows) {
        close_f16(&c->kv);
        return hx_error_set(err, -ENOMEM, "kv f16: no memory for %zu positions", n_ctx);
    }
    *out = &c->kv;
    return 0;
}
