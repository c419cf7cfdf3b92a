/* Exact inner products of f32 vectors by one of three ways that give the same integers, for attn_poly.c and kv_ntt.c. */
#ifndef HX_HOST_POLY_H
#define HX_HOST_POLY_H

#include "ntt.h"
#include "base/error.h"

enum hx_poly_mode {
    HX_POLY_CRT,    /* two 30-bit primes; what a zeroed configuration means */
    HX_POLY_60,     /* one 60-bit prime */
    HX_POLY_SCHOOL, /* the whole product polynomial, O(N^2) */
    HX_POLY_MODES
};
extern const char *const hx_poly_modes[]; /* "crt", "60-bit", "schoolbook", NULL */

struct hx_poly_cfg {
    enum hx_poly_mode mode;
    unsigned delta_bits; /* Delta = 2^delta_bits, HX_POLY_DELTA_MIN .. _MAX; 0: HX_POLY_DELTA_BITS */
    struct hx_shard *shard; /* of HX_POLY_CRT: this process has one prime, another one the other; NULL: both.  Borrowed */
};

/* Forward transforms that were made, one for a vector whatever the modulus.  Any thread may add. */
struct hx_poly_counts {
    _Atomic uint64_t keys, queries;
};

/* What ring attention has done: tokens that layer 0 got, and the transforms that were counted where they were made. */
struct hx_poly_seen {
    uint64_t tokens, keys, queries;
};

/* Plain data, no need to close. */
struct hx_poly {
    const struct hx_poly_ops *ops;
    const struct hx_ntt60 *t60;
    const struct hx_crt *crt;
    size_t n, dh;
    unsigned delta_bits;
    size_t block_bytes; /* of an encoded vector: 8 N; 4 N for schoolbook and for one prime */
    struct hx_shard *shard; /* see hx_poly_cfg; then products are found by poly_shard.h only */
    struct hx_poly_counts *counts; /* what hx_poly_key() and hx_poly_query() add to; NULL, as open() leaves it: nothing.  Borrowed */
};

/* 0; -ENOTSUP: no N is as large as dh; -EINVAL: delta_bits, or a shard of another mode. */
int hx_poly_open(struct hx_poly *p, const struct hx_poly_cfg *cfg, size_t dh, struct hx_error *err);

/* block (block_bytes, 64-byte aligned) <- k or q, [dh].  Returns the integers' Euclidean length, INFINITY when one had to
 * be clamped: hx_poly_scores() is exact for keys and queries whose lengths multiply to HX_POLY_LIMIT or less. */
double hx_poly_key(const struct hx_poly *p, void *block, const float *k);
double hx_poly_query(const struct hx_poly *p, void *block, const float *q);

/* c[i] = exact inner product of the query and the key at keys + i * stride (bytes). */
void hx_poly_scores(const struct hx_poly *p, int64_t *c, const void *query, const void *keys,
                    size_t stride, size_t n);

/* scores[i] = scale / Delta^2 times that, in f32. */
void hx_poly_scaled(const struct hx_poly *p, float *scores, float scale, const void *query,
                    const void *keys, size_t stride, size_t n);

/* k [dh] = round_half_away(Delta k) / Delta of the key that was encoded: encoding it again gives the same block. */
void hx_poly_decode_key(const struct hx_poly *p, float *k, const void *block);

/* Which code runs: "ref", "avx2", "avx512". */
const char *hx_poly_kernel(const struct hx_poly *p);

/* -ERANGE with a reason: a key of this length and a query of that one at a position of a layer; INFINITY: a value of it
 * exceeds 2^31 / Delta. */
int hx_poly_out_of_range(const struct hx_poly *p, double key, double query, size_t layer,
                         size_t pos, struct hx_error *err);

#endif
