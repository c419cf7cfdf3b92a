/* Spinor blocks with attention on the DSP, see kv_spinor_attn.h. */
#include "kv_spinor_attn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/attn.h"
#include "dsp/dsp_error.h"
#include "dsp/packets.h"
#include "kv_spinor_dispatch.h"
#include "rpcmem.h"

enum { MAX_BATCH = 256 };

static const char who[] = "kv spinor";

struct cache;

/* A call's share of a layer: some of its KV heads. */
struct part {
    size_t layer, head; /* the first */
    size_t pos, n;
    size_t k_slot, v_slot;
    uint8_t *k, *v; /* blocks from position 0 on */
};

/* One density. */
struct dispatch {
    const char *name;
    int by_head;    /* 1: calls for one KV head each; 0: for all of a layer */
    int one_by_one; /* as in struct hx_spinor_dispatch */
    int copies;     /* 1: in ordinary memory, as long as calls are no packets */
    int (*step)(struct cache *c, const struct part *p, struct hx_error *err);
    size_t calls; /* of one step */
};

struct cache {
    struct hx_kv kv;
    const struct dispatch *dispatch;
    const struct hx_block_shape *shape; /* the format's */
    struct hx_codec_format format;
    struct hx_skel dsp;
    int in_shared; /* 1: the buffers are rpcmem */
    size_t heads;   /* KV heads of a call */
    size_t n_q;     /* queries of a KV head; 0 until the first attend() */
    float scale;    /* of the running attend() */
    /* of the running call, for max_batch positions: own K, then own V [2][n][heads][dh]; queries and results
     * [n][heads][n_q][dh] */
    float *own, *q, *y;
    size_t q_floats;
    uint8_t *k, *v; /* blocks: [n_layer][n_kv / heads][n_ctx][heads][slot bytes] */
    uint8_t *fresh; /* one position's blocks of K, then of V: [2][heads][slot bytes] */
};

static size_t row(const struct cache *c)
{
    return c->heads * c->shape->dh;
}

static size_t block_row(const struct cache *c)
{
    return c->heads * c->shape->slot;
}

static int failed(const struct cache *c, const char *method, const struct part *p, int code,
                  struct hx_error *err)
{
    return hx_dsp_error(err, HX_DSP_CALL, c->dsp.node, code, "kv spinor: %s failed at layer %zu, KV "
                      "heads %zu..%zu, positions %zu..%zu", method, p->layer, p->head,
                      p->head + c->heads - 1, p->pos, p->pos + p->n - 1);
}

/* --- densities */

static int attend_block(struct cache *c, const struct part *p, struct hx_error *err)
{
    const int past = (int)(p->pos * block_row(c)), q = (int)(row(c) * c->n_q), own = (int)row(c);
    int code = sp_hex_attn_block(c->dsp.handle, (int)p->k_slot, (int)p->v_slot, (int)c->heads,
                                 (int)p->pos, 1, c->scale, c->q, q, c->own, own, c->own + own, own,
                                 p->k, past, p->v, past, c->y, q);

    return code ? failed(c, "attn_block", p, code, err) : 0;
}

/* What was encoded, to where the blocks of K and of V are. */
static void keep_fresh(struct cache *c, const struct part *p)
{
    const size_t bytes = block_row(c);

    memcpy(p->k + p->pos * bytes, c->fresh, bytes);
    memcpy(p->v + p->pos * bytes, c->fresh + bytes, bytes);
}

static int step_vector(struct cache *c, const struct part *p, struct hx_error *err)
{
    const int dh = c->shape->dh, slot = c->shape->slot;
    int code = sp_hex_hier_encode_f32(c->dsp.handle, (int)p->k_slot, c->own, dh, c->fresh, slot);

    if (!code)
        code = sp_hex_hier_encode_f32(c->dsp.handle, (int)p->v_slot, c->own + dh, dh,
                                      c->fresh + slot, slot);
    if (code)
        return failed(c, "hier_encode_f32", p, code, err);
    keep_fresh(c, p);
    return attend_block(c, p, err);
}

/* A layer's slots of K and V follow each other, so one call encodes both. */
static int step_layer(struct cache *c, const struct part *p, struct hx_error *err)
{
    int code = sp_hex_hier_encode_batch_f32(c->dsp.handle, (int)p->k_slot, (int)(2 * c->heads), 1,
                                            c->own, (int)(2 * row(c)), c->fresh,
                                            (int)(2 * block_row(c)));

    if (code)
        return failed(c, "hier_encode_batch_f32", p, code, err);
    keep_fresh(c, p);
    return attend_block(c, p, err);
}

