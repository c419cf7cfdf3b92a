/* Finds sinks, see sink.h. */
#include "sink.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/moments/text_pass.h"
#include "text/tokenizer.h"

static const double usual_sigma = 3, first_sigma = 1.5;

/* Two passes over the same windows: what is a sink is known behind the first. */
struct watch {
    struct hx_tap tap; /* first */
    struct hx_sinks *s;
    const struct hx_lowrank_factors *f;
    size_t middle;     /* layer */
    double *norm;      /* [tokens] behind it */
    uint8_t *is_sink;  /* [tokens] */
    size_t seen[2];    /* tokens of the windows before this one: of the first pass, of the second */
};

static double length(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

static int take_norms(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct watch *w = (struct watch *)t;

    (void)err;
    if (at->layer != w->middle)
        return 0;
    for (size_t i = 0; i < at->n; i++)
        w->norm[w->seen[0]++] = length(rows + i * at->row, at->row);
    return 0;
}

static void add_direction(double *to, const float *x, size_t n)
{
    const double all = length(x, n);

    for (size_t i = 0; i < n; i++)
        to[i] += all > 0 ? x[i] / all : 0;
}

/* Of the last point that is looked at, the window ends with the last layer. */
static int take_directions(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct watch *w = (struct watch *)t;

    (void)err;
    for (size_t b = 0; b < w->s->n; b++)
        for (size_t i = 0; i < at->n; i++)
            if (w->s->of[b] && w->f->bases[b].layer == at->layer && w->f->bases[b].input == at->point && w->is_sink[w->seen[1] + i])
                add_direction(w->s->of[b], rows + i * at->row, at->row);
    if (at->point == HX_TAP_BEFORE_NORM)
        w->seen[1] += at->n;
    return 0;
}

static void judge(struct watch *w, size_t ctx)
{
    struct hx_sinks *s = w->s;
    double mean = 0, var = 0;

    for (size_t i = 0; i < s->tokens; i++)
        mean += w->norm[i] / (double)s->tokens;
    for (size_t i = 0; i < s->tokens; i++)
        var += (w->norm[i] - mean) * (w->norm[i] - mean) / (double)s->tokens;
    for (size_t i = 0; i < s->tokens && var > 0; i++) {
        const double sigma = (w->norm[i] - mean) / sqrt(var);

        w->is_sink[i] = sigma > (i % ctx ? usual_sigma : first_sigma);
        s->found += w->is_sink[i];
        s->most_sigma = sigma > s->most_sigma ? sigma : s->most_sigma;
    }
}

static int look(struct watch *w, const struct hx_text_pass *pass, struct hx_error *err)
{
    static const struct hx_tap_ops norms = {.name = "sink", .at = take_norms}, directions = {.name = "sink", .at = take_directions};
    struct hx_tap *const taps[] = {&w->tap, NULL};
    int rc;

    w->tap = (struct hx_tap){&norms, 1u << HX_TAP_AFTER_FFN};
    rc = hx_text_pass_run(pass, taps, err);
    if (rc)
        return rc;
    judge(w, pass->ctx);
    w->tap = (struct hx_tap){&directions, 1u << HX_TAP_IN_QKV | 1u << HX_TAP_IN_FFN | 1u << HX_TAP_BEFORE_NORM};
    return w->s->found ? hx_text_pass_run(pass, taps, err) : 0;
}

/* --- the text */

/* Windows of ids, each behind a BOS where the model has one.  NULL: out of memory. */
static uint32_t *windows_of(const struct hx_model *m, const uint32_t *ids, size_t windows, size_t ctx)
{
    const size_t bos = hx_tokenizer_adds_bos(m->tok) != 0, own = ctx - bos;
    uint32_t *out = malloc(windows * ctx * sizeof(*out));

    for (size_t w = 0; out && w < windows; w++) {
        out[w * ctx] = hx_tokenizer_bos(m->tok);
        memcpy(out + w * ctx + bos, ids + w * own, own * sizeof(*ids));
    }
    return out;
}

static int make_room(struct watch *w, struct hx_error *err)
{
    struct hx_sinks *s = w->s;

    s->of = calloc(w->f->n_bases, sizeof(*s->of));
    w->norm = calloc(s->tokens, sizeof(*w->norm));
    w->is_sink = calloc(s->tokens, sizeof(*w->is_sink));
    if (!s->of || !w->norm || !w->is_sink)
        return hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    s->n = w->f->n_bases;
    for (size_t i = 0; i < s->n; i++) {
        const struct hx_lowrank_basis *b = &w->f->bases[i];

        if (b->input != HX_TAP_IN_QKV && b->input != HX_TAP_IN_FFN)
            continue;
        s->of[i] = calloc(b->cols, sizeof(**s->of));
        if (!s->of[i])
            return hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    }
    return 0;
}

/* The means become directions; without a sink there is none. */
static void finish(struct hx_sinks *s, const struct hx_lowrank_factors *f)
{
    for (size_t i = 0; i < s->n; i++) {
        double sum = 0;

        for (size_t c = 0; s->of[i] && c < f->bases[i].cols; c++)
            sum += s->of[i][c] * s->of[i][c];
        for (size_t c = 0; sum > 0 && c < f->bases[i].cols; c++)
            s->of[i][c] /= sqrt(sum);
        if (!(sum > 0)) {
            free(s->of[i]);
            s->of[i] = NULL;
        }
    }
}

int hx_sinks_find(struct hx_sinks *s, const struct hx_lowrank_factors *f, const struct hx_open *o, const uint32_t *ids, size_t n_ids,
                  struct hx_error *err)
{
    const size_t bos = hx_tokenizer_adds_bos(o->model->tok) != 0, most = o->model->n_ctx < HX_SINK_CTX ? o->model->n_ctx : HX_SINK_CTX;
    const size_t ctx = n_ids + bos < most ? n_ids + bos : most, windows = n_ids ? n_ids / (ctx - bos) : 0;
    struct watch w = {.s = s, .f = f, .middle = o->model->n_layer / 2};
    struct hx_text_pass pass = {o->model, o->pool, o->watch, NULL, ctx, windows < HX_SINK_WINDOWS ? windows : HX_SINK_WINDOWS};
    uint32_t *own;
    int rc;

    *s = (struct hx_sinks){.tokens = pass.windows * ctx};
    if (!s->tokens)
        return hx_error_set(err, -EINVAL, "lowrank: the text that sinks are looked for in has no tokens");
    pass.ids = own = windows_of(o->model, ids, pass.windows, ctx);
    rc = own ? make_room(&w, err) : hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    if (!rc)
        rc = look(&w, &pass, err);
    if (!rc)
        finish(s, f);
    free(own);
    free(w.norm);
    free(w.is_sink);
    return rc;
}

void hx_sinks_free(struct hx_sinks *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->of[i]);
    free(s->of);
    *s = (struct hx_sinks){0};
}
