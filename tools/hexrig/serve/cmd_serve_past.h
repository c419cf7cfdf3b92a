/* The prompt cache of hexrig serve: what the K/V cache of each engine still holds from the completion before, so that a prompt that
 * begins alike is run from its first new token on.  A chat, which sends its whole history every time, pays for its new turn.
 *
 * Texts do not depend on it: a token's K and V are the same whatever batch, and whichever request, they were run for.
 * One thread at a time. */
#ifndef HX_CMD_SERVE_PAST_H
#define HX_CMD_SERVE_PAST_H

#include <stddef.h>
#include <stdint.h>

#include "generate/completion.h"

/* Zeros: nothing is held. */
struct hx_past {
    uint32_t *ids; /* [n] that the engine has run, at their positions; owned */
    size_t n;
    uint64_t used; /* when it was last kept, in keeps of all of them */
};

/* Tokens of a prompt that need not be run again: those that both begin with, without the prompt's last, whose run gives the first
 * logits. */
size_t hx_past_covers(const struct hx_past *p, const uint32_t *prompt, size_t n);

/* Whether a prompt goes better behind `a` than behind `b`: one that covers at least half of the prompt comes before one that does
 * not, then the one that covers more; of those that cover less than half the one that was not used for longest. */
int hx_past_better(const struct hx_past *a, const struct hx_past *b, const uint32_t *prompt, size_t n);

/* Takes what c has run from it, before it is closed.  One that ran nothing leaves p as it is.  now: above all `used` so far. */
void hx_past_keep(struct hx_past *p, struct hx_completion *c, uint64_t now);

/* The engine's cache is lost, or in an unknown state. */
void hx_past_forget(struct hx_past *p);

#endif
