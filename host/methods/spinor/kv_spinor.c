/* The KV cache of blocks that the DSP codes: buffers, rotation of K, and which dispatch cuts the work into calls. */
#include "kv_spinor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/packets.h"
#include "kv_spinor_dispatch.h"

static const struct hx_spinor_dispatch *const dispatches[] = {
    &hx_spinor_dispatch_vector, &hx_spinor_dispatch_layer, &hx_spinor_dispatch_batched,
    &hx_spinor_dispatch_token,  &hx_spinor_dispatch_queue,
};
enum { N_DISPATCHES = sizeof(dispatches) / sizeof(dispatches[0]) };

const char *const hx_kv_spinor_densities[] = {"per-vector", "per-layer", "batched",
                                              "per-token",  "queue",     NULL};

/* The K rows of positions pos..pos+n-1 of a layer that lie in x, when blocks hold K before RoPE. */
static void rotate_k(const struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n,
                     void (*rotate)(const struct hx_rope *r, float *x, size_t pos))
{
    const struct hx_rope *rope = hx_ropes_of(&s->ropes, layer);
    const size_t dh = s->shape->dh;

    for (size_t i = 0; rope->half && i < n; i++)
        for (size_t head = 0; head < s->kv.n_kv; head++)
            rotate(rope, hx_spinor_x(s, layer, pos + i) + head * dh, hx_spinor_text_pos(s, pos + i));
}

static int put(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const float *k, const float *v,
               struct hx_error *err)
{
    struct hx_kv_spinor *s = (struct hx_kv_spinor *)kv;
    const size_t row = kv->n_kv * s->shape->dh;
    int rc;

    if (layer == 0)
        hx_spinor_guess_begin(s);
    for (size_t i = 0; i < n; i++) {
        memcpy(hx_spinor_x(s, layer, pos + i), k + i * row, row * sizeof(*k));
        memcpy(hx_spinor_x(s, layer, pos + i) + row, v + i * row, row * sizeof(*v));
    }
    rotate_k(s, layer, pos, n, hx_rope_undo);
    if (s->decoded > pos)
        s->decoded = pos;
    hx_spinor_guess_put(s, layer, pos, n);
    rc = s->dispatch->encode(s, layer, pos, n, err);
    if (!rc)
        rc = hx_spinor_guess_decode(s, layer, err);
    rotate_k(s, layer, pos, rc ? 0 : hx_spinor_guess_rows(s), hx_rope_apply);
    if (rc || !s->spill)
        return rc;
    rc = hx_spinor_note_entries(s, layer, pos, n, err);
    return rc ? rc : hx_spill_put(s->spill, layer, pos, n, hx_spinor_blocks(s, layer, pos), err);
}

static int decode_layer(struct hx_kv_spinor *s, size_t layer, size_t n, struct hx_error *err)
{
    int rc = s->spill ? hx_spill_read(s->spill, layer, n, hx_spinor_blocks(s, layer, 0), err) : 0;

    if (!rc)
        rc = s->dispatch->decode(s, layer, n, err);
    rotate_k(s, layer, 0, rc ? 0 : n, hx_rope_apply);
    return rc;
}

/* All layers at once, when the first of them is asked for. */
static int decode_token(struct hx_kv_spinor *s, size_t layer, size_t n_rows, struct hx_error *err)
{
    const size_t n = hx_spinor_guess_past(s, n_rows);
    int rc;

    if (layer > 0 && n <= s->decoded)
        return 0;
    s->decoded = 0;
    rc = s->dispatch->decode(s, layer, n, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < s->kv.n_layer; i++)
        rotate_k(s, i, 0, n, hx_rope_apply);
    s->decoded = n;
    return 0;
}

static int rows(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view,
                struct hx_error *err)
{
    struct hx_kv_spinor *s = (struct hx_kv_spinor *)kv;
    const float *x = hx_spinor_x(s, layer, 0);
    int rc = s->dispatch->by_token ? decode_token(s, layer, n, err) : decode_layer(s, layer, n, err);

    *view = (struct hx_kv_view){x, x + kv->n_kv * s->shape->dh, hx_spinor_stride(s)};
    return rc;
}

