/* Contexts and generation of the C API, see hexrig.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "generate/completion.h"
#include "generate/sampler.h"

struct hexrig_context {
    struct hexrig_model *m;
    struct hx_engine *e;
    uint32_t *ids;  /* [n_ctx], of which n_ids are held and the first n_run have been run */
    size_t n_ids, n_run;
    struct hx_sampler_cfg sampling;
    struct hx_sampler *s;
    float *logits;  /* [vocab] */
    int failed;     /* 1: a run failed, and what taps have seen is not what the context holds */
};

static int open_engine(struct hexrig_context *c, size_t n_ctx, struct hx_error *cause)
{
    const struct hx_engine_cfg cfg = {.plan = c->m->plan, .core = c->m->core, .n_ctx = n_ctx,
                                      .max_batch = c->m->max_batch};
    const size_t most = c->m->core->model->n_ctx;
    int rc;

    if (n_ctx > most)
        return hx_error_set(cause, -EINVAL, "a context of %zu; the model's is %zu", n_ctx, most);
    hx_api_enter(c->m);
    rc = hx_engine_open(&c->e, &cfg, cause);
    hx_api_leave(c->m);
    return rc;
}

int hexrig_context_open(struct hexrig_context **out, struct hexrig_model *m, size_t n_ctx,
                        struct hexrig_error *err)
{
    struct hexrig_context *c = calloc(1, sizeof(*c));
    struct hx_error cause = {""};
    int rc;

    *out = NULL;
    if (!c)
        return hx_api_fail(err, -ENOMEM, "out of memory");
    hx_api_get(m); /* put in hexrig_context_close() */
    c->m = m;
    c->sampling.top_p = 1;
    rc = open_engine(c, n_ctx, &cause);
    if (!rc) {
        c->ids = calloc(c->e->kv->n_ctx, sizeof(*c->ids));
        c->logits = calloc(c->e->model->vocab, sizeof(*c->logits));
        c->s = hx_sampler_open(&c->sampling, c->e->model->vocab);
        if (!c->ids || !c->logits || !c->s)
            rc = hx_error_set(&cause, -ENOMEM, "out of memory");
    }
    if (rc)
        hexrig_context_close(c);
    else
        *out = c;
    return hx_api_error(err, &cause, rc);
}

void hexrig_context_close(struct hexrig_context *c)
{
    if (!c)
        return;
    hx_api_enter(c->m);
    if (c->e && !c->failed)
        hx_engine_finish(c->e, NULL);
    hx_engine_close(c->e);
    hx_api_leave(c->m);
    hx_api_put(c->m);
    hx_sampler_close(c->s);
    free(c->logits);
    free(c->ids);
    free(c);
}

size_t hexrig_position(const struct hexrig_context *c)
{
    return c->n_ids;
}

int hexrig_rewind(struct hexrig_context *c, size_t pos, struct hexrig_error *err)
{
    const size_t before = pos ? pos - 1 : 0;

    if (pos > c->n_ids)
        return hx_api_fail(err, -EINVAL, "rewind to %zu: the context holds %zu tokens", pos,
                           c->n_ids);
    c->n_ids = pos;
    if (c->n_run > before) /* the last one is run again, for its logits */
        c->n_run = before;
    return hx_api_fail(err, 0, "%s", "");
}

/* Runs what has not been run. */
static int settle(struct hexrig_context *c, struct hx_error *cause)
{
    int rc;

    if (c->n_run == c->n_ids)
        return 0;
    hx_api_enter(c->m);
    rc = hx_engine_run(c->e, c->ids + c->n_run, c->n_ids - c->n_run, c->n_run, cause);
    hx_api_leave(c->m);
    if (!rc)
        c->n_run = c->n_ids;
    c->failed |= rc != 0;
    return rc;
}

static int check_tokens(const struct hexrig_context *c, const uint32_t *ids, size_t n, size_t more,
                        struct hexrig_error *err)
{
    const size_t n_ctx = c->e->kv->n_ctx, vocab = c->e->model->vocab, left = n_ctx - c->n_ids;

