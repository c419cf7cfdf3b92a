/* The generation loop, see generate.h. */
#include "generate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

/* The token that follows token `index` of the last run; left: that may still be made. */
static int choose(const struct hx_generate *g, size_t index, size_t left, float *logits, uint32_t *id,
                  struct hx_error *err)
{
    if (g->e->argmax)
        return hx_forward_argmax(g->e->forward, index, 1, id, err);
    int rc = hx_forward_logits(g->e->forward, index, 1, logits, err);

    if (rc)
        return rc;
    if (g->logprobs)
        hx_logprobs_look(g->logprobs, logits, g->e->model->vocab);
    if (g->matcher)
        rc = choose_allowed(g, left, logits, id, err);
    else
        *id = hx_sampler_pick(g->s, logits);
    if (g->logprobs && !rc)
        hx_logprobs_made(g->logprobs, *id, logits[*id]);
    return rc;
}

/* The last known token and a proposal behind it, as one batch. */
struct batch {
    size_t n;
    uint32_t id[1 + HX_DRAFT_MAX];
    int parent[1 + HX_DRAFT_MAX];
    int chain; /* 1: token i follows token i - 1 everywhere */
};

static int propose(const struct hx_generate *g, const uint32_t *ids, size_t n, size_t left, struct batch *b,
                   struct hx_error *err)
{
    struct hx_draft *d = g->draft ? g->draft : g->e->draft;
    const size_t spare = g->e->kv->n_ctx - n; /* positions behind the known token */
    const struct hx_draft_room room = {
        .n = min3(HX_DRAFT_MAX, spare, hx_forward_max_batch(g->e->forward) - 1),
        .depth = left - 1,
        .tree = hx_forward_trees(g->e->forward),
        .vocab = g->e->model->vocab,
    };
    struct hx_draft_tree t = {.n = 0};
    int rc = 0;

    if (d->ops->propose && room.n && room.depth)
        rc = d->ops->propose(d, ids, n, &room, &t, err);
    if (!rc)
        rc = hx_draft_check(d, &t, &room, g->e->model->vocab, err);
    *b = (struct batch){.n = 1 + t.n, .id = {ids[n - 1]}, .parent = {-1}, .chain = 1};
    for (size_t i = 0; i < t.n; i++) {
        b->id[1 + i] = t.id[i];
        b->parent[1 + i] = t.parent[i] + 1;
        b->chain &= t.parent[i] == (int)i - 1;
    }
    return rc;
}

/* The token of the batch that follows `from` and is `id`; 0: there is none. */
static size_t follow(const struct batch *b, size_t from, uint32_t id)
{
    for (size_t i = from + 1; i < b->n; i++)
        if (b->parent[i] == (int)from && b->id[i] == id)
            return i;
    return 0;
}

/* Tokens are picked along the path of the proposal that they agree with.  The cache holds wrong guesses until the next step
 * overwrites them. */
long hx_generate_step(const struct hx_generate *g, uint32_t *ids, size_t n, size_t left,
                      float *logits, struct hx_error *err)
{
    struct hx_draft *d = g->draft ? g->draft : g->e->draft;
    size_t path[1 + HX_DRAFT_MAX] = {0}, made = 0, at = 0;
    struct batch b;
    int rc = propose(g, ids, n, left, &b, err);

    if (!rc)
        rc = hx_forward_run_tree(g->e->forward, b.id, b.chain ? NULL : b.parent, b.n, n - 1, err);
    if (rc)
        return rc;
    do {
        rc = choose(g, at, left - made, logits, &ids[n + made], err);
        if (rc)
            return rc;
        path[made++] = at;
        at = follow(&b, at, ids[n + made - 1]);
    } while (at && made < left && !(g->matcher && hx_matcher_over(g->matcher)));
    if (!b.chain)
        rc = g->e->kv->ops->keep(g->e->kv, n - 1, path, made, err);
    if (!rc && d->ops->accept && b.n > 1)
        rc = d->ops->accept(d, ids, n + made, made, err);
    return rc ? rc : (long)made;
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
