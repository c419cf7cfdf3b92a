/* Arithmetic modulo a prime below 2^31, primes, and elliptic curves over such a field. */
#ifndef HX_MODULAR_H
#define HX_MODULAR_H

#include <stdint.h>

#include "theorem.h"

/* Operands below p. */
static inline uint64_t hx_mod_mul(uint64_t a, uint64_t b, uint64_t p)
{
    return a * b % p;
}
static inline uint64_t hx_mod_sub(uint64_t a, uint64_t b, uint64_t p)
{
    return a >= b ? a - b : a + p - b;
}
uint64_t hx_mod_pow(uint64_t a, uint64_t e, uint64_t p);
uint64_t hx_mod_inverse(uint64_t a, uint64_t p); /* a != 0 */
/* Of any integer. */
uint64_t hx_mod_of(int64_t a, uint64_t p);
/* 1, -1, or 0 for a = 0; p odd. */
int hx_legendre(uint64_t a, uint64_t p);
/* A root, or p when there is none. */
uint64_t hx_mod_sqrt(uint64_t a, uint64_t p);

int hx_is_prime(uint64_t n);

/* 4 p = u^2 + 163 v^2 with u, v > 0: p splits in Q(sqrt -163).  0 when there is none. */
int hx_splits(uint64_t p, int64_t *u, int64_t *v);

/* y^2 = x^3 + a x + b over F_p. */
struct hx_curve {
    uint64_t p, a, b;
};
struct hx_point {
    uint64_t x, y;
    int infinite;
};

struct hx_point hx_point_add(const struct hx_curve *e, struct hx_point s, struct hx_point t);
struct hx_point hx_point_negative(const struct hx_curve *e, struct hx_point s);
struct hx_point hx_point_times(const struct hx_curve *e, struct hx_point s, int64_t n);
int hx_point_equal(struct hx_point s, struct hx_point t);
/* Not infinite. */
struct hx_point hx_point_random(const struct hx_curve *e, struct hx_theorem_run *r);

/* The curve with j = -640320^3, twist `twist` != 0: a = 3 k t^2, b = 2 k t^3, k = j / (1728 - j).  p is no divisor of j or
 * 1728 - j. */
struct hx_curve hx_cm_curve(uint64_t p, uint64_t twist);

/* Points of it, counted one by one. */
uint64_t hx_curve_count(const struct hx_curve *e);

#endif
