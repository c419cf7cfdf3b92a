/* Transforms of crt.c on 16 lanes; needs AVX-512 F, DQ and BW.  No 128-bit type in here. */
#ifdef __x86_64__

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))), apply_to = function)
#define UNROLL _Pragma("unroll")
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl")
#define UNROLL _Pragma("GCC unroll 4")
#endif

#include "crt.h"

#define INLINE static inline __attribute__((always_inline))
#define WORD uint32_t
#define PRIME struct hx_crt_prime
#define BOUND 2
#define POSITIVE 3
#define LANES 16
#define STAGES 4
#define EACH_STAGE_DOWN(S) S(8, 0) S(4, 1) S(2, 2) S(1, 3)
#define EACH_STAGE_UP(S) S(1, 3) S(2, 2) S(4, 1) S(8, 0)
#define load(p) _mm512_loadu_si512(p)
#define store(p, v) _mm512_storeu_si512(p, v)
#define splat(x) _mm512_set1_epi32((int)(x))
#define vadd _mm512_add_epi32
#define vsub _mm512_sub_epi32
#define vmin _mm512_min_epu32

typedef __m512i vec;

INLINE const struct hx_crt_lanes *tables_of(const struct hx_crt_prime *p)
{
    return &p->lanes16;
}

/* The words of odd lanes, one lane down. */
INLINE vec odd_down(vec v)
{
    return _mm512_srli_epi64(v, 32);
}

/* High words of the products of even lanes, and those of odd lanes, in their lanes. */
INLINE vec high_words(vec even, vec odd)
{
    return _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
}

/* w y mod q in 0..2q-1 for any y. */
INLINE vec mul_shoup(vec y, vec w, vec ws, vec ws_odd, vec q)
{
    const vec quotient = high_words(_mm512_mul_epu32(y, ws),
                                    _mm512_mul_epu32(odd_down(y), ws_odd));

    return vsub(_mm512_mullo_epi32(y, w), _mm512_mullo_epi32(quotient, q));
}

/* Integers as residues below 4q. */
INLINE vec lift(vec x, vec positive)
{
    return _mm512_mask_add_epi32(x, _mm512_movepi32_mask(x), x, positive);
}

INLINE void exchange_8(vec *a, vec *b)
{
    const vec low = _mm512_shuffle_i64x2(*a, *b, 0x44);

    *b = _mm512_shuffle_i64x2(*a, *b, 0xee);
    *a = low;
}

INLINE void exchange_4(vec *a, vec *b)
{
    const vec low = _mm512_mask_shuffle_i64x2(*a, 0xcc, *b, *b, _MM_SHUFFLE(2, 2, 0, 0));

    *b = _mm512_mask_shuffle_i64x2(*b, 0x33, *a, *a, _MM_SHUFFLE(3, 3, 1, 1));
    *a = low;
}

INLINE void exchange_2(vec *a, vec *b)
{
    const vec low = _mm512_unpacklo_epi64(*a, *b);

    *b = _mm512_unpackhi_epi64(*a, *b);
    *a = low;
}

INLINE void exchange_1(vec *a, vec *b)
{
    const vec low = _mm512_mask_shuffle_epi32(*a, 0xaaaa, *b, _MM_PERM_CCAA);

    *b = _mm512_mask_shuffle_epi32(*b, 0x5555, *a, _MM_PERM_DDBB);
    *a = low;
}

/* Words a0 b0 a1 b1 .. */
INLINE void interleave(vec *a, vec *b)
{
    const vec low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const vec high = vadd(low, splat(8)), first = _mm512_permutex2var_epi32(*a, low, *b);

    *b = _mm512_permutex2var_epi32(*a, high, *b);
    *a = first;
}

INLINE void deinterleave(vec *a, vec *b)
{
    const vec even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const vec odd = vadd(even, splat(1)), first = _mm512_permutex2var_epi32(*a, even, *b);

    *b = _mm512_permutex2var_epi32(*a, odd, *b);
    *a = first;
}

/* Products below q^2 in 64-bit lanes, reduced to 0..3q-1. */
INLINE vec reduce_wide(vec x, vec mu, vec q)
{
    const vec quotient = _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(x, 29), mu), 31);

    return _mm512_sub_epi64(x, _mm512_mul_epu32(quotient, q));
}

INLINE vec mul_barrett(vec a, vec b, uint32_t modulus)
{
    const vec q = splat(modulus), mu = splat((1ull << 60) / modulus);
    const vec even = reduce_wide(_mm512_mul_epu32(a, b), mu, q);
    const vec odd = reduce_wide(_mm512_mul_epu32(odd_down(a), odd_down(b)), mu, q);
    vec r = _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, _MM_PERM_CCAA);

    r = vmin(r, vsub(r, q));
    return vmin(r, vsub(r, q));
}

/* Sums of 8 products fit into 64 bits; their halves are then added up apart. */
INLINE uint32_t dot(const uint32_t *a, const uint32_t *b, size_t n, int prime)
{
    const vec word = _mm512_set1_epi64(UINT32_MAX);
    vec lo = _mm512_setzero_si512(), hi = lo;

    for (size_t i = 0; i < n;) {
        const size_t end = i + 8 * LANES < n ? i + 8 * LANES : n;
        vec even = _mm512_setzero_si512(), odd = even;

        for (; i < end; i += LANES) {
            const vec x = load(a + i), y = load(b + i);

            even = _mm512_add_epi64(even, _mm512_mul_epu32(x, y));
            odd = _mm512_add_epi64(odd, _mm512_mul_epu32(odd_down(x), odd_down(y)));
        }
        lo = _mm512_add_epi64(lo, _mm512_add_epi64(_mm512_and_si512(even, word),
                                                   _mm512_and_si512(odd, word)));
        hi = _mm512_add_epi64(hi, _mm512_add_epi64(odd_down(even), odd_down(odd)));
    }
    return hx_crt_fold(prime, (uint64_t)_mm512_reduce_add_epi64(hi),
                       (uint64_t)_mm512_reduce_add_epi64(lo));
}

#include "ntt_lanes.h"
#include "crt_table.h"

static int supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

const struct hx_crt_ops hx_crt_avx512 = {"avx512", supported, transform, forward, inverse,
                                         pointwise, dots, transform_one, inverse_one, dots_one};

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
