/* IEEE half precision without a compiler type, so that the same code builds for the DSP. */
#ifndef HX_F16_H
#define HX_F16_H

#include <stdint.h>
#include <string.h>

/* Nearest half to f, ties to even; overflow gives infinity, NaN stays NaN. */
static inline uint16_t hx_f16_from_f32(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof(u));

    uint32_t sign = (u >> 16) & 0x8000, mant = u & 0x7fffff;
    int exp = (int)((u >> 23) & 0xff) - 127 + 15;

    if (exp == 128 + 15)
        return (uint16_t)(sign | 0x7c00 | (mant ? 0x200 | (mant >> 13) : 0));
    if (exp >= 31)
        return (uint16_t)(sign | 0x7c00);
    if (exp < -10)
        return (uint16_t)sign;

    int shift = 13;
    if (exp <= 0) { /* subnormal half: the implicit bit becomes explicit */
        mant |= 0x800000;
        shift += 1 - exp;
        exp = 0;
    }
    uint32_t half = ((uint32_t)exp << 10) + (mant >> shift);
    uint32_t rest = mant & ((1u << shift) - 1), tie = 1u << (shift - 1);
    if (rest > tie || (rest == tie && (half & 1)))
        half++; /* a carry runs into the exponent, up to infinity, as it should */
    return (uint16_t)(sign | half);
}

static inline float hx_f32_from_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = (h >> 10) & 31, mant = h & 0x3ff, u;
    float f;

    if (exp == 31) {
        u = sign | 0x7f800000 | (mant << 13);
    } else if (exp) {
        u = sign | ((exp + 112) << 23) | (mant << 13);
    } else { /* zero or subnormal: mant * 2^-24 is exact */
        f = (float)mant * 0x1p-24f;
        memcpy(&u, &f, sizeof(u));
        u |= sign;
    }
    memcpy(&f, &u, sizeof(f));
    return f;
}

#endif
