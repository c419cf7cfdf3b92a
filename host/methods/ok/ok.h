/* Exact arithmetic in the ring of integers of Q(sqrt(-163)), tensors over it, and the Frobenius shim.
 *
 * An element is a + b w with w = (1 + sqrt(-163)) / 2, so w^2 = w - 41.  Units are 1 and -1, the class number is 1, and
 * every prime number below 41 is inert.  All arithmetic is in int64 (norms and quotients in 128 bits on the way) and is
 * exact or refused: no function wraps.
 *
 * The shim multiplies a tensor by pi^k, pi a prime element over the prime number p; a product with it is divided by pi k
 * times, each division checked.  What comes out is what the tensor would have given without: docs/ok.md.
 *
 * Functions have no state and may run on any thread.  Those that return int give 0 or negative errno. */
#ifndef HX_OK_H
#define HX_OK_H

#include <stddef.h>
#include <stdint.h>

#include "engine/linear.h"
#include "base/error.h"

/* --- elements */

struct hx_ok {
    int64_t a, b; /* a + b w */
};

typedef __int128 hx_i128;

/* -ERANGE, *out untouched: a coordinate does not fit; that includes terms on the way (a c, 41 b d, a d + b c). */
int hx_ok_add(struct hx_ok *out, struct hx_ok x, struct hx_ok y);
int hx_ok_mul(struct hx_ok *out, struct hx_ok x, struct hx_ok y); /* (ac - 41bd) + (ad + bc + bd) w */
int hx_ok_conj(struct hx_ok *out, struct hx_ok x);                /* (a + b) - b w */
int hx_ok_trace(int64_t *out, struct hx_ok x);                    /* x + conj x = 2a + b */
int hx_ok_norm(hx_i128 *out, struct hx_ok x);                     /* x conj x = a^2 + ab + 41b^2 >= 0 */

/* x / y = x conj(y) / norm(y).  -EDOM: y is 0 or does not divide x; -ERANGE. */
int hx_ok_div(struct hx_ok *out, struct hx_ok x, struct hx_ok y);

/* x^k, k >= 0. */
int hx_ok_pow(struct hx_ok *out, struct hx_ok x, unsigned k);

/* --- primes */

enum hx_ok_kind {
    HX_OK_INERT,   /* p is prime in the ring, too: pi = p */
    HX_OK_SPLIT,   /* p = pi conj(pi), two different primes */
    HX_OK_RAMIFIED /* p = 163: pi conj(pi), the same prime twice */
};

enum { HX_OK_MAX_P = 1000, HX_OK_MAX_K = 16, HX_OK_MAX_X_BITS = 30 };

struct hx_ok_prime {
    uint32_t p;
    enum hx_ok_kind kind;
    struct hx_ok pi; /* split: 4p = (2a + b)^2 + 163 b^2 with b > 0, 2a + b > 0 */
};

/* -EINVAL with a reason: p is no prime number of 2..HX_OK_MAX_P. */
int hx_ok_prime(struct hx_ok_prime *out, uint32_t p, struct hx_error *err);

/* --- the shim */

struct hx_ok_shim {
    struct hx_ok_prime prime; /* p = 0: identity */
    unsigned k;               /* 0: identity */
    struct hx_ok power;       /* pi^k; identity: 1 */
    uint64_t grow;            /* largest number that un-shimming pi^k forms, per unit: 41 * 259119 for p = 41, k = 8 */
};

/* p = 0 and k = 0: identity.  -EINVAL with a reason: as hx_ok_prime(); k not of 1..HX_OK_MAX_K; pi^k does not fit. */
int hx_ok_shim_init(struct hx_ok_shim *s, uint32_t p, unsigned k, struct hx_error *err);

/* Checked divisions, and those that were not exact; the second must stay 0. */
struct hx_ok_count {
    uint64_t divisions, remainders;
};

/* Divides *y by pi, k times.  -EDOM: a division was not exact, *y is what it was then; -ERANGE: a step overflows.
 * Stepwise, because one step by conj(pi^k) needs k log2(p) / 2 more bits. */
int hx_ok_unshim(const struct hx_ok_shim *s, struct hx_ok *y, struct hx_ok_count *count);

/* The same for a product of numbers on the rational axis: what is left must have b = 0, which counts as a division
 * when there is a shim. */
int hx_ok_unshim_real(const struct hx_ok_shim *s, struct hx_ok y, int64_t *out,
                      struct hx_ok_count *count);

enum { HX_OK_BATCH = 8 };

