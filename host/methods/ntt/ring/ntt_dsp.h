/* Keys as transforms in the DSP's memory (interface ntt_kv), for kv_ntt.c: one call stores the keys of some positions of a layer,
 * one call returns coefficient 0 of the products of all queries of a token with all keys.  The DSP gives each of the two primes an
 * HVX context of its own; their residues meet here (Garner).  The integers are those of host/methods/ntt, bit for bit.
 * Or it has one prime only: then its residues are returned, and those of the other one come from elsewhere (poly_shard.h).
 *
 * One thread at a time.  Errors: -EIO with a reason that names the call (dsp_error.h), -ENOMEM. */
#ifndef HX_NTT_DSP_H
#define HX_NTT_DSP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct hx_ntt_dsp;

enum { HX_NTT_DSP_BOTH = -1 };

/* Room for layers * positions * heads keys of n coefficients, modulo prime 0 or 1 or both; connects to a rig. */
int hx_ntt_dsp_open(struct hx_ntt_dsp **out, int prime, size_t n, size_t layers, size_t positions,
                    size_t heads, struct hx_error *err);

/* Accepts NULL. */
void hx_ntt_dsp_close(struct hx_ntt_dsp *d);

/* Where the integers [positions][heads][n] of a put, or [n_q][n] of scores, are to be written; lasts until the next call.  NULL:
 * no memory. */
int32_t *hx_ntt_dsp_room(struct hx_ntt_dsp *d, size_t integers, struct hx_error *err);

/* Keys, involution applied, from hx_ntt_dsp_room(). */
int hx_ntt_dsp_put(struct hx_ntt_dsp *d, size_t layer, size_t pos, size_t count,
                   struct hx_error *err);

/* Of both primes: scores[q][p] = scale / Delta^2 times the inner product of query q, from hx_ntt_dsp_room(), and the key at
 * position first + p. */
int hx_ntt_dsp_scores(struct hx_ntt_dsp *d, size_t layer, size_t n_q, size_t first, size_t count,
                      unsigned delta_bits, float scale, float *scores, struct hx_error *err);

/* The same of one prime: residues [n_q][count]. */
int hx_ntt_dsp_residues(struct hx_ntt_dsp *d, size_t layer, size_t n_q, size_t first, size_t count,
                        uint32_t *residues, struct hx_error *err);

/* Of one prime: keys transformed back, [positions][heads][n]. */
int hx_ntt_dsp_key_residues(struct hx_ntt_dsp *d, size_t layer, size_t count, uint32_t *residues,
                            struct hx_error *err);

/* Of both: k[positions][heads][dh] <- the keys' integers / Delta. */
int hx_ntt_dsp_past(struct hx_ntt_dsp *d, size_t layer, size_t count, unsigned delta_bits,
                    size_t dh, float *k, struct hx_error *err);

#endif
