/* Inner products as ring products: Z_q[x]/(x^N + 1), number-theoretic transforms, residues and their combination.
 *
 *     encode      v[dh] f32 -> a[N] integers, a_i = round_half_away(Delta v_i), zero from dh on
 *     involute    k*_0 = k_0, k*_j = -k_(N-j): then coefficient 0 of Q(x) K*(x) is the inner product of q and k
 *     transform   A[i] = a(psi^(2 brv(i) + 1)): by residue, so coefficient 0 is N^-1 times the sum of Q[i] K*[i]
 *     recover     centred coefficient 0, an exact integer; divided by Delta^2 it is the score
 *
 * brv reverses the log2(N) bits of i: all implementations here and on the DSP (kernels/ntt) write that order, bit for
 * bit.  psi is a 2N-th root of unity with psi^N = -1.
 * Moduli: one 60-bit prime (hx_ntt60), or two 30-bit primes of which the Chinese remainder theorem makes one of 60
 * bits (hx_crt).  Both give the same integer as long as it is below HX_POLY_LIMIT.
 *
 * Sources: docs/ring-attention.md; lazy butterflies: Harvey 2014 (J. Symb. Comp. 60); merged weights: Longa &
 * Naehrig 2016 (CANS).  Everything here may be called by any thread; tables are made once and never freed. */
#ifndef HX_HOST_NTT_H
#define HX_HOST_NTT_H

#include <stddef.h>
#include <stdint.h>

enum {
    HX_POLY_N_MIN = 64,
    HX_POLY_N_MAX = 512,
    HX_POLY_DELTA_BITS = 16, /* Delta = 2^16 */
    HX_POLY_DELTA_MIN = 10,
    HX_POLY_DELTA_MAX = 24,
};

/* Integers up to this absolute value come back from both moduli: (q - 1) / 2 of the smaller one, the 60-bit prime. */
#define HX_POLY_LIMIT 288230376156200960ll

/* --- integers (encode.c) */

/* Smallest N of 64, 128, 256, 512 that is >= dh; 0: there is none. */
size_t hx_poly_n(size_t dh);

/* out[N] <- v[dh], dh <= N.  |Delta v| is clamped to 2^31 - 1 and no number becomes 0; returns how many values that
 * happened to.  Exact but for the rounding that the formula asks for. */
size_t hx_poly_encode(int32_t *out, size_t n, const float *v, size_t dh, unsigned delta_bits);

/* In place; its own inverse. */
void hx_poly_involute(int32_t *k, size_t n);

/* Euclidean length, rounded up; n: a multiple of 8.  By Cauchy-Schwarz an inner product is at most the product of two of them; that must
 * not exceed HX_POLY_LIMIT. */
double hx_poly_length(const int32_t *a, size_t n);

/* Schoolbook reference: c[N] = a b mod (x^N + 1) over the integers, modulo 2^64: exact where |c| < 2^63.  O(N^2). */
void hx_poly_mul_ref(int64_t *c, const int32_t *a, const int32_t *b, size_t n);

/* sum a_i b_i, modulo 2^64 likewise. */
int64_t hx_poly_dot_ref(const int32_t *a, const int32_t *b, size_t n);

/* The score of an exact inner product: c scale / Delta^2, rounded to f32 once. */
float hx_poly_score(int64_t c, unsigned delta_bits, float scale);

/* --- one 60-bit prime (ntt60.c, ntt60_avx512.c) */

#define HX_NTT60_Q 576460752312401921ull  /* 2^59 + 8978433; q - 1 = 2^16 * 8796093022345 */
#define HX_NTT60_MU 2305843009177780220ull /* floor(2^120 / q) */

struct hx_ntt60; /* tables of one N; psi = 1753^((q-1)/(2N)) */

/* NULL: N is not 64, 128, 256 or 512.  Asserts psi^N = q - 1. */
const struct hx_ntt60 *hx_ntt60_get(size_t n);
uint64_t hx_ntt60_psi(const struct hx_ntt60 *t);

/* a b mod q for a b < 2^120, by Barrett: (ab >> 59) mu >> 61 is at most 2 too small. */
uint64_t hx_ntt60_mul(uint64_t a, uint64_t b);

/* Residue in 0..q-1 of an integer, and the integer of least absolute value of a residue. */
uint64_t hx_ntt60_residue(int64_t a);
int64_t hx_ntt60_centre(uint64_t r);

