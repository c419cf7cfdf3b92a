/* Seam `draft`: who guesses the tokens that the model then verifies, several in one batch.  A method is one table of
 * functions; hx_draft_none, which guesses nothing, is the reference.  Guesses change how many steps a text takes, never
 * the text: hx_generate() keeps a guess only where the sampler picks the same token. */
#ifndef HX_DRAFT_H
#define HX_DRAFT_H

#include <stddef.h>
#include <stdint.h>

enum { HX_DRAFT_MAX = 16 }; /* guesses per step */

struct hx_draft;

struct hx_draft_ops {
    const char *name;

    /* Guesses up to max (1..HX_DRAFT_MAX) tokens that follow ids [n] into out, all below the vocabulary's size.
     * Returns how many. */
    size_t (*propose)(struct hx_draft *d, const uint32_t *ids, size_t n, uint32_t *out, size_t max);
};

/* A method embeds this as its first member. */
struct hx_draft {
    const struct hx_draft_ops *ops;
};

extern struct hx_draft hx_draft_none;

#endif
