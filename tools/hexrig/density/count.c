/* Counts tokens: the cache is filled, one token runs as tokens do while a text is generated, and the next one between two looks at the
 * driver's figures. */
#include "count.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "clients.h"
#include "generate/spec.h"
#include "geometry_run.h"

/* What is asked: a model's engine, or a geometry. */
struct subject {
    struct hx_engine *e; /* NULL: a geometry */
    float *logits;       /* [rows][vocab] of a model */
    size_t rows;         /* of a token's batch: itself and guesses behind it */
    struct hx_geometry_run g;
    const struct hx_kv *kv;
    struct hx_shape shape;
};

struct source {
    int (*open)(struct subject *s, const struct hx_density_question *q, size_t last, struct hx_error *err);
    /* positions pos..pos+n-1, not measured */
    int (*fill)(struct subject *s, size_t pos, size_t n, struct hx_error *err);
    int (*token)(struct subject *s, size_t pos, struct hx_error *err);
};

/* --- a model */

/* Positions 0 to last, and those of guesses. */
static int model_open(struct subject *s, const struct hx_density_question *q, size_t last, struct hx_error *err)
{
    struct hx_engine_cfg cfg = *q->model;
    int rc;

    cfg.plan = q->plan;
    cfg.n_ctx = last + s->rows;
    rc = hx_engine_open(&s->e, &cfg, err);
    if (rc)
        return rc;
    s->kv = s->e->kv;
    s->shape = hx_shape_of(s->e->model);
    if (cfg.n_ctx > s->e->model->n_ctx)
        return hx_error_set(err, -EINVAL, "position %zu: the model's context is %zu", cfg.n_ctx - 1, s->e->model->n_ctx);
    if (s->rows > hx_forward_max_guessed(s->e->forward))
        return hx_error_set(err, -EINVAL, "%zu guesses; a batch here has %zu tokens at most, the known one among them", q->guesses,
                            hx_forward_max_guessed(s->e->forward));
    s->logits = calloc(s->rows * s->e->model->vocab, sizeof(*s->logits));
    return s->logits ? 0 : hx_error_set(err, -ENOMEM, "no memory for logits");
}

/* Any ids do: what a call costs does not depend on them. */
static void make_ids(const struct subject *s, uint32_t *ids, size_t pos, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ids[i] = (uint32_t)((pos + i) * 7919 % s->e->model->vocab);
}

static int model_fill(struct subject *s, size_t pos, size_t n, struct hx_error *err)
{
    uint32_t *ids = calloc(n, sizeof(*ids));
    int rc;

    if (!ids)
        return hx_error_set(err, -ENOMEM, "no memory for %zu tokens", n);
    make_ids(s, ids, pos, n);
    rc = hx_engine_run(s->e, ids, n, pos, err);
    free(ids);
    return rc;
}

/* With the choice of what is next, which may be made on the DSP, or of logits that are. */
static int model_token(struct subject *s, size_t pos, struct hx_error *err)
{
    uint32_t ids[1 + HX_DRAFT_MAX];
    int rc;

    make_ids(s, ids, pos, s->rows);
    rc = hx_forward_run(s->e->forward, ids, s->rows, pos, err);
    if (rc)
        return rc;
    return s->e->argmax ? hx_forward_argmax(s->e->forward, 0, s->rows, ids, err)
                        : hx_forward_logits(s->e->forward, 0, s->rows, s->logits, err);
}

static const struct source model = {model_open, model_fill, model_token};

/* --- a geometry: the cache, and matrices that are on the DSP */

static int geometry_open(struct subject *s, const struct hx_density_question *q, size_t last, struct hx_error *err)
{
    int rc = hx_geometry_run_open(&s->g, q->geometry, q->plan, q->guesses, last + s->rows, err);

    s->kv = s->g.kv;
    s->shape = hx_shape_of(&s->g.m); /* without heads: nobody has queries, so the cache is asked for rows */
    return rc;
}

static int geometry_fill(struct subject *s, size_t pos, size_t n, struct hx_error *err)
{
    return hx_geometry_run_fill(&s->g, pos, n, err);
}

static int geometry_token(struct subject *s, size_t pos, struct hx_error *err)
{
    return hx_geometry_run_token(&s->g, pos, err);
}