/* v: [N], residues 0..q-1 in and out; forward: natural order in, brv order out; inverse: back. */
struct hx_ntt60_ops {
    const char *name; /* "ref", "avx512" */
    int (*supported)(void);
    void (*forward)(const struct hx_ntt60 *t, uint64_t *v);
    void (*inverse)(const struct hx_ntt60 *t, uint64_t *v);
    void (*pointwise)(const struct hx_ntt60 *t, uint64_t *c, const uint64_t *a, const uint64_t *b);
    uint64_t (*dot)(const struct hx_ntt60 *t, const uint64_t *a, const uint64_t *b);
};
/* All that this program was built with, NULL-terminated, the reference first; and the fastest that runs here. */
extern const struct hx_ntt60_ops *const hx_ntt60_variants[];
const struct hx_ntt60_ops *hx_ntt60_best(void);

/* Transform of integers a[N] that need not be reduced. */
void hx_ntt60_transform(const struct hx_ntt60 *t, uint64_t *out, const int32_t *a);
/* The same, and times N^-1: hx_ntt60_score() of it and of a key's transform is coefficient 0, centred. */
void hx_ntt60_query(const struct hx_ntt60 *t, uint64_t *out, const int32_t *q);
int64_t hx_ntt60_score(const struct hx_ntt60 *t, const uint64_t *query, const uint64_t *key);

/* --- two 30-bit primes (crt.c, crt_avx2.c, crt_avx512.c: no 128-bit type in these) */

#define HX_CRT_Q1 1073738753u /* q1 - 1 = 2^10 * 1048573 */
#define HX_CRT_Q2 1073732609u /* q2 - 1 = 2^10 * 13 * 79 * 1021 */
#define HX_CRT_M 1152908312643096577ll /* q1 q2 */
#define HX_CRT_Q1_INV 894602413u /* q1^-1 mod q2 */

enum { HX_CRT_PRIMES = 2, HX_CRT_LAZY = 15 /* products below 2^60 that a u64 sum holds */ };

struct hx_crt; /* tables of one N for both primes; psi = the power of the smallest base that has order 2N */

const struct hx_crt *hx_crt_get(size_t n);               /* NULL as above */
uint32_t hx_crt_psi(const struct hx_crt *t, int prime);  /* prime: 0 is q1, 1 is q2 */
size_t hx_crt_bytes(size_t n);                           /* of one block: 8 N */

/* A block: u32 [2][N], residues modulo q1, then those modulo q2; 64-byte aligned. */
struct hx_crt_ops {
    const char *name; /* "ref", "avx2", "avx512" */
    int (*supported)(void);

    /* Integers -> block of residues 0..q-1 -> transform; one after the other as reference, in one go elsewhere. */
    void (*transform)(const struct hx_crt *t, uint32_t *block, const int32_t *a);
    /* Residues 0..q-1 in and out, in place. */
    void (*forward)(const struct hx_crt *t, uint32_t *block);
    void (*inverse)(const struct hx_crt *t, uint32_t *block);
    /* c = a b by element, per prime; c may be a or b. */
    void (*pointwise)(const struct hx_crt *t, uint32_t *c, const uint32_t *a, const uint32_t *b);
    /* sum[p] = sum of a b mod prime p, in 0..q-1, for the blocks at `b`, b + stride, ...: sums [n][2].
     * stride: words. */
    void (*dots)(const struct hx_crt *t, uint32_t *sums, const uint32_t *a, const uint32_t *b,
                 size_t stride, size_t n);

    /* Likewise with the residues modulo one prime, 0 or 1: half a block, u32 [N], and sums [n]. */
    void (*transform_one)(const struct hx_crt *t, int prime, uint32_t *half, const int32_t *a);
    void (*inverse_one)(const struct hx_crt *t, int prime, uint32_t *half);
    void (*dots_one)(const struct hx_crt *t, int prime, uint32_t *sums, const uint32_t *a,
                     const uint32_t *b, size_t stride, size_t n);
};
extern const struct hx_crt_ops *const hx_crt_variants[]; /* NULL-terminated, the reference first */
const struct hx_crt_ops *hx_crt_best(void);

/* The fastest transform; and the same times N^-1, so that dots with it are coefficient 0. */
void hx_crt_transform(const struct hx_crt *t, uint32_t *block, const int32_t *a);
void hx_crt_query(const struct hx_crt *t, uint32_t *block, const int32_t *q);
void hx_crt_query_one(const struct hx_crt *t, int prime, uint32_t *half, const int32_t *q);

/* Garner: the integer of least absolute value with residues x1 mod q1, x2 mod q2 (0..q-1 each). */
int64_t hx_crt_garner(uint32_t x1, uint32_t x2);

/* c[i] = coefficient 0 of query and the key block at keys + i * stride (words). */
void hx_crt_scores(const struct hx_crt *t, int64_t *c, const uint32_t *query, const uint32_t *keys,
                   size_t stride, size_t n);

/* Transform of a key -> the encoded integers before involution: inverse, Garner.  a: [N].  Exact. */
void hx_crt_decode(const struct hx_crt *t, int32_t *a, const uint32_t *block);

#endif
