/* Softmax of attention scores: fp32, or by integer tables. */
#ifndef HX_SOFTMAX_H
#define HX_SOFTMAX_H

#include <stddef.h>
#include <stdint.h>

#include "attn.h"
#include "base/error.h"

/* In place: s[i] = exp(s[i] - max s) / sum.  Sums in order, so that the result depends on nothing but the values; expf is
 * the C library's.  n >= 1. */
void hx_softmax_f32(float *s, size_t n);

/* The same without a floating-point exponential.  The difference max - s[i] becomes an integer t of 2^-20 units of a
 * power of 2; e[i] = 2^(-t / 2^20), in units of 2^-44, is the product of two table entries (10 bits of t each), shifted
 * right by what remains of t; the sum of all e is exact; s[i] = e[i] / sum, rounded to f32 once.  Nothing in it depends on
 * the order of the scores or on the machine.  n <= 2^19.
 * work: [n] f32.  Returns KL(fp32 || this) in nats: both rows normalised in fp64, and an e of 0 counted as 2^-45. */
double hx_softmax_int(float *s, float *work, size_t n);

void hx_softmax_count(struct hx_softmax_seen *seen, double kl);

/* One head of a token of a layer's batch: softmax of the n `scores`, which are of the positions that the token sees, in
 * place, times their V (past->v; that of the last: in->v) into out [dh].  work: NULL: softmax in fp32, returns 0; [n] f32:
 * by integers, returns the KL. */
double hx_attn_softmax_v(const struct hx_attn_in *in, const struct hx_kv_view *past, size_t token,
                   size_t head, float *scores, float *work, float *out);

#endif
