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
 * One draw per token, two where it verifies a guess that is wrong.  Nothing is allocated after open.  One thread at a time. */
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

/* --- guesses (Leviathan et al. 2023, Chen et al. 2023: speculative sampling) */

/* `to`, of the same settings, has the penalties of `from` now. */
void hx_sampler_follow(struct hx_sampler *to, const struct hx_sampler *from);

/* Tells all penalties of a token that was picked elsewhere. */
void hx_sampler_took(struct hx_sampler *s, uint32_t id);

/* Probabilities p [vocab] of what would be picked; temp > 0. */
void hx_sampler_distribution(struct hx_sampler *s, const float *logits, float *p);

/* Draws in proportion to weights w [vocab], of which one is positive, and picks that. */
uint32_t hx_sampler_draw(struct hx_sampler *s, const float *w);

/* Picks `guess`, which was drawn from q [vocab], with probability min(1, p / q), else draws in proportion to what p has more
 * than q: so the token has distribution p, whatever q is.  p, q: as hx_sampler_distribution() makes them; p is lost. */
uint32_t hx_sampler_verify(struct hx_sampler *s, float *p, const float *q, uint32_t guess);

#endif
