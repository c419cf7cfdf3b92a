/* exp() of numbers that are not positive, for a softmax, without a C library. */
#ifndef SPINOR_EXP_H
#define SPINOR_EXP_H

#include <stdint.h>

/* Within 2^-21 of exp(x); 0 for x < -87. */
static inline __attribute__((always_inline)) float hx_spinor_exp(float x)
{
    if (!(x >= -87))
        return 0;
    const int n = (int)(x * 1.44269504f - 0.5f);
    /* ln 2 in two parts, the first of which n multiplies exactly */
    const float r = x - (float)n * 0.693359375f + (float)n * 2.12194440e-4f;
    const union { /* not memcpy, which would be a call where the compiler may know no library */
        uint32_t u;
        float f;
    } power = {.u = (uint32_t)(n + 127) << 23};
    float p = 1.0f / 720;

    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1;
    p = p * r + 1;
    return p * power.f;
}

#endif
