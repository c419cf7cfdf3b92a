/* Picks the next token from logits.
 *
 * Repeat penalty first: each id among the last repeat_last tokens (of the prompt, too) has its logit divided by
 * repeat_penalty when it is positive, else multiplied by it (Keskar et al. 2019, CTRL, section 4.1).
 * Presence and frequency penalties then, of tokens that were picked (not of the prompt's): an id that was picked c > 0 times has its
 * logit lowered by presence_penalty + c * frequency_penalty (OpenAI's API reference, "Advanced usage: parameter details").
 * temp == 0: the largest logit, the lowest id among equals.  Else: candidates are ordered by logit (descending; lower
 * id first among equals), cut to the top_k first (0 = all), given probabilities softmax(logit / temp), cut to the
 * shortest prefix whose probability reaches top_p and to those with at least min_p times the probability of the
 * first, and one is drawn in proportion.  Equal seeds give equal tokens.
 * PRNG: splitmix64 (Steele, Lea, Flood 2014), its state starting as the seed; the top 53 bits make a double in [0, 1).
 * One draw per token.  Nothing is allocated after open.  One thread at a time. */
#ifndef HX_SAMPLER_H
#define HX_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

struct hx_sampler_cfg {
    double temp;   /* >= 0; 0 = greedy */
    size_t top_k;  /* 0 = all */
    double top_p;  /* (0, 1]; 1 = all */
    double min_p;  /* [0, 1]; 0 = all */
    double repeat_penalty; /* > 0; 1 or 0 = none */
    size_t repeat_last;    /* tokens that it looks back; 0 = none */
    double presence_penalty, frequency_penalty; /* any sign; 0 = none */
    uint64_t seed;
};

struct hx_sampler;

/* NULL: out of memory. */
struct hx_sampler *hx_sampler_open(const struct hx_sampler_cfg *cfg, size_t vocab);

/* Accepts NULL. */
void hx_sampler_close(struct hx_sampler *s);

/* 1 when the choice needs no more than the id of the largest logit. */
int hx_sampler_is_greedy(const struct hx_sampler_cfg *cfg);

/* Tells the repeat penalty of tokens that nobody picked: the prompt's.  ids below the vocabulary's size. */
void hx_sampler_saw(struct hx_sampler *s, const uint32_t *ids, size_t n);

/* All penalties begin afresh. */
void hx_sampler_forget(struct hx_sampler *s);

/* logits: [vocab].  NaN never wins. */
uint32_t hx_sampler_pick(struct hx_sampler *s, const float *logits);

#endif
