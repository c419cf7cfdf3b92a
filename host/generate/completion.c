/* One completion, see completion.h. */
#include "completion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int hx_completion_check(const struct hx_engine *e, const struct hx_completion_cfg *cfg,
                        struct hx_error *err)
{
    const size_t n_ctx = e->kv->n_ctx;

    if (cfg->n_prompt < 1)
        return hx_error_set(err, -EINVAL, "the prompt is empty");
    for (size_t i = 0; i < cfg->n_prompt; i++)
        if (cfg->prompt[i] >= e->model->vocab)
            return hx_error_set(err, -EINVAL, "token %u; the vocabulary has %zu", cfg->prompt[i],
                                e->model->vocab);
    if (cfg->n_prompt > n_ctx || cfg->n_max > n_ctx - cfg->n_prompt + 1)
        return hx_error_set(err, -E2BIG, "%zu prompt tokens and %zu new ones need %zu positions, the "
                          "context has %zu", cfg->n_prompt, cfg->n_max,
                          cfg->n_prompt - 1 + cfg->n_max, n_ctx);
    if (cfg->grammar && hx_grammar_shortest(cfg->grammar) > cfg->n_max)
        return hx_error_set(err, -EINVAL, "the shortest text that the grammar allows has %zu bytes, and %zu tokens may be made",
                            hx_grammar_shortest(cfg->grammar), cfg->n_max);
    if (e->argmax && (cfg->grammar || cfg->logprobs))
        return hx_error_set(err, -EINVAL, "choices are made on the DSP (--offload argmax), and %s the logits here",
                            cfg->grammar ? "a grammar needs" : "log-probabilities need");
    if (e->argmax && !hx_sampler_is_greedy(&cfg->sampling))
        return hx_error_set(err, -EINVAL, "choices are made on the DSP (--offload argmax), and those "
                          "are greedy: temperature and repeat penalty need the logits here");
    if ((cfg->grammar || cfg->logprobs) && hx_plan_given(e->plan, "no-verifier"))
        return hx_error_set(err, -EINVAL, "the model is not asked (%s), and %s its logits", hx_plan_spell(e->plan, "no-verifier"),
                            cfg->grammar ? "a grammar needs" : "log-probabilities need");
    return 0;
}

static int alloc(struct hx_completion *c, const struct hx_engine *e,
                 const struct hx_completion_cfg *cfg)
{
    const struct hx_spec_cfg spec = hx_spec_cfg_of(e->plan);

    c->ids = calloc(cfg->n_prompt + cfg->n_max, sizeof(*c->ids));
    c->logits = calloc(e->model->vocab, sizeof(*c->logits));
    c->g.s = hx_sampler_open(&cfg->sampling, e->model->vocab);
    if (cfg->grammar)
        c->g.matcher = hx_matcher_open(cfg->grammar, cfg->vocab, cfg->whole_text);
    if (!c->ids || !c->logits || !c->g.s || (cfg->grammar && !c->g.matcher) ||
        hx_spec_open(&c->g.spec, &spec,
                     &(struct hx_spec_of){e->draft, c->g.s, &cfg->sampling, e->model->vocab, hx_forward_trees(e->forward),
                                          hx_engine_batch_cost(e)}))
        return -ENOMEM;
    return hx_stream_open(&c->text, e->model->tok, cfg->whole_text, cfg->stops, cfg->n_stops,
                          cfg->n_max);
}

/* Ends of former turns are no repeats: with a penalty for them a reply would not find its own. */
static void tell_sampler(const struct hx_completion *c)
{
    for (size_t i = 0; i < c->n_prompt; i++)
        if (!c->at_end_token || !hx_tokenizer_ends(c->g.e->model->tok, c->ids[i]))
            hx_sampler_saw(c->g.s, c->ids + i, 1);
}

