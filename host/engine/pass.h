/* The steps that layers of all architectures are made of, on one batch of tokens.
 *
 * The first step that fails leaves its error in `rc` and its reason in `err`; the steps after it do nothing.  So a layer is
 * written as a list of steps, and whoever runs it looks at `rc` once.
 *
 * The methods of the seams do the heavy work: matrices by linear.h, K and V by kv.h, attention by attn.h. */
#ifndef HX_PASS_H
#define HX_PASS_H

#include <stddef.h>
#include <stdint.h>

#include "attn.h"
#include "kv.h"
#include "model/model.h"
#include "base/pool.h"
#include "model/rope.h"
#include "row_ops.h"
#include "base/error.h"
#include "tap.h"
#include "tree_attn.h"

/* n: tokens of the batch.  Buffers are made for the largest batch and overlap nowhere. */
struct hx_pass {
    const struct hx_model *m;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_row_ops ops;
    struct hx_tree_attn *tree;        /* attention of trees; NULL: batches are chains */
    struct hx_tap *const *taps;       /* NULL-terminated; NULL: none */
    uint32_t tap_points;              /* at which one of them wants to be called */
    struct hx_pool *pool;   /* shares out the batch's rows; NULL: no threads */
    struct hx_ropes ropes;  /* of positions below kv->n_ctx */
    const uint32_t *tokens; /* [n], legal */
    const int *parent;      /* [n] of a tree (forward.h); NULL: a chain */
    size_t *at;             /* [n] positions of the tokens: pos + i, or pos + depth in a tree */
    size_t pos, n;          /* position of the first, and how many */
    size_t layer;
    int rc;                 /* 0, or the first error: negative errno */
    struct hx_error *err;
    float *x;               /* [n][width] residual stream */
    float *h;               /* [n][width] normed input of a sub-layer */
    float *y;               /* [n][width] its output */
    float *q, *att;         /* [n][n_head][dh] */
    float *k, *v;           /* [n][n_kv][dh] */
    float *gate, *up;       /* [n][ffn]; gate only where there is one */
    float *row;             /* [widest input of a matrix] */
};

/* x = rows of the embedding, times its scale. */
void hx_pass_embed(struct hx_pass *p);

/* x += rows of the learned positions. */
void hx_pass_positions(struct hx_pass *p);

/* to = norm of from, row by row.  to may be from. */
void hx_pass_norm(struct hx_pass *p, float *to, const float *from, const struct hx_norm *norm);

/* q, k, v = matrices times h. */
void hx_pass_qkv(struct hx_pass *p, const struct hx_layer *l);

/* Norm of each head of q and k; nothing where the layer has no such norms. */
void hx_pass_head_norms(struct hx_pass *p, const struct hx_layer *l);

/* Turns q and k by their positions, as the layer does it. */
void hx_pass_rotate(struct hx_pass *p);

/* Stores k and v, lets q attend, y = o times the result. */
void hx_pass_attend(struct hx_pass *p, const struct hx_layer *l);

/* y = down(act(gate h) * up h).  Source: Shazeer 2020. */
void hx_pass_ffn_gated(struct hx_pass *p, const struct hx_layer *l, enum hx_activation act);

/* y = down(act(up h)) */
void hx_pass_ffn(struct hx_pass *p, const struct hx_layer *l, enum hx_activation act);

/* x += y, and the taps that wait for this point of the residual stream: HX_TAP_AFTER_ATTN or HX_TAP_AFTER_FFN. */
void hx_pass_add(struct hx_pass *p, enum hx_tap_point point);

/* Calls the taps that wait for a point.  rows [n][row]. */
void hx_pass_tap(struct hx_pass *p, enum hx_tap_point point, float *rows, size_t row);

/* -EDOM when one of the values in rows [n][row] is an infinity or no number, which says that the model or what the cache
 * returned is damaged; the reason names `what`, position (the first row is token `first` of the batch) and index. */
int hx_pass_check(const struct hx_pass *p, const char *what, const float *rows, size_t row,
                  size_t n, size_t first, struct hx_error *err);

#endif