/* hx_ok_unshim_real() on n elements a[i] + b[i] w, several at a time; n is a multiple of HX_OK_BATCH, both arrays are
 * 64-byte aligned and become quotients.  -EDOM: one of them was not divisible; all divisions are counted. */
int hx_ok_unshim_many(const struct hx_ok_shim *s, int64_t *a, int64_t *b, size_t n,
                      struct hx_ok_count *count);

/* The rule  (q_max + log2 grow) + x_bits + ceil(log2 in) <= 62  in integers: no sum of `in` products of |a| <= 2^q_max and
 * |x| <= 2^x_bits leaves int64, nor does un-shimming it.  -ERANGE with a reason. */
int hx_ok_headroom(const struct hx_ok_shim *s, unsigned q_max, unsigned x_bits, size_t in,
                   struct hx_error *err);

/* The largest x_bits that the rule allows, or -1. */
int hx_ok_x_bits(const struct hx_ok_shim *s, unsigned q_max, size_t in);

/* --- tensors */

enum { HX_OK_MAX_Q = 20, HX_OK_BLOCK = 32 };

struct hx_ok_tensor {
    struct hx_ok *data;     /* [rows][cols], times shim.power */
    size_t rows, cols;
    unsigned q_max;         /* 1..HX_OK_MAX_Q: |a| <= 2^q_max before the shim */
    struct hx_ok_shim shim; /* identity until hx_ok_tensor_shim() */
    size_t block, blocks;   /* columns that share a scale, the last of a row may be fewer; scales of a row */
    double *scale;          /* [rows][blocks] s: a weight is a * s; largest |weight| of the block / 2^q_max */
    int64_t *recip;         /* [rows][blocks] 1 / s as Q31.32, round half away, at most INT64_MAX; 0 for a block of zeros */
};

/* Zeros; a scale for each row.  -EINVAL: q_max; -ENOMEM. */
int hx_ok_tensor_alloc(struct hx_ok_tensor **out, size_t rows, size_t cols, unsigned q_max,
                       struct hx_error *err);

/* The same with a scale for each `block` columns of a row, 1 at least. */
int hx_ok_tensor_alloc_blocks(struct hx_ok_tensor **out, size_t rows, size_t cols, size_t block, unsigned q_max,
                              struct hx_error *err);

/* Accepts NULL. */
void hx_ok_tensor_free(struct hx_ok_tensor *t);

/* Encodes row r: a = round_half_away(w / s), b = 0.  row: [cols].  Before the shim.  -EDOM: a weight is not finite. */
int hx_ok_tensor_set_row(struct hx_ok_tensor *t, size_t r, const float *row, struct hx_error *err);

/* A whole matrix, widened by hx_linear_row(). */
int hx_ok_tensor_of_linear(struct hx_ok_tensor **out, const struct hx_linear *w, unsigned q_max,
                           struct hx_error *err);

/* A whole matrix with scales of HX_OK_BLOCK columns.  What has such scales in the file keeps its integers and its scales, which
 * may be negative there, so that nothing is rounded: Q4_0 (q_max becomes 3) and Q8_0 (7).  Others are rounded to q_max. */
int hx_ok_tensor_of_blocks(struct hx_ok_tensor **out, const struct hx_linear *w, unsigned q_max,
                           struct hx_error *err);

/* 1: hx_ok_tensor_of_blocks() takes weights of this type (enum hx_quant) as they are. */
int hx_ok_keeps(uint32_t type);

/* The largest |a| or |b|. */
uint64_t hx_ok_tensor_top(const struct hx_ok_tensor *t);

/* Multiplies every element by s->power, once per tensor.  -ERANGE: a coordinate does not fit; the tensor is spoilt then. */
int hx_ok_tensor_shim(struct hx_ok_tensor *t, const struct hx_ok_shim *s, struct hx_error *err);

/* y[r] = sum over j of data[r][j] * x[j], by hx_ok_mul() and hx_ok_add(): the definition that every faster way is tested
 * against.  x: [cols], y: [rows].  -ERANGE. */
int hx_ok_tensor_apply(const struct hx_ok_tensor *t, const struct hx_ok *x, struct hx_ok *y);

/* Integers for one vector of activations: out[j] = round_half_away(x[j] * 2^bits / max |x|).  Returns the scale
 * max |x| / 2^bits; 0 for a vector of zeros; NaN, and out untouched, when an element is not finite.  bits <= 30. */
double hx_ok_quantize(int32_t *out, const float *x, size_t n, unsigned bits);

#endif
