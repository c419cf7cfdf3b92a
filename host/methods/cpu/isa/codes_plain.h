/* Codes 0..255 of quantised blocks in plain C, in the order of the weights; loops of constant length that a compiler
 * turns into vectors. */
#ifndef HX_CODES_PLAIN_H
#define HX_CODES_PLAIN_H

#include "form.h"

FORM_INLINE void codes_q8_0(uint8_t out[32], const struct hx_q8_0 *b)
{
    for (size_t i = 0; i < 32; i++)
        out[i] = (uint8_t)((uint8_t)b->qs[i] ^ 0x80);
}

FORM_INLINE void codes_low_high(uint8_t *out, const uint8_t *qs, size_t half)
{
    for (size_t i = 0; i < half; i++)
        out[i] = qs[i] & 15;
    for (size_t i = 0; i < half; i++)
        out[half + i] = qs[i] >> 4;
}

FORM_INLINE void codes_add_fifth(uint8_t out[32], const uint8_t qh[4])
{
    const uint32_t bits = form_u32(qh);

    for (size_t i = 0; i < 32; i++)
        out[i] |= (uint8_t)((bits >> i & 1) << 4);
}

FORM_INLINE void codes_look_up(uint8_t out[32])
{
    for (size_t i = 0; i < 32; i++)
        out[i] = (uint8_t)((uint8_t)hx_iq4_nl_values[out[i]] ^ 0x80);
}

/* out[32 j + l] = two bits of qs[l], for the four j */
FORM_INLINE void codes_twos(uint8_t out[128], const uint8_t qs[32])
{
    for (unsigned j = 0; j < 4; j++)
        for (size_t l = 0; l < 32; l++)
            out[32 * j + l] = qs[l] >> 2 * j & 3;
}

FORM_INLINE void codes_q2(uint8_t out[256], const uint8_t qs[64])
{
    codes_twos(out, qs);
    codes_twos(out + 128, qs + 32);
}

/* out[32 j + l] |= bit j of bits[l] as bit `to` */
FORM_INLINE void codes_add_bits(uint8_t out[256], const uint8_t bits[32], unsigned to)
{
    for (unsigned j = 0; j < 8; j++)
        for (size_t l = 0; l < 32; l++)
            out[32 * j + l] |= (uint8_t)((bits[l] >> j & 1) << to);
}

FORM_INLINE void codes_q4(uint8_t out[256], const uint8_t qs[128])
{
    for (size_t c = 0; c < 4; c++)
        codes_low_high(out + 64 * c, qs + 32 * c, 32);
}

FORM_INLINE void codes_q6(uint8_t out[256], const struct hx_q6_k *b)
{
    uint8_t top[128];

    for (size_t h = 0; h < 2; h++) {
        codes_low_high(out + 128 * h, b->ql + 64 * h, 64);
        codes_twos(top, b->qh + 32 * h);
        for (size_t i = 0; i < 128; i++)
            out[128 * h + i] |= (uint8_t)(top[i] << 4);
    }
}

/* One block of 32 or 256. */
FORM_INLINE void codes_block(uint32_t type, uint8_t *out, const uint8_t *block)
{
    switch (type) {
    case HX_QUANT_Q8_0:
        codes_q8_0(out, (const struct hx_q8_0 *)block);
        break;
    case HX_QUANT_Q4_0:
        codes_low_high(out, ((const struct hx_q4_0 *)block)->qs, 16);
        break;
    case HX_QUANT_Q4_1:
        codes_low_high(out, ((const struct hx_q4_1 *)block)->qs, 16);
        break;
    case HX_QUANT_Q5_0:
        codes_low_high(out, ((const struct hx_q5_0 *)block)->qs, 16);
        codes_add_fifth(out, ((const struct hx_q5_0 *)block)->qh);
        break;
    case HX_QUANT_Q5_1:
        codes_low_high(out, ((const struct hx_q5_1 *)block)->qs, 16);
        codes_add_fifth(out, ((const struct hx_q5_1 *)block)->qh);
        break;
    case HX_QUANT_IQ4_NL:
        codes_low_high(out, ((const struct hx_iq4_nl *)block)->qs, 16);
        codes_look_up(out);
        break;
    case HX_QUANT_Q2_K:
        codes_q2(out, ((const struct hx_q2_k *)block)->qs);
        break;
    case HX_QUANT_Q3_K:
        codes_q2(out, ((const struct hx_q3_k *)block)->qs);
        codes_add_bits(out, ((const struct hx_q3_k *)block)->hmask, 2);
        break;
    case HX_QUANT_Q4_K:
        codes_q4(out, ((const struct hx_q4_k *)block)->qs);
        break;
    case HX_QUANT_Q5_K:
        codes_q4(out, ((const struct hx_q5_k *)block)->qs);
        codes_add_bits(out, ((const struct hx_q5_k *)block)->qh, 4);
        break;
    default:
        codes_q6(out, (const struct hx_q6_k *)block);
    }
}

#endif
