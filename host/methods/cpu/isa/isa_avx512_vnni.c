/* AVX-512 with VNNI: four products of bytes per lane in one instruction. */
#include "isa_tables.h"

#ifdef HX_ISA_X86
#ifdef __clang__
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c")
#include <immintrin.h>
#endif

#include "v16_avx512.h"

V16_INLINE __m512i dot_bytes(__m512i sum, __m512i codes, __m512i x)
{
    return _mm512_dpbusd_epi32(sum, codes, x);
}

V16_INLINE __m512i dot_words(__m512i sum, __m512i a, __m512i b)
{
    return _mm512_dpwssd_epi32(sum, a, b);
}

#include "ops.inc"
#include "flash.inc"
#include "matmul_float.inc"
#include "matmul_avx512.inc"

const struct hx_cpu_kernels hx_isa_avx512_vnni = HX_ISA_TABLE("avx512-vnni", m_matmul, {{.40f, .23f}, {.38f, .24f}, {.83f, .85f}});

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