    if (n > left || more > left - n)
        return hx_api_fail(err, -E2BIG, "the context holds %zu tokens of %zu; %zu and %zu more do "
                           "not fit", c->n_ids, n_ctx, n, more);
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= vocab)
            return hx_api_fail(err, -EINVAL, "token %u; the vocabulary has %zu", ids[i], vocab);
    return 0;
}

int hexrig_feed(struct hexrig_context *c, const uint32_t *ids, size_t n, struct hexrig_error *err)
{
    const size_t held = c->n_ids;
    struct hx_error cause = {""};
    int rc = check_tokens(c, ids, n, 0, err);

    if (rc)
        return rc;
    if (n)
        memcpy(c->ids + held, ids, n * sizeof(*ids));
    c->n_ids += n;
    rc = settle(c, &cause);
    if (rc)
        c->n_ids = held;
    return hx_api_error(err, &cause, rc);
}

static int logits(struct hexrig_context *c, float *out, struct hx_error *cause)
{
    int rc;

    hx_api_enter(c->m);
    rc = hx_engine_logits(c->e, out, cause);
    hx_api_leave(c->m);
    return rc;
}

static int ready(struct hexrig_context *c, struct hx_error *cause)
{
    return c->n_ids ? settle(c, cause)
                    : hx_error_set(cause, -EINVAL, "the context holds no token: nothing follows");
}

int hexrig_logits(struct hexrig_context *c, float *out, struct hexrig_error *err)
{
    struct hx_error cause = {""};
    int rc = c->e->argmax ? hx_error_set(&cause, -ENOTSUP, "choices are made on the DSP (offload "
                                       "argmax), which keeps the logits")
                          : ready(c, &cause);

    if (!rc)
        rc = logits(c, out, &cause);
    return hx_api_error(err, &cause, rc);
}

static int check_sampling(const struct hexrig_sampling *s, struct hexrig_error *err)
{
    if (!(s->temperature >= 0) || !(s->top_p >= 0 && s->top_p <= 1) ||
        !(s->min_p >= 0 && s->min_p <= 1) || !(s->repeat_penalty >= 0))
        return hx_api_fail(err, -EINVAL, "sampling: temperature %g (0 or more), top_p %g and min_p %g "
                           "(0 to 1), repeat_penalty %g (0 or more)", s->temperature, s->top_p,
                           s->min_p, s->repeat_penalty);
    return 0;
}

int hexrig_set_sampling(struct hexrig_context *c, const struct hexrig_sampling *s,
                        struct hexrig_error *err)
{
    const struct hx_sampler_cfg cfg = {
        .temp = s->temperature,
        .top_k = s->top_k,
        .top_p = s->top_p > 0 ? s->top_p : 1,
        .min_p = s->min_p,
        .repeat_penalty = s->repeat_penalty,
        .repeat_last = s->repeat_last < c->e->kv->n_ctx ? s->repeat_last : c->e->kv->n_ctx,
        .seed = s->seed,
    };
    struct hx_sampler *made;
    int rc = check_sampling(s, err);

    if (rc)
        return rc;
    if (c->e->argmax && !hx_sampler_is_greedy(&cfg))
        return hx_api_fail(err, -EINVAL, "choices are made on the DSP (offload argmax), and those are "
                           "greedy");
    made = hx_sampler_open(&cfg, c->e->model->vocab);
    if (!made)
        return hx_api_fail(err, -ENOMEM, "out of memory");
    hx_sampler_close(c->s);
    c->s = made;
    c->sampling = cfg;
    return hx_api_fail(err, 0, "%s", "");
}

static int argmax(struct hexrig_context *c, uint32_t *id, struct hx_error *cause)
{
    int rc;

    hx_api_enter(c->m);
    rc = hx_forward_argmax(c->e->forward, c->e->last, 1, id, cause);
    hx_api_leave(c->m);
    return rc;
}

