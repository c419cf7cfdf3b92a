/* Scalar IEEE float and double.  Every NaN result is the all-ones NaN; conversions to integers saturate, and a NaN gives
 * -1.  Rounding is to nearest even (the mode a program starts in) or, with _chop, towards zero.
 * Notation: hexrig_scalar.h. */
#ifndef HEXRIG_SCALAR_FLOAT_H
#define HEXRIG_SCALAR_FLOAT_H

#include "hexrig_scalar.h"
#include "hexrig_scalar_mpy.h"

static inline uint32_t hxs_sf_bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    return u;
}

static inline float hxs_sf(uint32_t u)
{
    float f;

    memcpy(&f, &u, sizeof(f));
    return f;
}

static inline uint64_t hxs_df_bits(double f)
{
    uint64_t u;

    memcpy(&u, &f, sizeof(u));
    return u;
}

static inline double hxs_df(uint64_t u)
{
    double f;

    memcpy(&f, &u, sizeof(f));
    return f;
}

static inline float hxs_sf_out(float f)
{
    return f != f ? hxs_sf(0xffffffffu) : f;
}

static inline double hxs_df_out(double f)
{
    return f != f ? hxs_df(~0ull) : f;
}

HXS_Q6_2(F, Q6_R_sfadd_RR, F, F, hxs_sf_out(a + b))
HXS_Q6_2(F, Q6_R_sfsub_RR, F, F, hxs_sf_out(a - b))
HXS_Q6_2(F, Q6_R_sfmpy_RR, F, F, hxs_sf_out(a * b))
HXS_Q6_2(G, Q6_P_dfadd_PP, G, G, hxs_df_out(a + b))
HXS_Q6_2(G, Q6_P_dfsub_PP, G, G, hxs_df_out(a - b))

/* +0 is above -0; a NaN loses against a number. */
#define HXS_FLESS(x, y, bits, top)                                                                 \
    ((x) < (y) || ((x) == (y) && bits(x) >> (top) > bits(y) >> (top)))
#define HXS_FMAX(x, y, bits, top)                                                                  \
    ((x) != (x) ? (y) : (y) != (y) || HXS_FLESS(y, x, bits, top) ? (x) : (y))
#define HXS_FMIN(x, y, bits, top)                                                                  \
    ((x) != (x) ? (y) : (y) != (y) || HXS_FLESS(x, y, bits, top) ? (x) : (y))
HXS_Q6_2(F, Q6_R_sfmax_RR, F, F, hxs_sf_out(HXS_FMAX(a, b, hxs_sf_bits, 31)))
HXS_Q6_2(F, Q6_R_sfmin_RR, F, F, hxs_sf_out(HXS_FMIN(a, b, hxs_sf_bits, 31)))
HXS_Q6_2(G, Q6_P_dfmax_PP, G, G, hxs_df_out(HXS_FMAX(a, b, hxs_df_bits, 63)))
HXS_Q6_2(G, Q6_P_dfmin_PP, G, G, hxs_df_out(HXS_FMIN(a, b, hxs_df_bits, 63)))

HXS_Q6_2(p, Q6_p_sfcmp_eq_RR, F, F, HXS_BOOL(a == b))
HXS_Q6_2(p, Q6_p_sfcmp_ge_RR, F, F, HXS_BOOL(a >= b))
HXS_Q6_2(p, Q6_p_sfcmp_gt_RR, F, F, HXS_BOOL(a > b))
HXS_Q6_2(p, Q6_p_sfcmp_uo_RR, F, F, HXS_BOOL(a != a || b != b))
HXS_Q6_2(p, Q6_p_dfcmp_eq_PP, G, G, HXS_BOOL(a == b))
HXS_Q6_2(p, Q6_p_dfcmp_ge_PP, G, G, HXS_BOOL(a >= b))
HXS_Q6_2(p, Q6_p_dfcmp_gt_PP, G, G, HXS_BOOL(a > b))
HXS_Q6_2(p, Q6_p_dfcmp_uo_PP, G, G, HXS_BOOL(a != a || b != b))

/* Bit of the class: 0 zero, 1 normal, 2 subnormal, 3 infinite, 4 NaN. */
static inline int hxs_fclass(uint64_t exponent, uint64_t fraction, uint64_t top)
{
    if (exponent == 0)
        return fraction ? 4 : 1;
    return exponent < top ? 2 : fraction ? 16 : 8;
}

