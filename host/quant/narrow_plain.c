/* f32 to halves and to blocks of 32 weights by ggml's reference rules: the resulting file is the
 * one that llama.cpp's tool writes, byte for byte. */
#include <math.h>
#include <string.h>

#include "codecs.h"
#include "hx_f16.h"

void hx_narrow_f32(void *blocks, const float *x, size_t n)
{
    memcpy(blocks, x, n * sizeof(*x));
}

void hx_narrow_f16(void *blocks, const float *x, size_t n)
{
    uint8_t *out = blocks;

    for (size_t i = 0; i < n; i++) {
        const uint16_t half = hx_f16_from_f32(x[i]);

        memcpy(out + 2 * i, &half, sizeof(half));
    }
}

/* Halves away from zero.  The reciprocal of a subnormal scale may be infinite; such codes become 0. */
static int8_t code8(float v)
{
    const float r = roundf(v);

    return fabsf(r) <= 127 ? (int8_t)r : 0;
}

void hx_narrow_q8_0(void *blocks, const float *x, size_t n)
{
    struct hx_q8_0 *b = blocks;

    for (; n; n -= HX_Q8_0_WEIGHTS, b++, x += HX_Q8_0_WEIGHTS) {
        float top = 0;

        for (size_t i = 0; i < HX_Q8_0_WEIGHTS; i++)
            top = fmaxf(top, fabsf(x[i]));
        const float d = top / 127, inverse = d > 0 ? 1 / d : 0;

        b->d = hx_f16_from_f32(d);
        for (size_t i = 0; i < HX_Q8_0_WEIGHTS; i++)
            b->qs[i] = code8(x[i] * inverse);
    }
}

/* The weight with the largest magnitude, the first of equals. */
static float peak32(const float *x)
{
    float peak = 0;

    for (size_t i = 0; i < 32; i++)
        if (fabsf(x[i]) > fabsf(peak))
            peak = x[i];
    return peak;
}

/* 0..15: the peak becomes 0; the largest weight of the other sign may have to be cut. */
static uint8_t code4(float v)
{
    const float r = v + 8.5f;

    if (!(fabsf(r) < 128)) /* as in code8() */
        return 0;
    return r < 15 ? (uint8_t)r : 15;
}

void hx_narrow_q4_0(void *blocks, const float *x, size_t n)
{
    struct hx_q4_0 *b = blocks;

    for (; n; n -= 32, b++, x += 32) {
        const float d = peak32(x) / -8, inverse = d != 0 ? 1 / d : 0;

        b->d = hx_f16_from_f32(d);
        memset(b->qs, 0, sizeof(b->qs));
        for (size_t i = 0; i < 32; i++)
            b->qs[i % 16] |= (uint8_t)(code4(x[i] * inverse) << i / 16 * 4);
    }
}

/* 0..31: the peak becomes 0; the largest weight of the other sign may have to be cut. */
static uint8_t code5(float v)
{
    const float r = v + 16.5f;

    if (!(fabsf(r) < 128)) /* as in code8() */
        return 0;
    return r < 31 ? (uint8_t)r : 31;
}

void hx_narrow_q5_0(void *blocks, const float *x, size_t n)
{
    struct hx_q5_0 *b = blocks;

    for (; n; n -= 32, b++, x += 32) {
        const float d = peak32(x) / -16, inverse = d != 0 ? 1 / d : 0;
        uint32_t fifth = 0;

        b->d = hx_f16_from_f32(d);
        memset(b->qs, 0, sizeof(b->qs));
        for (size_t i = 0; i < 32; i++) {
            const uint8_t q = code5(x[i] * inverse);

            b->qs[i % 16] |= (uint8_t)((q & 15) << i / 16 * 4);
            fifth |= (uint32_t)(q >> 4) << i;
        }
        memcpy(b->qh, &fifth, sizeof(b->qh));
    }
}