static void close_spinor(struct hx_kv *kv)
{
    struct hx_kv_spinor *s = (struct hx_kv_spinor *)kv;

    if (s->dispatch && s->dispatch->close)
        s->dispatch->close(s);
    hx_spill_close(s->spill);
    free(s->entries);
    hx_skel_close(&s->dsp);
    hx_block_dsp_close(s->exact);
    hx_spinor_guess_close(s->guess);
    free(s->codec);
    if (s->dispatch) {
        s->dispatch->free(s->blocks);
        s->dispatch->free(s->x);
    }
    hx_ropes_free(&s->ropes);
    free(s);
}

static const struct hx_kv_ops ops = {
    .name = "spinor", .tree = hx_spinor_tree, .put = put, .rows = rows, .keep = hx_spinor_keep, .close = close_spinor};
static const struct hx_kv_ops cpu_ops = {
    .name = "spinor-cpu", .tree = hx_spinor_tree, .put = put, .rows = rows, .keep = hx_spinor_keep, .close = close_spinor};

/* Lengths of one call are int, and so are the bytes of one rpcmem buffer on a phone. */
static int check_sizes(const struct hx_kv_spinor *s, struct hx_error *err)
{
    const size_t limit = INT32_MAX;

    if (s->x_bytes <= limit && (!s->dispatch->by_token || s->block_bytes <= limit))
        return 0;
    return hx_error_set(err, -EINVAL, "kv spinor: a context of %zu positions needs %zu bytes%s, %zu "
                      "are the limit", s->kv.n_ctx, s->x_bytes,
                      s->dispatch->by_token ? "" : " per layer", limit);
}

static int alloc_buffers(struct hx_kv_spinor *s, struct hx_error *err)
{
    const struct hx_kv *kv = &s->kv;
    const size_t vector = s->shape->dh * sizeof(float);
    const size_t held = s->dispatch->by_token ? kv->n_layer : 1; /* layers in x */
    int rc;

    if (__builtin_mul_overflow(kv->n_ctx * s->n_slots * held, vector, &s->x_bytes) ||
        __builtin_mul_overflow(kv->n_ctx * s->n_slots * kv->n_layer, s->shape->slot,
                               &s->block_bytes))
        return hx_error_set(err, -EINVAL, "kv spinor: a context of %zu positions is too long",
                            kv->n_ctx);
    rc = check_sizes(s, err);
    if (rc)
        return rc;
    s->x = s->dispatch->alloc(s->x_bytes);
    s->blocks = s->dispatch->alloc(s->block_bytes);
    if (!s->x || !s->blocks)
        return hx_error_set(err, -ENOMEM, "kv spinor: no memory for %zu positions", kv->n_ctx);
    return 0;
}

static const struct hx_spinor_dispatch *find_dispatch(const char *name)
{
    for (size_t i = 0; i < N_DISPATCHES; i++)
        if (strcmp(dispatches[i]->name, name) == 0)
            return dispatches[i];
    return NULL;
}

struct hx_calls hx_kv_spinor_calls(const char *density, size_t n_layer, size_t n_kv, size_t pos)
{
    return find_dispatch(density)->calls((double)n_layer, (double)n_kv, (double)pos);
}

int hx_kv_spinor_by_token(const char *density)
{
    return find_dispatch(density)->by_token;
}

static int unknown_dispatch(const char *name, struct hx_error *err)
{
    char legal[128] = "";

    for (size_t i = 0; i < N_DISPATCHES; i++)
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", i ? ", " : "",
                 dispatches[i]->name);
    return hx_error_set(err, -EINVAL, "unknown density '%s'; legal: %s", name, legal);
}

/* Density `queue` has its own packets. */
static int open_dsp(struct hx_kv_spinor *s, const struct hx_cal *cal, int packets, struct hx_error *err)
{
    static const char who[] = "kv spinor";
    int rc = hx_spinor_dsp_open(&s->dsp, cal, packets && s->dispatch != &hx_spinor_dispatch_queue, err);

    if (rc || s->dispatch->alloc != hx_spinor_shared_alloc)
        return rc;
    rc = hx_packets_share(&s->dsp, who, s->x, s->x_bytes, err);
    return rc ? rc : hx_packets_share(&s->dsp, who, s->blocks, s->block_bytes, err);
}