#define HXS_SFCLASS(f) hxs_fclass(hxs_sf_bits(f) >> 23 & 0xff, hxs_sf_bits(f) & 0x7fffffu, 0xff)
#define HXS_DFCLASS(f)                                                                             \
    hxs_fclass(hxs_df_bits(f) >> 52 & 0x7ff, hxs_df_bits(f) & (~0ull >> 12), 0x7ff)
HXS_Q6_2(p, Q6_p_sfclass_RI, F, R, HXS_BOOL(HXS_SFCLASS(a) & b))
HXS_Q6_2(p, Q6_p_dfclass_PI, G, R, HXS_BOOL(HXS_DFCLASS(a) & b))
HXS_Q6_1(F, Q6_R_sfmake_I_pos, R, hxs_sf((121u << 23) + ((uint32_t)a << 17)))
HXS_Q6_1(F, Q6_R_sfmake_I_neg, R, hxs_sf((121u << 23) + ((uint32_t)a << 17) + (1u << 31)))
HXS_Q6_1(G, Q6_P_dfmake_I_pos, R, hxs_df((1017ull << 52) + ((uint64_t)a << 46)))
HXS_Q6_1(G, Q6_P_dfmake_I_neg, R, hxs_df((1017ull << 52) + ((uint64_t)a << 46) + (1ull << 63)))

/* s * t + x with its lowest bit set when inexact, which then rounds once and right to float: the product of two floats is
 * exact in double, and the error of the sum is known. */
static inline double hxs_fma_odd(double s, double t, double x)
{
    const double p = s * t, d = p + x, v = d - p, e = (p - (d - v)) + (x - v);
    uint64_t u = hxs_df_bits(d);

    if (e == e && e != 0 && !(u & 1))
        u += (e > 0) == (d > 0) ? 1 : ~0ull;
    return hxs_df(u);
}

HXS_Q6_3(F, Q6_R_sfmpyacc_RR, F, F, F, hxs_sf_out((float)hxs_fma_odd(b, c, a)))
HXS_Q6_3(F, Q6_R_sfmpynac_RR, F, F, F, hxs_sf_out((float)hxs_fma_odd(-b, c, a)))

/* For division and square root: infinity minus infinity gives 0, overflow the largest number, a product of 0 leaves x. */
static inline float hxs_fma_lib(float x, float s, float t)
{
    const double d = hxs_fma_odd(s, t, x);
    const int finite = (HXS_SFCLASS(x) | HXS_SFCLASS(s) | HXS_SFCLASS(t)) < 8;
    const int nan = (HXS_SFCLASS(x) | HXS_SFCLASS(s) | HXS_SFCLASS(t)) & 16;

    if ((s == 0 || t == 0) && finite)
        return x;
    if (d != d && !nan && HXS_SFCLASS(x) == 8 && s != 0 && t != 0)
        return 0;
    if (finite && (float)d - (float)d != 0)
        return hxs_sf(0x7f7fffffu | (d < 0 ? 1u << 31 : 0));
    return hxs_sf_out((float)d);
}

static inline float hxs_fma_scale(float x, float s, float t, int by)
{
    const double d = hxs_fma_odd(s, t, x), scale = hxs_df((uint64_t)(by + 1023) << 52);

    if ((s == 0 || t == 0) && x == 0)
        return x;
    return hxs_sf_out((float)(d * scale));
}

HXS_Q6_3(F, Q6_R_sfmpyacc_RR_lib, F, F, F, hxs_fma_lib(a, b, c))
HXS_Q6_3(F, Q6_R_sfmpynac_RR_lib, F, F, F, hxs_fma_lib(a, -b, c))
HXS_Q6_4(F, Q6_R_sfmpyacc_RRp_scale, F, F, F, p, hxs_fma_scale(a, b, c, (int8_t)d))

/* Double products are built from parts. */
HXS_Q6_2(G, Q6_P_dfmpyll_PP, G, G,
        hxs_df((HXS_UMUL(hxs_df_bits(a), hxs_df_bits(b)) >> 32 << 1) |
              ((uint32_t)HXS_UMUL(hxs_df_bits(a), hxs_df_bits(b)) != 0)))
