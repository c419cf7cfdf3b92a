/* Picks the next token from logits.
 *
 * temp == 0: the largest logit, the lowest id among equals.  Else: candidates are ordered by logit (descending; lower
 * id first among equals), cut to the top_k first (0 = all), given probabilities softmax(logit / temp), cut to the
 * shortest prefix whose probability reaches top_p, and one is drawn in proportion.  Equal seeds give equal tokens.
 * PRNG: splitmix64 (Steele, Lea, Flood 2014), its state starting as the seed; the top 53 bits make a double in [0, 1).
 * One draw per token.  One thread at a time. */
#ifndef HX_SAMPLER_H
#define HX_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

struct hx_sampler_cfg {
    double temp;   /* >= 0; 0 = greedy */
    size_t top_k;  /* 0 = all */
    double top_p;  /* (0, 1]; 1 = all */
    uint64_t seed;
};

struct hx_sampler;

/* NULL: out of memory. */
struct hx_sampler *hx_sampler_open(const struct hx_sampler_cfg *cfg, size_t vocab);

/* Accepts NULL. */
void hx_sampler_close(struct hx_sampler *s);

/* logits: [vocab].  NaN never wins. */
uint32_t hx_sampler_pick(struct hx_sampler *s, const float *logits);

#endif
