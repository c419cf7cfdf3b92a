/* Keys as transforms in the DSP's memory (interface ntt_kv), for kv_ntt.c: one call stores the keys of some positions of a layer,
 * one call returns coefficient 0 of the products of the queries of some tokens with the keys that each of them sees.  The DSP gives
 * each of the two primes an HVX context of its own; their residues meet in the caller (Garner).  The integers are those of
 * host/methods/ntt, bit for bit.  Or it has one prime only: then the residues of the other one come from elsewhere
 * (poly_shard.h).
 *
 * The DSP holds the keys of the first positions only, where it has no room for more: they fill VTCM up to a limit, then its heap, and
 * stay where they are, since every score reads all keys once and nothing would be found again that was replaced.
 *
 * One thread at a time.  Errors: -EIO with a reason that names the call (dsp_error.h), -ENOMEM. */
#ifndef HX_NTT_DSP_H
#define HX_NTT_DSP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct hx_ntt_dsp;

enum { HX_NTT_DSP_BOTH = -1 };

/* What keys a DSP is to hold: layers * positions * heads of n coefficients. */
struct hx_ntt_dsp_cfg {
    int prime; /* 0, 1 or HX_NTT_DSP_BOTH */
    size_t n, layers, positions, heads;
    size_t vtcm_bytes, heap_bytes; /* the most that each place gives; 0: no VTCM, as much heap as there is */
    int packets;                   /* 1: calls go as packets (dsp/packets.h) */
};

/* Connects to a rig. */
int hx_ntt_dsp_open(struct hx_ntt_dsp **out, const struct hx_ntt_dsp_cfg *cfg, struct hx_error *err);

/* How many positions it holds, from 0 on, and how many of them in VTCM. */
struct hx_ntt_dsp_places {
    size_t held, vtcm;
};
struct hx_ntt_dsp_places hx_ntt_dsp_places(const struct hx_ntt_dsp *d);

/* Accepts NULL. */
void hx_ntt_dsp_close(struct hx_ntt_dsp *d);

/* Where the integers [positions][heads][n] of a put, or the queries [tokens][n_q][n], are to be written; lasts until the next
 * put.  NULL: no memory. */
int32_t *hx_ntt_dsp_room(struct hx_ntt_dsp *d, size_t integers, struct hx_error *err);

/* Keys, involution applied, from hx_ntt_dsp_room(). */
int hx_ntt_dsp_put(struct hx_ntt_dsp *d, size_t layer, size_t pos, size_t count,
                   struct hx_error *err);

/* Of all layers: the keys of positions to + from[i] become those of to + i.  from ascends; all of them are held. */
int hx_ntt_dsp_keep(struct hx_ntt_dsp *d, size_t to, const uint32_t *from, size_t n, struct hx_error *err);

/* The positions that a token sees; count may be 0. */
struct hx_ntt_span {
    uint32_t first, count;
};

/* Queries of a batch against keys of a layer. */
struct hx_ntt_batch {
    size_t layer, tokens, n_q;       /* n_q: queries of a token */
    const struct hx_ntt_span *spans; /* [tokens] */
    const int32_t *q;                /* [tokens][n_q][n], inside of hx_ntt_dsp_room() */
};

/* How many of the batch's first tokens one call may bring, at least 1: their sums are limited to HX_NTT_DSP_SUMS words, so that
 * they leave the DSP room for keys. */
enum { HX_NTT_DSP_SUMS = 1 << 24 };
size_t hx_ntt_dsp_fits(const struct hx_ntt_dsp *d, const struct hx_ntt_batch *b);

/* *sums: residues of coefficient 0, [primes][tokens][n_q][that token's count], one row behind the other; borrowed until the next
 * call.  *words: how many of a prime. */
int hx_ntt_dsp_sums(struct hx_ntt_dsp *d, const struct hx_ntt_batch *b, const uint32_t **sums, size_t *words,
                    struct hx_error *err);

/* Of one prime: keys transformed back, [positions][heads][n]. */
int hx_ntt_dsp_key_residues(struct hx_ntt_dsp *d, size_t layer, size_t count, uint32_t *residues,
                            struct hx_error *err);

/* Of both: k[positions][heads][dh] <- the keys' integers / Delta. */
int hx_ntt_dsp_past(struct hx_ntt_dsp *d, size_t layer, size_t count, unsigned delta_bits,
                    size_t dh, float *k, struct hx_error *err);

/* What the DSP has done so far: forward transforms of vectors, and bytes of keys that sums read, by place. */
struct hx_ntt_dsp_counts {
    uint64_t keys, queries, vtcm_bytes, heap_bytes;
};
int hx_ntt_dsp_count(const struct hx_ntt_dsp *d, struct hx_ntt_dsp_counts *out, struct hx_error *err);

#endif