HXS_Q6_3(G, Q6_P_dfmpylhacc_PP, G, G, G,
        hxs_df(hxs_df_bits(a) +
               (HXS_UMUL(hxs_df_bits(b), 0x100000 | hxs_zxt(hxs_df_bits(c) >> 32, 20)) << 1)))

/* +-(m, and a little more when sticky) * 2^exp to the nearest double, ties to even. */
__extension__ typedef unsigned __int128 hxs_u128;

static inline double hxs_df_round(uint64_t sign, hxs_u128 m, int sticky, int exp)
{
    const uint64_t leading = (uint64_t)(m >> 64 ? m >> 64 : m | 1);
    const int top = (m >> 64 ? 127 : 63) - __builtin_clzll(leading);
    const int e = exp + top, low = e < -1022 ? -1022 - e : 0, drop = top - 52 + low;
    hxs_u128 rest, half;
    uint64_t q;

    if (m == 0 || drop > 100)
        return hxs_df(sign);
    if (e > 1023)
        return hxs_df(sign | 0x7ffull << 52);
    if (drop <= 0) {
        q = (uint64_t)m << -drop;
    } else {
        half = (hxs_u128)1 << (drop - 1);
        rest = m & (half * 2 - 1);
        q = (uint64_t)(m >> drop);
        q += rest > half || (rest == half && (sticky || q & 1));
    }
    return hxs_df(sign | (q + (low ? 0 : (uint64_t)(e + 1022) << 52)));
}

/* The last step of a product: the high parts, on top of what dfmpyll and dfmpylh collected in x. */
static inline double hxs_mpyhh(uint64_t x, double a, double b)
{
    const uint64_t u = hxs_df_bits(a), v = hxs_df_bits(b);
    const uint64_t high = (hxs_zxt(u >> 32, 20) | 1 << 20) * (hxs_zxt(v >> 32, 20) | 1 << 20);
    const int exp = (int)(u >> 52 & 0x7ff) + (int)(v >> 52 & 0x7ff) - 2 * 1023 - 72;

    if ((HXS_DFCLASS(a) | HXS_DFCLASS(b)) & (1 | 8 | 16))
        return hxs_df_out(a * b);
    /* subnormals are for dfmpyfix to remove first */
    if (HXS_DFCLASS(a) == 4 || HXS_DFCLASS(b) == 4)
        return hxs_df((u ^ v) & 1ull << 63);
    return hxs_df_round((u ^ v) & 1ull << 63, (x >> 1) + ((hxs_u128)high << 32), x & 1, exp);
}

HXS_Q6_3(G, Q6_P_dfmpyhhacc_PP, G, G, G, hxs_mpyhh(hxs_df_bits(a), b, c))
#define HXS_DFEXP(f) (hxs_df_bits(f) >> 52 & 0x7ff)
#define HXS_DFBIG(f) (HXS_DFCLASS(f) == 2 && HXS_DFEXP(f) >= 512)
HXS_Q6_2(G, Q6_P_dfmpyfix_PP, G, G,
        HXS_DFCLASS(a) == 4 && HXS_DFBIG(b)   ? a * 0x1p52
        : HXS_DFCLASS(b) == 4 && HXS_DFBIG(a) ? a * 0x1p-52
                                            : a)

/* Conversions. */
HXS_Q6_1(G, Q6_P_convert_sf2df_R, F, hxs_df_out((double)a))
HXS_Q6_1(F, Q6_R_convert_df2sf_P, G, hxs_sf_out((float)a))
HXS_Q6_1(F, Q6_R_convert_w2sf_R, R, (float)a)
HXS_Q6_1(F, Q6_R_convert_uw2sf_R, R, (float)(uint32_t)a)
HXS_Q6_1(F, Q6_R_convert_d2sf_P, P, (float)(int64_t)a)
HXS_Q6_1(F, Q6_R_convert_ud2sf_P, P, (float)a)
HXS_Q6_1(G, Q6_P_convert_w2df_R, R, (double)a)
HXS_Q6_1(G, Q6_P_convert_uw2df_R, R, (double)(uint32_t)a)
HXS_Q6_1(G, Q6_P_convert_d2df_P, P, (double)(int64_t)a)
HXS_Q6_1(G, Q6_P_convert_ud2df_P, P, (double)a)

