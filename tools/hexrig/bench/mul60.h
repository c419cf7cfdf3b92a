/* Arithmetic modulo the 60-bit prime of methods/ntt/ring/ntt.h, reduced in one of two ways, inlined into the loops that are measured:
 * the ladder's attention (bench_exact_attn.c) and the products alone (barrett.c). */
#ifndef HX_BENCH_MUL60_H
#define HX_BENCH_MUL60_H

#include <stdint.h>

#include "methods/ntt/ring/ntt.h"

#define HX_MUL60_INLINE static inline __attribute__((always_inline))

/* v - q where v >= q; residues are random, so that a branch would be mispredicted half of the time. */
HX_MUL60_INLINE uint64_t hx_less60(uint64_t v)
{
    const uint64_t r = v - HX_NTT60_Q;

    return r + (HX_NTT60_Q & -(r >> 63)); /* v is far below 2^63 */
}

/* a b mod q.  barrett: 1, or 0: the 128-bit % of C.  A constant wherever this is called, so that no branch is left. */
HX_MUL60_INLINE uint64_t hx_mul60(uint64_t a, uint64_t b, int barrett)
{
    const uint64_t q = HX_NTT60_Q;
    const unsigned __int128 ab = (unsigned __int128)a * b;
    uint64_t r;

    if (!barrett)
        return (uint64_t)(ab % q);
    r = (uint64_t)ab - (uint64_t)(((unsigned __int128)(uint64_t)(ab >> 59) * HX_NTT60_MU) >> 61) * q;
    return hx_less60(hx_less60(r)); /* the quotient is at most 2 too small */
}

HX_MUL60_INLINE uint64_t hx_add60(uint64_t a, uint64_t b)
{
    return hx_less60(a + b);
}

/* x <- x + w y, y <- x - w y. */
HX_MUL60_INLINE void hx_butterfly60(uint64_t *x, uint64_t *y, uint64_t w, int barrett)
{
    const uint64_t wy = hx_mul60(*y, w, barrett);

    *y = hx_add60(*x, HX_NTT60_Q - wy);
    *x = hx_add60(*x, wy);
}

/* The forward transform of v[n] in place; w[m + i]: psi^brv. */
HX_MUL60_INLINE void hx_forward60(uint64_t *v, const uint64_t *w, size_t n, int barrett)
{
    for (size_t m = 1, d = n / 2; d; m *= 2, d /= 2)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 2 * i * d; j < (2 * i + 1) * d; j++)
                hx_butterfly60(&v[j], &v[j + d], w[m + i], barrett);
}

static inline size_t hx_reversed60(size_t i, size_t n)
{
    size_t r = 0;

    for (size_t bit = 1; bit < n; bit <<= 1, i >>= 1)
        r = r << 1 | (i & 1);
    return r;
}

/* w[n] <- psi^i at the bits of i reversed. */
static inline void hx_weights60(uint64_t *w, size_t n)
{
    const uint64_t psi = hx_ntt60_psi(hx_ntt60_get(n));
    uint64_t power = 1;

    for (size_t i = 0; i < n; i++) {
        w[hx_reversed60(i, n)] = power;
        power = hx_mul60(power, psi, 1);
    }
}

#endif
