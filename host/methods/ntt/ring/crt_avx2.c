/* Transforms of crt.c on 8 lanes; needs AVX2.  No 128-bit type in here. */
#ifdef __x86_64__

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#define UNROLL _Pragma("unroll")
#else
#pragma GCC target("avx2")
#define UNROLL _Pragma("GCC unroll 4")
#endif

#include "crt.h"

#define INLINE static inline __attribute__((always_inline))
#define WORD uint32_t
#define PRIME struct hx_crt_prime
#define BOUND 2
#define POSITIVE 3
#define LANES 8
#define STAGES 3
#define EACH_STAGE_DOWN(S) S(4, 0) S(2, 1) S(1, 2)
#define EACH_STAGE_UP(S) S(1, 2) S(2, 1) S(4, 0)
#define load(p) _mm256_loadu_si256((const __m256i_u *)(p))
#define store(p, v) _mm256_storeu_si256((__m256i_u *)(p), v)
#define splat(x) _mm256_set1_epi32((int)(x))
#define vadd _mm256_add_epi32
#define vsub _mm256_sub_epi32
#define vmin _mm256_min_epu32

typedef __m256i vec;

INLINE const struct hx_crt_lanes *tables_of(const struct hx_crt_prime *p)
{
    return &p->lanes8;
}

/* The words of odd lanes, one lane down. */
INLINE vec odd_down(vec v)
{
    return _mm256_srli_epi64(v, 32);
}

/* w y mod q in 0..2q-1 for any y. */
INLINE vec mul_shoup(vec y, vec w, vec ws, vec ws_odd, vec q)
{
    const vec even = _mm256_mul_epu32(y, ws), odd = _mm256_mul_epu32(odd_down(y), ws_odd);
    const vec quotient = _mm256_blend_epi32(odd_down(even), odd, 0xaa);

    return vsub(_mm256_mullo_epi32(y, w), _mm256_mullo_epi32(quotient, q));
}

/* Integers as residues below 4q. */
INLINE vec lift(vec x, vec positive)
{
    return vadd(x, _mm256_and_si256(_mm256_srai_epi32(x, 31), positive));
}

INLINE void exchange_4(vec *a, vec *b)
{
    const vec low = _mm256_permute2x128_si256(*a, *b, 0x20);

    *b = _mm256_permute2x128_si256(*a, *b, 0x31);
    *a = low;
}

INLINE void exchange_2(vec *a, vec *b)
{
    const vec low = _mm256_unpacklo_epi64(*a, *b);

    *b = _mm256_unpackhi_epi64(*a, *b);
    *a = low;
}

INLINE void exchange_1(vec *a, vec *b)
{
    const vec low = _mm256_blend_epi32(*a, _mm256_slli_epi64(*b, 32), 0xaa);

    *b = _mm256_blend_epi32(odd_down(*a), *b, 0xaa);
    *a = low;
}

/* Words a0 b0 a1 b1 .. */
INLINE void interleave(vec *a, vec *b)
{
    const vec low = _mm256_unpacklo_epi32(*a, *b), high = _mm256_unpackhi_epi32(*a, *b);

    *a = _mm256_permute2x128_si256(low, high, 0x20);
    *b = _mm256_permute2x128_si256(low, high, 0x31);
}

INLINE void deinterleave(vec *a, vec *b)
{
    const vec by_halves = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    const vec x = _mm256_permutevar8x32_epi32(*a, by_halves);
    const vec y = _mm256_permutevar8x32_epi32(*b, by_halves);

    *a = _mm256_permute2x128_si256(x, y, 0x20);
    *b = _mm256_permute2x128_si256(x, y, 0x31);
}

/* Products below q^2 in 64-bit lanes, reduced to 0..3q-1. */
INLINE vec reduce_wide(vec x, vec mu, vec q)
{
    const vec quotient = _mm256_srli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 29), mu), 31);

    return _mm256_sub_epi64(x, _mm256_mul_epu32(quotient, q));
}

INLINE vec mul_barrett(vec a, vec b, uint32_t modulus)
{
    const vec q = splat(modulus), mu = splat((1ull << 60) / modulus);
    const vec even = reduce_wide(_mm256_mul_epu32(a, b), mu, q);
    const vec odd = reduce_wide(_mm256_mul_epu32(odd_down(a), odd_down(b)), mu, q);
    vec r = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);

    r = vmin(r, vsub(r, q));
    return vmin(r, vsub(r, q));
}

INLINE uint64_t sum_lanes(vec v)
{
    const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

    return (uint64_t)_mm_cvtsi128_si64(half) + (uint64_t)_mm_extract_epi64(half, 1);
}

/* Sums of 8 products fit into 64 bits; their halves are then added up apart. */
INLINE uint32_t dot(const uint32_t *a, const uint32_t *b, size_t n, int prime)
{
    const vec word = _mm256_set1_epi64x(UINT32_MAX);
    vec lo = _mm256_setzero_si256(), hi = lo;

    for (size_t i = 0; i < n;) {
        const size_t end = i + 8 * LANES;
        vec even = _mm256_setzero_si256(), odd = even;

        for (; i < end; i += LANES) {
            const vec x = load(a + i), y = load(b + i);

            even = _mm256_add_epi64(even, _mm256_mul_epu32(x, y));
            odd = _mm256_add_epi64(odd, _mm256_mul_epu32(odd_down(x), odd_down(y)));
        }
        lo = _mm256_add_epi64(lo, _mm256_add_epi64(_mm256_and_si256(even, word),
                                                   _mm256_and_si256(odd, word)));
        hi = _mm256_add_epi64(hi, _mm256_add_epi64(odd_down(even), odd_down(odd)));
    }
    return hx_crt_fold(prime, sum_lanes(hi), sum_lanes(lo));
}

#include "ntt_lanes.h"
#include "crt_table.h"

static int supported(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct hx_crt_ops hx_crt_avx2 = {"avx2", supported, transform, forward, inverse, pointwise,
                                       dots, transform_one, inverse_one, dots_one};

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