static int open_codec(struct hx_kv_spinor *s, const struct hx_cal *cal, int packets, struct hx_error *err)
{
    if (s->dispatch != &hx_spinor_dispatch_cpu)
        return open_dsp(s, cal, packets, err);
    if (hx_block_dsp_has(&cal->format))
        s->exact = hx_block_dsp_open(&cal->format, cal->tables, cal->n_slots);
    else
        s->codec = hx_cal_codec(cal);
    return s->exact || s->codec ? 0 : hx_error_set(err, -ENOMEM, "kv spinor-cpu: out of memory");
}

static int open_with(struct hx_kv **out, const struct hx_model *m, const struct hx_cal *cal,
                     const struct hx_spinor_dispatch *d, int packets, size_t n_ctx, struct hx_error *err)
{
    struct hx_kv_spinor *s;
    int rc = hx_spinor_check_cal(m, cal, err);

    if (rc)
        return rc;
    s = calloc(1, sizeof(*s));
    if (!s)
        return hx_error_set(err, -ENOMEM, "kv spinor: out of memory");
    s->kv = (struct hx_kv){d == &hx_spinor_dispatch_cpu ? &cpu_ops : &ops, m->n_layer, m->n_kv, m->dh, n_ctx, d->one_by_one ? 1 : n_ctx, 0};
    s->dispatch = d;
    s->format = cal->format;
    s->k_after_rope = cal->k_after_rope;
    s->shape = cal->format.shape;
    s->n_slots = 2 * m->n_kv;
    rc = alloc_buffers(s, err);
    if (!rc && !cal->k_after_rope && hx_ropes_init(&s->ropes, &m->rope, n_ctx))
        rc = hx_error_set(err, -ENOMEM, "kv spinor: no memory for %zu positions", n_ctx);
    if (!rc)
        rc = open_codec(s, cal, packets, err);
    if (!rc && d->open)
        rc = d->open(s, err);
    if (rc) {
        close_spinor(&s->kv);
        return rc;
    }
    *out = &s->kv;
    return 0;
}

int hx_kv_spinor_open(struct hx_kv **out, const struct hx_model *m, const struct hx_cal *cal,
                      const char *density, int packets, size_t n_ctx, struct hx_error *err)
{
    const struct hx_spinor_dispatch *d = find_dispatch(density);

    return d ? open_with(out, m, cal, d, packets, n_ctx, err) : unknown_dispatch(density, err);
}

int hx_kv_spinor_cpu_open(struct hx_kv **out, const struct hx_model *m, const struct hx_cal *cal, size_t n_ctx,
                          struct hx_error *err)
{
    return open_with(out, m, cal, &hx_spinor_dispatch_cpu, 0, n_ctx, err);
}

int hx_kv_spinor_page(struct hx_kv *kv, size_t positions, const struct hx_pager_how *how, struct hx_error *err)
{
    struct hx_kv_spinor *s = (struct hx_kv_spinor *)kv;
    const struct hx_spill_cfg cfg = {
        .n_layer = kv->n_layer, .n_ctx = kv->n_ctx, .record = s->n_slots * s->shape->slot, .positions = positions, .how = *how,
    };

    if (s->dispatch->by_token)
        return hx_error_set(err, -EINVAL, "density %s has the blocks of all layers in one call: they cannot be paged", s->dispatch->name);
    s->dispatch->free(s->blocks);
    s->block_bytes /= kv->n_layer;
    s->blocks = s->dispatch->alloc(s->block_bytes);
    s->entries = calloc(kv->n_layer * HX_SPINOR_ENTRIES, cfg.record);
    if (!s->blocks || !s->entries)
        return hx_error_set(err, -ENOMEM, "kv spinor: no memory for %zu positions", kv->n_ctx);
    return hx_spill_open(&s->spill, &cfg, err);
}

json_t *hx_kv_spinor_paging(const struct hx_kv *kv)
{
    const struct hx_kv_spinor *s = (const struct hx_kv_spinor *)kv;

    return s->spill ? hx_spill_report(s->spill) : NULL;
}

const struct hx_codec_format *hx_kv_spinor_format(const struct hx_kv *kv, int *k_after_rope)
{
    const struct hx_kv_spinor *s = (const struct hx_kv_spinor *)kv;

    *k_after_rope = s->k_after_rope;
    return &s->format;
}
