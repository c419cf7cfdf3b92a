/* The steps of a layer, see pass.h. */
#include "pass.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "engine/arch/arch.h"
#include "base/vec.h"

/* --- rows of the batch, each by itself, so threads may share them */

typedef void row_fn(const struct hx_pass *p, size_t i, const void *arg);

struct row_job {
    struct hx_pass *p;
    row_fn *row;
    const void *arg;
};

static void run_part(void *arg, size_t part, size_t n_parts)
{
    const struct row_job *j = arg;
    const size_t n = j->p->n;

    for (size_t i = part * n / n_parts; i < (part + 1) * n / n_parts; i++)
        j->row(j->p, i, j->arg);
}

static void each_row(struct hx_pass *p, row_fn *row, const void *arg)
{
    struct row_job j = {p, row, arg};
    const size_t threads = hx_pool_threads(p->pool);

    if (!p->rc)
        hx_pool_run(p->pool, p->n < threads ? p->n : threads, run_part, &j);
}

/* --- norms */

static float sum(const float *x, size_t n)
{
    hx_v16 lanes = {0};
    float tail = 0;
    size_t i = 0;

    for (; i + 16 <= n; i += 16)
        lanes += hx_v16_load(x + i);
    for (; i < n; i++)
        tail += x[i];
    return hx_v16_sum(lanes) + tail;
}

/* y[i] = w[i] * (x[i] - mean(x)) / sqrt(variance(x) + eps) + b[i]; y may be x.  Source: Ba et al. 2016. */
static void layer_norm(float *y, const float *x, const struct hx_norm *norm, size_t n, float eps)
{
    const float mean = sum(x, n) / (float)n;
    float scale;

    for (size_t i = 0; i < n; i++)
        y[i] = x[i] - mean;
    scale = 1 / sqrtf(hx_dot(y, y, n) / (float)n + eps);
    for (size_t i = 0; i < n; i++)
        y[i] = norm->w[i] * (y[i] * scale) + norm->b[i];
}

struct norm_arg {
    float *to;
    const float *from;
    const struct hx_norm *norm;
};

static void norm_row(const struct hx_pass *p, size_t i, const void *arg)
{
    const struct norm_arg *a = arg;
    const size_t width = p->m->width;

    if (a->norm->b)
        layer_norm(a->to + i * width, a->from + i * width, a->norm, width, p->m->eps);
    else
        p->ops.rms_norm(a->to + i * width, a->from + i * width, a->norm->w, width, p->m->eps);
}

void hx_pass_norm(struct hx_pass *p, float *to, const float *from, const struct hx_norm *norm)
{
    each_row(p, norm_row, &(struct norm_arg){to, from, norm});
}

static void norm_heads(const struct hx_pass *p, float *heads, size_t n, const struct hx_norm *norm)
{
    const size_t dh = p->m->dh;

    for (size_t h = 0; h < n; h++)
        p->ops.rms_norm(heads + h * dh, heads + h * dh, norm->w, dh, p->m->eps);
}

static void head_norms_row(const struct hx_pass *p, size_t i, const void *arg)
{
    const struct hx_model *m = p->m;
    const struct hx_layer *l = arg;

    norm_heads(p, p->q + i * m->n_head * m->dh, m->n_head, &l->q_norm);
    norm_heads(p, p->k + i * m->n_kv * m->dh, m->n_kv, &l->k_norm);
}

void hx_pass_head_norms(struct hx_pass *p, const struct hx_layer *l)
{
    if (l->q_norm.w)
        each_row(p, head_norms_row, l);
}

/* --- sums and checks */

static void add(struct hx_pass *p)
{
    for (size_t i = 0; !p->rc && i < p->n * p->m->width; i++)
        p->x[i] += p->y[i];
}

void hx_pass_add(struct hx_pass *p, enum hx_tap_point point)
{
    add(p);
    hx_pass_tap(p, point, p->x, p->m->width);
}

void hx_pass_tap(struct hx_pass *p, enum hx_tap_point point, float *rows, size_t row)
{
    const struct hx_tap_at at = {point, p->layer, p->tokens, p->at, p->n, row};

    if (!(p->tap_points & 1u << point))
        return;
    for (size_t i = 0; p->taps[i] && !p->rc; i++)
        if (p->taps[i]->points & 1u << point)
            p->rc = p->taps[i]->ops->at(p->taps[i], &at, rows, p->err);
}

int hx_pass_check(const struct hx_pass *p, const char *what, const float *rows, size_t row,
                  size_t n, size_t first, struct hx_error *err)
{
    size_t i = 0;

    if (p->ops.finite(rows, n * row))
        return 0;
    while (i + 1 < n * row && isfinite(rows[i]))
        i++;
    return hx_error_set(err, -EDOM, "position %zu: %s holds %s at index %zu: the model is damaged, or "
                      "what the cache returned", p->at[first + i / row], what,
                      isnan(rows[i]) ? "NaN" : "an infinity", i % row);
}

static void check_layer(struct hx_pass *p, const char *what, const float *rows, size_t row)
{
    char name[64];

    if (p->rc)
        return;
    snprintf(name, sizeof(name), "%s of layer %zu", what, p->layer);
    p->rc = hx_pass_check(p, name, rows, row, p->n, 0, p->err);
}

