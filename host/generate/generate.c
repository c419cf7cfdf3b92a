/* The generation loop, see generate.h. */
#include "generate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int hx_generate_prefill(const struct hx_generate *g, const uint32_t *prompt, size_t n_prompt,
                        struct hx_error *err)
{
    return n_prompt > 1 ? hx_engine_run(g->e, prompt, n_prompt - 1, 0, err) : 0;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* A token that the matcher allows. */
static int choose_allowed(const struct hx_generate *g, size_t left, float *logits, uint32_t *id, struct hx_error *err)
{
    struct hx_matcher *m = g->matcher;

    hx_matcher_mask(m, logits, left, g->at_end_token);
    *id = hx_sampler_pick(g->s, logits);
    if (logits[*id] == -INFINITY) /* the model gave none of them a chance */
        *id = hx_matcher_any(m);
    if (*id == HX_NO_TOKEN)
        return hx_error_set(err, -EPROTO, "no token is left that the grammar allows");
    return hx_tokenizer_ends(g->e->model->tok, *id) ? 0 : hx_matcher_take(m, *id);
}

static void mask_ends(const struct hx_generate *g, size_t at, float *logits)
{
    const struct hx_model *m = g->e->model;

    for (uint32_t id = 0; at < g->guarded && id < m->vocab; id++)
        if (hx_tokenizer_ends(m->tok, id))
            logits[id] = -INFINITY;
}

/* The last known token and a proposal behind it, as one batch. */
struct batch {
    size_t n;
    uint32_t id[1 + HX_DRAFT_MAX];
    int parent[1 + HX_DRAFT_MAX];
    int chain; /* 1: token i follows token i - 1 everywhere */
};

/* Of what guess `index` of a chain was drawn from, the model has its share; other guesses wait to be met. */
static uint32_t pick(const struct hx_generate *g, const struct batch *b, size_t index, const float *logits)
{
    const float *q = g->spec && !g->matcher && b->chain && index + 1 < b->n ? hx_spec_drawn_from(g->spec, index) : NULL;

    if (!q)
        return hx_sampler_pick(g->s, logits);
    hx_sampler_distribution(g->s, logits, hx_spec_scratch(g->spec));
    return hx_sampler_verify(g->s, hx_spec_scratch(g->spec), q, b->id[index + 1]);
}

/* What the model says behind each token of a batch. */
struct outputs {
    uint32_t best[1 + HX_DRAFT_MAX]; /* of an engine that chooses */
    float *rows;                     /* [vocab] each; NULL: of none yet */
};

/* Of the whole batch at once, which is a call, or a pass over the matrix, of one token's. */
static int get_outputs(const struct hx_generate *g, const struct batch *b, struct outputs *o, struct hx_error *err)
{
    o->rows = NULL;
    if (g->e->argmax)
        return hx_forward_argmax(g->e->forward, 0, b->n, o->best, err);
    if (g->spec)
        o->rows = hx_spec_rows(g->spec, b->n);
    return o->rows ? hx_forward_logits(g->e->forward, 0, b->n, o->rows, err) : 0;
}

/* The token that follows token `index` of the batch, and will be ids[at]; left: that may still be made. */
static int choose(const struct hx_generate *g, const struct batch *b, const struct outputs *o, size_t index, size_t at, size_t left,
                  float *logits, uint32_t *id, struct hx_error *err)
{
    int rc = 0;

    if (g->e->argmax) {
        *id = o->best[index];
        return 0;
    }
    if (o->rows)
        logits = o->rows + index * g->e->model->vocab;
    else
        rc = hx_forward_logits(g->e->forward, index, 1, logits, err);
    if (rc)
        return rc;
    if (g->logprobs)
        hx_logprobs_look(g->logprobs, logits, g->e->model->vocab);
    mask_ends(g, at, logits);
    if (g->matcher)
        rc = choose_allowed(g, left, logits, id, err);
    else
        *id = pick(g, b, index, logits);
    if (g->logprobs && !rc)
        hx_logprobs_made(g->logprobs, *id, logits[*id]);
    return rc;
}

/* --- proposals */

static struct hx_draft *drafter(const struct hx_generate *g)
{
    return g->draft ? g->draft : g->e->draft;
}

/* 1: guesses are the text. */
static int alone(const struct hx_generate *g)
{
    return g->spec && hx_spec_cfg(g->spec)->alone;
}

/* A drafter's failure: with a policy the text goes on without it. */
static int failed(const struct hx_generate *g, int rc, struct hx_error *err)
{
    if (!rc || !g->spec)
        return rc;
    hx_spec_switch_off(g->spec, err->text);
    *err = (struct hx_error){""};
    return 0;
}

static int propose(const struct hx_generate *g, const uint32_t *ids, size_t n, size_t left, struct hx_draft_tree *t,
                   struct hx_error *err)
{
    struct hx_draft *d = drafter(g);
    const size_t spare = g->e->kv->n_ctx - n; /* positions behind the known token */
    struct hx_draft_room room = {
        .n = alone(g) ? min3(HX_DRAFT_MAX, spare + 1, left) : min3(HX_DRAFT_MAX, spare, hx_forward_max_guessed(g->e->forward) - 1),
        .depth = left - !alone(g), /* the model's own token comes behind them */
        .tree = hx_forward_trees(g->e->forward),
        .vocab = g->e->model->vocab,
    };
    const double start = g->spec ? hx_spec_clock() : 0;
    int rc;

