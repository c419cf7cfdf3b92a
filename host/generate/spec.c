/* Speculation, see spec.h. */
#include "spec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Guesses are drawn by a sampler of their own, which begins elsewhere than the text's. */
static const uint64_t guesses_seed = 0x67756573736573u;

struct hx_spec {
    struct hx_spec_cfg cfg;
    struct hx_batch_cost cost;
    struct hx_spec_stats stats;
    const struct hx_sampler *text; /* its sampler */
    struct hx_sampler *guesses;    /* of the same settings; NULL: the drafter does not choose */
    int draws;                     /* 1: guesses are drawn */
    size_t vocab, most, batch;     /* most: guesses ever; batch: of the next step */
    float *q, *p;                  /* [most][vocab] and [vocab], when guesses are drawn */
    float *rows;                   /* [n_rows][vocab] logits of a batch */
    size_t n_rows;
    size_t n_q;                    /* of the last proposal */
    float thresh;                  /* likewise */
};

struct hx_spec_cfg hx_spec_cfg_of(const struct hx_plan *p)
{
    return (struct hx_spec_cfg){
        .batch = hx_plan_number(p, "spec-batch"),
        .thresh = hx_plan_real(p, "spec-thresh"),
        .warmup = hx_plan_number(p, "spec-warmup"),
        .adapt = hx_plan_index(p, "spec-adapt") == 0,
        .alone = hx_plan_given(p, "no-verifier"),
    };
}

static size_t most_of(const struct hx_spec_cfg *cfg)
{
    return cfg->adapt && cfg->batch < HX_SPEC_ADAPT_MOST ? HX_SPEC_ADAPT_MOST : cfg->batch;
}

static int open_choices(struct hx_spec *s, const struct hx_sampler_cfg *sampling)
{
    struct hx_sampler_cfg cfg = *sampling;

    cfg.seed ^= guesses_seed;
    s->guesses = hx_sampler_open(&cfg, s->vocab);
    s->draws = cfg.temp > 0;
    if (s->draws) {
        s->q = calloc(s->most * s->vocab, sizeof(*s->q));
        s->p = calloc(s->vocab, sizeof(*s->p));
    }
    return s->guesses && (!s->draws || (s->q && s->p)) ? 0 : -ENOMEM;
}

int hx_spec_open(struct hx_spec **out, const struct hx_spec_cfg *cfg, const struct hx_spec_of *of)
{
    struct hx_spec *s;

    *out = NULL;
    if (!of->draft->ops->propose)
        return 0;
    s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    *s = (struct hx_spec){.cfg = *cfg, .cost = of->cost, .text = of->sampler, .vocab = of->vocab, .most = most_of(cfg),
                          .batch = cfg->batch};
    s->n_rows = 1 + (of->trees ? HX_DRAFT_MAX : s->most);
    s->rows = calloc(s->n_rows * s->vocab, sizeof(*s->rows));
    s->stats.final_batch = cfg->batch;
    if (!s->rows || (of->draft->ops->chooses && open_choices(s, of->sampling))) {
        hx_spec_close(s);
        return -ENOMEM;
    }
    *out = s;
    return 0;
}

void hx_spec_close(struct hx_spec *s)
{
    if (!s)
        return;
    hx_sampler_close(s->guesses);
    free(s->q);
    free(s->p);
    free(s->rows);
    free(s);
}

const struct hx_spec_cfg *hx_spec_cfg(const struct hx_spec *s)
{
    return &s->cfg;
}

const struct hx_spec_stats *hx_spec_stats(const struct hx_spec *s)
{
    return &s->stats;
}

/* --- guesses */

/* The largest logit's share, without temperature. */
static float share_of(const float *logits, size_t vocab, uint32_t id)
{
    double sum = 0;

    for (size_t i = 0; i < vocab; i++)
        sum += exp((double)logits[i] - (double)logits[id]);
    return (float)(1 / sum);
}

/* What is below the threshold is not proposed, so that what is has been drawn from the others alone. */
static void condition(struct hx_spec *s, float *q)
{
    double sum = 0;

    for (size_t i = 0; i < s->vocab; i++) {
        q[i] = q[i] < s->thresh ? 0 : q[i];
        sum += (double)q[i];
    }
    for (size_t i = 0; i < s->vocab; i++)
        q[i] = (float)((double)q[i] / sum);
}

