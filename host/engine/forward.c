/* The forward pass, see forward.h: what all architectures share.  Their layers are in host/engine/arch/. */
#include "forward.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/arch/arch.h"
#include "pass.h"

struct hx_forward {
    struct hx_pass pass; /* of the last run */
    struct hx_matrices own, *matrices; /* the model's, and those in use */
    size_t max_batch;
};

static int check_run(const struct hx_forward *f, const uint32_t *tokens, size_t n, size_t pos,
                     struct hx_error *err)
{
    const size_t n_ctx = f->pass.kv->n_ctx, vocab = f->pass.m->vocab;

    if (n < 1 || n > f->max_batch)
        return hx_error_set(err, -EINVAL, "a batch of %zu tokens; 1 to %zu are legal", n,
                            f->max_batch);
    if (pos > n_ctx || n > n_ctx - pos)
        return hx_error_set(err, -EINVAL, "%zu tokens at position %zu exceed the context of %zu", n,
                            pos, n_ctx);
    for (size_t i = 0; i < n; i++)
        if (tokens[i] >= vocab)
            return hx_error_set(err, -EINVAL, "token %u; the vocabulary has %zu", tokens[i], vocab);
    return 0;
}

static void check_stream(struct hx_pass *p, const char *what)
{
    if (!p->rc)
        p->rc = hx_pass_check(p, what, p->x, p->m->width, p->n, 0, p->err);
}

/* Positions of the tokens. */
static int place(struct hx_pass *p, const int *parent, size_t n, size_t pos, struct hx_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (parent && (i == 0 ? parent[i] != -1 : parent[i] < 0 || (size_t)parent[i] >= i))
            return hx_error_set(err, -EINVAL, "token %zu of a tree follows token %d, which does not stand before it", i,
                                parent[i]);
        p->at[i] = !parent ? pos + i : i == 0 ? pos : p->at[parent[i]] + 1;
    }
    return 0;
}

int hx_forward_run(struct hx_forward *f, const uint32_t *tokens, size_t n, size_t pos,
                   struct hx_error *err)
{
    return hx_forward_run_tree(f, tokens, NULL, n, pos, err);
}

/* A whole layer where the cache is. */
static void layer_at_cache(struct hx_pass *p)
{
    p->rc = p->kv->ops->layer(p->kv, p->layer, p->pos, p->n, p->x, p->err);
    if (!p->rc && p->attn->softmax_int)
        p->attn->seen.rows += p->n * p->m->n_head;
    hx_pass_tap(p, HX_TAP_AFTER_FFN, p->x, p->m->width);
}

int hx_forward_run_tree(struct hx_forward *f, const uint32_t *tokens, const int *parent, size_t n, size_t pos,
                        struct hx_error *err)
{
    struct hx_pass *p = &f->pass;
    const struct hx_model *m = p->m;
    char what[64];
    int rc = check_run(f, tokens, n, pos, err);

    if (!rc && parent && !p->tree)
        rc = hx_error_set(err, -ENOTSUP, "cache '%s' takes no trees of tokens", p->kv->ops->name);
    if (!rc)
        rc = place(p, parent, n, pos, err);
    if (rc)
        return rc;
    if (p->kv->ops->tree)
        p->kv->ops->tree(p->kv, parent ? &(struct hx_kv_tree){pos, n, parent, p->at} : NULL);
    p->tokens = tokens;
    p->parent = parent;
    p->layer = 0;
    p->n = n;
    p->pos = pos;
    p->rc = 0;
    p->err = err;
    m->arch->embed(p);
    hx_pass_tap(p, HX_TAP_EMBEDDING, p->x, m->width);
    check_stream(p, "the embedding");
    for (p->layer = 0; !p->rc && p->layer < m->n_layer; p->layer++) {
        if (p->kv->ops->layer)
            layer_at_cache(p);
        else
            m->arch->layer(p, &f->matrices->layers[p->layer]);
        snprintf(what, sizeof(what), "the output of layer %zu", p->layer);
        check_stream(p, what);
    }
    p->layer = 0;
    hx_pass_tap(p, HX_TAP_BEFORE_NORM, p->x, m->width);
    if (p->tap_points & 1u << HX_TAP_BEFORE_NORM)
        check_stream(p, "the stream before the last norm");
    hx_pass_norm(p, p->h, p->x, &m->out_norm);
    hx_pass_tap(p, HX_TAP_IN_OUT, p->h, m->width);
    return p->rc;
}

