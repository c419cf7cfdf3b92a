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
};

static int rows(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view, struct hx_error *err)
{
    const struct hx_tree_attn *t = (const struct hx_tree_attn *)kv;

    (void)layer; /* the one that is under way */
    (void)n;
    (void)err;
    *view = (struct hx_kv_view){t->k, t->v, t->row};
    return 0;
}

static const struct hx_kv_ops path_ops = {.name = "path of a tree", .rows = rows};

int hx_tree_attn_open(struct hx_tree_attn **out, struct hx_kv *kv, struct hx_error *err)
{
    struct hx_tree_attn *t = calloc(1, sizeof(*t));

    if (!t)
        return hx_error_set(err, -ENOMEM, "tree: out of memory");
    t->kv = *kv;
    t->kv.ops = &path_ops;
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
    free(t->k);
    free(t);
}

static void copy_row(struct hx_tree_attn *t, size_t to, const struct hx_kv_view *from, size_t index)
{
    memcpy(t->k + to * t->row, from->k + index * from->stride, t->row * sizeof(*t->k));
    memcpy(t->v + to * t->row, from->v + index * from->stride, t->row * sizeof(*t->v));
}

int hx_tree_attend(struct hx_tree_attn *t, struct hx_attn *a, const struct hx_attn_in *in, const int *parent,
                   const size_t *at, float *out, struct hx_error *err)
{
    const size_t q_row = in->n_head * t->kv.dh;
    struct hx_kv_view all;
    int rc = t->real->ops->rows(t->real, in->layer, in->pos + in->n - 1, &all, err);

    for (size_t p = 0; !rc && p < in->pos; p++)
        copy_row(t, p, &all, p);
    for (size_t i = 0; !rc && i < in->n; i++) {
        struct hx_attn_in one = *in;

        for (int j = parent[i]; j >= 0; j = parent[j])
            copy_row(t, at[j], &all, in->pos + (size_t)j);
        one.kv = &t->kv;
        one.pos = at[i];
        one.n = 1;
        one.q = in->q + i * q_row;
        one.k = in->k + i * t->row;
        one.v = in->v + i * t->row;
        rc = a->ops->run(a, &one, out + i * q_row, err);
    }
    return rc;
}
