/* Sampling, see sampler.h. */
#include "sampler.h"

#include <math.h>
#include <stdlib.h>

struct candidate {
    float logit;
    uint32_t id;
    double weight; /* exp((logit - largest) / temp) */
};

struct hx_sampler {
    struct hx_sampler_cfg cfg;
    uint64_t state;
    size_t vocab;
    struct candidate *list; /* [vocab] */
};

struct hx_sampler *hx_sampler_open(const struct hx_sampler_cfg *cfg, size_t vocab)
{
    struct hx_sampler *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->cfg = *cfg;
    s->state = cfg->seed;
    s->vocab = vocab;
    s->list = calloc(vocab, sizeof(*s->list));
    if (!s->list) {
        free(s);
        return NULL;
    }
    return s;
}

void hx_sampler_close(struct hx_sampler *s)
{
    if (!s)
        return;
    free(s->list);
    free(s);
}

static double draw(struct hx_sampler *s)
{
    uint64_t z = s->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

static uint32_t greedy(const float *logits, size_t n)
{
    uint32_t best = 0;
    float top = -INFINITY;

    for (size_t i = 0; i < n; i++)
        if (logits[i] > top) {
            top = logits[i];
            best = (uint32_t)i;
        }
    return best;
}

static int by_logit(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Candidates left after top-k and top-p; *total gets the sum of their weights. */
static size_t cut(struct hx_sampler *s, double *total)
{
    size_t n = s->cfg.top_k && s->cfg.top_k < s->vocab ? s->cfg.top_k : s->vocab, kept = 0;
    double sum = 0, limit;

    for (size_t i = 0; i < n; i++) {
        s->list[i].weight = exp(((double)s->list[i].logit - (double)s->list[0].logit) /
                                s->cfg.temp);
        sum += s->list[i].weight;
    }
    limit = sum * s->cfg.top_p;
    *total = 0;
    while (kept < n && (kept == 0 || *total < limit))
        *total += s->list[kept++].weight;
    return kept;
}

uint32_t hx_sampler_pick(struct hx_sampler *s, const float *logits)
{
    double total, at;
    size_t n;

    if (s->cfg.temp == 0)
        return greedy(logits, s->vocab);
    for (size_t i = 0; i < s->vocab; i++)
        s->list[i] = (struct candidate){isnan(logits[i]) ? -INFINITY : logits[i], (uint32_t)i, 0};
    qsort(s->list, s->vocab, sizeof(*s->list), by_logit);
    n = cut(s, &total);
    at = draw(s) * total;
    for (size_t i = 0; i + 1 < n; i++) {
        at -= s->list[i].weight;
        if (at < 0)
            return s->list[i].id;
    }
    return s->list[n - 1].id;
}