int hexrig_sample(struct hexrig_context *c, uint32_t *id, struct hexrig_error *err)
{
    const size_t back = c->sampling.repeat_last < c->n_ids ? c->sampling.repeat_last : c->n_ids;
    struct hx_error cause = {""};
    int rc = ready(c, &cause);

    if (!rc && c->e->argmax)
        return hx_api_error(err, &cause, argmax(c, id, &cause));
    if (!rc)
        rc = logits(c, c->logits, &cause);
    if (!rc) { /* the penalty is for what the context holds, whoever picked it */
        hx_sampler_forget(c->s);
        hx_sampler_saw(c->s, c->ids + c->n_ids - back, back);
        *id = hx_sampler_pick(c->s, c->logits);
    }
    return hx_api_error(err, &cause, rc);
}

/* --- generation */

/* What became final since the last time goes to the caller; 1: cancel. */
static int tell(const struct hexrig_generation *g, const struct hx_stream *text, size_t *told)
{
    const size_t from = *told;

    *told = text->ready;
    return g->text && text->ready > from && g->text(g->arg, text->text + from, text->ready - from);
}

static int steps(struct hexrig_context *c, struct hexrig_generation *g, struct hx_completion *made,
                 struct hx_error *cause)
{
    static const enum hexrig_finish names[] = {
        [HX_FINISH_LENGTH] = HEXRIG_LENGTH, [HX_FINISH_END] = HEXRIG_END,
        [HX_FINISH_STOP] = HEXRIG_STOP,
    };
    size_t told = 0;
    int more = 1;

    while (more > 0) {
        hx_api_enter(c->m);
        more = hx_completion_step(made, cause);
        hx_api_leave(c->m);
        if (more >= 0 && tell(g, &made->text, &told)) {
            g->finish = HEXRIG_CANCELLED;
            return 0;
        }
    }
    if (!more)
        g->finish = names[made->finish];
    c->failed |= more < 0;
    return more;
}

/* The context holds what the completion has. */
static void keep(struct hexrig_context *c, const struct hx_completion *made)
{
    c->n_ids = made->n_prompt + made->n_made;
    c->n_run = made->n_run;
    memcpy(c->ids, made->ids, c->n_ids * sizeof(*c->ids));
}

static int generate(struct hexrig_context *c, struct hexrig_generation *g, struct hx_error *cause)
{
    const struct hx_completion_cfg cfg = {
        .prompt = c->ids,
        .n_prompt = c->n_ids + g->n_prompt,
        .n_cached = c->n_run,
        .n_max = g->max_tokens,
        .at_end_token = !g->ignore_end,
        .whole_text = g->reply,
        .sampling = c->sampling,
        .stops = g->stop,
        .n_stops = g->n_stop,
    };
    struct hx_completion made;
    int rc;

    if (g->n_prompt)
        memcpy(c->ids + c->n_ids, g->prompt, g->n_prompt * sizeof(*c->ids));
    rc = hx_completion_open(&made, c->e, &cfg, cause);
    if (!rc)
        rc = steps(c, g, &made, cause);
    if (!rc) {
        g->n_made = made.n_made;
        keep(c, &made);
    } else if (c->n_run >= c->n_ids && c->n_ids) {
        c->n_run = c->n_ids - 1; /* the last run was another token's */
    }
    hx_completion_close(&made);
    return rc;
}

int hexrig_generate(struct hexrig_context *c, struct hexrig_generation *g, struct hexrig_error *err)
{
    struct hx_error cause = {""};
    int rc = check_tokens(c, g->prompt, g->n_prompt, g->max_tokens, err);

    g->n_made = 0;
    if (rc)
        return rc;
    if (!g->max_tokens)
        return hx_api_fail(err, -EINVAL, "max_tokens is 0");
    for (size_t i = 0; i < g->n_stop; i++)
        if (!*g->stop[i])
            return hx_api_fail(err, -EINVAL, "stop string %zu is empty", i);
    return hx_api_error(err, &cause, generate(c, g, &cause));
}
