/* AVX2, FMA and F16C. */
#include "isa_tables.h"

#ifdef HX_ISA_X86
#ifdef __clang__
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#include <immintrin.h>
#endif

#include "v16_avx2.h"

#include "ops.inc"
#include "flash.inc"
#include "matmul_float.inc"

/* Eight sums of four products.  Pairs fit 16 bits: codes are below 64, or (wide) become -128..127 with the
 * sign moved to x. */
V16_INLINE __m256i dot_bytes(__m256i codes, int wide, __m256i x)
{
    if (wide) {
        __m256i w = _mm256_xor_si256(codes, _mm256_set1_epi8(-128));

        codes = _mm256_abs_epi8(w);
        x = _mm256_sign_epi8(x, w);
    }
    return _mm256_madd_epi16(_mm256_maddubs_epi16(codes, x), _mm256_set1_epi16(1));
}

V16_INLINE __m256i dot_load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

V16_INLINE int32_t dot_fold(__m256i p)
{
    __m128i q = _mm_add_epi32(_mm256_castsi256_si128(p), _mm256_extracti128_si256(p, 1));

    q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(q, _mm_shuffle_epi32(q, 0xb1)));
}

V16_INLINE void dot_four(int32_t out[4], const uint8_t *codes, int wide, const int8_t *x,
                         size_t stride, size_t have)
{
    __m256i p[4], s;

    for (size_t b = 0; b < 4; b++)
        p[b] = b < have ? dot_bytes(dot_load(codes + 32 * b), wide, dot_load(x + stride * b))
                        : _mm256_setzero_si256();
    s = _mm256_hadd_epi32(_mm256_hadd_epi32(p[0], p[1]), _mm256_hadd_epi32(p[2], p[3]));
    _mm_storeu_si128((__m128i *)out,
                     _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1)));
}

V16_INLINE int32_t dot_groups(const uint8_t codes[256], const int8_t x[256], const int8_t scale[16])
{
    __m256i sum = _mm256_setzero_si256();

    for (size_t i = 0; i < 8; i++) {
        __m256i pairs = _mm256_maddubs_epi16(dot_load(codes + 32 * i), dot_load(x + 32 * i));
        __m256i s = _mm256_set_m128i(_mm_set1_epi16(scale[2 * i + 1]), _mm_set1_epi16(scale[2 * i]));

        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, s));
    }
    return dot_fold(sum);
}

#include "matmul_rows.inc"

const struct hx_cpu_kernels hx_isa_avx2 = HX_ISA_TABLE("avx2", r_matmul, {{.92f, .92f}, {.37f, .38f}, {.40f, .42f}});

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
