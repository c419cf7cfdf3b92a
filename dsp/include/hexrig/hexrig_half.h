/* A half of IEEE 754 for C++ compilers that have none (g++ 12 for x86): 16 bits that become a float wherever they are used, and that a
 * float is rounded to, to the nearest, ties to even. */
#ifndef HEXRIG_HALF_H
#define HEXRIG_HALF_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
struct hx_half {
    uint16_t bits;

    hx_half() = default;
    hx_half(float value) : bits(bits_of(value)) {}
    operator float() const { return value_of(bits); }
    hx_half &operator+=(float x) { return *this = hx_half(*this + x); }
    hx_half &operator-=(float x) { return *this = hx_half(*this - x); }
    hx_half &operator*=(float x) { return *this = hx_half(*this * x); }
    hx_half &operator/=(float x) { return *this = hx_half(*this / x); }

private:
    static float float_of(uint32_t word)
    {
        float f;

        memcpy(&f, &word, sizeof(f));
        return f;
    }
    static uint32_t word_of(float f)
    {
        uint32_t word;

        memcpy(&word, &f, sizeof(word));
        return word;
    }
    static float value_of(uint16_t half)
    {
        const uint32_t magnitude = half & 0x7fffu, sign = (uint32_t)(half & 0x8000u) << 16;
        const uint32_t special = magnitude >= 0x7c00 ? 0x7f800000u : 0;
        const float scaled = float_of(magnitude << 13) * 5192296858534827628530496329220096.0f; /* 2^112: exact, also for subnormals */

        return float_of(word_of(scaled) | special | sign);
    }
    static uint16_t bits_of(float value)
    {
        const uint32_t word = word_of(value), magnitude = word & 0x7fffffffu, sign = word >> 16 & 0x8000u;
        uint32_t half;

        if (magnitude > 0x7f800000u)
            half = 0x7e00; /* a NaN */
        else if (magnitude < 0x38800000u)
            half = word_of(float_of(magnitude) + 0.5f) - 0x3f000000u; /* subnormal: the sum's last bit is the half's */
        else if (magnitude >= 0x47800000u)
            half = 0x7c00;
        else
            half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1)) >> 13; /* may carry up to infinity */
        return (uint16_t)(sign | half);
    }
};
#endif

#endif
