/* What a model thought of the tokens that were made: log-probabilities of its own distribution, before temperature, penalties, cuts and
 * grammars, of each token and of the best ones beside it.  One thread at a time. */
#ifndef HX_LOGPROBS_H
#define HX_LOGPROBS_H

#include <stddef.h>
#include <stdint.h>

struct hx_logprob {
    uint32_t id;
    float logprob; /* natural; -INFINITY: the model says never */
};

struct hx_logprobs {
    size_t top;              /* best ones that are kept of each token, 0..HX_LOGPROBS_TOP */
    struct hx_logprob *made; /* [n] */
    struct hx_logprob *best; /* [n][top], the best first, lower ids first among equals */
    size_t n, room;
    double log_sum;          /* of the token that is being made */
};

enum { HX_LOGPROBS_TOP = 20 };

/* Room for n tokens.  top is at most the vocabulary's size.  0 or -ENOMEM; p may be closed either way. */
int hx_logprobs_open(struct hx_logprobs *p, size_t n, size_t top);

/* Frees; accepts an object of zeros. */
void hx_logprobs_close(struct hx_logprobs *p);

/* The logits [vocab] of the next token as the model gave them; then, after it was chosen, which it is and its logit.  Beyond the room
 * nothing happens. */
void hx_logprobs_look(struct hx_logprobs *p, const float *logits, size_t vocab);
void hx_logprobs_made(struct hx_logprobs *p, uint32_t id, float logit);

#endif