/* --- embedding */

void hx_pass_embed(struct hx_pass *p)
{
    const size_t width = p->m->width;

    for (size_t i = 0; i < p->n; i++)
        hx_linear_row(&p->m->embd, p->tokens[i], p->x + i * width);
    for (size_t i = 0; p->m->embd_scale != 1 && i < p->n * width; i++)
        p->x[i] *= p->m->embd_scale;
}

void hx_pass_positions(struct hx_pass *p)
{
    const size_t width = p->m->width, first = p->m->arch->first_position;

    for (size_t i = 0; i < p->n; i++)
        hx_linear_row(&p->m->positions, first + p->at[i], p->y + i * width);
    add(p);
}

/* --- feed-forward */

static void project(struct hx_pass *p, float *out, const struct hx_linear *l, const float *in)
{
    if (!p->rc)
        p->rc = hx_linear_apply(&l, &out, 1, in, p->n, p->row, p->err);
}

struct act_arg {
    void (*act)(float *x, const float *up, size_t n);
    float *x;
    const float *up;
};

static void act_row(const struct hx_pass *p, size_t i, const void *arg)
{
    const struct act_arg *a = arg;
    const size_t ffn = p->m->ffn;

    a->act(a->x + i * ffn, a->up ? a->up + i * ffn : NULL, ffn);
}

void hx_pass_ffn_gated(struct hx_pass *p, const struct hx_layer *l, enum hx_activation act)
{
    hx_pass_tap(p, HX_TAP_IN_FFN, p->h, p->m->width);
    if (!p->rc)
        p->rc = hx_linear_apply((const struct hx_linear *const[]){&l->gate, &l->up},
                                (float *const[]){p->gate, p->up}, 2, p->h, p->n, p->row, p->err);
    each_row(p, act_row, &(struct act_arg){p->ops.act[act], p->gate, p->up});
    hx_pass_tap(p, HX_TAP_IN_DOWN, p->gate, p->m->ffn);
    project(p, p->y, &l->down, p->gate);
}

void hx_pass_ffn(struct hx_pass *p, const struct hx_layer *l, enum hx_activation act)
{
    hx_pass_tap(p, HX_TAP_IN_FFN, p->h, p->m->width);
    project(p, p->up, &l->up, p->h);
    each_row(p, act_row, &(struct act_arg){p->ops.act[act], p->up, NULL});
    hx_pass_tap(p, HX_TAP_IN_DOWN, p->up, p->m->ffn);
    project(p, p->y, &l->down, p->up);
}

/* --- attention */

void hx_pass_qkv(struct hx_pass *p, const struct hx_layer *l)
{
    hx_pass_tap(p, HX_TAP_IN_QKV, p->h, p->m->width);
    if (!p->rc)
        p->rc = hx_linear_apply((const struct hx_linear *const[]){&l->q, &l->k, &l->v},
                                (float *const[]){p->q, p->k, p->v}, 3, p->h, p->n, p->row, p->err);
}

static void rotate_row(const struct hx_pass *p, size_t i, const void *arg)
{
    const struct hx_model *m = p->m;

    for (size_t h = 0; h < m->n_head; h++)
        hx_rope_apply(arg, p->q + (i * m->n_head + h) * m->dh, p->at[i]);
    for (size_t h = 0; h < m->n_kv; h++)
        hx_rope_apply(arg, p->k + (i * m->n_kv + h) * m->dh, p->at[i]);
}

void hx_pass_rotate(struct hx_pass *p)
{
    each_row(p, rotate_row, hx_ropes_of(&p->ropes, p->layer));
}

void hx_pass_attend(struct hx_pass *p, const struct hx_layer *l)
{
    const struct hx_model *m = p->m;
    const struct hx_attn_in in = {
        .layer = p->layer, .pos = p->pos, .n = p->n, .q = p->q, .k = p->k, .v = p->v, .kv = p->kv,
        .n_head = m->n_head, .scale = m->attn_scale, .softcap = m->attn_softcap,
        .window = hx_model_window(m, p->layer),
    };

    check_layer(p, "K", p->k, m->n_kv * m->dh);
    check_layer(p, "V", p->v, m->n_kv * m->dh);
    hx_pass_tap(p, HX_TAP_Q, p->q, m->n_head * m->dh);
    hx_pass_tap(p, HX_TAP_K, p->k, m->n_kv * m->dh);
    hx_pass_tap(p, HX_TAP_V, p->v, m->n_kv * m->dh);
    if (!p->rc && p->kv->ops->put)
        p->rc = p->kv->ops->put(p->kv, p->layer, p->pos, p->n, p->k, p->v, p->err);
    if (!p->rc)
        p->rc = p->parent ? hx_tree_attend(p->tree, p->attn, &in, p->parent, p->at, p->att, p->err)
                          : p->attn->ops->run(p->attn, &in, p->att, p->err);
    hx_pass_tap(p, HX_TAP_IN_O, p->att, m->n_head * m->dh);
    project(p, p->y, &l->o, p->att);
}
