/* Rows of floats and of int8 to f32: the reference linear layer spends its time here, so these work on
 * vectors of 16. */
#include <string.h>

#include "codecs.h"
#include "hx_f16.h"
#include "base/vec.h"

typedef uint16_t u16x16 __attribute__((vector_size(32)));
typedef uint32_t u32x16 __attribute__((vector_size(64)));
typedef int8_t i8x16 __attribute__((vector_size(16)));

enum { AT_ONCE = 16 };

void hx_widen_f32(float *out, const void *blocks, size_t n)
{
    memcpy(out, blocks, n * sizeof(*out));
}

/* 16 halves to floats: the exponent is rebased by an exact multiply, which also normalises subnormals; infinity and NaN
 * get their exponent back. */
static hx_v16 widen_halves(u16x16 h)
{
    u32x16 u = __builtin_convertvector(h, u32x16);
    u32x16 bits = (u32x16)((hx_v16)((u & 0x7fff) << 13) * 0x1p112f);

    bits |= (u32x16)((u & 0x7c00) == 0x7c00) & 0x7f800000;
    return (hx_v16)(bits | (u & 0x8000) << 16);
}

void hx_widen_f16(float *out, const void *blocks, size_t n)
{
    const uint8_t *w = blocks;
    u16x16 h;
    size_t i = 0;

    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        memcpy(&h, w + 2 * i, sizeof(h));
        hx_v16 f = widen_halves(h);
        memcpy(out + i, &f, sizeof(f));
    }
    for (; i < n; i++) {
        uint16_t half;

        memcpy(&half, w + 2 * i, sizeof(half));
        out[i] = hx_f32_from_f16(half);
    }
}

/* The upper half of an f32. */
void hx_widen_bf16(float *out, const void *blocks, size_t n)
{
    const uint8_t *w = blocks;

    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        uint32_t bits;

        memcpy(&half, w + 2 * i, sizeof(half));
        bits = (uint32_t)half << 16;
        memcpy(out + i, &bits, sizeof(bits));
    }
}

void hx_widen_q8_0(float *out, const void *blocks, size_t n)
{
    const struct hx_q8_0 *b = blocks;

    for (; n; n -= HX_Q8_0_WEIGHTS, b++) {
        const float d = hx_f32_from_f16(b->d);

        for (size_t i = 0; i < HX_Q8_0_WEIGHTS; i += AT_ONCE, out += AT_ONCE) {
            i8x16 q;

            memcpy(&q, b->qs + i, sizeof(q));
            hx_v16 f = d * __builtin_convertvector(q, hx_v16);
            memcpy(out, &f, sizeof(f));
        }
    }
}
