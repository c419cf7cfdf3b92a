/* Moments of the matrices' inputs over a text, see moments.h. */
#include "moments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/watch.h"
#include "engine/forward.h"
#include "methods/cpu/attn_flash.h"
#include "methods/cpu/linear_cpu.h"
#include "model/matrix.h"

struct watch {
    struct hx_tap tap; /* first */
    const struct hx_moments_input *in;
    const struct hx_moments *m;
    const char *who;
    const struct hx_blas *blas;
    size_t first; /* of this window's vectors among all */
};

static void keep(const struct watch *w, const struct hx_moments_input *in, const float *rows, size_t n)
{
    const size_t left = w->first < in->n_keep ? in->n_keep - w->first : 0;

    if (in->keep)
        memcpy(in->keep + w->first * in->cols, rows, (n < left ? n : left) * in->cols * sizeof(*rows));
}

/* C += x x^T, its upper triangle. */
static int add_rows(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    const struct watch *w = (const struct watch *)t;
    const int n = (int)at->n, row = (int)at->row;
    const double one = 1;
    double *x;
    size_t i = 0;

    while (i < w->m->n && (w->in[i].layer != at->layer || w->in[i].point != at->point))
        i++;
    if (i == w->m->n)
        return 0;
    keep(w, &w->in[i], rows, at->n);
    x = malloc(at->n * at->row * sizeof(*x));
    if (!x)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", w->who);
    for (size_t v = 0; v < at->n * at->row; v++)
        x[v] = rows[v];
    w->blas->dsyrk("U", "N", &row, &n, &one, x, &row, &one, w->m->of[i], &row);
    free(x);
    return 0;
}

/* What runs the text. */
struct runner {
    struct hx_matrices matrices;
    struct hx_linear_method *linear;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_forward *forward;
};

static int take_over(struct runner *r, const struct hx_open *o, const char *who, struct hx_error *err)
{
    const size_t most = r->matrices.n_layer * HX_PER_LAYER;
    struct hx_linear_set set = {.at = calloc(most + 1, sizeof(*set.at))};
    int rc = set.at ? 0 : hx_error_set(err, -ENOMEM, "%s: out of memory", who);

    for (size_t i = 0; i < most && !rc; i++)
        set.at[set.n++].w = hx_matrices_at(&r->matrices, i / HX_PER_LAYER, (enum hx_matrix)(i % HX_PER_LAYER));
    if (!rc)
        rc = hx_linear_cpu_open(&r->linear, &set, NULL, o->pool, err);
    free(set.at);
    return rc;
}

static int open_runner(struct runner *r, const struct hx_open *o, struct hx_tap *const *taps, const char *who, struct hx_error *err)
{
    const struct hx_forward_parts parts = {.matrices = &r->matrices, .taps = taps};
    const struct hx_model *m = o->model;
    int rc = hx_matrices_copy(&r->matrices, m) ? hx_error_set(err, -ENOMEM, "%s: out of memory", who) : take_over(r, o, who, err);

    if (!rc)
        rc = hx_kv_f32_open(&r->kv, m->n_layer, m->n_kv, m->dh, HX_MOMENTS_CTX, err);
    if (!rc)
        rc = hx_attn_flash_open(&r->attn, NULL, o->pool, err);
    if (!rc)
        rc = hx_forward_open(&r->forward, m, r->kv, r->attn, HX_MOMENTS_CTX, err);
    return rc ? rc : hx_forward_use(r->forward, &parts, err);
}

static void close_runner(struct runner *r)
{
    hx_forward_close(r->forward);
    hx_attn_close(r->attn);
    hx_kv_close(r->kv);
    hx_linear_close(r->linear);
    hx_matrices_free(&r->matrices);
}

static int run(struct hx_moments *m, const struct hx_moments_input *in, const char *who, const struct hx_open *o, const uint32_t *ids,
               size_t n_ids, struct hx_error *err)
{
    static const struct hx_tap_ops ops = {.name = "moments", .at = add_rows};
    struct watch w = {.tap = {&ops, 1u << HX_TAP_IN_QKV | 1u << HX_TAP_IN_O | 1u << HX_TAP_IN_FFN | 1u << HX_TAP_IN_DOWN},
                      .in = in, .m = m, .who = who, .blas = hx_blas(err)};
    struct hx_tap *const taps[] = {&w.tap, NULL};
    struct runner r = {.linear = NULL};
    const size_t ctx = n_ids < HX_MOMENTS_CTX ? n_ids : HX_MOMENTS_CTX, windows = m->vectors / ctx;
    int rc = w.blas ? open_runner(&r, o, taps, who, err) : -ELIBACC;

    for (size_t i = 0; i < windows && !rc; i++) {
        w.first = i * ctx;
        rc = hx_forward_run(r.forward, ids + i * ctx, ctx, 0, err);
        hx_watch_step(o->watch, "windows of the text", i + 1, windows);
    }
    close_runner(&r);
    return rc;
}

/* The whole matrix out of its upper triangle. */
static void mirror(double *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            c[k * n + i] = c[i * n + k];
}

/* 1: what an input adds up is the one's before it. */
static int shares(const struct hx_moments *m, size_t i)
{
    return i && m->of[i] == m->of[i - 1];
}

static int make_room(struct hx_moments *m, const struct hx_moments_input *in, size_t n, const char *who, struct hx_error *err)
{
    m->of = calloc(n + !n, sizeof(*m->of));
    if (!m->of)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", who);
    m->n = n;
    for (size_t i = 0; i < n; i++) {
        if (in[i].rank > m->vectors)
            return hx_error_set(err, -EINVAL, "%s: the text gives %zu vectors, fewer than the rank, %zu, of layer %zu", who, m->vectors,
                                in[i].rank, in[i].layer);
        if (i && in[i - 1].layer == in[i].layer && in[i - 1].point == in[i].point)
            m->of[i] = m->of[i - 1];
        else
            m->of[i] = calloc(in[i].cols * in[i].cols, sizeof(**m->of));
        if (!m->of[i])
            return hx_error_set(err, -ENOMEM, "%s: no memory for moments of %zu x %zu", who, in[i].cols, in[i].cols);
    }
    return 0;
}

int hx_moments_take(struct hx_moments *m, const struct hx_moments_input *in, size_t n, const char *who, const struct hx_open *o,
                    const uint32_t *ids, size_t n_ids, struct hx_error *err)
{
    const size_t ctx = n_ids < HX_MOMENTS_CTX ? n_ids : HX_MOMENTS_CTX, windows = ctx ? n_ids / ctx : 0;
    int rc;

    m->vectors = (windows < HX_MOMENTS_WINDOWS ? windows : HX_MOMENTS_WINDOWS) * ctx;
    rc = make_room(m, in, n, who, err);
    if (!rc)
        rc = run(m, in, who, o, ids, n_ids, err);
    for (size_t i = 0; i < n && !rc; i++)
        if (!shares(m, i))
            mirror(m->of[i], in[i].cols);
    return rc;
}

void hx_moments_free(struct hx_moments *m)
{
    for (size_t i = 0; m->of && i < m->n; i++)
        if (!shares(m, i))
            free(m->of[i]);
    free(m->of);
    *m = (struct hx_moments){0};
}