/* s becomes cap * tanh(s / cap).  Source: Gemma Team 2024. */
static void soft_cap(float *s, size_t n, float cap)
{
    for (size_t i = 0; i < n; i++)
        s[i] = cap * tanhf(s[i] / cap);
}

int hx_forward_logits(struct hx_forward *f, size_t first, size_t n, float *out,
                      struct hx_error *err)
{
    const struct hx_pass *p = &f->pass;
    const struct hx_model *m = p->m;
    const struct hx_linear *w = &f->matrices->out;
    int rc = hx_linear_apply(&w, &out, 1, p->h + first * m->width, n, p->row, err);

    if (!rc)
        rc = hx_pass_check(p, "the vector of logits", out, m->vocab, n, first, err);
    if (!rc && m->logit_softcap > 0)
        soft_cap(out, n * m->vocab, m->logit_softcap);
    return rc;
}

int hx_forward_argmax(struct hx_forward *f, size_t first, size_t n, uint32_t *ids,
                      struct hx_error *err)
{
    const struct hx_pass *p = &f->pass;
    const struct hx_model *m = p->m;
    const struct hx_linear *w = &f->matrices->out;
    int rc;

    if (!w->ops->argmax)
        return hx_error_set(err, -ENOTSUP, "linear method '%s' has no argmax", w->ops->name);
    if (w->bias)
        return hx_error_set(err, -ENOTSUP, "linear method '%s' has no argmax with a bias, which %s "
                          "has", w->ops->name, hx_gguf_name(m->file));
    rc = w->ops->argmax(w, ids, p->h + first * m->width, n, err);
    return rc == -EDOM ? hx_error_set(err, rc, "positions %zu..%zu: a logit is an infinity or no number: "
                                    "the model is damaged, or what the cache returned",
                                    p->at[first], p->at[first + n - 1])
                       : rc;
}

const float *hx_forward_hidden(const struct hx_forward *f)
{
    return f->pass.h;
}

int hx_forward_trees(const struct hx_forward *f)
{
    return f->pass.tree != NULL;
}

size_t hx_forward_max_batch(const struct hx_forward *f)
{
    const size_t prompt = f->pass.kv->prompt_batch;

    return prompt && prompt < f->max_batch ? prompt : f->max_batch;
}

size_t hx_forward_max_guessed(const struct hx_forward *f)
{
    return f->max_batch;
}

struct hx_batch_cost hx_forward_batch_cost(const struct hx_forward *f)
{
    struct hx_batch_cost sum = {0, 0};
    float cells = 0;

    for (int which = 0; which < HX_MATRICES; which++) {
        const struct hx_linear *w = hx_matrices_at(f->matrices, 0, (enum hx_matrix)which);
        const struct hx_batch_cost c = w->rows && w->ops->batch_cost ? w->ops->batch_cost(w) : (struct hx_batch_cost){0, 0};
        const float size = (float)w->rows * (float)w->cols;

        sum.second += size * c.second;
        sum.more += size * c.more;
        cells += size;
    }
    return cells > 0 ? (struct hx_batch_cost){sum.second / cells, sum.more / cells} : sum;
}

static size_t max3(size_t a, size_t b, size_t c)
{
    size_t ab = a > b ? a : b;

    return ab > c ? ab : c;
}

