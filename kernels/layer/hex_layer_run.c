/* Runs rows through a layer, see hex_layer_run.h: norm, q, k and v, attention, o, sum; norm, gate and up, down, sum. */
#include "hex_layer_run.h"

#include <math.h>

#include "AEEStdErr.h"
#include "HAP_perf.h"
#include "hex_linear.h"
#include "layer_rows.h"
#include "skel/parallel.h"

enum { ALIGN = 128 };

/* Buffers of a call, all in its scratch. */
struct rows {
    float *h, *sub;  /* [n][width]: a sub-layer's input and output */
    float *q, *att;  /* [n][heads * head_width] */
    float *k, *v;    /* [n][kv_heads * head_width] */
    float *gate, *up; /* [n][ffn] */
    float *scores;   /* [HX_LAYER_THREADS][tiles * 32] */
    struct hx_linear_block *blocks;
    uint8_t *bad;     /* [n]: of a matrix call */
    uint8_t *spoiled; /* [n]: an element was no finite number */
};

struct run {
    const struct hx_layer_call *call;
    const hex_layer_shape *shape;
    const struct hx_layer_vectors *vectors;
    struct rows rows;
    hex_layer_cycles *cycles;
};

/* --- scratch */

/* Lays pieces out one behind the other; without a base it measures. */
struct layout {
    uint8_t *base;
    uint64_t used;
};

