/* Makes texts with guesses, and counts. */
#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "generate/spec_along.h"

/* Texts at work. */
struct work {
    const struct hx_spec_question *q;
    struct hx_spec_counted counted;
    struct hx_generate g;
    float *logits; /* [vocab] */
};

static const struct hx_sampler_cfg greedy = {.top_p = 1};

/* All guesses that were asked for: no warm-up, and as many in each step. */
static int open_spec(struct work *w, struct hx_error *err)
{
    const struct hx_engine *e = w->q->e;
    const struct hx_spec_cfg cfg = {.batch = w->q->guesses, .thresh = w->q->thresh};
    const struct hx_spec_of of = {&w->counted.draft, w->g.s, &greedy, e->model->vocab, hx_forward_trees(e->forward), {0, 0}};

    return w->q->guesses && hx_spec_open(&w->g.spec, &cfg, &of) ? hx_error_set(err, -ENOMEM, "out of memory") : 0;
}

static int open_work(struct work *w, const struct hx_spec_question *q, struct hx_error *err)
{
    *w = (struct work){.q = q, .g = {.e = q->e}};
    hx_spec_counted_open(&w->counted, q->e->draft);
    w->g.draft = &w->counted.draft;
    w->g.s = hx_sampler_open(&greedy, q->e->model->vocab);
    w->logits = calloc(q->e->model->vocab, sizeof(*w->logits));
    return w->g.s && w->logits ? open_spec(w, err) : hx_error_set(err, -ENOMEM, "out of memory");
}

static void close_work(struct work *w)
{
    hx_spec_close(w->g.spec);
    hx_sampler_close(w->g.s);
    free(w->logits);
}

/* 1: the last step was a pass with guesses. */
static int had_guesses(const struct work *w, uint64_t without)
{
    return w->g.spec && hx_spec_stats(w->g.spec)->pass[0].n == without;
}

/* One step, and what of it was guessing. */
static long step(struct work *w, struct hx_spec_result *r, uint32_t *ids, size_t n, size_t left, struct hx_error *err)
{
    const uint64_t without = w->g.spec ? hx_spec_stats(w->g.spec)->pass[0].n : 0;
    const struct hx_spec_cost guessed = w->counted.cost;
    struct hx_spec_cost before, all = {0};
    long made = hx_spec_cost_now(&before, err);
    int with;

    if (!made)
        made = hx_generate_step(&w->g, ids, n, left, w->logits, err);
    if (made > 0 && hx_spec_cost_add(&all, &before, err))
        made = -EIO;
    if (made < 0)
        return made;
    with = had_guesses(w, without);
    r->n_pass[with]++;
    r->pass[with].s += all.s - (w->counted.cost.s - guessed.s);
    r->pass[with].us += all.us - (w->counted.cost.us - guessed.us);
    return made;
}

static int steps(struct work *w, struct hx_spec_result *r, uint32_t *ids, size_t n_prompt, struct hx_error *err)
{
    long made = 0;

    for (size_t done = 0; done < w->q->tokens; done += (size_t)made) {
        made = step(w, r, ids, n_prompt + done, w->q->tokens - done, err);
        if (made < 0)
            return (int)made;
    }
    return 0;
}

/* Adds what the driver counted meanwhile. */
static int counted_steps(struct work *w, struct hx_spec_result *r, uint32_t *ids, size_t n_prompt, struct hx_error *err)
{
    struct hx_session_stats before, after, now;
    int rc = hx_report_now(&before), failed;

    if (rc)
        return hx_error_set(err, rc, "cannot read the session's figures: %s", strerror(-rc));
    rc = steps(w, r, ids, n_prompt, err);
    failed = hx_report_now(&after);
    if (rc || failed)
        return rc ? rc : hx_error_set(err, failed, "cannot read the session's figures: %s", strerror(-failed));
    now = hx_report_diff(&after, &before);
    for (size_t i = 0; i < sizeof(now) / sizeof(uint64_t); i++) /* nothing but counters */
        ((uint64_t *)&r->sum)[i] += ((const uint64_t *)&now)[i];
    return 0;
}

