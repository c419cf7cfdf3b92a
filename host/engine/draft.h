/* Seam `draft`: who guesses the tokens that the model then verifies, several in one batch.
 *
 * A step of generation asks for a proposal behind the tokens that are known, runs it with the last known token as one batch,
 * and keeps what the model agrees with.  So guesses change how many steps a text takes; the text, or where tokens are drawn its
 * distribution, stays the model's.
 *
 * A proposal is a tree: token i follows token parent[i] of the same proposal, which stands before it, or, with
 * HX_DRAFT_ROOT, the last known token.  parent[i] == i - 1 everywhere is a chain.  Trees that are none need a cache that
 * keeps one path of a batch (HX_TRAIT_TREE); hx_draft_room says whether this engine's does.
 *
 * A drafter is opened with its engine and belongs to it alone.  It may look at all of struct hx_open while it is opened, and
 * keep model, pool, core and engines: `core` is for engines over the same weights, `share` has the texts that come with hexrig.
 * One thread at a time. */
#ifndef HX_DRAFT_H
#define HX_DRAFT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { HX_DRAFT_MAX = 63, HX_DRAFT_ROOT = -1 }; /* tokens of a proposal */

struct hx_draft;
struct hx_tap;

struct hx_draft_tree {
    uint32_t id[HX_DRAFT_MAX];
    int parent[HX_DRAFT_MAX]; /* HX_DRAFT_ROOT, or an index below its own */
    float p[HX_DRAFT_MAX];    /* what the drafter itself gives the token behind those that it follows, (0, 1]; 0: it does not say */
    size_t n;
};

/* What a step can take. */
struct hx_draft_room {
    size_t n;     /* tokens, 1..HX_DRAFT_MAX */
    size_t depth; /* tokens in a row, from the known one on: what the text has left */
    int tree;     /* 0: chains only */
    float thresh; /* tokens with a p below it, and those behind them, are not verified: they need not be found.  0: all are */
    size_t vocab; /* of the model */

    /* The text's own way of choosing a token, for guess i of a chain: logits [vocab] are the drafter's, and lost.  With
     * temperature it draws, and remembers what from, so that the model can draw its own token accordingly.  NULL: the largest. */
    void (*choose)(void *arg, size_t i, float *logits, uint32_t *id, float *p);
    void *arg;
};

struct hx_draft_ops {
    const char *name;
    int chooses; /* 1: it may ask room->choose() */

    /* NULL: this one never guesses.  Fills `out` for the tokens that follow ids [n]; all below the vocabulary's size, none is
     * legal (out->n = 0).  ids may have nothing in common with those of the call before: a drafter with a memory of the text
     * compares.
     * 0, or negative errno with a reason: it is not asked again then, and the text goes on without guesses. */
    int (*propose)(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                   struct hx_draft_tree *out, struct hx_error *err);

    /* What became of the last proposal: ids [n] is now the text, of which the last n_new tokens are new; the first
     * n_new - 1 of these were on a path of the proposal, the last one is the model's own.  NULL: not interested.  0, or
     * negative errno with a reason, as above. */
    int (*accept)(struct hx_draft *d, const uint32_t *ids, size_t n, size_t n_new, struct hx_error *err);

    /* The work is done, and no text follows: files are complete then.  NULL: there is none.  0, or negative errno with a reason. */
    int (*finish)(struct hx_draft *d, struct hx_error *err);

    void (*close)(struct hx_draft *d);
};

/* A method embeds this as its first member. */
struct hx_draft {
    const struct hx_draft_ops *ops;
    struct hx_tap *tap; /* sees the model's passes, behind the plan's taps; stays the drafter's, and is to change nothing.  NULL: none */
};

/* Adds a token behind the last one of a chain.  1: there is room for one more behind it, 0: there is not, or p is below the
 * threshold. */
int hx_draft_add(struct hx_draft_tree *t, const struct hx_draft_room *room, uint32_t id, float p);

/* The same with the token that room->choose() finds in a drafter's logits [vocab], which are lost. */
int hx_draft_add_chosen(struct hx_draft_tree *t, const struct hx_draft_room *room, float *logits);

/* -EPROTO with a reason when a proposal breaks the rules above, which is the drafter's mistake. */
int hx_draft_check(const struct hx_draft *d, const struct hx_draft_tree *t, const struct hx_draft_room *room,
                   size_t vocab, struct hx_error *err);

/* Takes tokens out whose p is below the threshold, and all that follow them. */
void hx_draft_prune(struct hx_draft_tree *t, float thresh);

/* Accepts NULL. */
void hx_draft_close(struct hx_draft *d);

#endif