static int step_batched(struct cache *c, const struct part *p, struct hx_error *err)
{
    const size_t bytes = block_row(c), past = p->pos * bytes, fresh = p->n * bytes;
    const int own = (int)(p->n * row(c)), q = own * (int)c->n_q;
    int code = sp_hex_attn_layer(c->dsp.handle, (int)p->k_slot, (int)p->v_slot, (int)c->heads,
                                 (int)p->pos, (int)p->n, 1, c->scale, c->q, q, c->own, own,
                                 c->own + own, own, p->k, (int)past, p->v, (int)past, p->k + past,
                                 (int)fresh, p->v + past, (int)fresh, c->y, q);

    return code ? failed(c, "attn_layer", p, code, err) : 0;
}

static const struct dispatch dispatches[] = {
    {"per-vector", 1, 1, 1, step_vector, 3},
    {"per-layer", 0, 1, 0, step_layer, 2},
    {"batched", 0, 0, 0, step_batched, 1},
};

static const struct dispatch *find_dispatch(const char *density)
{
    for (size_t i = 0; i < sizeof(dispatches) / sizeof(dispatches[0]); i++)
        if (strcmp(dispatches[i].name, density) == 0)
            return &dispatches[i];
    return NULL;
}

int hx_kv_attn_refuses(const char *density)
{
    return density && !find_dispatch(density);
}

double hx_kv_attn_calls(const char *density, size_t n_layer, size_t n_kv)
{
    const struct dispatch *d = find_dispatch(density);

    return (double)(n_layer * d->calls * (d->by_head ? n_kv : 1));
}

/* --- the cache */

static void *alloc(const struct cache *c, size_t bytes)
{
    return c->in_shared ? hx_spinor_shared_alloc(bytes) : calloc(1, bytes);
}

static void release(struct cache *c, void *p)
{
    if (!c->in_shared) {
        free(p);
        return;
    }
    hx_packets_unshare(&c->dsp, p);
    rpcmem_free(p);
}

/* Copies `width` floats at `from`, of each of n rows of `row` floats, behind each other. */
static void gather(float *to, const float *from, size_t from_row, size_t width, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * width, from + i * from_row, width * sizeof(*to));
}

static int step(struct cache *c, const struct hx_attn_in *in, size_t head, float *out,
                struct hx_error *err)
{
    const size_t dh = c->shape->dh, n_kv = c->kv.n_kv, q_width = row(c) * c->n_q;
    const size_t first = ((in->layer * n_kv + head) / c->heads * c->kv.n_ctx) * block_row(c);
    const struct part p = {
        .layer = in->layer, .head = head, .pos = in->pos, .n = in->n,
        .k_slot = in->layer * 2 * n_kv + head, .v_slot = in->layer * 2 * n_kv + n_kv + head,
        .k = c->k + first, .v = c->v + first,
    };
    int rc;

    gather(c->own, in->k + head * dh, n_kv * dh, row(c), in->n);
    gather(c->own + in->n * row(c), in->v + head * dh, n_kv * dh, row(c), in->n);
    gather(c->q, in->q + head * c->n_q * dh, in->n_head * dh, q_width, in->n);
    rc = c->dispatch->step(c, &p, err);
    for (size_t i = 0; !rc && i < in->n; i++)
        memcpy(out + (i * in->n_head + head * c->n_q) * dh, c->y + i * q_width,
               q_width * sizeof(*out));
    return rc;
}

/* Buffers of queries and results: how many queries a model has, attend() tells first. */
static int alloc_queries(struct cache *c, size_t n_q, struct hx_error *err)
{
    const size_t floats = c->kv.max_batch * row(c) * n_q;
    int rc;

    if (floats <= c->q_floats)
        return 0;
    release(c, c->q);
    release(c, c->y);
    c->q = alloc(c, floats * sizeof(*c->q));
    c->y = alloc(c, floats * sizeof(*c->y));
    c->q_floats = c->q && c->y ? floats : 0;
    if (!c->q_floats)
        return hx_error_set(err, -ENOMEM, "kv spinor: no memory for the queries of %zu positions", c->kv.max_batch);
    rc = hx_packets_share(&c->dsp, who, c->q, floats * sizeof(*c->q), err);
    return rc ? rc : hx_packets_share(&c->dsp, who, c->y, floats * sizeof(*c->y), err);
}

