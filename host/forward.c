/* The forward pass of a qwen3 model, see forward.h. */
#include "forward.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rope.h"
#include "vec.h"

struct hx_forward {
    const struct hx_model *m;
    struct hx_kv *kv;
    struct hx_attn *attn;
    size_t max_batch;
    size_t pos;         /* of the first token of the last run */
    float *x;           /* [max_batch][width] residual stream */
    float *h;           /* [max_batch][width] normed input of a sub-layer, and its output */
    float *q, *att;     /* [max_batch][n_head][dh] */
    float *k, *v;       /* [max_batch][n_kv][dh] */
    float *gate, *up;   /* [max_batch][ffn] */
    float *row;         /* [widest linear input] */
    struct hx_rope rope; /* of positions below n_ctx */
};

/* y[i] = w[i] * x[i] / sqrt(mean(x^2) + eps); y may be x.  Source: Zhang & Sennrich 2019. */
static void rmsnorm(float *y, const float *x, const float *w, size_t n, float eps)
{
    float scale = 1 / sqrtf(hx_dot(x, x, n) / (float)n + eps);

    for (size_t i = 0; i < n; i++)
        y[i] = w[i] * (x[i] * scale);
}

/* Norm and rotation of n_heads heads of one token at `pos`. */
static void finish_heads(const struct hx_forward *f, float *x, const float *w, size_t n_heads,
                         size_t pos)
{
    const size_t dh = f->m->dh;

    for (size_t head = 0; head < n_heads; head++) {
        rmsnorm(x + head * dh, x + head * dh, w, dh, f->m->eps);
        hx_rope_turn(&f->rope, x + head * dh, pos);
    }
}

static void norm_rows(const struct hx_forward *f, const float *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rmsnorm(f->h + i * f->m->width, f->x + i * f->m->width, w, f->m->width, f->m->eps);
}

/* x += W in */
static int add_linear(const struct hx_forward *f, const struct hx_linear *l, const float *in,
                      size_t n, struct hx_why *why)
{
    int rc = hx_linear_apply(&l, &f->h, 1, in, n, f->row, why);

    for (size_t i = 0; !rc && i < n * f->m->width; i++)
        f->x[i] += f->h[i];
    return rc;
}

/* Infinities and NaNs say that the model or the cache is damaged; whatever followed would be noise.  rows: [n][row],
 * the first of them at position `pos`. */
static int check_finite(const char *what, const float *rows, size_t row, size_t n, size_t pos,
                        struct hx_why *why)
{
    for (size_t i = 0; i < n * row; i++)
        if (!isfinite(rows[i]))
            return hx_why_set(why, -EDOM, "position %zu: %s holds %s at index %zu: the model is "
                              "damaged, or what the cache returned", pos + i / row, what,
                              isnan(rows[i]) ? "NaN" : "an infinity", i % row);
    return 0;
}

static int check_layer(const char *what, size_t layer, const float *rows, size_t row, size_t n,
                       size_t pos, struct hx_why *why)
{
    char name[64];

    snprintf(name, sizeof(name), "%s of layer %zu", what, layer);
    return check_finite(name, rows, row, n, pos, why);
}

static int attention(struct hx_forward *f, size_t layer, size_t n, size_t pos, struct hx_why *why)
{
    const struct hx_model *m = f->m;
    const struct hx_layer *l = &m->layers[layer];
    const size_t q_row = m->n_head * m->dh, kv_row = m->n_kv * m->dh;
    const struct hx_attn_in in = {
        .layer = layer, .pos = pos, .n = n, .q = f->q, .k = f->k, .v = f->v, .kv = f->kv,
        .n_head = m->n_head, .scale = 1 / sqrtf((float)m->dh),
    };
    int rc;

    norm_rows(f, l->attn_norm, n);
    rc = hx_linear_apply((const struct hx_linear *const[]){&l->q, &l->k, &l->v},
                         (float *const[]){f->q, f->k, f->v}, 3, f->h, n, f->row, why);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++) {
        finish_heads(f, f->q + i * q_row, l->q_norm, m->n_head, pos + i);
        finish_heads(f, f->k + i * kv_row, l->k_norm, m->n_kv, pos + i);
    }
    rc = check_layer("K", layer, f->k, kv_row, n, pos, why);
    if (!rc)
        rc = check_layer("V", layer, f->v, kv_row, n, pos, why);
    if (!rc)
        rc = f->kv->ops->put(f->kv, layer, pos, n, f->k, f->v, why);
    if (!rc)
        rc = f->attn->ops->run(f->attn, &in, f->att, why);
    if (rc)
        return rc;
    return add_linear(f, &l->o, f->att, n, why);
}

/* SwiGLU: down(silu(gate) * up).  Source: Shazeer 2020. */
static int feed_forward(struct hx_forward *f, size_t layer, size_t n, struct hx_why *why)
{
    const struct hx_layer *l = &f->m->layers[layer];
    int rc;

    norm_rows(f, l->ffn_norm, n);
    rc = hx_linear_apply((const struct hx_linear *const[]){&l->gate, &l->up},
                         (float *const[]){f->gate, f->up}, 2, f->h, n, f->row, why);
    if (rc)
        return rc;
    for (size_t i = 0; i < n * f->m->ffn; i++)
        f->gate[i] = f->gate[i] / (1 + expf(-f->gate[i])) * f->up[i];
    return add_linear(f, &l->down, f->gate, n, why);
}

