/* The forward pass: tokens in, hidden states and logits out, over the seams linear, kv and attn.
 *
 * A token's result is bit-identical whatever batch it arrives in.  Nothing is allocated after open.
 * One thread at a time. */
#ifndef HX_FORWARD_H
#define HX_FORWARD_H

#include <stddef.h>
#include <stdint.h>

#include "attn.h"
#include "methods/cpu/isa/isa.h"
#include "kv.h"
#include "tap.h"
#include "model/matrix.h"
#include "model/model.h"
#include "base/pool.h"
#include "base/error.h"

struct hx_forward;

/* m, kv and attn are kept until close and stay the caller's.  max_batch: most tokens of one run, 1..kv->max_batch.
 * 0, -ENOMEM; -EINVAL: kv's context is longer than the positions that the model has learned. */
int hx_forward_open(struct hx_forward **out, const struct hx_model *m, struct hx_kv *kv,
                    struct hx_attn *attn, size_t max_batch, struct hx_error *err);

/* What a pass can use besides a model, a cache and attention; NULL, as after open, means the reference.  All of it stays the
 * caller's and is kept until close. */
struct hx_forward_parts {
    struct hx_matrices *matrices;         /* instead of the model's own, which compute by the reference */
    const struct hx_cpu_kernels *kernels; /* for norms and activations; NULL: plain C */
    struct hx_pool *pool;                 /* whose threads share the rows of a batch; NULL: none do */
    struct hx_tap *const *taps;           /* NULL-terminated, called in this order; NULL: none */
    int trees;                            /* 1: batches may be trees; the cache has HX_TRAIT_TREE */
};

/* From the next run on.  0; -ENOMEM (trees); -ENOTSUP: a tap waits for a point within a layer, and the cache does whole layers. */
int hx_forward_use(struct hx_forward *f, const struct hx_forward_parts *parts, struct hx_error *err);

/* 1 when batches may be trees. */
int hx_forward_trees(const struct hx_forward *f);

/* Accepts NULL. */
void hx_forward_close(struct hx_forward *f);

/* Most tokens of a run: of a prompt, and with guesses, of which a cache may take more (hx_kv.prompt_batch). */
size_t hx_forward_max_batch(const struct hx_forward *f);
size_t hx_forward_max_guessed(const struct hx_forward *f);

/* What tokens of a batch cost beside the first: the mean over the first layer's matrices and the output matrix, by their sizes.  Those
 * of methods that say nothing cost nothing. */
struct hx_batch_cost hx_forward_batch_cost(const struct hx_forward *f);

/* Runs tokens [n] at positions pos..pos+n-1; positions before pos must have been run.  1 <= n <= max_batch,
 * pos + n <= n_ctx, tokens below the vocabulary's size, else -EINVAL.  -EDOM: a value is infinite or no number, which
 * a damaged model or cache makes; the reason names position and layer.  Other errors are the KV back end's or the linear
 * layers' method's. */
int hx_forward_run(struct hx_forward *f, const uint32_t *tokens, size_t n, size_t pos,
                   struct hx_error *err);

/* The same for a tree of tokens: token i follows token parent[i] < i of the batch, parent[0] is -1 and token 0 the only one
 * without a parent.  Token i runs at position pos + its depth and sees its ancestors only; the cache holds it at position
 * pos + i until hx_kv_ops.keep() says which path stays.  Each token's result is bit-identical to that of running its path
 * alone.  parent NULL: a chain.  -ENOTSUP: without hx_forward_parts.trees. */
int hx_forward_run_tree(struct hx_forward *f, const uint32_t *tokens, const int *parent, size_t n, size_t pos,
                        struct hx_error *err);

/* Logits of tokens first..first+n-1 (0-based) of the last run.  out: [n][vocab].  0, -EDOM as above, or what the linear
 * layer's method returns. */
int hx_forward_logits(struct hx_forward *f, size_t first, size_t n, float *out,
                      struct hx_error *err);

/* Hidden states of the last run's tokens, behind the model's last norm: [n][width].  Borrowed until the next run. */
const float *hx_forward_hidden(const struct hx_forward *f);

/* For each of these tokens the id with the largest logit, the lowest one among equals, without the logits.  Errors as
 * above; -ENOTSUP: the output matrix's method has no argmax. */
int hx_forward_argmax(struct hx_forward *f, size_t first, size_t n, uint32_t *ids,
                      struct hx_error *err);

#endif