static int attend(struct hx_kv *kv, const struct hx_attn_in *in, float *out, struct hx_error *err)
{
    struct cache *c = (struct cache *)kv;
    int rc = alloc_queries(c, in->n_head / kv->n_kv, err);

    c->n_q = in->n_head / kv->n_kv;
    c->scale = in->scale;
    for (size_t head = 0; !rc && head < kv->n_kv; head += c->heads)
        rc = step(c, in, head, out, err);
    return rc;
}

static void close_cache(struct hx_kv *kv)
{
    struct cache *c = (struct cache *)kv;

    hx_skel_close(&c->dsp);
    release(c, c->own);
    release(c, c->q);
    release(c, c->y);
    release(c, c->k);
    release(c, c->v);
    release(c, c->fresh);
    free(c);
}

static const struct hx_kv_ops ops = {
    .name = "spinor-attn", .attend = attend, .close = close_cache,
};

/* Of K, or of V. */
static size_t block_bytes(const struct cache *c)
{
    return c->kv.n_ctx * c->kv.n_layer * c->kv.n_kv * (size_t)c->shape->slot;
}

static int alloc_buffers(struct cache *c, struct hx_error *err)
{
    size_t bytes;

    if (__builtin_mul_overflow(c->kv.n_ctx * c->kv.n_layer * c->kv.n_kv, c->shape->slot, &bytes) ||
        c->kv.n_ctx * block_row(c) > INT32_MAX || bytes > INT32_MAX)
        return hx_error_set(err, -EINVAL, "kv spinor: a context of %zu positions is too long: its blocks "
                          "exceed %d bytes", c->kv.n_ctx, INT32_MAX);
    c->own = alloc(c, 2 * c->kv.max_batch * row(c) * sizeof(*c->own));
    c->fresh = alloc(c, 2 * block_row(c));
    c->k = alloc(c, bytes);
    c->v = alloc(c, bytes);
    if (!c->own || !c->fresh || !c->k || !c->v)
        return hx_error_set(err, -ENOMEM, "kv spinor: no memory for %zu positions", c->kv.n_ctx);
    return 0;
}

static int share_buffers(struct cache *c, struct hx_error *err)
{
    const struct {
        void *p;
        size_t bytes;
    } buffers[] = {
        {c->own, 2 * c->kv.max_batch * row(c) * sizeof(*c->own)},
        {c->fresh, 2 * block_row(c)},
        {c->k, block_bytes(c)},
        {c->v, block_bytes(c)},
    };
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof(buffers) / sizeof(buffers[0]); i++)
        rc = hx_packets_share(&c->dsp, who, buffers[i].p, buffers[i].bytes, err);
    return rc;
}

static int check(const struct hx_model *m, const struct hx_cal *cal, const char *density,
                 struct hx_error *err)
{
    if (!find_dispatch(density))
        return hx_error_set(err, -EINVAL, "density '%s' cannot have attention on the DSP; legal: "
                          "per-vector, per-layer, batched", density);
    if (!cal->k_after_rope)
        return hx_error_set(err, -EINVAL, "kv spinor: attention on the DSP needs blocks of K after "
                          "RoPE; this calibration is for K before RoPE");
    return hx_spinor_check_cal(m, cal, err);
}

int hx_kv_spinor_attn_open(struct hx_kv **out, const struct hx_model *m, const struct hx_cal *cal,
                           const char *density, int packets, size_t n_ctx, struct hx_error *err)
{
    struct cache *c;
    int rc = check(m, cal, density, err);

    if (rc)
        return rc;
    c = calloc(1, sizeof(*c));
    if (!c)
        return hx_error_set(err, -ENOMEM, "kv spinor: out of memory");
    c->dispatch = find_dispatch(density);
    c->format = cal->format;
    c->shape = cal->format.shape;
    c->kv = (struct hx_kv){&ops, m->n_layer, m->n_kv, m->dh, n_ctx,
                           c->dispatch->one_by_one ? 1 : n_ctx < MAX_BATCH ? n_ctx : MAX_BATCH, 0};
    c->heads = c->dispatch->by_head ? 1 : m->n_kv;
    c->in_shared = packets || !c->dispatch->copies;
    rc = alloc_buffers(c, err);
    if (!rc)
        rc = hx_spinor_dsp_open(&c->dsp, cal, packets, err);
    if (!rc)
        rc = share_buffers(c, err);
    if (rc) {
        close_cache(&c->kv);
        return rc;
    }
    *out = &c->kv;
    return 0;
}

const struct hx_codec_format *hx_kv_spinor_attn_format(const struct hx_kv *kv)
{
    return &((const struct cache *)kv)->format;
}
