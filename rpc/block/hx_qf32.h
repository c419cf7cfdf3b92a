/* qf32, the float of V69's vector unit, for code that does not run there: eight words at a time, the bits of
 * dsp/include/hexrig/hexrig_hvx_qfloat.h, to which tests/kernels/check_spinor_hvx.c holds all of it.  Definition: docs/hvx.md,
 * section "qfloat".
 *
 * A word is [ s : 24 bits, two's complement ][ e : 8 bits ], its value (2s + 1) 2^(e - 150).  Inside, t is 8 times a sum or product in
 * units of the last place, with bit 0 also set when anything below it was cut off: rounding needs to know no more. */
#ifndef HX_QF32_H
#define HX_QF32_H

#include <stdint.h>

enum { HX_QF32_LANES = 8 };

typedef int32_t hx_qf32 __attribute__((vector_size(4 * HX_QF32_LANES)));
typedef int64_t hx_qf32_wide __attribute__((vector_size(8 * HX_QF32_LANES)));
typedef float hx_qf32_float __attribute__((vector_size(4 * HX_QF32_LANES)));

#define HX_QF32_FN static inline __attribute__((always_inline))

HX_QF32_FN hx_qf32 hx_qf32_splat(int32_t w)
{
    return (hx_qf32){0} + w;
}

HX_QF32_FN hx_qf32 hx_qf32_pick(hx_qf32 mask, hx_qf32 yes, hx_qf32 no)
{
    return (yes & mask) | (no & ~mask);
}

/* Position of the highest one, |m| < 2^25; the float of 0 has exponent -127. */
HX_QF32_FN hx_qf32 hx_qf32_top_bit(hx_qf32 m)
{
    return (((hx_qf32)__builtin_convertvector(m, hx_qf32_float) >> 23) & 255) - 127;
}

/* Significand and exponent of a word, and of an f32 pattern without its sign. */
HX_QF32_FN hx_qf32 hx_qf32_m(hx_qf32 w)
{
    return (w >> 7) | 1;
}

HX_QF32_FN hx_qf32 hx_qf32_float_m(hx_qf32 f)
{
    return (f & 0x7fffff) | (((f & 0x7f800000) != 0) & 0x800000);
}

HX_QF32_FN hx_qf32 hx_qf32_float_e(hx_qf32 f)
{
    const hx_qf32 e = (f >> 23) & 255;

    return e - (e == 0); /* subnormals have the exponent of the smallest normal */
}

/* One step out of range the value is halved and rounded to two candidates, further out it saturates; elsewhere a third candidate
 * keeps s unnormalised. */
HX_QF32_FN hx_qf32 hx_qf32_round(hx_qf32 t, hx_qf32 e)
{
    const hx_qf32 halved = (t < -(1 << 27)) | (t >= 1 << 27) | (e == -1);
    const hx_qf32 two = halved | (e == 255);
    const hx_qf32 u = hx_qf32_pick(halved, t, t << 1), q = u >> 6, rest = u & 63;
    const hx_qf32 up = rest > hx_qf32_pick(two, hx_qf32_splat(32), hx_qf32_splat(40));
    const hx_qf32 middle = ~two & ~up & (rest > 24);
    const hx_qf32 s = hx_qf32_pick(middle, q, q << 1) - up, exponent = e - halved - middle, sign = (t >> 31) << 8;
    hx_qf32 w = (s << 8) | (exponent & 255);

    w = hx_qf32_pick(exponent > 255, INT32_MAX ^ sign, w);
    w = hx_qf32_pick(exponent < 0, sign, w);
    return w & (t != 0);
}

HX_QF32_FN hx_qf32 hx_qf32_product(hx_qf32 x, hx_qf32 y, hx_qf32 e)
{
    const hx_qf32_wide p = __builtin_convertvector(x, hx_qf32_wide) * __builtin_convertvector(y, hx_qf32_wide);
    const hx_qf32 cut = __builtin_convertvector(p & 0xfffff, hx_qf32) != 0;

    return hx_qf32_round(__builtin_convertvector(p >> 20, hx_qf32) | (cut & 1), e);
}