int hx_completion_open(struct hx_completion *c, struct hx_engine *e,
                       const struct hx_completion_cfg *cfg, struct hx_error *err)
{
    int rc = hx_completion_check(e, cfg, err);

    *c = (struct hx_completion){
        .g = {.e = e, .logprobs = cfg->logprobs, .at_end_token = cfg->at_end_token,
              .guarded = hx_plan_given(e->plan, "eos-guard") ? cfg->n_prompt + HX_SPEC_GUARDED : 0},
        .n_prompt = cfg->n_prompt,
        .n_max = cfg->n_max,
        .n_run = cfg->n_cached < cfg->n_prompt ? cfg->n_cached : cfg->n_prompt - !!cfg->n_prompt,
        .at_end_token = cfg->at_end_token,
    };
    if (rc)
        return rc;
    rc = alloc(c, e, cfg);
    if (rc)
        return hx_error_set(err, rc, "out of memory");
    memcpy(c->ids, cfg->prompt, cfg->n_prompt * sizeof(*c->ids));
    tell_sampler(c);
    return 0;
}

void hx_completion_close(struct hx_completion *c)
{
    hx_stream_close(&c->text);
    hx_spec_close(c->g.spec);
    hx_sampler_close(c->g.s);
    hx_matcher_close(c->g.matcher);
    free(c->logits);
    free(c->ids);
    memset(c, 0, sizeof(*c));
}

/* 1: the model runs nothing. */
static int is_alone(const struct hx_completion *c)
{
    return c->g.spec && hx_spec_cfg(c->g.spec)->alone;
}

int hx_completion_prefilled(const struct hx_completion *c)
{
    return is_alone(c) || c->n_run + 1 >= c->n_prompt;
}

static int prefill(struct hx_completion *c, struct hx_error *err)
{
    const size_t left = c->n_prompt - 1 - c->n_run, max = hx_forward_max_batch(c->g.e->forward);
    const size_t n = left < max ? left : max;
    int rc = hx_forward_run(c->g.e->forward, c->ids + c->n_run, n, c->n_run, err);

    if (rc)
        return rc;
    c->n_run += n;
    return 1;
}

/* One more token of ids counts. */
static int take(struct hx_completion *c, struct hx_error *err)
{
    const uint32_t id = c->ids[c->n_prompt + c->n_made++];
    int rc = 0;

    if (c->at_end_token && hx_tokenizer_ends(c->g.e->model->tok, id))
        c->finish = HX_FINISH_END;
    else
        rc = hx_stream_push(&c->text, id);
    if (c->text.stopped)
        c->finish = HX_FINISH_STOP;
    else if (!c->finish && c->n_made == c->n_max)
        c->finish = HX_FINISH_LENGTH;
    return rc ? hx_error_set(err, rc, "out of memory") : 0;
}

/* Behind the tokens of a step. */
static int finish(struct hx_completion *c, struct hx_error *err)
{
    const struct hx_matcher *m = c->g.matcher;

    if (m && (hx_matcher_over(m) || (c->finish == HX_FINISH_LENGTH && hx_matcher_whole(m))))
        c->finish = c->finish == HX_FINISH_STOP ? HX_FINISH_STOP : HX_FINISH_END;
    if (c->finish && hx_stream_end(&c->text))
        return hx_error_set(err, -ENOMEM, "out of memory");
    return 0;
}

int hx_completion_step(struct hx_completion *c, struct hx_error *err)
{
    const size_t known = c->n_prompt + c->n_made;
    int rc = 0;
    long made;

    if (c->finish)
        return 0;
    if (!hx_completion_prefilled(c))
        return prefill(c, err);
    made = hx_generate_step(&c->g, c->ids, known, c->n_max - c->n_made, c->logits, err);
    if (made < 0)
        return (int)made;
    c->steps++;
    while (!rc && !c->finish && c->n_prompt + c->n_made < known + (size_t)made)
        rc = take(c, err);
    if (!rc)
        rc = finish(c, err);
    if (!is_alone(c))
        c->n_run = c->n_prompt + c->n_made - 1; /* the last one is run by the step that comes after */
    return rc ? rc : c->finish == HX_FINISH_NOT;
}
