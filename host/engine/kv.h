/* Seam `kv`: where K and V of past positions live, and in what form they come back.
 *
 * The engine's rule: position p attends to its own K and V in f32 and to positions 0..p-1 as the cache returns them.
 * So for a batch of positions pos..pos+n-1 of a layer the forward pass calls put(), and then the attention method asks for
 * the positions 0..pos+n-2, of which token i of the batch may see the first pos+i.
 *
 * A back end embeds struct hx_kv as its first member.  One thread at a time. */
#ifndef HX_KV_H
#define HX_KV_H

#include <stddef.h>

#include "base/error.h"

struct hx_kv;
struct hx_attn_in; /* attn.h */

/* Rows as the cache returns them: K of position p, KV head h is k + p * stride + h * dh, V likewise.  f32. */
struct hx_kv_view {
    const float *k, *v;
    size_t stride; /* floats from one position to the next */
};

/* K of a layer as blocks of the polynomial ring (methods/ntt), made when it was put; the position put last is among them. */
struct hx_kv_keys {
    const char *blocks;       /* [position][n_kv] of the ring's block_bytes; NULL: elsewhere, ask scores() */
    const double *lengths;    /* [position][n_kv] */
    struct hx_kv_view values; /* V as rows() has it; k is NULL */
};

/* A run's batch as a tree of tokens: of positions pos..pos+n-1, as the cache counts them, entry i is a token at position at[i] of its
 * text, which follows entry parent[i] (-1: the past).  Entries stand behind their parents. */
struct hx_kv_tree {
    size_t pos, n;
    const int *parent;
    const size_t *at;
};

struct hx_kv_ops {
    const char *name;

    /* What the puts that follow bring, before the first of them: a tree, lasting until keep() or the next tree(), or NULL for tokens
     * in a row.  NULL: where a token stands in its text makes no difference to the cache. */
    void (*tree)(struct hx_kv *kv, const struct hx_kv_tree *t);


    /* NULL: attend() does it.  Stores K (after RoPE) and V of positions pos..pos+n-1 of `layer`.  k, v: [n][n_kv][dh] f32, borrowed. */
    int (*put)(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const float *k, const float *v,
               struct hx_error *err);

    /* NULL: the cache gives no rows (no HX_TRAIT_ROWS).  Positions 0..n-1 of `layer` (n may be 0).  The view lasts until the
     * next call on this cache. */
    int (*rows)(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view,
                struct hx_error *err);

    /* scale * q . k of a batch that has been put, without soft-cap: for each token and head the positions that the token sees, its
     * own among them, in the order of hx_attn_scores_before().  Of `in` k and v are not looked at.
     * NULL: the cache returns rows only. */
    int (*scores)(struct hx_kv *kv, const struct hx_attn_in *in, float *scores, struct hx_error *err);

    /* Lasts until the next call on this cache.  NULL: the cache holds no such blocks (no HX_TRAIT_KEYS). */
    void (*keys)(const struct hx_kv *kv, size_t layer, struct hx_kv_keys *keys);

    /* The whole attention of a batch, as hx_attn_ops->run() has it, without rows.  NULL: likewise. */
    int (*attend)(struct hx_kv *kv, const struct hx_attn_in *in, float *out, struct hx_error *err);

    /* Positions pos..pos+n-1 through a whole layer of the model, x [n][width] in place, with their K and V kept; nothing else of the
     * cache is asked for then (HX_TRAIT_LAYER).  What a damaged model makes infinite or no number comes back so.  NULL: layers are
     * done step by step. */
    int (*layer)(struct hx_kv *kv, size_t layer, size_t pos, size_t n, float *x, struct hx_error *err);

    /* Of a run that stored a tree at pos.., the n entries `index` (ascending) become positions pos..pos+n-1; what follows is
     * forgotten.  Entries are moved as they are kept, nothing is coded again.  NULL: the cache takes no trees (HX_TRAIT_TREE). */
    int (*keep)(struct hx_kv *kv, size_t pos, const size_t *index, size_t n, struct hx_error *err);

    /* Accepts half-built caches. */
    void (*close)(struct hx_kv *kv);
};

struct hx_kv {
    const struct hx_kv_ops *ops;
    size_t n_layer, n_kv, dh, n_ctx;
    size_t max_batch; /* most positions that one put() may bring; <= n_ctx */
    size_t prompt_batch; /* of a prompt, whose tokens are to cost what those of a text cost; 0: max_batch */
};

/* f32 rows in memory: the reference.  0 or -ENOMEM. */
int hx_kv_f32_open(struct hx_kv **out, size_t n_layer, size_t n_kv, size_t dh, size_t n_ctx,
                   struct hx_error *err);

/* Accepts NULL. */
void hx_kv_close(struct hx_kv *kv);

#endif