static const struct source geometry = {geometry_open, geometry_fill, geometry_token};

/* --- both */

/* Clients that all come to the same position. */
struct round {
    const struct source *from;
    struct subject *s; /* [n] */
    unsigned n;
    size_t pos;
};

static int token_of(void *arg, unsigned i, struct hx_error *err)
{
    struct round *r = arg;

    return r->from->token(&r->s[i], r->pos, err);
}

static int measure(struct round *r, struct hx_session_stats *sum, struct hx_error *err)
{
    struct hx_session_stats before, after;
    int rc = hx_report_now(&before);

    if (!rc) {
        rc = r->n > 1 ? hx_clients_run(r->n, token_of, r, err) : token_of(r, 0, err);
        if (rc)
            return rc;
        rc = hx_report_now(&after);
    }
    if (rc)
        return hx_error_set(err, rc, "cannot read the session's figures: %s", strerror(-rc));
    *sum = hx_report_diff(&after, &before);
    return 0;
}

/* Of blocks, as the cache reports it. */
static void basis_of(const struct subject *s, const struct hx_plan *p, char *out, size_t n)
{
    const struct hx_method *kv = hx_plan_method(p, HX_SEAM_KV);
    json_t *j = kv->report ? kv->report(s->kv, s->kv, p) : NULL;
    const char *basis = json_string_value(json_object_get(j, "basis"));

    snprintf(out, n, "%s", basis ? basis : "none");
    json_decref(j);
}

/* Calls of one per position grow with its square; what only fills a geometry's cache is not decoded. */
static double work(const struct hx_density_question *q, const struct hx_shape *shape, size_t pos)
{
    double n = 0;

    for (size_t at = 0; at <= pos; at++)
        n += hx_plan_calls(q->plan, shape, !q->geometry || at + 1 >= pos ? at : 0).invokes;
    return n;
}

/* The tokens before `pos`: the last of them leaves the DSP as the next one finds it. */
static int come_to(const struct source *from, struct subject *s, size_t pos, struct hx_error *err)
{
    int rc = pos > 1 ? from->fill(s, 0, pos - 1, err) : 0;

    return rc || !pos ? rc : from->token(s, pos - 1, err);
}

static int count(struct round *r, const struct hx_density_question *q, struct hx_density_answer *a, struct hx_error *err)
{
    const struct hx_shape *shape = &r->s->shape;
    int rc = 0;

    if (q->begins)
        q->begins(q->arg, r->n * work(q, shape, r->pos));
    *a = (struct hx_density_answer){.how = HX_DENSITY_COUNTED, .n_layer = shape->n_layer, .clients = r->n,
                                    .guesses = q->guesses, .accept = q->accept, .tokens = hx_spec_expected(q->accept, q->guesses),
                                    .formula = hx_plan_calls(q->plan, shape, r->pos)};
    basis_of(r->s, q->plan, a->basis, sizeof(a->basis));
    for (unsigned i = 0; !rc && i < r->n; i++)
        rc = come_to(r->from, &r->s[i], r->pos, err);
    return rc ? rc : measure(r, &a->sum, err);
}

int hx_density_count(const struct hx_density_question *q, size_t pos, struct hx_density_answer *a, struct hx_error *err)
{
    struct round r = {.from = q->geometry ? &geometry : &model, .n = q->clients > 1 ? q->clients : 1, .pos = pos};
    int rc = 0;

    r.s = calloc(r.n, sizeof(*r.s));
    if (!r.s)
        return hx_error_set(err, -ENOMEM, "no memory for %u clients", r.n);
    for (unsigned i = 0; !rc && i < r.n; i++) {
        r.s[i].rows = 1 + q->guesses;
        rc = r.from->open(&r.s[i], q, pos, err);
    }
    if (!rc)
        rc = count(&r, q, a, err);
    for (unsigned i = 0; i < r.n; i++) {
        if (!rc && r.s[i].e)
            rc = hx_engine_finish(r.s[i].e, err);
        hx_geometry_run_close(&r.s[i].g);
        hx_engine_close(r.s[i].e);
        free(r.s[i].logits);
    }
    free(r.s);
    return rc;
}
