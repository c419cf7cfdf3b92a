/* Blocks of 256 weights to f32.  Products are formed in ggml's order: (d s) q, not d (s q). */
#include "codecs.h"
#include "hx_f16.h"

enum { WEIGHTS = HX_QK_WEIGHTS, HALF = 128, GROUP16 = 16, GROUP32 = 32 };

/* The two low bits of weight i of a Q2_K or Q3_K block. */
static int two_bits(const uint8_t qs[64], size_t i)
{
    return qs[i / HALF * 32 + i % 32] >> i % HALF / 32 * 2 & 3;
}

void hx_widen_q2_k(float *out, const void *blocks, size_t n)
{
    const struct hx_q2_k *b = blocks;

    for (; n; n -= WEIGHTS, b++, out += WEIGHTS) {
        const float d = hx_f32_from_f16(b->d), dmin = hx_f32_from_f16(b->dmin);

        for (size_t i = 0; i < WEIGHTS; i++) {
            const uint8_t s = b->scales[i / GROUP16];
            const float ds = d * (float)(s & 15), m = dmin * (float)(s >> 4);

            out[i] = ds * (float)two_bits(b->qs, i) - m;
        }
    }
}

/* The 6-bit scale of group g of a Q3_K block. */
static int scale6(const uint8_t scales[12], size_t g)
{
    const int low = g < 8 ? scales[g] & 15 : scales[g - 8] >> 4;

    return low | (scales[8 + g % 4] >> g / 4 * 2 & 3) << 4;
}

void hx_widen_q3_k(float *out, const void *blocks, size_t n)
{
    const struct hx_q3_k *b = blocks;

    for (; n; n -= WEIGHTS, b++, out += WEIGHTS) {
        const float d = hx_f32_from_f16(b->d);

        for (size_t i = 0; i < WEIGHTS; i++) {
            const float ds = d * (float)(scale6(b->scales, i / GROUP16) - 32);
            const int third = b->hmask[i % 32] >> i / 32 & 1;

            out[i] = ds * (float)(two_bits(b->qs, i) + 4 * third - 4);
        }
    }
}

/* The low nibble of weight i of a Q4_K or Q5_K block. */
static int nibble(const uint8_t qs[128], size_t i)
{
    return qs[i / 64 * 32 + i % 32] >> i / 32 % 2 * 4 & 15;
}

void hx_widen_q4_k(float *out, const void *blocks, size_t n)
{
    const struct hx_q4_k *b = blocks;

    for (; n; n -= WEIGHTS, b++, out += WEIGHTS) {
        const float d = hx_f32_from_f16(b->d), dmin = hx_f32_from_f16(b->dmin);

        for (size_t i = 0; i < WEIGHTS; i += GROUP32) {
            uint8_t s, m;

            hx_quant_scale_min(b->scales, (unsigned)(i / GROUP32), &s, &m);
            const float ds = d * (float)s, dm = dmin * (float)m;

            for (size_t k = i; k < i + GROUP32; k++)
                out[k] = ds * (float)nibble(b->qs, k) - dm;
        }
    }
}

void hx_widen_q5_k(float *out, const void *blocks, size_t n)
{
    const struct hx_q5_k *b = blocks;

    for (; n; n -= WEIGHTS, b++, out += WEIGHTS) {
        const float d = hx_f32_from_f16(b->d), dmin = hx_f32_from_f16(b->dmin);

        for (size_t i = 0; i < WEIGHTS; i += GROUP32) {
            const unsigned g = (unsigned)(i / GROUP32);
            uint8_t s, m;

            hx_quant_scale_min(b->scales, g, &s, &m);
            const float ds = d * (float)s, dm = dmin * (float)m;

            for (size_t k = i; k < i + GROUP32; k++)
                out[k] = ds * (float)(nibble(b->qs, k) | (b->qh[k % 32] >> g & 1) << 4) - dm;
        }
    }
}

/* The six bits of weight i. */
static int six_bits(const struct hx_q6_k *b, size_t i)
{
    const size_t half = i / HALF, j = i % HALF / 32, l = i % 32;

    return (b->ql[64 * half + 32 * (j % 2) + l] >> j / 2 * 4 & 15) |
           (b->qh[32 * half + l] >> 2 * j & 3) << 4;
}

void hx_widen_q6_k(float *out, const void *blocks, size_t n)
{
    const struct hx_q6_k *b = blocks;

    for (; n; n -= WEIGHTS, b++, out += WEIGHTS) {
        const float d = hx_f32_from_f16(b->d);

        for (size_t i = 0; i < WEIGHTS; i++)
            out[i] = d * (float)b->scales[i / GROUP16] * (float)(six_bits(b, i) - 32);
    }
}