static void choose(void *arg, size_t i, float *logits, uint32_t *id, float *p)
{
    struct hx_spec *s = arg;
    float *q = s->q + i * s->vocab;

    if (!s->draws) {
        *id = hx_sampler_pick(s->guesses, logits);
        *p = share_of(logits, s->vocab, *id);
        return;
    }
    hx_sampler_distribution(s->guesses, logits, q);
    *id = hx_sampler_draw(s->guesses, q);
    *p = q[*id];
    s->n_q = i + 1;
    if (*p >= s->thresh && s->thresh > 0)
        condition(s, q);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

int hx_spec_room(struct hx_spec *s, struct hx_draft_room *room)
{
    s->n_q = 0;
    if (*s->stats.off || (s->stats.emitted < s->cfg.warmup && !s->cfg.alone))
        return 0;
    room->depth = least(room->depth, s->batch);
    if (!room->tree)
        room->n = least(room->n, room->depth);
    room->thresh = s->thresh = s->cfg.alone ? 0 : (float)s->cfg.thresh;
    room->choose = s->guesses ? choose : NULL;
    room->arg = s;
    if (s->guesses)
        hx_sampler_follow(s->guesses, s->text);
    return 1;
}

static double pass_cost(const struct hx_batch_cost *c, size_t guesses)
{
    return guesses ? 1 + (double)c->second + (double)(guesses - 1) * (double)c->more : 1;
}

void hx_spec_pay(const struct hx_spec *s, struct hx_draft_tree *t)
{
    double reached[HX_DRAFT_MAX], tokens = 1, best = 1; /* tokens: of a pass with the first i + 1 guesses, on average */
    size_t keep = 0;

    if (!s->cfg.adapt || !(s->cfg.thresh > 0) || s->cfg.alone || s->guesses)
        return;
    for (size_t i = 0; i < t->n; i++) {
        const double p = t->p[i] > 0 ? (double)t->p[i] : 1;

        reached[i] = p * (t->parent[i] < 0 ? 1 : reached[t->parent[i]]);
        tokens += reached[i];
        if (tokens / pass_cost(&s->cost, i + 1) > best) {
            best = tokens / pass_cost(&s->cost, i + 1);
            keep = i + 1;
        }
    }
    t->n = keep;
}

const float *hx_spec_drawn_from(const struct hx_spec *s, size_t i)
{
    return i < s->n_q ? s->q + i * s->vocab : NULL;
}

float *hx_spec_rows(struct hx_spec *s, size_t n)
{
    return n > 1 && n <= s->n_rows ? s->rows : NULL;
}

float *hx_spec_scratch(struct hx_spec *s)
{
    return s->p;
}

void hx_spec_switch_off(struct hx_spec *s, const char *why)
{
    snprintf(s->stats.off, sizeof(s->stats.off), "%s", *why ? why : "it failed");
}

/* --- figures */

double hx_spec_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Guesses in a row. */
static size_t depth_of(const struct hx_draft_tree *t)
{
    size_t depth[HX_DRAFT_MAX], most = 0;

    for (size_t i = 0; i < t->n; i++) {
        depth[i] = t->parent[i] < 0 ? 1 : depth[t->parent[i]] + 1;
        most = depth[i] > most ? depth[i] : most;
    }
    return most;
}

void hx_spec_drafted(struct hx_spec *s, double seconds, const struct hx_draft_tree *t)
{
    s->stats.drafts++;
    s->stats.draft_s += seconds;
    s->stats.proposed += depth_of(t);
    s->stats.verified += t->n;
}

static void adapt(struct hx_spec *s, size_t proposed, size_t accepted)
{
    if (!s->cfg.adapt || !proposed)
        return;
    if (accepted == proposed)
        s->batch = least(s->batch + 1, s->most);
    else if (2 * accepted < proposed)
        s->batch = least(accepted + 1, s->most);
    s->stats.final_batch = s->batch;
}

void hx_spec_stepped(struct hx_spec *s, double seconds, const struct hx_draft_tree *t, size_t n_new)
{
    const size_t accepted = n_new - !s->cfg.alone, deep = depth_of(t);

    s->stats.steps++;
    s->stats.emitted += n_new;
    s->stats.accepted += accepted;
    if (s->cfg.alone)
        return;
    s->stats.pass[t->n].n++;
    s->stats.pass[t->n].s += seconds;
    s->stats.deep[deep]++;
    s->stats.wrong += accepted < deep;
    adapt(s, deep, accepted);
}

double hx_spec_expected(double a, size_t g)
{
    double sum = 0, term = 1;

    for (size_t i = 0; i <= g; i++, term *= a)
        sum += term;
    return sum;
}

double hx_spec_share_right(const struct hx_spec_stats *n)
{
    const uint64_t compared = n->accepted + n->wrong;

    return compared ? (double)n->accepted / (double)compared : 0;
}

double hx_spec_law(const struct hx_spec_stats *n)
{
    const double a = hx_spec_share_right(n);
    double sum = 0;
    uint64_t steps = 0;

    for (size_t i = 0; i <= HX_DRAFT_MAX; i++) {
        sum += (double)n->deep[i] * hx_spec_expected(a, i);
        steps += n->deep[i];
    }
    return steps ? sum / (double)steps : 0;
}