static int check_run(const struct hx_forward *f, const uint32_t *tokens, size_t n, size_t pos,
                     struct hx_why *why)
{
    if (n < 1 || n > f->max_batch)
        return hx_why_set(why, -EINVAL, "a batch of %zu tokens; 1 to %zu are legal", n,
                          f->max_batch);
    if (pos > f->kv->n_ctx || n > f->kv->n_ctx - pos)
        return hx_why_set(why, -EINVAL, "%zu tokens at position %zu exceed the context of %zu", n,
                          pos, f->kv->n_ctx);
    for (size_t i = 0; i < n; i++)
        if (tokens[i] >= f->m->vocab)
            return hx_why_set(why, -EINVAL, "token %u; the vocabulary has %zu", tokens[i],
                              f->m->vocab);
    return 0;
}

int hx_forward_run(struct hx_forward *f, const uint32_t *tokens, size_t n, size_t pos,
                   struct hx_why *why)
{
    const struct hx_model *m = f->m;
    int rc = check_run(f, tokens, n, pos, why);

    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++)
        hx_linear_row(&m->embd, tokens[i], f->x + i * m->width);
    f->pos = pos;
    rc = check_finite("the embedding", f->x, m->width, n, pos, why);
    for (size_t layer = 0; !rc && layer < m->n_layer; layer++) {
        rc = attention(f, layer, n, pos, why);
        if (!rc)
            rc = feed_forward(f, layer, n, why);
        if (!rc)
            rc = check_layer("the output", layer, f->x, m->width, n, pos, why);
    }
    if (!rc)
        norm_rows(f, m->out_norm, n);
    return rc;
}

int hx_forward_logits(struct hx_forward *f, size_t first, size_t n, float *out,
                      struct hx_why *why)
{
    const struct hx_model *m = f->m;

    const struct hx_linear *w = &m->out;
    int rc = hx_linear_apply(&w, &out, 1, f->h + first * m->width, n, f->row, why);

    return rc ? rc : check_finite("the vector of logits", out, m->vocab, n, f->pos + first, why);
}

int hx_forward_argmax(struct hx_forward *f, size_t first, size_t n, uint32_t *ids,
                      struct hx_why *why)
{
    const struct hx_model *m = f->m;
    int rc;

    if (!m->out.ops->argmax)
        return hx_why_set(why, -ENOTSUP, "linear method '%s' has no argmax", m->out.ops->name);
    rc = m->out.ops->argmax(&m->out, ids, f->h + first * m->width, n, why);
    return rc == -EDOM ? hx_why_set(why, rc, "positions %zu..%zu: a logit is an infinity or no number: "
                                    "the model is damaged, or what the cache returned",
                                    f->pos + first, f->pos + first + n - 1)
                       : rc;
}

size_t hx_forward_max_batch(const struct hx_forward *f)
{
    return f->max_batch;
}

static size_t max3(size_t a, size_t b, size_t c)
{
    size_t ab = a > b ? a : b;

    return ab > c ? ab : c;
}

static int alloc_buffers(struct hx_forward *f)
{
    const struct hx_model *m = f->m;
    const size_t b = f->max_batch, ctx = f->kv->n_ctx, q = m->n_head * m->dh, kv = m->n_kv * m->dh;
    const struct {
        float **p;
        size_t n, each;
    } want[] = {
        {&f->x, b, m->width},     {&f->h, b, m->width}, {&f->q, b, q},
        {&f->att, b, q},          {&f->k, b, kv},       {&f->v, b, kv},
        {&f->gate, b, m->ffn},    {&f->up, b, m->ffn},
        {&f->row, 1, max3(m->width, m->ffn, q)},
    };

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        size_t floats;

        if (__builtin_mul_overflow(want[i].n, want[i].each, &floats))
            return -ENOMEM;
        *want[i].p = calloc(floats, sizeof(float));
        if (!*want[i].p)
            return -ENOMEM;
    }
    return hx_rope_init(&f->rope, m->dh, ctx, m->rope_base);
}

int hx_forward_open(struct hx_forward **out, const struct hx_model *m, struct hx_kv *kv,
                    struct hx_attn *attn, size_t max_batch, struct hx_why *why)
{
    struct hx_forward *f = calloc(1, sizeof(*f));

    if (!f)
        return hx_why_set(why, -ENOMEM, "forward pass: out of memory");
    f->m = m;
    f->kv = kv;
    f->attn = attn;
    f->max_batch = max_batch;
    if (alloc_buffers(f)) {
        hx_forward_close(f);
        return hx_why_set(why, -ENOMEM, "forward pass: no memory for a context of %zu", kv->n_ctx);
    }
    *out = f;
    return 0;
}

void hx_forward_close(struct hx_forward *f)
{
    if (!f)
        return;
    float *const all[] = {f->x, f->h,    f->q,  f->att,    f->k,   f->v,
                          f->gate, f->up, f->row};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
    hx_rope_free(&f->rope);
    free(f);
}
