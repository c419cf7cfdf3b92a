/* Final hidden states of texts, see states.h. */
#include "states.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/forward.h"
#include "generate/log_sum.h"
#include "methods/cpu/attn_flash.h"
#include "methods/cpu/linear_cpu.h"

/* --- a forward pass */

static int take_over(struct hx_runner *r, struct hx_pool *pool, struct hx_error *err)
{
    const size_t most = r->matrices.n_layer * HX_PER_LAYER;
    struct hx_linear_set set = {.at = calloc(most + 1, sizeof(*set.at))};
    int rc = set.at ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i <= most && !rc; i++)
        set.at[set.n++].w = hx_matrices_at(&r->matrices, i / HX_PER_LAYER, i < most ? (enum hx_matrix)(i % HX_PER_LAYER) : HX_OUT);
    if (!rc)
        rc = hx_linear_cpu_open(&r->linear, &set, NULL, pool, err);
    free(set.at);
    return rc;
}

int hx_runner_open(struct hx_runner *r, const struct hx_model *m, struct hx_pool *pool, struct hx_matrices *matrices, size_t ctx,
                   struct hx_tap *const *taps, struct hx_error *err)
{
    const struct hx_forward_parts parts = {.matrices = &r->matrices, .pool = pool, .taps = taps};
    int rc = 0;

    *r = (struct hx_runner){.m = m};
    if (matrices) {
        r->matrices = *matrices;
        matrices->layers = NULL;
    } else {
        rc = hx_matrices_copy(&r->matrices, m) ? hx_error_set(err, -ENOMEM, "out of memory") : 0;
    }
    if (!rc)
        rc = take_over(r, pool, err);
    if (!rc)
        rc = hx_kv_f32_open(&r->kv, m->n_layer, m->n_kv, m->dh, ctx, err);
    if (!rc)
        rc = hx_attn_flash_open(&r->attn, NULL, pool, err);
    if (!rc)
        rc = hx_forward_open(&r->forward, m, r->kv, r->attn, ctx, err);
    return rc ? rc : hx_forward_use(r->forward, &parts, err);
}

void hx_runner_close(struct hx_runner *r)
{
    hx_forward_close(r->forward);
    hx_attn_close(r->attn);
    hx_kv_close(r->kv);
    hx_linear_close(r->linear);
    hx_matrices_free(&r->matrices);
    *r = (struct hx_runner){0};
}

/* --- states */

struct watch {
    struct hx_tap tap; /* first */
    struct hx_states *to;
    int every;
    size_t text, topic;
};

static int keep(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct watch *w = (struct watch *)t;

    for (size_t i = w->every ? 0 : at->n - 1; i < at->n; i++) {
        for (size_t k = 0; k < at->row; k++) {
            w->to->h[w->to->n * at->row + k] = rows[i * at->row + k];
            if (!isfinite(rows[i * at->row + k]))
                return hx_error_set(err, -EDOM, "text %zu, position %zu: number %zu of the final state is not finite", w->text,
                                    at->pos[i], k);
        }
        w->to->topic[w->to->n] = w->topic;
        w->to->text[w->to->n++] = w->text;
    }
    return 0;
}

/* Adds -log p of tokens 1..n-1 of a text that was run. */
static int add_nll(struct hx_runner *r, const struct hx_topic_text *t, float *logits, double *sum, struct hx_error *err)
{
    const size_t vocab = r->m->vocab;
    int rc = t->n > 1 ? hx_forward_logits(r->forward, 0, t->n - 1, logits, err) : 0;

    for (size_t i = 0; i + 1 < t->n && !rc; i++) {
        const float *row = logits + i * vocab;
        const struct hx_log_sum all = hx_log_sum(row, vocab);

        *sum += hx_log_sum_nll(&all, row[t->ids[i + 1]]);
    }
    return rc;
}

static int make_room(struct hx_states *s, const struct hx_topics *t, const struct hx_states_cfg *cfg, struct hx_error *err)
{
    size_t rows = 0;

    for (size_t i = 0; i < t->n; i++)
        rows += cfg->every ? t->at[i].n : 1;
    *s = (struct hx_states){.d = cfg->model->width};
    s->h = malloc(rows * s->d * sizeof(*s->h));
    s->topic = malloc(rows * sizeof(*s->topic));
    s->text = malloc(rows * sizeof(*s->text));
    s->nll = calloc(t->n_topics, sizeof(*s->nll));
    return s->h && s->topic && s->text && s->nll ? 0 : hx_error_set(err, -ENOMEM, "no memory for %zu states", rows);
}

static int run_all(struct hx_states *s, const struct hx_topics *t, const struct hx_states_cfg *cfg, struct hx_runner *r, struct watch *w,
                   struct hx_error *err)
{
    float *logits = cfg->nll ? malloc(t->longest * cfg->model->vocab * sizeof(*logits)) : NULL;
    size_t *n = calloc(t->n_topics, sizeof(*n));
    int rc = n && (logits || !cfg->nll) ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < t->n && !rc; i++) {
        const struct hx_topic_text *at = &t->at[i];

        w->text = i;
        w->topic = at->topic;
        rc = hx_forward_run(r->forward, at->ids, at->n, 0, err);
        if (!rc && cfg->nll)
            rc = add_nll(r, at, logits, &s->nll[at->topic], err);
        n[at->topic] += at->n - 1;
    }
    for (size_t i = 0; i < t->n_topics && !rc; i++)
        s->nll[i] /= n[i] ? (double)n[i] : 1;
    free(logits);
    free(n);
    return rc;
}

int hx_states_take(struct hx_states *s, const struct hx_topics *t, const struct hx_states_cfg *cfg, struct hx_error *err)
{
    static const struct hx_tap_ops ops = {.name = "states", .at = keep};
    struct watch w = {.tap = {&ops, 1u << cfg->point}, .to = s, .every = cfg->every};
    struct hx_tap *const taps[] = {&w.tap, NULL};
    struct hx_runner r = {0};
    int rc = make_room(s, t, cfg, err);

    if (!rc)
        rc = hx_runner_open(&r, cfg->model, cfg->pool, NULL, t->longest, taps, err);
    if (!rc)
        rc = run_all(s, t, cfg, &r, &w, err);
    hx_runner_close(&r);
    return rc;
}

void hx_states_free(struct hx_states *s)
{
    free(s->h);
    free(s->topic);
    free(s->text);
    free(s->nll);
    *s = (struct hx_states){0};
}