static int alloc_buffers(struct hx_pass *p, size_t b)
{
    const struct hx_model *m = p->m;
    const size_t q = m->n_head * m->dh, kv = m->n_kv * m->dh;
    const size_t gate = m->arch->needs & HX_PART_GATE ? m->ffn : 0;
    const struct {
        float **to;
        size_t n, each;
    } want[] = {
        {&p->x, b, m->width}, {&p->h, b, m->width}, {&p->y, b, m->width}, {&p->q, b, q},
        {&p->att, b, q},      {&p->k, b, kv},       {&p->v, b, kv},       {&p->gate, b, gate},
        {&p->up, b, m->ffn},  {&p->row, 1, max3(m->width, m->ffn, q)},
    };

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        size_t floats;

        if (__builtin_mul_overflow(want[i].n, want[i].each, &floats))
            return -ENOMEM;
        *want[i].to = calloc(floats + !floats, sizeof(float));
        if (!*want[i].to)
            return -ENOMEM;
    }
    p->at = calloc(b, sizeof(*p->at));
    return p->at ? hx_ropes_init(&p->ropes, &m->rope, p->kv->n_ctx) : -ENOMEM;
}

int hx_forward_open(struct hx_forward **out, const struct hx_model *m, struct hx_kv *kv,
                    struct hx_attn *attn, size_t max_batch, struct hx_error *err)
{
    struct hx_forward *f;

    if (m->positions.rows && kv->n_ctx > m->n_ctx)
        return hx_error_set(err, -EINVAL, "%s: a context of %zu; %s has learned %zu positions",
                            hx_gguf_name(m->file), kv->n_ctx, m->arch->name, m->n_ctx);
    f = calloc(1, sizeof(*f));
    if (!f)
        return hx_error_set(err, -ENOMEM, "forward pass: out of memory");
    f->pass = (struct hx_pass){.m = m, .kv = kv, .attn = attn, .ops = hx_row_ops_ref};
    f->max_batch = max_batch;
    f->own = (struct hx_matrices){m->layers, m->n_layer, m->out};
    f->matrices = &f->own;
    if (alloc_buffers(&f->pass, max_batch)) {
        hx_forward_close(f);
        return hx_error_set(err, -ENOMEM, "forward pass: no memory for a context of %zu", kv->n_ctx);
    }
    *out = f;
    return 0;
}

/* What happens within a layer that is done as a whole nobody sees. */
static int check_taps(const struct hx_pass *p, struct hx_error *err)
{
    const uint32_t seen = 1u << HX_TAP_EMBEDDING | 1u << HX_TAP_AFTER_FFN | 1u << HX_TAP_BEFORE_NORM | 1u << HX_TAP_IN_OUT;
    const uint32_t lost = p->kv->ops->layer ? p->tap_points & ~seen : 0;

    return lost ? hx_error_set(err, -ENOTSUP, "cache '%s' does whole layers: point %s is within one", p->kv->ops->name,
                               hx_tap_point_names[__builtin_ctz(lost)])
                : 0;
}

int hx_forward_use(struct hx_forward *f, const struct hx_forward_parts *parts, struct hx_error *err)
{
    struct hx_pass *p = &f->pass;

    f->matrices = parts->matrices ? parts->matrices : &f->own;
    p->ops = hx_row_ops_of(parts->kernels);
    p->pool = parts->pool;
    p->taps = parts->taps;
    p->tap_points = 0;
    for (size_t i = 0; parts->taps && parts->taps[i]; i++)
        p->tap_points |= parts->taps[i]->points;
    if (check_taps(p, err))
        return -ENOTSUP;
    if (!parts->trees || p->tree)
        return 0;
    return hx_tree_attn_open(&p->tree, p->kv, err);
}

void hx_forward_close(struct hx_forward *f)
{
    if (!f)
        return;
    struct hx_pass *p = &f->pass;
    float *const all[] = {p->x, p->h, p->y, p->q, p->att, p->k, p->v, p->gate, p->up, p->row};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
    free(p->at);
    hx_tree_attn_close(p->tree);
    hx_ropes_free(&p->ropes);
    free(f);
}