/* Two f32 patterns: the product of the magnitudes is rounded, then complemented. */
HX_QF32_FN hx_qf32 hx_qf32_mul_floats(hx_qf32 a, hx_qf32 b)
{
    return hx_qf32_product(hx_qf32_float_m(a), hx_qf32_float_m(b), hx_qf32_float_e(a) + hx_qf32_float_e(b) - 127) ^
           (((a ^ b) >> 31) << 8);
}

HX_QF32_FN hx_qf32 hx_qf32_mul(hx_qf32 a, hx_qf32 b)
{
    return hx_qf32_product(hx_qf32_m(a), hx_qf32_m(b), (a & 255) + (b & 255) - 127);
}

/* At the larger exponent once its operand's leading zeros are used up, but not below the smaller one. */
HX_QF32_FN hx_qf32 hx_qf32_sum(hx_qf32 x, hx_qf32 ex, hx_qf32 y, hx_qf32 ey)
{
    const hx_qf32 swap = ex < ey, high = hx_qf32_pick(swap, ey, ex), dist = high - hx_qf32_pick(swap, ex, ey);
    const hx_qf32 big = hx_qf32_pick(swap, y, x), small = hx_qf32_pick(swap, x, y) << 3;
    const hx_qf32 zeros = 23 - hx_qf32_top_bit(big), zero = big == 0;
    const hx_qf32 most = hx_qf32_pick(zero, hx_qf32_splat(24), zeros), left = hx_qf32_pick(most < dist, most, dist);
    const hx_qf32 rest = dist - left, right = hx_qf32_pick(rest < 31, rest, hx_qf32_splat(31)), kept = small >> right;

    return hx_qf32_round(((big << left) << 3) + (kept | (((kept << right) != small) & 1)), high - left);
}

HX_QF32_FN hx_qf32 hx_qf32_add(hx_qf32 a, hx_qf32 b)
{
    return hx_qf32_sum(hx_qf32_m(a), a & 255, hx_qf32_m(b), b & 255);
}

HX_QF32_FN hx_qf32 hx_qf32_sub(hx_qf32 a, hx_qf32 b)
{
    return hx_qf32_sum(hx_qf32_m(a), a & 255, -hx_qf32_m(b), b & 255);
}

/* a - b of two f32 patterns; two negative terms are added as magnitudes, and the sum complemented. */
HX_QF32_FN hx_qf32 hx_qf32_sub_floats(hx_qf32 a, hx_qf32 b)
{
    const hx_qf32 sa = a >> 31, sb = ~(b >> 31), both = sa & sb, fa = sa ^ both, fb = sb ^ both;

    return hx_qf32_sum((hx_qf32_float_m(a) ^ fa) - fa, hx_qf32_float_e(a), (hx_qf32_float_m(b) ^ fb) - fb, hx_qf32_float_e(b)) ^
           (both << 8);
}

/* The nearest f32, ties to even, with gradual underflow; the top exponent is an ordinary one and saturates. */
HX_QF32_FN hx_qf32 hx_qf32_to_float(hx_qf32 w)
{
    const hx_qf32 m = hx_qf32_m(w), sign = m >> 31, magnitude = (m ^ sign) - sign, top = hx_qf32_top_bit(magnitude);
    const hx_qf32 e = top + (w & 255) - 23, sub = (1 - e) & (e < 1);
    const hx_qf32 wide = magnitude << (24 - top), less = sub + 1;
    const hx_qf32 drop = hx_qf32_pick(less < 27, less, hx_qf32_splat(27)), odd = (wide >> drop) & 1;
    const hx_qf32 r = (wide + ((hx_qf32_splat(1) << (drop - 1)) - 1) + odd) >> drop;

    return (r + (((e - 1) & (e > 0)) << 23)) | (w & INT32_MIN);
}

#endif
