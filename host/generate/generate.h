/* The generation loop: prompt in, tokens out, over an engine, a sampler and the engine's drafter (draft.h).  An engine that
 * makes its choices on the DSP (engine.h: argmax) is not asked for logits, and the sampler, which has to be a greedy one, not
 * for tokens.  Without a policy (spec.h) a step takes as many guesses as there is room for, and a drafter's failure ends the run.
 * completion.h makes text of it, with an end. */
#ifndef HX_GENERATE_H
#define HX_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/draft.h"
#include "engine/engine.h"
#include "grammar/matcher.h"
#include "logprobs.h"
#include "sampler.h"
#include "spec.h"
#include "base/error.h"

struct hx_generate {
    struct hx_engine *e;
    struct hx_sampler *s;
    struct hx_draft *draft; /* NULL: the engine's */
    struct hx_spec *spec;   /* which guesses are wanted; NULL: all there is room for */
    size_t guarded;         /* tokens of ids below this index are no end tokens, as far as the model chooses them; 0: none */
    struct hx_matcher *matcher; /* NULL: any token may come.  Goes on with the tokens that are made; until it is over, no step may
                                 * follow then */
    struct hx_logprobs *logprobs; /* gets those of the tokens that are made; NULL: none are wanted */
    int at_end_token;       /* 1: an end token is the last one; with a matcher it may come where its text can end */
};

/* Runs all prompt tokens but the last, at positions 0..n_prompt-2, so that hx_generate_run() can start. */
int hx_generate_prefill(const struct hx_generate *g, const uint32_t *prompt, size_t n_prompt,
                        struct hx_error *err);

/* One step, which makes at least one token and at most `left` >= 1: with guesses of the drafter that were right, several.
 * ids: [n + left], the n known tokens first, of which all but the last have been run; new ones are appended.  logits:
 * [vocab] scratch.  Allocates nothing.  The number of new tokens, or what hx_forward_run() and hx_forward_logits()
 * return; -EPROTO: the matcher had fewer tokens left than its text needs; -ENODATA: nobody verifies, and the drafter has no
 * guess. */
long hx_generate_step(const struct hx_generate *g, uint32_t *ids, size_t n, size_t left,
                      float *logits, struct hx_error *err);

/* Makes exactly n >= 1 tokens.  ids: [n_prompt + n], the prompt first (n_prompt >= 1), new tokens are appended.  Without
 * a drafter that is n steps: step i runs the token at position n_prompt - 1 + i.  *steps gets their number.
 * 0, -ENOMEM, or as hx_generate_step(). */
int hx_generate_run(const struct hx_generate *g, uint32_t *ids, size_t n_prompt, size_t n,
                    size_t *steps, struct hx_error *err);

#endif
