/* KV cache in f32, the reference back end.  Rows: [layer][K, V][position][KV head][dh]. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kv.h"
#include "engine/method.h"

struct kv_f32 {
    struct hx_kv kv;
    float *rows;
    size_t row; /* floats per position: n_kv * dh */
};

static float *part(const struct kv_f32 *c, size_t layer, size_t is_v)
{
    return c->rows + (layer * 2 + is_v) * c->kv.n_ctx * c->row;
}

static int put(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const float *k, const float *v,
               struct hx_error *err)
{
    struct kv_f32 *c = (struct kv_f32 *)kv;

    (void)err; /* memory cannot fail */
    memcpy(part(c, layer, 0) + pos * c->row, k, n * c->row * sizeof(*k));
    memcpy(part(c, layer, 1) + pos * c->row, v, n * c->row * sizeof(*v));
    return 0;
}

static int rows(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view,
                struct hx_error *err)
{
    struct kv_f32 *c = (struct kv_f32 *)kv;

    (void)n;
    (void)err;
    *view = (struct hx_kv_view){part(c, layer, 0), part(c, layer, 1), c->row};
    return 0;
}

static int keep(struct hx_kv *kv, size_t pos, const size_t *index, size_t n, struct hx_error *err)
{
    struct kv_f32 *c = (struct kv_f32 *)kv;

    (void)err;
    for (size_t half = 0; half < kv->n_layer * 2; half++) {
        float *rows = part(c, half / 2, half % 2);

        for (size_t i = 0; i < n; i++) /* ascending: nothing is overwritten before it was moved */
            memmove(rows + (pos + i) * c->row, rows + (pos + index[i]) * c->row, c->row * sizeof(*rows));
    }
    return 0;
}

static void close_f32(struct hx_kv *kv)
{
    struct kv_f32 *c = (struct kv_f32 *)kv;

    free(c->rows);
    free(c);
}

static const struct hx_kv_ops ops = {.name = "f32", .put = put, .rows = rows, .keep = keep, .close = close_f32};

int hx_kv_f32_open(struct hx_kv **out, size_t n_layer, size_t n_kv, size_t dh, size_t n_ctx,
                   struct hx_error *err)
{
    struct kv_f32 *c = calloc(1, sizeof(*c));
    size_t floats;

    if (!c)
        return hx_error_set(err, -ENOMEM, "kv f32: out of memory");
    c->kv = (struct hx_kv){&ops, n_layer, n_kv, dh, n_ctx, n_ctx, 0};
    c->row = n_kv * dh;
    if (!__builtin_mul_overflow(n_layer * 2, c->row, &floats) &&
        !__builtin_mul_overflow(floats, n_ctx, &floats))
        c->rows = calloc(floats, sizeof(*c->rows));
    if (!c->rows) {
        close_f32(&c->kv);
        return hx_error_set(err, -ENOMEM, "kv f32: no memory for %zu positions", n_ctx);
    }
    *out = &c->kv;
    return 0;
}

static int open_f32(struct hx_kv **out, const struct hx_open *o, struct hx_error *err)
{
    return hx_kv_f32_open(out, o->model->n_layer, o->model->n_kv, o->model->dh, o->n_ctx, err);
}

extern const struct hx_method hx_method_kv_layer;

const struct hx_method hx_method_kv_f32 = {
    .name = "f32",
    .seam = HX_SEAM_KV,
    .about = "f32 rows in memory: the reference",
    .gives = HX_TRAIT_ROWS | HX_TRAIT_TREE,
    .whole = &hx_method_kv_layer,
    .open.kv = open_f32,
};
