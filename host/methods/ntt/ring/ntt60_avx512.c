/* Transforms of ntt60.c on 8 lanes of 64 bits; needs AVX-512 F and DQ. */
#ifdef __x86_64__

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq"))), apply_to = function)
#define UNROLL _Pragma("unroll")
#else
#pragma GCC target("avx512f,avx512dq")
#define UNROLL _Pragma("GCC unroll 4")
#endif

#include "ntt60.h"

#define INLINE static inline __attribute__((always_inline))
#define WORD uint64_t
#define PRIME struct hx_ntt60
#define BOUND 4
#define POSITIVE 1
#define LANES 8
#define STAGES 3
#define EACH_STAGE_DOWN(S) S(4, 0) S(2, 1) S(1, 2)
#define EACH_STAGE_UP(S) S(1, 2) S(2, 1) S(4, 0)
#define load(p) _mm512_loadu_si512(p)
#define store(p, v) _mm512_storeu_si512(p, v)
#define splat(x) _mm512_set1_epi64((int64_t)(x))
#define vadd _mm512_add_epi64
#define vsub _mm512_sub_epi64
#define vmin _mm512_min_epu64
#define odd_down(v) (v) /* these lanes need no splitting */

typedef __m512i vec;

INLINE const struct hx_ntt60_lanes *tables_of(const struct hx_ntt60 *t)
{
    return &t->lanes8;
}

/* High 64 bits of the products, at most 2 too small: the low product and the carries of the middle ones are left out.
 * That makes w y mod q one of 0..4q-1. */
INLINE vec mul_shoup(vec y, vec w, vec ws, vec ws_odd, vec q)
{
    const vec y_high = _mm512_srli_epi64(y, 32), s_high = _mm512_srli_epi64(ws, 32);
    const vec middle = vadd(_mm512_srli_epi64(_mm512_mul_epu32(y_high, ws), 32),
                            _mm512_srli_epi64(_mm512_mul_epu32(y, s_high), 32));
    const vec quotient = vadd(_mm512_mul_epu32(y_high, s_high), middle);

    (void)ws_odd;
    return vsub(_mm512_mullo_epi64(y, w), _mm512_mullo_epi64(quotient, q));
}

INLINE vec lift(vec x, vec positive)
{
    return _mm512_mask_add_epi64(x, _mm512_movepi64_mask(x), x, positive);
}

INLINE void exchange_4(vec *a, vec *b)
{
    const vec low = _mm512_shuffle_i64x2(*a, *b, 0x44);

    *b = _mm512_shuffle_i64x2(*a, *b, 0xee);
    *a = low;
}

INLINE void exchange_2(vec *a, vec *b)
{
    const vec low = _mm512_mask_shuffle_i64x2(*a, 0xcc, *b, *b, _MM_SHUFFLE(2, 2, 0, 0));

    *b = _mm512_mask_shuffle_i64x2(*b, 0x33, *a, *a, _MM_SHUFFLE(3, 3, 1, 1));
    *a = low;
}

INLINE void exchange_1(vec *a, vec *b)
{
    const vec low = _mm512_unpacklo_epi64(*a, *b);

    *b = _mm512_unpackhi_epi64(*a, *b);
    *a = low;
}

/* Words a0 b0 a1 b1 .. */
INLINE void interleave(vec *a, vec *b)
{
    const vec low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const vec high = vadd(low, splat(4)), first = _mm512_permutex2var_epi64(*a, low, *b);

    *b = _mm512_permutex2var_epi64(*a, high, *b);
    *a = first;
}

INLINE void deinterleave(vec *a, vec *b)
{
    const vec even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const vec odd = vadd(even, splat(1)), first = _mm512_permutex2var_epi64(*a, even, *b);

    *b = _mm512_permutex2var_epi64(*a, odd, *b);
    *a = first;
}

#include "ntt_lanes.h"

#define FORWARD(N)                                                                                \
    static __attribute__((noinline)) void forward_##N(const struct hx_ntt60 *t, uint64_t *v)      \
    {                                                                                             \
        forward_primes(&t, &v, (const uint64_t *const *)&v, N, 1, 0);                             \
    }
FORWARD(64)
FORWARD(128)
FORWARD(256)
FORWARD(512)
#undef FORWARD

static void forward(const struct hx_ntt60 *t, uint64_t *v)
{
    static void (*const of_size[])(const struct hx_ntt60 *, uint64_t *) = {
        forward_64, forward_128, forward_256, forward_512};

    of_size[__builtin_ctzl(t->n / HX_POLY_N_MIN)](t, v);
}

static void inverse(const struct hx_ntt60 *t, uint64_t *v)
{
    inverse_prime(t, t->n, v);
}

static void pointwise(const struct hx_ntt60 *t, uint64_t *c, const uint64_t *a, const uint64_t *b)
{
    /* two 128-bit products each: the scalar unit's multiplier is the faster one */
    hx_ntt60_ref.pointwise(t, c, a, b);
}

/* Sums of 64-bit lanes, each apart as high and low words. */
struct sums {
    vec hi, lo;
};

INLINE void gather(struct sums *s, vec v)
{
    s->hi = vadd(s->hi, _mm512_srli_epi64(v, 32));
    s->lo = vadd(s->lo, _mm512_and_si512(v, splat(UINT32_MAX)));
}

INLINE unsigned __int128 total(const struct sums *s)
{
    return ((unsigned __int128)(uint64_t)_mm512_reduce_add_epi64(s->hi) << 32) +
           (uint64_t)_mm512_reduce_add_epi64(s->lo);
}

/* Factors in halves of 30 bits: sums of up to 8 products of these fit into 64 bits. */
static uint64_t dot(const struct hx_ntt60 *t, const uint64_t *a, const uint64_t *b)
{
    const vec zero = _mm512_setzero_si512(), half = splat((1 << 30) - 1);
    struct sums high = {zero, zero}, middle = high, low = high;

    for (size_t i = 0; i < t->n;) {
        const size_t end = i + 4 * LANES;
        vec h = zero, m = zero, l = zero;

        for (; i < end; i += LANES) {
            const vec x = load(a + i), y = load(b + i);
            const vec x1 = _mm512_srli_epi64(x, 30), y1 = _mm512_srli_epi64(y, 30);
            const vec x0 = _mm512_and_si512(x, half), y0 = _mm512_and_si512(y, half);

            h = vadd(h, _mm512_mul_epu32(x1, y1));
            m = vadd(m, vadd(_mm512_mul_epu32(x1, y0), _mm512_mul_epu32(x0, y1)));
            l = vadd(l, _mm512_mul_epu32(x0, y0));
        }
        gather(&high, h);
        gather(&middle, m);
        gather(&low, l);
    }
    /* below 2^70 each */
    const uint64_t top = (uint64_t)(total(&high) % t->q);

    return (uint64_t)((((unsigned __int128)top << 60) + (total(&middle) << 30) + total(&low)) %
                      t->q);
}

static int supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

const struct hx_ntt60_ops hx_ntt60_avx512 = {"avx512", supported, forward, inverse, pointwise, dot};

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
