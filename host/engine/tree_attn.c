/* Attention over a tree of tokens, by showing any method one path at a time; see tree_attn.h. */
#include "tree_attn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hx_tree_attn {
    struct hx_kv kv;    /* what methods are shown; first */
    struct hx_kv *real;
    float *k, *v;       /* [n_ctx][row] the past, then the ancestors of one token */
    size_t row;         /* floats of a position: n_kv * dh */

    /* The layer that is under way. */
    struct hx_attn_in all; /* its batch, as tokens in a row that see all before them */
    const int *parent;
    const size_t *at;
    size_t token;          /* the one whose path is shown */
    int has_rows, has_values, has_scores; /* 1: k and v, v, scores are there, as far as all tokens share them */
    struct hx_kv_view rows;
    float *scores;         /* of the batch, in the order of hx_attn_scores_before() */
    size_t n_scores;
};

/* --- rows of one path */

/* Position p of the path is this entry of the cache, from the past's end on. */
static void copy_entry(float *to, size_t row, const float *from, size_t stride, size_t p, size_t entry)
{
    memcpy(to + p * row, from + entry * stride, row * sizeof(*to));
}

static void copy_past(const struct hx_tree_attn *t, float *to, const float *from, size_t stride)
{
    for (size_t p = 0; p < t->all.pos; p++)
        copy_entry(to, t->row, from, stride, p, p);
}

static void copy_ancestors(const struct hx_tree_attn *t, float *to, const float *from, size_t stride)
{
    for (int j = t->parent[t->token]; j >= 0; j = t->parent[j])
        copy_entry(to, t->row, from, stride, t->at[j], t->all.pos + (size_t)j);
}

static int rows(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view, struct hx_error *err)
{
    struct hx_tree_attn *t = (struct hx_tree_attn *)kv;
    int rc = 0;

    (void)n; /* all of the path */
    if (!t->has_rows) {
        rc = t->real->ops->rows(t->real, layer, t->all.pos + t->all.n - 1, &t->rows, err);
        if (rc)
            return rc;
        copy_past(t, t->k, t->rows.k, t->rows.stride);
        copy_past(t, t->v, t->rows.v, t->rows.stride);
        t->has_rows = t->has_values = 1;
    }
    copy_ancestors(t, t->k, t->rows.k, t->rows.stride);
    copy_ancestors(t, t->v, t->rows.v, t->rows.stride);
    *view = (struct hx_kv_view){t->k, t->v, t->row};
    return 0;
}

/* --- a cache of keys: its scores, and rows of V */

/* The blocks are those of the batch, not of a path: whoever wants products asks for scores. */
static void keys(const struct hx_kv *kv, size_t layer, struct hx_kv_keys *out)
{
    struct hx_tree_attn *t = (struct hx_tree_attn *)kv;
    struct hx_kv_keys real;

    t->real->ops->keys(t->real, layer, &real);
    if (!t->has_values)
        copy_past(t, t->v, real.values.v, real.values.stride);
    t->has_values = 1;
    copy_ancestors(t, t->v, real.values.v, real.values.stride);
    *out = (struct hx_kv_keys){NULL, NULL, {NULL, t->v, t->row}};
}

static int score_batch(struct hx_tree_attn *t, struct hx_error *err)
{
    const size_t n = hx_attn_scores_before(&t->all, t->all.n);

    if (n > t->n_scores) {
        free(t->scores);
        t->scores = malloc(n * sizeof(*t->scores));
        t->n_scores = t->scores ? n : 0;
    }
    if (!t->scores)
        return hx_error_set(err, -ENOMEM, "tree: no memory for %zu scores", n);
    return t->real->ops->scores(t->real, &t->all, t->scores, err);
}

/* Of one head: those of the batch, of which the path's are chosen. */
static void choose_scores(const struct hx_tree_attn *t, const struct hx_attn_in *one, const float *from, float *to)
{
    const size_t first = hx_attn_first(one, one->pos);

    for (size_t p = first; p < t->all.pos; p++)
        to[p - first] = from[p];
    for (int j = (int)t->token; j >= 0 && t->at[j] >= first; j = t->parent[j])
        to[t->at[j] - first] = from[t->all.pos + (size_t)j];
}

static int scores(struct hx_kv *kv, const struct hx_attn_in *one, float *out, struct hx_error *err)
{
    struct hx_tree_attn *t = (struct hx_tree_attn *)kv;
    const size_t seen = hx_attn_seen(&t->all, t->token);
    const float *from;
    int rc = t->has_scores ? 0 : score_batch(t, err);

    if (rc)
        return rc;
    t->has_scores = 1;
    from = t->scores + hx_attn_scores_before(&t->all, t->token);
    for (size_t h = 0; h < one->n_head; h++)
        choose_scores(t, one, from + h * seen, out + h * hx_attn_seen(one, 0));
    return 0;
}

static const struct hx_kv_ops row_ops = {.name = "path of a tree", .rows = rows};
static const struct hx_kv_ops key_ops = {.name = "path of a tree", .rows = rows, .keys = keys, .scores = scores};

/* --- all tokens */

int hx_tree_attn_open(struct hx_tree_attn **out, struct hx_kv *kv, struct hx_error *err)
{
    struct hx_tree_attn *t = calloc(1, sizeof(*t));

    if (!t)
        return hx_error_set(err, -ENOMEM, "tree: out of memory");
    t->kv = *kv;
    t->kv.ops = kv->ops->keys ? &key_ops : &row_ops;
    t->real = kv;
    t->row = kv->n_kv * kv->dh;
    t->k = malloc(2 * kv->n_ctx * t->row * sizeof(*t->k));
    t->v = t->k + kv->n_ctx * t->row;
    if (!t->k) {
        free(t);
        return hx_error_set(err, -ENOMEM, "tree: no memory for %zu positions", kv->n_ctx);
    }
    *out = t;
    return 0;
}

void hx_tree_attn_close(struct hx_tree_attn *t)
{
    if (!t)
        return;
    free(t->scores);
    free(t->k);
    free(t);
}

int hx_tree_attend(struct hx_tree_attn *t, struct hx_attn *a, const struct hx_attn_in *in, const int *parent,
                   const size_t *at, float *out, struct hx_error *err)
{
    const size_t q_row = in->n_head * t->kv.dh;
    int rc = 0;

    t->all = *in;
    t->all.window = 0; /* entries lie farther apart than their tokens stand */
    t->parent = parent;
    t->at = at;
    t->has_rows = t->has_values = t->has_scores = 0;
    for (t->token = 0; !rc && t->token < in->n; t->token++) {
        struct hx_attn_in one = *in;

        one.kv = &t->kv;
        one.pos = at[t->token];
        one.n = 1;
        one.q = in->q + t->token * q_row;
        one.k = in->k + t->token * t->row;
        one.v = in->v + t->token * t->row;
        rc = a->ops->run(a, &one, out + t->token * q_row, err);
    }
    return rc;
}
