/* AVX-512 without VNNI. */
#include "isa_tables.h"

#ifdef HX_ISA_X86
#ifdef __clang__
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#include <immintrin.h>
#endif

#include "v16_avx512.h"

V16_INLINE __m512i dot_words(__m512i sum, __m512i a, __m512i b)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}

/* Even and odd bytes apart, as words: pairs of products of bytes would saturate for codes above 128. */
V16_INLINE __m512i dot_bytes(__m512i sum, __m512i codes, __m512i x)
{
    const __m512i low = _mm512_set1_epi16(0xff);

    sum = dot_words(sum, _mm512_and_si512(codes, low), _mm512_srai_epi16(_mm512_slli_epi16(x, 8), 8));
    return dot_words(sum, _mm512_srli_epi16(codes, 8), _mm512_srai_epi16(x, 8));
}

#include "ops.inc"
#include "flash.inc"
#include "matmul_float.inc"
#include "matmul_avx512.inc"

const struct hx_cpu_kernels hx_isa_avx512 = HX_ISA_TABLE("avx512", m_matmul, {{.40f, .23f}, {.53f, .30f}, {.83f, .85f}});

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
