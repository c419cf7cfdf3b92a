/* Sampling, see sampler.h.  Candidates form a heap, since few of a large vocabulary are ever taken from its top. */
#include "sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct candidate {
    float logit;
    uint32_t id;
    double weight; /* exp((logit - largest) / temp) */
};

struct hx_sampler {
    struct hx_sampler_cfg cfg;
    uint64_t state;
    size_t vocab;
    struct candidate *list; /* [vocab]: a heap [left], behind it what was taken, the last one first */
    size_t left;
    uint32_t *last;         /* [repeat_last] ring of ids, NULL without a penalty */
    size_t n_seen;          /* ids that ever went into it */
    uint8_t *done;          /* [vocab] 1: has its penalty; all 0 between picks */
    float *changed;         /* [vocab] logits with penalties; NULL without any */
    uint32_t *picked;       /* [vocab] how often; NULL without presence and frequency penalties */
};

static int has_penalty(const struct hx_sampler_cfg *cfg)
{
    return cfg->repeat_last && cfg->repeat_penalty > 0 && cfg->repeat_penalty != 1;
}

static int counts_picks(const struct hx_sampler_cfg *cfg)
{
    return cfg->presence_penalty != 0 || cfg->frequency_penalty != 0;
}

int hx_sampler_is_greedy(const struct hx_sampler_cfg *cfg)
{
    return cfg->temp == 0 && !has_penalty(cfg) && !counts_picks(cfg);
}

static int alloc_penalties(struct hx_sampler *s)
{
    const int repeat = has_penalty(&s->cfg), picks = counts_picks(&s->cfg);

    if (repeat) {
        s->last = calloc(s->cfg.repeat_last, sizeof(*s->last));
        s->done = calloc(s->vocab, sizeof(*s->done));
    }
    if (picks)
        s->picked = calloc(s->vocab, sizeof(*s->picked));
    if (repeat || picks)
        s->changed = calloc(s->vocab, sizeof(*s->changed));
    return (!repeat || (s->last && s->done)) && (!picks || s->picked) && (!(repeat || picks) || s->changed);
}

struct hx_sampler *hx_sampler_open(const struct hx_sampler_cfg *cfg, size_t vocab)
{
    struct hx_sampler *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->cfg = *cfg;
    s->state = cfg->seed;
    s->vocab = vocab;
    if (cfg->temp > 0)
        s->list = calloc(vocab, sizeof(*s->list));
    if ((cfg->temp > 0 && !s->list) || !alloc_penalties(s)) {
        hx_sampler_close(s);
        return NULL;
    }
    return s;
}

void hx_sampler_close(struct hx_sampler *s)
{
    if (!s)
        return;
    free(s->list);
    free(s->last);
    free(s->done);
    free(s->changed);
    free(s->picked);
    free(s);
}

void hx_sampler_saw(struct hx_sampler *s, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; s->last && i < n; i++)
        s->last[s->n_seen++ % s->cfg.repeat_last] = ids[i];
}

void hx_sampler_forget(struct hx_sampler *s)
{
    s->n_seen = 0;
    if (s->picked)
        memset(s->picked, 0, s->vocab * sizeof(*s->picked));
}

/* Each id's once however often it was seen. */
static void penalize_repeats(struct hx_sampler *s)
{
    const size_t n = s->n_seen < s->cfg.repeat_last ? s->n_seen : s->cfg.repeat_last;
    const float penalty = (float)s->cfg.repeat_penalty;

    for (size_t i = 0; i < n; i++) {
        float *l = &s->changed[s->last[i]];

        if (!s->done[s->last[i]])
            *l = *l > 0 ? *l / penalty : *l * penalty;
        s->done[s->last[i]] = 1;
    }
    for (size_t i = 0; i < n; i++)
        s->done[s->last[i]] = 0;
}

static void penalize_picks(struct hx_sampler *s)
{
    for (size_t i = 0; i < s->vocab; i++)
        if (s->picked[i])
            s->changed[i] -= (float)(s->cfg.presence_penalty + s->picked[i] * s->cfg.frequency_penalty);
}

static const float *penalized(struct hx_sampler *s, const float *logits)
{
    memcpy(s->changed, logits, s->vocab * sizeof(*logits));
    if (s->last)
        penalize_repeats(s);
    if (s->picked)
        penalize_picks(s);
    return s->changed;
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

static int before(const struct candidate *x, const struct candidate *y)
{
    return x->logit != y->logit ? x->logit > y->logit : x->id < y->id;
}

static void sift_down(struct candidate *heap, size_t n, size_t i)
{
    struct candidate moved = heap[i];

    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &moved))
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

