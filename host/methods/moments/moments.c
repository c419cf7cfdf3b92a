/* Moments of the matrices' inputs over a text, see moments.h. */
#include "moments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "text_pass.h"

struct watch {
    struct hx_tap tap; /* first */
    const struct hx_moments_input *in;
    const struct hx_moments *m;
    const char *who;
    const struct hx_blas *blas;
    size_t *seen; /* [m->n] vectors of each input so far */
};

static void keep(const struct watch *w, size_t i, const float *rows, size_t n)
{
    const struct hx_moments_input *in = &w->in[i];
    const size_t left = w->seen[i] < in->n_keep ? in->n_keep - w->seen[i] : 0;

    if (in->keep && left)
        memcpy(in->keep + w->seen[i] * in->cols, rows, (n < left ? n : left) * in->cols * sizeof(*rows));
    w->seen[i] += n;
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
    keep(w, i, rows, at->n);
    x = malloc(at->n * at->row * sizeof(*x));
    if (!x)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", w->who);
    for (size_t v = 0; v < at->n * at->row; v++)
        x[v] = rows[v];
    w->blas->dsyrk("U", "N", &row, &n, &one, x, &row, &one, w->m->of[i], &row);
    free(x);
    return 0;
}

static int run(struct hx_moments *m, const struct hx_moments_input *in, const char *who, const struct hx_open *o, const uint32_t *ids,
               size_t n_ids, struct hx_error *err)
{
    static const struct hx_tap_ops ops = {.name = "moments", .at = add_rows};
    struct watch w = {.tap = {&ops, 1u << HX_TAP_IN_QKV | 1u << HX_TAP_IN_O | 1u << HX_TAP_IN_FFN | 1u << HX_TAP_IN_DOWN},
                      .in = in, .m = m, .who = who, .blas = hx_blas(err)};
    struct hx_tap *const taps[] = {&w.tap, NULL};
    const size_t ctx = n_ids < HX_MOMENTS_CTX ? n_ids : HX_MOMENTS_CTX;
    const struct hx_text_pass pass = {o->model, o->pool, o->watch, ids, ctx, m->vectors / ctx};
    int rc;

    if (!w.blas)
        return -ELIBACC;
    w.seen = calloc(m->n + !m->n, sizeof(*w.seen));
    rc = w.seen ? hx_text_pass_run(&pass, taps, err) : hx_error_set(err, -ENOMEM, "%s: out of memory", who);
    free(w.seen);
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