/* |f| < 2^64 as an integer, rounded to nearest even or cut. */
static inline uint64_t hxs_df_magnitude(double f, int chop)
{
    const uint64_t whole = (uint64_t)f;
    const double rest = f - (double)whole;

    return whole + (!chop && (rest > 0.5 || (rest == 0.5 && whole & 1)));
}

static inline int64_t hxs_df_signed(double f, int chop, double limit, int64_t top)
{
    if (f != f)
        return -1;
    if (f >= limit)
        return top;
    if (f < -limit)
        return -top - 1;
    if (f < 0)
        return -(int64_t)hxs_df_magnitude(-f, chop);
    return hxs_min((int64_t)hxs_df_magnitude(f, chop), top);
}

static inline uint64_t hxs_df_unsigned(double f, int chop, double limit, uint64_t top)
{
    uint64_t u;

    if (f != f || f >= limit)
        return top;
    u = f < 0 ? 0 : hxs_df_magnitude(f, chop);
    return u > top ? top : u;
}

#define HXS_CONVERTS(from, A, D, tail, chop)                                                       \
    HXS_Q6_1(R, Q6_R_convert_##from##2w_##D##tail, A,                                              \
             HXS_SAT(hxs_df_signed(a, chop, 0x1p40, 1ll << 40)))                                   \
    HXS_Q6_1(R, Q6_R_convert_##from##2uw_##D##tail, A,                                             \
             hxs_df_unsigned(a, chop, 0x1p32, 0xffffffffu))                                        \
    HXS_Q6_1(P, Q6_P_convert_##from##2d_##D##tail, A, hxs_df_signed(a, chop, 0x1p63, INT64_MAX))   \
    HXS_Q6_1(P, Q6_P_convert_##from##2ud_##D##tail, A, hxs_df_unsigned(a, chop, 0x1p64, ~0ull))
HXS_CONVERTS(sf, F, R, , 0)
HXS_CONVERTS(sf, F, R, _chop, 1)
HXS_CONVERTS(df, G, P, , 0)
HXS_CONVERTS(df, G, P, _chop, 1)

/* Operands of a division or square root made safe for the iteration: hxs_fixup moves exponents out of the way and puts
 * special cases right; numerator and denominator are two results of one function. */
static inline float hxs_scalb(float f, int by)
{
    return (float)((double)f * hxs_df((uint64_t)(by + 1023) << 52));
}

static inline float hxs_fixup(float n, float d, int want_d)
{
    const int cn = HXS_SFCLASS(n), cd = HXS_SFCLASS(d);
    const int en = (int)(hxs_sf_bits(n) >> 23 & 0xff), ed = (int)(hxs_sf_bits(d) >> 23 & 0xff);
    const uint32_t sign = (hxs_sf_bits(n) ^ hxs_sf_bits(d)) & 1u << 31;
    int by_n, by_d;

    if ((cn | cd) & 16 || (cn == 8 && cd == 8) || (cn == 1 && cd == 1))
        return hxs_sf(0xffffffffu);
    if (cn == 8 || cd == 1)
        return want_d ? 1.0f : hxs_sf(sign | 0x7f800000u);
    if (cn == 1 || cd == 8)
        return want_d ? 1.0f : hxs_sf(sign);
    if (en - ed + 127 <= 23) /* the quotient nears underflow */
        by_n = 64, by_d = -64;
    else if (en - ed + 127 > 254 - 24) /* overflow */
        by_n = -32, by_d = 32;
    else if (en <= 23 + 2)
        by_n = by_d = 64;
    else if (ed <= 1)
        by_n = by_d = 32;
    else if (ed > 252)
        by_n = by_d = -32;
    else
        by_n = by_d = 0;
    return want_d ? hxs_scalb(d, by_d) : hxs_scalb(n, by_n);
}

static inline float hxs_fixup_root(float f)
{
    if (f != f || f < 0)
        return hxs_sf(0xffffffffu);
    if (HXS_SFCLASS(f) == 8) /* qemu-hexagon's sign */
        return -f;
    return (hxs_sf_bits(f) >> 23 & 0xff) <= 24 ? hxs_scalb(f, 64) : f;
}

HXS_Q6_2(F, Q6_R_sffixupn_RR, F, F, hxs_fixup(a, b, 0))
HXS_Q6_2(F, Q6_R_sffixupd_RR, F, F, hxs_fixup(a, b, 1))
HXS_Q6_1(F, Q6_R_sffixupr_R, F, hxs_fixup_root(a))

#endif