    t->n = 0;
    memset(t->p, 0, sizeof(t->p));
    if (!d->ops->propose || !room.n || !room.depth || (g->spec && !hx_spec_room(g->spec, &room)))
        return 0;
    rc = d->ops->propose(d, ids, n, &room, t, err);
    if (!rc)
        rc = hx_draft_check(d, t, &room, room.vocab, err);
    if (rc)
        t->n = 0;
    hx_draft_prune(t, room.thresh);
    if (g->spec) {
        hx_spec_pay(g->spec, t);
        hx_spec_drafted(g->spec, hx_spec_clock() - start, t);
    }
    return failed(g, rc, err);
}

static void make_batch(struct batch *b, uint32_t known, const struct hx_draft_tree *t)
{
    *b = (struct batch){.n = 1 + t->n, .id = {known}, .parent = {-1}, .chain = 1};
    for (size_t i = 0; i < t->n; i++) {
        b->id[1 + i] = t->id[i];
        b->parent[1 + i] = t->parent[i] + 1;
        b->chain &= t->parent[i] == (int)i - 1;
    }
}

/* The token of the batch that follows `from` and is `id`; 0: there is none. */
static size_t follow(const struct batch *b, size_t from, uint32_t id)
{
    for (size_t i = from + 1; i < b->n; i++)
        if (b->parent[i] == (int)from && b->id[i] == id)
            return i;
    return 0;
}

/* --- steps */

/* 1: nothing may follow this token. */
static int is_over(const struct hx_generate *g, uint32_t id)
{
    return (g->matcher && hx_matcher_over(g->matcher)) || (g->at_end_token && hx_tokenizer_ends(g->e->model->tok, id));
}

/* Tokens are picked along the path of the proposal that they agree with.  The cache holds wrong guesses until the next step
 * overwrites them. */
static long verify(const struct hx_generate *g, const struct batch *b, uint32_t *ids, size_t n, size_t left, float *logits,
                   struct hx_error *err)
{
    size_t path[1 + HX_DRAFT_MAX] = {0}, made = 0, at = 0;
    struct outputs o;
    int rc = hx_forward_run_tree(g->e->forward, b->id, b->chain ? NULL : b->parent, b->n, n - 1, err);

    if (!rc)
        rc = get_outputs(g, b, &o, err);
    if (rc)
        return rc;
    do {
        rc = choose(g, b, &o, at, n + made, left - made, logits, &ids[n + made], err);
        if (rc)
            return rc;
        path[made++] = at;
        at = follow(b, at, ids[n + made - 1]);
    } while (at && made < left && !is_over(g, ids[n + made - 1]));
    if (!b->chain)
        rc = g->e->kv->ops->keep(g->e->kv, n - 1, path, made, err);
    return rc ? rc : (long)made;
}

/* The first path of the proposal is the text. */
static long believe(const struct hx_generate *g, const struct batch *b, uint32_t *ids, size_t n, struct hx_error *err)
{
    size_t made = 0;

    for (size_t i = 1, at = 0; i < b->n; i++)
        if (b->parent[i] == (int)at) {
            ids[n + made++] = b->id[at = i];
            hx_sampler_took(g->s, b->id[i]);
        }
    return made ? (long)made
                : hx_error_set(err, -ENODATA, "draft %s has no guess behind %zu tokens%s%s, and nobody verifies",
                               drafter(g)->ops->name, n, *hx_spec_stats(g->spec)->off ? ": " : "", hx_spec_stats(g->spec)->off);
}

long hx_generate_step(const struct hx_generate *g, uint32_t *ids, size_t n, size_t left,
                      float *logits, struct hx_error *err)
{
    struct hx_draft *d = drafter(g);
    struct hx_draft_tree t;
    struct batch b;
    double start;
    long made;
    int rc = propose(g, ids, n, left, &t, err);

    if (rc)
        return rc;
    make_batch(&b, ids[n - 1], &t);
    start = g->spec ? hx_spec_clock() : 0;
    made = alone(g) ? believe(g, &b, ids, n, err) : verify(g, &b, ids, n, left, logits, err);
    if (made < 0)
        return made;
    if (g->spec)
        hx_spec_stepped(g->spec, hx_spec_clock() - start, &t, (size_t)made);
    if (d->ops->accept && b.n > 1)
        rc = failed(g, d->ops->accept(d, ids, n + (size_t)made, (size_t)made, err), err);
    return rc ? rc : made;
}

int hx_generate_run(const struct hx_generate *g, uint32_t *ids, size_t n_prompt, size_t n,
                    size_t *steps, struct hx_error *err)
{
    float *logits = malloc(g->e->model->vocab * sizeof(*logits));
    long made = 0;

    if (!logits)
        return hx_error_set(err, -ENOMEM, "out of memory");
    *steps = 0;
    for (size_t done = 0; done < n; done += (size_t)made, ++*steps) {
        made = hx_generate_step(g, ids, n_prompt + done, n - done, logits, err);
        if (made < 0)
            break;
    }
    free(logits);
    return made < 0 ? (int)made : 0;
}