static void make_heap(struct hx_sampler *s, const float *logits)
{
    float top = -INFINITY;

    for (size_t i = 0; i < s->vocab; i++) {
        s->list[i] = (struct candidate){isnan(logits[i]) ? -INFINITY : logits[i], (uint32_t)i, 0};
        top = s->list[i].logit > top ? s->list[i].logit : top;
    }
    for (size_t i = 0; i < s->vocab; i++)
        s->list[i].weight = exp(((double)s->list[i].logit - (double)top) / s->cfg.temp);
    s->left = s->vocab;
    for (size_t i = s->vocab / 2; i-- > 0;)
        sift_down(s->list, s->vocab, i);
}

/* Candidate i in order, 0 <= i < vocab. */
static const struct candidate *candidate(struct hx_sampler *s, size_t i)
{
    while (s->vocab - s->left <= i) {
        struct candidate best = s->list[0];

        s->list[0] = s->list[--s->left];
        s->list[s->left] = best;
        sift_down(s->list, s->left, 0);
    }
    return &s->list[s->vocab - 1 - i];
}

/* Candidates left after the cuts; *total gets the sum of their weights. */
static size_t cut(struct hx_sampler *s, double *total)
{
    const size_t n = s->cfg.top_k && s->cfg.top_k < s->vocab ? s->cfg.top_k : s->vocab;
    double sum = 0, limit;
    size_t kept = 0;

    if (n < s->vocab)
        for (size_t i = 0; i < n; i++)
            sum += candidate(s, i)->weight;
    else
        for (size_t i = 0; i < n; i++)
            sum += s->list[i].weight;
    *total = sum;
    if (s->cfg.top_p >= 1 && s->cfg.min_p <= 0)
        return n;
    limit = s->cfg.top_p >= 1 ? INFINITY : sum * s->cfg.top_p;
    for (*total = 0; kept < n && *total < limit; kept++) {
        double weight = candidate(s, kept)->weight;

        if (kept && weight < s->cfg.min_p) /* the first one's is 1 */
            break;
        *total += weight;
    }
    return kept;
}

static uint32_t sample(struct hx_sampler *s, const float *logits)
{
    double total, at;
    size_t n;

    make_heap(s, logits);
    n = cut(s, &total);
    at = draw(s) * total;
    for (size_t i = 0; i + 1 < n; i++) {
        at -= candidate(s, i)->weight;
        if (at < 0 || candidate(s, i + 1)->weight == 0) /* what has none is not drawn for a rounding error */
            return candidate(s, i)->id;
    }
    return candidate(s, n - 1)->id;
}

static uint32_t note(struct hx_sampler *s, uint32_t id)
{
    hx_sampler_saw(s, &id, 1);
    if (s->picked)
        s->picked[id]++;
    return id;
}

uint32_t hx_sampler_pick(struct hx_sampler *s, const float *logits)
{
    if (s->changed)
        logits = penalized(s, logits);
    return note(s, s->cfg.temp == 0 ? greedy(logits, s->vocab) : sample(s, logits));
}

/* --- guesses */

void hx_sampler_follow(struct hx_sampler *to, const struct hx_sampler *from)
{
    to->n_seen = from->n_seen;
    if (to->last)
        memcpy(to->last, from->last, to->cfg.repeat_last * sizeof(*to->last));
    if (to->picked)
        memcpy(to->picked, from->picked, to->vocab * sizeof(*to->picked));
}

void hx_sampler_took(struct hx_sampler *s, uint32_t id)
{
    note(s, id);
}

void hx_sampler_distribution(struct hx_sampler *s, const float *logits, float *p)
{
    double total;
    size_t n;

    make_heap(s, s->changed ? penalized(s, logits) : logits);
    n = cut(s, &total);
    memset(p, 0, s->vocab * sizeof(*p));
    for (size_t i = 0; i < n; i++) {
        const struct candidate *c = n < s->vocab ? candidate(s, i) : &s->list[i];

        p[c->id] = (float)(c->weight / total);
    }
}

uint32_t hx_sampler_draw(struct hx_sampler *s, const float *w)
{
    double sum = 0, at;
    uint32_t last = 0;

    for (size_t i = 0; i < s->vocab; i++)
        sum += (double)w[i];
    at = draw(s) * sum;
    for (size_t i = 0; i < s->vocab; i++) {
        if (!(w[i] > 0))
            continue;
        last = (uint32_t)i;
        at -= (double)w[i];
        if (at < 0)
            break;
    }
    return note(s, last);
}

uint32_t hx_sampler_verify(struct hx_sampler *s, float *p, const float *q, uint32_t guess)
{
    if (draw(s) * (double)q[guess] < (double)p[guess])
        return note(s, guess);
    for (size_t i = 0; i < s->vocab; i++)
        p[i] = p[i] > q[i] ? p[i] - q[i] : 0;
    return hx_sampler_draw(s, p);
}