static void *take(struct layout *l, uint64_t bytes)
{
    void *at = l->base ? l->base + l->used : NULL;

    l->used += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

static size_t scores_of_thread(const hex_layer_shape *s)
{
    return hx_layer_tiles(s->positions) * HX_LAYER_TILE;
}

static uint64_t lay_out(struct rows *r, const hex_layer_shape *s, uint64_t n, void *base)
{
    struct layout l = {base, 0};
    const uint64_t width = n * s->width * sizeof(float), ffn = n * s->ffn * sizeof(float);
    const uint64_t q = n * s->heads * s->head_width * sizeof(float), kv = n * s->kv_heads * s->head_width * sizeof(float);
    uint64_t cols = s->width > s->ffn ? s->width : s->ffn;

    cols = cols > (uint64_t)s->heads * s->head_width ? cols : (uint64_t)s->heads * s->head_width;
    *r = (struct rows){
        .h = take(&l, width),
        .sub = take(&l, width),
        .q = take(&l, q),
        .att = take(&l, q),
        .k = take(&l, kv),
        .v = take(&l, kv),
        .gate = take(&l, ffn),
        .up = take(&l, ffn),
        .scores = take(&l, HX_LAYER_THREADS * scores_of_thread(s) * sizeof(float)),
        .blocks = take(&l, n * hx_linear_quantized(hx_weights_blocks((size_t)cols), 1) * sizeof(struct hx_linear_block)),
        .bad = take(&l, n),
        .spoiled = take(&l, n),
    };
    return l.used;
}

size_t hx_layer_scratch_bytes(const hex_layer_shape *shape, size_t n)
{
    struct rows unused;
    const uint64_t bytes = lay_out(&unused, shape, n, NULL);

    return bytes <= INT32_MAX ? (size_t)bytes : 0;
}

/* --- rows */

static void norm(const struct run *r, const float *from, const float *w, size_t width, size_t n, float *to)
{
    for (size_t i = 0; w && i < n; i++)
        hx_layer_rmsnorm_hvx(from + i * width, w, (int)width, r->shape->eps, to + i * width);
}

/* to = a + b, rows of `step_b` floats (0: the same for all). */
static void add_rows(const struct run *r, const float *a, const float *b, size_t width, size_t step_b, float *to)
{
    for (size_t i = 0; b && i < r->call->n; i++)
        r->rows.spoiled[i] |= !hx_layer_add_hvx(a + i * width, b + i * step_b, (int)width, to + i * width);
}

/* --- matrices */

/* y[i] = matrix first + i times x, for n matrices of one input, with their biases. */
static int project(struct run *r, enum hex_layer_which first, size_t n, const float *x, float *const *y)
{
    struct hx_layer_model *m = r->call->model;
    const hex_linear_how how = {r->call->how->placement, r->call->how->threads};
    struct hx_linear_call c = {
        .how = &how, .n_m = n, .x = x, .n = r->call->n, .wide = 1, .blocks = r->rows.blocks, .bad = r->rows.bad, .vtcm = &m->vtcm,
        .all = m->m, .n_all = (size_t)r->shape->layers * HEX_LAYER_MATRICES, .stays = &m->stays,
    };
    hex_linear_cycles took;
    int rc;

    for (size_t i = 0; i < n; i++) {
        c.m[i] = &m->m[r->call->layer * HEX_LAYER_MATRICES + first + i];
        c.y[i] = y[i];
        c.y_stride[i] = c.m[i]->rows;
    }
    rc = hx_linear_call_run(&c, &took);
    if (rc)
        return rc;
    r->cycles->linear += took.total;
    r->cycles->fetch += took.fetch;
    for (size_t i = 0; i < c.n; i++)
        r->rows.spoiled[i] |= c.bad[i];
    for (size_t i = 0; i < n; i++)
        add_rows(r, y[i], r->vectors->bias[first + i], c.m[i]->rows, 0, y[i]);
    return AEE_SUCCESS;
}

/* --- attention */

/* The K of a KV head of the layer; its V follows. */
static float *keys_of(const struct run *r, size_t kv_head)
{
    const hex_layer_shape *s = r->shape;

    return r->call->model->cache +
           2 * hx_layer_head_floats(s->positions, s->head_width) * (r->call->layer * s->kv_heads + kv_head);
}

static float *values_of(const struct run *r, float *keys)
{
    return keys + hx_layer_head_floats(r->shape->positions, r->shape->head_width);
}

/* Norms of heads, turns, and K and V to where they stay. */
static void place_heads(struct run *r)
{
    const hex_layer_shape *s = r->shape;
    const struct hx_layer_vectors *v = r->vectors;
    const size_t dh = s->head_width, n = r->call->n;

    norm(r, r->rows.q, v->q_norm, dh, n * s->heads, r->rows.q);
    norm(r, r->rows.k, v->k_norm, dh, n * s->kv_heads, r->rows.k);
    for (size_t i = 0; i < n; i++) {
        const size_t pos = r->call->first + i;
        const float *turn = v->turns ? v->turns + pos * dh : NULL;

        for (size_t h = 0; turn && h < s->heads; h++)
            hx_layer_rope_hvx(r->rows.q + (i * s->heads + h) * dh, turn, (int)dh);
        for (size_t h = 0; h < s->kv_heads; h++) {
            float *k = r->rows.k + (i * s->kv_heads + h) * dh, *to = keys_of(r, h);

            if (turn)
                hx_layer_rope_hvx(k, turn, (int)dh);
            hx_layer_put_hvx(to, values_of(r, to), pos, k, r->rows.v + (i * s->kv_heads + h) * dh, (int)dh);
        }
    }
}

/* One head of one token. */
static void attend(const struct run *r, size_t token, size_t head, unsigned thread)
{
    const hex_layer_shape *s = r->shape;
    const struct hx_layer_model *m = r->call->model;
    const size_t dh = s->head_width, end = r->call->first + token + 1, window = r->vectors->window;
    const size_t first = window && end > window ? end - window : 0, tile = first / HX_LAYER_TILE;
    const int lead = (int)(first - tile * HX_LAYER_TILE), stop = (int)(end - tile * HX_LAYER_TILE);
    const float *k = keys_of(r, head / (s->heads / s->kv_heads)), *v = values_of(r, (float *)k) + first * dh;
    float *scores = r->rows.scores + thread * scores_of_thread(s);

    hx_layer_scores_hvx(r->rows.q + (token * s->heads + head) * dh, k + tile * HX_LAYER_TILE * dh, (int)dh,
                        (int)hx_layer_tiles((size_t)stop), s->scale, scores);
    if (m->exp)
        hx_layer_softmax_int_hvx(scores, lead, stop, m->exp, &m->room[thread]);
    else
        hx_layer_softmax_hvx(scores, lead, stop);
    hx_layer_values_hvx(scores + lead, v, stop - lead, (int)dh, r->rows.att + (token * s->heads + head) * dh);
}

static int attend_share(void *arg, struct hx_part part)
{
    const struct run *r = arg;
    const size_t heads = r->shape->heads;
    const struct hx_share s = hx_share_of(r->call->n * heads, part);

    for (size_t i = s.first; i < s.first + s.n; i++)
        attend(r, i / heads, i % heads, part.index);
    return AEE_SUCCESS;
}

static int attention(struct run *r)
{
    const uint64_t started = HAP_perf_get_pcycles();
    struct hx_parallel_time unused = {0, 0};
    int rc;

    place_heads(r);
    rc = hx_parallel((unsigned)r->call->how->threads, attend_share, r, &unused, &hx_handover_pair);
    r->cycles->attention = HAP_perf_get_pcycles() - started;
    return rc;
}

/* --- a layer */

static int attention_part(struct run *r)
{
    const struct hx_layer_call *c = r->call;
    const struct rows *b = &r->rows;
    const size_t width = r->shape->width;
    int rc;

    norm(r, c->x, r->vectors->attn_norm, width, c->n, b->h);
    rc = project(r, HEX_LAYER_Q, 3, b->h, (float *const[]){b->q, b->k, b->v});
    if (!rc)
        rc = attention(r);
    if (!rc)
        rc = project(r, HEX_LAYER_O, 1, b->att, &b->sub);
    if (rc)
        return rc;
    norm(r, b->sub, r->vectors->attn_post, width, c->n, b->sub);
    add_rows(r, c->x, b->sub, width, width, c->y);
    return AEE_SUCCESS;
}

static void activate(const struct run *r)
{
    const size_t ffn = r->shape->ffn;

    for (size_t i = 0; i < r->call->n; i++)
        (r->shape->activation == HEX_LAYER_GELU ? hx_layer_gelu_hvx : hx_layer_silu_hvx)(r->rows.gate + i * ffn, r->rows.up + i * ffn,
                                                                                        (int)ffn);
}

static int feed_forward_part(struct run *r)
{
    const struct hx_layer_call *c = r->call;
    const struct rows *b = &r->rows;
    const size_t width = r->shape->width;
    int rc;

    norm(r, c->y, r->vectors->ffn_norm, width, c->n, b->h);
    rc = project(r, HEX_LAYER_GATE, 2, b->h, (float *const[]){b->gate, b->up});
    if (rc)
        return rc;
    activate(r);
    rc = project(r, HEX_LAYER_DOWN, 1, b->gate, &b->sub);
    if (rc)
        return rc;
    norm(r, b->sub, r->vectors->ffn_post, width, c->n, b->sub);
    add_rows(r, c->y, b->sub, width, width, c->y);
    return AEE_SUCCESS;
}

/* qf32 holds no infinities and no NaNs, so what was one is written here. */
static void spoil(const struct run *r)
{
    const size_t width = r->shape->width;

    for (size_t i = 0; i < r->call->n; i++)
        for (size_t d = 0; r->rows.spoiled[i] && d < width; d++)
            r->call->y[i * width + d] = NAN;
}

int hx_layer_call_run(const struct hx_layer_call *call, hex_layer_cycles *cycles)
{
    const uint64_t started = HAP_perf_get_pcycles();
    struct run r = {.call = call, .shape = &call->model->shape, .vectors = &call->model->vectors[call->layer], .cycles = cycles};
    int rc;

    *cycles = (hex_layer_cycles){0};
    lay_out(&r.rows, r.shape, call->n, call->scratch);
    for (size_t i = 0; i < call->n; i++)
        r.rows.spoiled[i] = 0;
    rc = attention_part(&r);
    if (!rc)
        rc = feed_forward_part(&r);
    if (!rc)
        spoil(&r);
    cycles->total = HAP_perf_get_pcycles() - started;
    return rc;
}
