/* Sixteen floats in two registers; included after immintrin.h with AVX2, FMA and F16C switched on. */
#ifndef HX_V16_AVX2_H
#define HX_V16_AVX2_H

#define V16_TILE_VECS 1 /* 4 rows x 1 vector of sums are 8 of 16 registers */

typedef struct {
    __m256 a, b;
} v16;

#define V16_INLINE static inline __attribute__((always_inline))

V16_INLINE v16 v16_set1(float x) { return (v16){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
V16_INLINE v16 v16_load(const float *p) { return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
V16_INLINE v16 v16_add(v16 x, v16 y) { return (v16){_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
V16_INLINE v16 v16_sub(v16 x, v16 y) { return (v16){_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
V16_INLINE v16 v16_mul(v16 x, v16 y) { return (v16){_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
V16_INLINE v16 v16_div(v16 x, v16 y) { return (v16){_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
V16_INLINE v16 v16_max(v16 x, v16 y) { return (v16){_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
V16_INLINE v16 v16_min(v16 x, v16 y) { return (v16){_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }

V16_INLINE void v16_store(float *p, v16 x)
{
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
}

V16_INLINE v16 v16_abs(v16 x)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);

    return (v16){_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
}

V16_INLINE v16 v16_fma(v16 x, v16 y, v16 z)
{
    return (v16){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}

/* the nearest integer, ties to even */
V16_INLINE v16 v16_round(v16 x)
{
    enum { HOW = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };

    return (v16){_mm256_round_ps(x.a, HOW), _mm256_round_ps(x.b, HOW)};
}

V16_INLINE __m256 v16_exp2i_half(__m256 n)
{
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}

/* 2^n of whole -126..127 */
V16_INLINE v16 v16_exp2i(v16 n) { return (v16){v16_exp2i_half(n.a), v16_exp2i_half(n.b)}; }

V16_INLINE v16 v16_load_f16(const uint8_t *p)
{
    return (v16){_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)),
                 _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + 16)))};
}

V16_INLINE __m256 v16_load_bf16_half(const uint8_t *p)
{
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16));
}

V16_INLINE v16 v16_load_bf16(const uint8_t *p)
{
    return (v16){v16_load_bf16_half(p), v16_load_bf16_half(p + 16)};
}

/* 32-byte halves, then 16-byte quarters, then (0 + 2) + (1 + 3): the same in every table */
V16_INLINE float v16_sum(v16 x)
{
    __m256 h = _mm256_add_ps(x.a, x.b);
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));

    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_movehdup_ps(q)));
}

/* lane i = v16_sum(a[i]) */
V16_INLINE v16 v16_sums(const v16 a[16])
{
    float s[16];

    for (int i = 0; i < 16; i++)
        s[i] = v16_sum(a[i]);
    return v16_load(s);
}

V16_INLINE __m256 v16_grow_half(__m256 a, __m256 x)
{
    return _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(a), _mm256_castps_si256(x)));
}

/* |x| where it is larger than a >= 0; a number that is none counts as larger than all */
V16_INLINE v16 v16_grow(v16 a, v16 x)
{
    x = v16_abs(x);
    return (v16){v16_grow_half(a.a, x.a), v16_grow_half(a.b, x.b)};
}

/* 16 bytes: whole numbers -128..127 */
V16_INLINE void v16_store_i8(int8_t *p, v16 x)
{
    __m256i w = _mm256_packs_epi32(_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b));

    w = _mm256_permute4x64_epi64(w, 0xd8);
    _mm_storeu_si128((__m128i *)p, _mm_packs_epi16(_mm256_castsi256_si128(w),
                                                   _mm256_extracti128_si256(w, 1)));
}

#endif
