/* AVX2 and AVX-512 kernels, see ok_planes.h; compiled for any x86-64, chosen at run time.
 *
 * Both multiply the low 32 bits of 64-bit lanes, signed (vpmuldq): the even elements of two vectors as they are, the odd
 * ones after a shift. */
#include "ok_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))
#define UNROLL _Pragma("GCC unroll 4") /* so that sums stay in registers */
#define INLINE static inline __attribute__((always_inline))

/* --- AVX2 */

INLINE AVX2 int64_t sum_avx2(__m256i v)
{
    const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

    return (int64_t)((uint64_t)_mm_extract_epi64(half, 0) + (uint64_t)_mm_extract_epi64(half, 1));
}

INLINE AVX2 void dots_avx2(int64_t *sum, const int32_t *w, const int32_t *x, size_t stride,
                           size_t n, size_t n_x)
{
    __m256i even[HX_OK_AT_ONCE], odd[HX_OK_AT_ONCE];

    UNROLL for (size_t t = 0; t < n_x; t++)
        even[t] = odd[t] = _mm256_setzero_si256();
    for (size_t j = 0; j < n; j += 8) {
        const __m256i we = _mm256_loadu_si256((const __m256i *)(w + j));
        const __m256i wo = _mm256_srli_epi64(we, 32);

        UNROLL for (size_t t = 0; t < n_x; t++) {
            const __m256i xe = _mm256_loadu_si256((const __m256i *)(x + t * stride + j));

            even[t] = _mm256_add_epi64(even[t], _mm256_mul_epi32(we, xe));
            odd[t] = _mm256_add_epi64(odd[t], _mm256_mul_epi32(wo, _mm256_srli_epi64(xe, 32)));
        }
    }
    UNROLL for (size_t t = 0; t < n_x; t++)
        sum[t] = sum_avx2(_mm256_add_epi64(even[t], odd[t]));
}

static AVX2 void dot1_avx2(int64_t *sum, const int32_t *w, const int32_t *x, size_t stride,
                           size_t n)
{
    dots_avx2(sum, w, x, stride, n, 1);
}

static AVX2 void dot4_avx2(int64_t *sum, const int32_t *w, const int32_t *x, size_t stride,
                           size_t n)
{
    dots_avx2(sum, w, x, stride, n, HX_OK_AT_ONCE);
}

/* Elements are {a0, b0, a1, b1}.  The second product needs x as {d0, c0, d1, c1}: 64-bit halves swapped within each 128-bit
 * half, control (1, 0, 3, 2) = 0x4e on 32-bit words.  Even lanes then sum ac and ad, odd ones bd and bc: they must not be
 * added to each other. */
enum { SWAP = _MM_SHUFFLE(1, 0, 3, 2), A_LANES = 0x55, B_LANES = 0xaa };

static AVX2 struct hx_ok dot_ok_avx2(const struct hx_ok *w, const struct hx_ok *x, size_t n)
{
    __m256i same = _mm256_setzero_si256(), cross = same;
    uint64_t s[4], c[4];

    for (size_t j = 0; j < n; j += 2) {
        const __m256i wv = _mm256_loadu_si256((const __m256i *)(w + j));
        const __m256i xv = _mm256_loadu_si256((const __m256i *)(x + j));

        same = _mm256_add_epi64(same, _mm256_mul_epi32(wv, xv));
        cross = _mm256_add_epi64(cross, _mm256_mul_epi32(wv, _mm256_shuffle_epi32(xv, SWAP)));
    }
    _mm256_storeu_si256((__m256i *)s, same);
    _mm256_storeu_si256((__m256i *)c, cross);
    return hx_ok_of_sums(s[0] + s[2], s[1] + s[3], c[0] + c[2], c[1] + c[3]);
}

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct hx_ok_kernel hx_ok_avx2 = {"avx2", has_avx2, dot1_avx2, dot4_avx2, dot_ok_avx2};

/* --- AVX-512 */

INLINE AVX512 int64_t sum_avx512(__m512i v)
{
    return sum_avx2(_mm256_add_epi64(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1)));
}

INLINE AVX512 void dots_avx512(int64_t *sum, const int32_t *w, const int32_t *x, size_t stride,
                               size_t n, size_t n_x)
{
    __m512i even[HX_OK_AT_ONCE], odd[HX_OK_AT_ONCE];

    UNROLL for (size_t t = 0; t < n_x; t++)
        even[t] = odd[t] = _mm512_setzero_si512();
    for (size_t j = 0; j < n; j += 16) {
        const __m512i we = _mm512_loadu_si512(w + j), wo = _mm512_srli_epi64(we, 32);

        UNROLL for (size_t t = 0; t < n_x; t++) {
            const __m512i xe = _mm512_loadu_si512(x + t * stride + j);

            even[t] = _mm512_add_epi64(even[t], _mm512_mul_epi32(we, xe));
            odd[t] = _mm512_add_epi64(odd[t], _mm512_mul_epi32(wo, _mm512_srli_epi64(xe, 32)));
        }
    }
    UNROLL for (size_t t = 0; t < n_x; t++)
        sum[t] = sum_avx512(_mm512_add_epi64(even[t], odd[t]));
}

static AVX512 void dot1_avx512(int64_t *sum, const int32_t *w, const int32_t *x, size_t stride,
                               size_t n)
{
    dots_avx512(sum, w, x, stride, n, 1);
}

static AVX512 void dot4_avx512(int64_t *sum, const int32_t *w, const int32_t *x, size_t stride,
                               size_t n)
{
    dots_avx512(sum, w, x, stride, n, HX_OK_AT_ONCE);
}

static AVX512 struct hx_ok dot_ok_avx512(const struct hx_ok *w, const struct hx_ok *x, size_t n)
{
    __m512i same = _mm512_setzero_si512(), cross = same;

    for (size_t j = 0; j < n; j += 4) {
        const __m512i wv = _mm512_loadu_si512(w + j), xv = _mm512_loadu_si512(x + j);

        same = _mm512_add_epi64(same, _mm512_mul_epi32(wv, xv));
        cross = _mm512_add_epi64(
            cross, _mm512_mul_epi32(wv, _mm512_shuffle_epi32(xv, (_MM_PERM_ENUM)SWAP)));
    }
    /* zeros in the lanes of the other kind */
    return hx_ok_of_sums((uint64_t)sum_avx512(_mm512_maskz_mov_epi64(A_LANES, same)),
                         (uint64_t)sum_avx512(_mm512_maskz_mov_epi64(B_LANES, same)),
                         (uint64_t)sum_avx512(_mm512_maskz_mov_epi64(A_LANES, cross)),
                         (uint64_t)sum_avx512(_mm512_maskz_mov_epi64(B_LANES, cross)));
}

static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

const struct hx_ok_kernel hx_ok_avx512 = {"avx512", has_avx512, dot1_avx512, dot4_avx512,
                                          dot_ok_avx512};
#endif
