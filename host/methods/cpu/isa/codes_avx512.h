/* Codes 0..255 of quantised blocks in AVX-512 registers, in the order of the weights. */
#ifndef HX_CODES_AVX512_H
#define HX_CODES_AVX512_H

#include "form.h"

FORM_INLINE __m512i codes_two(__m256i low, __m256i high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

FORM_INLINE __m512i codes_both(const uint8_t *p)
{
    return _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)p));
}

/* 16 bytes each of two blocks: low nibbles, then high ones */
FORM_INLINE __m512i codes_nibbles(const uint8_t *a, const uint8_t *b)
{
    __m512i v = codes_two(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)a)),
                          _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)b)));

    v = _mm512_srlv_epi64(v, _mm512_setr_epi64(0, 0, 4, 4, 0, 0, 4, 4));
    return _mm512_and_si512(v, _mm512_set1_epi8(15));
}

FORM_INLINE __m512i codes_fifth(__m512i v, const uint8_t *a, const uint8_t *b)
{
    const __mmask64 bits = form_u32(a) | (uint64_t)form_u32(b) << 32;

    return _mm512_mask_add_epi8(v, bits, v, _mm512_set1_epi8(16));
}

FORM_INLINE __m512i codes_iq4(__m512i v)
{
    __m128i values = _mm_loadu_si128((const __m128i *)hx_iq4_nl_values);

    values = _mm_xor_si128(values, _mm_set1_epi8(-128));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(values), v);
}

/* Two blocks of 32. */
FORM_INLINE __m512i codes_pair(uint32_t type, const uint8_t *a, const uint8_t *b)
{
    switch (type) {
    case HX_QUANT_Q8_0:
        return _mm512_xor_si512(codes_two(_mm256_loadu_si256((const __m256i *)(a + 2)),
                                          _mm256_loadu_si256((const __m256i *)(b + 2))),
                                _mm512_set1_epi8(-128));
    case HX_QUANT_Q4_0:
        return codes_nibbles(a + 2, b + 2);
    case HX_QUANT_Q4_1:
        return codes_nibbles(a + 4, b + 4);
    case HX_QUANT_Q5_0:
        return codes_fifth(codes_nibbles(a + 6, b + 6), a + 2, b + 2);
    case HX_QUANT_Q5_1:
        return codes_fifth(codes_nibbles(a + 8, b + 8), a + 4, b + 4);
    default:
        return codes_iq4(codes_nibbles(a + 2, b + 2));
    }
}

/* the low 32 bytes shifted by `low` bits, the high ones by `high` */
FORM_INLINE __m512i codes_shift(__m512i v, int low, int high)
{
    return _mm512_srlv_epi64(v, _mm512_setr_epi64(low, low, low, low, high, high, high, high));
}

FORM_INLINE __m512i codes_k4(const uint8_t *qs)
{
    return _mm512_and_si512(codes_shift(codes_both(qs), 0, 4), _mm512_set1_epi8(15));
}

FORM_INLINE __m512i codes_q5_k(const struct hx_q5_k *b, int j)
{
    __m512i top = codes_shift(codes_both(b->qh), 2 * j, 2 * j + 1);

    top = _mm512_slli_epi64(_mm512_and_si512(top, _mm512_set1_epi8(1)), 4);
    return _mm512_or_si512(codes_k4(b->qs + 32 * j), top);
}

FORM_INLINE __m512i codes_q6_k(const struct hx_q6_k *b, int j)
{
    __m512i low = _mm512_loadu_si512(b->ql + 64 * (j / 2));
    __m512i top = codes_shift(codes_both(b->qh + 32 * (j / 2)), 4 * (j % 2), 4 * (j % 2) + 2);

    if (j % 2)
        low = _mm512_srli_epi64(low, 4);
    top = _mm512_slli_epi64(_mm512_and_si512(top, _mm512_set1_epi8(3)), 4);
    return _mm512_or_si512(_mm512_and_si512(low, _mm512_set1_epi8(15)), top);
}

FORM_INLINE __m512i codes_k2(const uint8_t *qs, int j)
{
    return _mm512_and_si512(codes_shift(codes_both(qs + 32 * (j / 2)), 4 * (j % 2), 4 * (j % 2) + 2),
                            _mm512_set1_epi8(3));
}

FORM_INLINE __m512i codes_q3_k(const struct hx_q3_k *b, int j)
{
    __m512i top = codes_shift(codes_both(b->hmask), 2 * j, 2 * j + 1);

    top = _mm512_slli_epi64(_mm512_and_si512(top, _mm512_set1_epi8(1)), 2);
    return _mm512_or_si512(codes_k2(b->qs, j), top);
}

/* Weights 64 j .. 64 j + 63 of a K block. */
FORM_INLINE __m512i codes_k(uint32_t type, const uint8_t *block, int j)
{
    switch (type) {
    case HX_QUANT_Q2_K:
        return codes_k2(((const struct hx_q2_k *)block)->qs, j);
    case HX_QUANT_Q3_K:
        return codes_q3_k((const struct hx_q3_k *)block, j);
    case HX_QUANT_Q4_K:
        return codes_k4(((const struct hx_q4_k *)block)->qs + 32 * j);
    case HX_QUANT_Q5_K:
        return codes_q5_k((const struct hx_q5_k *)block, j);
    default:
        return codes_q6_k((const struct hx_q6_k *)block, j);
    }
}

#endif
