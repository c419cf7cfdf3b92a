/* Blocks of 32 weights to f32, in the order of operations that ggml uses. */
#include "codecs.h"
#include "hx_f16.h"

enum { WEIGHTS = 32, HALF = 16 };

const int8_t hx_iq4_nl_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};

/* The code of weight i, without its fifth bit. */
static int nibble(const uint8_t qs[HALF], size_t i)
{
    return i < HALF ? qs[i] & 15 : qs[i - HALF] >> 4;
}

static int fifth(const uint8_t qh[4], size_t i)
{
    return (qh[i / 8] >> i % 8 & 1) << 4;
}

void hx_widen_q4_0(float *out, const void *blocks, size_t n)
{
    const struct hx_q4_0 *b = blocks;

    for (; n; n -= WEIGHTS, b++, out += WEIGHTS) {
        const float d = hx_f32_from_f16(b->d);

        for (size_t i = 0; i < WEIGHTS; i++)
            out[i] = (float)(nibble(b->qs, i) - 8) * d;
    }
}

void hx_widen_q4_1(float *out, const void *blocks, size_t n)
{
    const struct hx_q4_1 *b = blocks;

    for (; n; n -= WEIGHTS, b++, out += WEIGHTS) {
        const float d = hx_f32_from_f16(b->d), m = hx_f32_from_f16(b->m);

        for (size_t i = 0; i < WEIGHTS; i++)
            out[i] = (float)nibble(b->qs, i) * d + m;
    }
}

void hx_widen_q5_0(float *out, const void *blocks, size_t n)
{
    const struct hx_q5_0 *b = blocks;

    for (; n; n -= WEIGHTS, b++, out += WEIGHTS) {
        const float d = hx_f32_from_f16(b->d);

        for (size_t i = 0; i < WEIGHTS; i++)
            out[i] = (float)((nibble(b->qs, i) | fifth(b->qh, i)) - 16) * d;
    }
}

void hx_widen_q5_1(float *out, const void *blocks, size_t n)
{
    const struct hx_q5_1 *b = blocks;

    for (; n; n -= WEIGHTS, b++, out += WEIGHTS) {
        const float d = hx_f32_from_f16(b->d), m = hx_f32_from_f16(b->m);

        for (size_t i = 0; i < WEIGHTS; i++)
            out[i] = (float)(nibble(b->qs, i) | fifth(b->qh, i)) * d + m;
    }
}

void hx_widen_iq4_nl(float *out, const void *blocks, size_t n)
{
    const struct hx_iq4_nl *b = blocks;

    for (; n; n -= WEIGHTS, b++, out += WEIGHTS) {
        const float d = hx_f32_from_f16(b->d);

        for (size_t i = 0; i < WEIGHTS; i++)
            out[i] = d * (float)hx_iq4_nl_values[nibble(b->qs, i)];
    }
}