static int greedy_text(struct work *w, struct hx_spec_result *r, const struct hx_spec_text *prompt, struct hx_error *err)
{
    uint32_t *ids = calloc(prompt->n + w->q->tokens, sizeof(*ids));
    int rc;

    if (!ids)
        return hx_error_set(err, -ENOMEM, "out of memory");
    memcpy(ids, prompt->ids, prompt->n * sizeof(*ids));
    rc = hx_generate_prefill(&w->g, ids, prompt->n, err);
    if (!rc)
        rc = counted_steps(w, r, ids, prompt->n, err);
    free(ids);
    return rc;
}

/* What the policy counted; one that had to switch its drafter off is no answer.  Without one each step makes a token: n of them. */
static int take_stats(const struct work *w, size_t n, struct hx_spec_stats *to, struct hx_error *err)
{
    *to = w->g.spec ? *hx_spec_stats(w->g.spec) : (struct hx_spec_stats){.steps = n, .emitted = n, .deep = {n}};
    return *to->off ? hx_error_set(err, -EIO, "%s", to->off) : 0;
}

static int greedy_texts(struct hx_spec_result *r, const struct hx_spec_question *q, struct hx_error *err)
{
    struct work w;
    int rc = open_work(&w, q, err);

    for (size_t i = 0; !rc && i < q->texts->n_prompts; i++)
        rc = greedy_text(&w, r, &q->texts->prompt[i], err);
    if (!rc)
        rc = take_stats(&w, q->texts->n_prompts * q->tokens, &r->greedy, err);
    r->draft = w.counted.cost;
    close_work(&w);
    return rc;
}

static int along_texts(struct hx_spec_result *r, const struct hx_spec_question *q, struct hx_error *err)
{
    struct work w;
    int rc = open_work(&w, q, err);

    for (size_t i = 0; !rc && w.g.spec && i < q->texts->n_given; i++)
        rc = hx_spec_along(&w.g, q->texts->given[i].ids, q->texts->given[i].n, HX_SPEC_FROM, err);
    if (!rc)
        rc = take_stats(&w, q->texts->n_given * q->tokens, &r->along, err);
    close_work(&w);
    return rc;
}

/* Every text with all guesses that were asked for has to fit. */
static int check(const struct hx_spec_question *q, struct hx_error *err)
{
    const size_t n_ctx = q->e->kv->n_ctx, most = hx_forward_max_guessed(q->e->forward);

    for (size_t i = 0; i < q->texts->n_prompts; i++)
        if (q->texts->prompt[i].n + q->tokens > n_ctx + 1)
            return hx_error_set(err, -EINVAL, "prompt %zu has %zu tokens, and %zu more need %zu positions; the context has %zu", i + 1,
                                q->texts->prompt[i].n, q->tokens, q->texts->prompt[i].n + q->tokens - 1, n_ctx);
    if (HX_SPEC_FROM + q->tokens + q->guesses > n_ctx)
        return hx_error_set(err, -EINVAL, "%d tokens of a given text, %zu more and %zu guesses need %zu positions; the context has %zu",
                            HX_SPEC_FROM, q->tokens, q->guesses, HX_SPEC_FROM + q->tokens + q->guesses, n_ctx);
    if (q->guesses + 1 > most)
        return hx_error_set(err, -EINVAL, "%zu guesses; a batch here has %zu tokens at most, the known one among them", q->guesses, most);
    return 0;
}

int hx_spec_measure(struct hx_spec_result *r, const struct hx_spec_question *q, struct hx_error *err)
{
    int rc = check(q, err);

    *r = (struct hx_spec_result){0};
    if (!rc)
        rc = greedy_texts(r, q, err);
    return rc ? rc : along_texts(r, q, err);
}
