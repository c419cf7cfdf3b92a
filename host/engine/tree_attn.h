/* Attention over a batch that is a tree of tokens: each token sees the past and its ancestors.
 *
 * Any attention method that asks the cache for rows can do it, or for scores where the cache has them: a token at a time, it is shown
 * a cache in which the ancestors stand behind the past, in order.  So a token's result is, bit for bit, that of running its path
 * alone.  The cache itself is asked once for the whole batch, as for tokens in a row: each of those sees all entries before its own,
 * its ancestors among them. */
#ifndef HX_TREE_ATTN_H
#define HX_TREE_ATTN_H

#include "attn.h"

struct hx_tree_attn;

/* Room for the rows of one layer of kv, which is kept.  0 or -ENOMEM. */
int hx_tree_attn_open(struct hx_tree_attn **out, struct hx_kv *kv, struct hx_error *err);

/* Accepts NULL. */
void hx_tree_attn_close(struct hx_tree_attn *t);

/* As hx_attn_ops->run().  Token i of the batch follows token parent[i] (-1: the past) and is at position at[i]; its K and V
 * have been put at position in->pos + i. */
int hx_tree_attend(struct hx_tree_attn *t, struct hx_attn *a, const struct hx_attn_in *in, const int *parent,
                   const size_t *at, float *out, struct hx_error *err);

#endif
