/* One completion, step by step: prompt in, text out, until N tokens, an end token or a stop string.  It is what `hexrig
 * run`, `hexrig serve` and the C API (hexrig.h) make text with.
 *
 * An engine serves one completion at a time; engines that share a model (engine.h: `of`) serve one each, and may take
 * their steps in turn: the text does not depend on the others.  One thread at a time. */
#ifndef HX_COMPLETION_H
#define HX_COMPLETION_H

#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "generate.h"
#include "sampler.h"
#include "text/stream.h"
#include "base/error.h"

struct hx_completion_cfg {
    const uint32_t *prompt;   /* [n_prompt], copied */
    size_t n_prompt;          /* >= 1 */
    size_t n_cached;          /* so many of them have been run at their positions already; at most n_prompt - 1 count */
    size_t n_max;             /* most tokens to make, >= 1 */
    int at_end_token;         /* 1: an end token (hx_tokenizer_ends()) ends the text, and those of the prompt have no penalty */
    int whole_text;           /* 1: the text is one of its own (a reply), 0: it goes on the prompt's; see detok.h */
    struct hx_sampler_cfg sampling;
    const char *const *stops; /* [n_stops] stop strings, none empty; kept until close */
    size_t n_stops;
    const struct hx_grammar *grammar; /* of the text, NULL: any; kept until close.  The text is whole within n_max tokens, if no stop
                                       * string cuts it */
    const struct hx_vocab *vocab;     /* with a grammar: of the engine's model; kept until close */
    struct hx_logprobs *logprobs;     /* gets those of the tokens as they are made; NULL: not wanted; kept until close */
};

enum hx_finish {
    HX_FINISH_NOT,    /* there is more to make */
    HX_FINISH_LENGTH, /* n_max tokens */
    HX_FINISH_END,    /* an end token, which is the last of ids and no part of the text, or the end of what the grammar allows */
    HX_FINISH_STOP    /* a stop string */
};

struct hx_completion {
    struct hx_generate g;  /* g.spec: how guesses did; NULL: the engine's drafter makes none */
    uint32_t *ids;         /* [n_prompt + n_made]: the prompt, then what was made of it */
    size_t n_prompt, n_made, n_max;
    size_t n_run;          /* tokens of ids that have been run */
    size_t steps;          /* runs that made tokens */
    int at_end_token;
    float *logits;         /* [vocab] */
    struct hx_stream text; /* of the made tokens */
    enum hx_finish finish;
};

/* Whether the engine can do that.  0; -E2BIG: its context is too small for prompt and n_max tokens (the reason says how
 * large they are); -EINVAL: no prompt, a token that is none, n_max tokens that do not hold the grammar's shortest text, or sampling
 * or a grammar with an engine that makes greedy choices on the DSP, or a grammar without a verifier. */
int hx_completion_check(const struct hx_engine *e, const struct hx_completion_cfg *cfg,
                        struct hx_error *err);

/* Sizes everything up front; nothing is run.  0; -ENOMEM; or as hx_completion_check().  c may be closed in any case. */
int hx_completion_open(struct hx_completion *c, struct hx_engine *e,
                       const struct hx_completion_cfg *cfg, struct hx_error *err);

/* Frees; accepts an object of zeros.  The engine stays the caller's. */
void hx_completion_close(struct hx_completion *c);

/* 1 when all of the prompt but its last token has been run: the next step makes tokens. */
int hx_completion_prefilled(const struct hx_completion *c);

/* Runs one batch of the prompt or makes the next token (with a drafter, tokens).  1: there is more to do; 0: `finish` says
 * how the text ended; negative errno: as hx_forward_run() and hx_forward_logits(), -ENOMEM. */
int hx_completion_step(struct hx_completion *c, struct hx_error *err);

#endif
