/* A topic's directions and threshold, see bench.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "bench.h"
#include "methods/guard/guard.h"
#include "subspace/activations.h"

double hx_found_specificity(double own, double others)
{
    return fabs(others) > 1e-12 ? own / others : 0;
}

struct job {
    struct hx_bench *b;
    size_t topic;
    float *q; /* [k][d] */
};

static int try_coordinates(void *arg, const size_t *coordinates, size_t n, double *loss, double *effect, struct hx_error *err)
{
    const struct job *j = arg;

    hx_bench_directions(j->b, coordinates, n, j->q);
    return hx_bench_without(j->b, j->topic, 0, j->q, n, effect, loss, err);
}

/* Of the states for finding. */
static int probe(struct hx_bench *b, size_t topic, struct hx_found *to, struct hx_error *err)
{
    const struct hx_states *s = &b->from.states;
    double *z = malloc(s->n * b->k * sizeof(*z));
    unsigned char *own = malloc(s->n);
    size_t n = 0;
    int rc = z && own ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < s->n && !rc; i++) {
        if (b->held_out[i])
            continue;
        memcpy(z + n * b->k, b->z + i * b->k, b->k * sizeof(*z));
        own[n++] = s->topic[i] == topic;
    }
    if (!rc)
        rc = hx_probe(z, own, n, b->k, to->order, err);
    free(z);
    free(own);
    return rc;
}

/* --- thresholds */

struct means {
    double sum[2], n[2]; /* of others, of the topic */
};

static void add(struct means *m, int side, double x)
{
    m->sum[side] += x;
    m->n[side]++;
}

static double mean_of(const struct means *m, int side)
{
    return m->n[side] > 0 ? m->sum[side] / m->n[side] : 0;
}

/* The largest TEH of each prompt of a half; all of them go to `tokens`. */
static size_t teh_of_prompts(const struct hx_bench *b, size_t topic, int held_out, const float *q, size_t f, double *teh,
                             unsigned char *own, struct means *tokens)
{
    const struct hx_states *s = &b->from.states;
    const struct hx_guard_q g = {q, f, s->d};
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        double x;

        if (b->held_out[i] != held_out)
            continue;
        if (!i || s->text[i] != s->text[i - 1]) {
            teh[n] = 0;
            own[n++] = s->topic[i] == topic;
        }
        x = hx_guard_teh(&g, b->rows + i * s->d);
        teh[n - 1] = fmax(teh[n - 1], x);
        add(tokens, own[n - 1], x);
    }
    return n;
}

struct rocs {
    struct hx_teh_roc found, held_out;
    struct means prompts, tokens; /* held out: of the largest TEH of each prompt; of all tokens' */
};

static int thresholds(const struct hx_bench *b, size_t topic, const float *q, size_t f, struct rocs *to, struct hx_error *err)
{
    double *teh = malloc(b->from.topics.n * sizeof(*teh));
    unsigned char *own = malloc(b->from.topics.n);
    const int rc = teh && own ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    *to = (struct rocs){.tokens = {{0}, {0}}};
    if (!rc) {
        struct means unused = {{0}, {0}};
        size_t n = teh_of_prompts(b, topic, 0, q, f, teh, own, &unused);

        to->found = hx_teh_threshold(teh, own, n);
        n = teh_of_prompts(b, topic, 1, q, f, teh, own, &to->tokens);
        to->held_out = hx_teh_at(teh, own, n, to->found.threshold);
        for (size_t i = 0; i < n; i++)
            add(&to->prompts, own[i], teh[i]);
    }
    free(teh);
    free(own);
    return rc;
}

/* --- controls */

static int random_directions(const struct hx_bench *b, size_t f, float *q, struct hx_error *err)
{
    const size_t d = b->u.d;
    double *rows = malloc(f * d * sizeof(*rows));
    int rc = rows ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < f * d && !rc; i++)
        rows[i] = hx_normal_at(hx_keyed(b->seed, 7), i);
    if (!rc)
        rc = hx_ugt_orthonormal(rows, f, d, err);
    for (size_t i = 0; i < f * d && !rc; i++)
        q[i] = (float)rows[i];
    free(rows);
    return rc;
}

static int controls(struct hx_bench *b, size_t topic, struct hx_found *to, float *q, struct hx_error *err)
{
    size_t *all = malloc(b->k * sizeof(*all));
    struct rocs r = {.tokens = {{0}, {0}}};
    int rc = all ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < b->k && !rc; i++)
        all[i] = i;
    if (!rc) {
        hx_bench_directions(b, all, b->k, q);
        rc = hx_bench_without(b, topic, 1, q, b->k, &to->all_own, &to->all_others, err);
    }
    if (!rc && to->n) {
        rc = random_directions(b, to->n, q, err);
        if (!rc)
            rc = hx_bench_without(b, topic, 1, q, to->n, &to->random_own, &to->random_others, err);
        if (!rc)
            rc = thresholds(b, topic, q, to->n, &r, err);
        to->random = r.held_out;
    }
    free(all);
    return rc;
}

/* --- all */

static int measure(struct hx_bench *b, size_t topic, struct hx_found *to, struct hx_error *err)
{
    struct rocs r = {.tokens = {{0}, {0}}};
    int rc = to->n ? thresholds(b, topic, to->q, to->n, &r, err) : 0;

    to->found = r.found;
    to->held_out = r.held_out;
    to->teh_others = mean_of(&r.prompts, 0);
    to->teh_own = mean_of(&r.prompts, 1);
    to->token_others = mean_of(&r.tokens, 0);
    to->token_own = mean_of(&r.tokens, 1);
    return rc || !to->n ? rc : hx_bench_without(b, topic, 1, to->q, to->n, &to->own, &to->others, err);
}

int hx_bench_find(struct hx_bench *b, size_t topic, struct hx_found *to, struct hx_error *err)
{
    const struct hx_snipe_rule rule = {.budget = b->budget, .most = b->most < b->k ? b->most : b->k};
    struct job j = {b, topic, malloc(b->k * b->u.d * sizeof(float))};
    int rc;

    *to = (struct hx_found){.order = malloc(b->k * sizeof(*to->order)), .steps = malloc(b->k * sizeof(*to->steps)),
                            .chosen = malloc(b->k * sizeof(*to->chosen)), .q = malloc(b->k * b->u.d * sizeof(*to->q))};
    rc = j.q && to->order && to->steps && to->chosen && to->q ? probe(b, topic, to, err) : hx_error_set(err, -ENOMEM, "out of memory");
    if (!rc) {
        const size_t tries = 2 * rule.most < b->k ? 2 * rule.most : b->k;

        rc = hx_snipe(to->order, tries, &rule, try_coordinates, &j, to->chosen, &to->n, to->steps, &to->n_steps, err);
    }
    if (!rc) {
        hx_bench_directions(b, to->chosen, to->n, to->q);
        rc = measure(b, topic, to, err);
    }
    if (!rc)
        rc = controls(b, topic, to, j.q, err);
    free(j.q);
    return rc;
}

void hx_found_free(struct hx_found *f)
{
    free(f->order);
    free(f->steps);
    free(f->chosen);
    free(f->q);
    *f = (struct hx_found){.n = 0};
}
