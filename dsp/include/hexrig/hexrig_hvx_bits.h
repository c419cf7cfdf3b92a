/* HVX intrinsics about bits: leading zeros, set bits, set bits up to a lane, bits shifted into a lane. */
#ifndef HEXRIG_HVX_BITS_H
#define HEXRIG_HVX_BITS_H

#include "hexrig_hvx_lanes.h"
#include "hexrig_hvx_perm.h"

/* --- leading zeros */
#if HX_NATIVE_BYTES == 64
HX_FN hx_nuw hx_zeros_w(hx_nuw x)
{
    return (hx_nuw)_mm512_maskz_lzcnt_epi32(0xffff, (__m512i)x);
}
/* A bit behind each half ends its zeros. */
HX_FN hx_nuh hx_zeros_h(hx_nuh x)
{
    return (hx_nuh)(hx_zeros_w((hx_nuw)x << 16 | 0x8000u) | hx_zeros_w((hx_nuw)x | 0x8000u) << 16);
}
#else
/* The exponent field of x as a float. */
HX_FN hx_nw hx_exponent(hx_nuw x)
{
    return (hx_nw)((hx_nuw) __builtin_convertvector((hx_nw)x, hx_nsf) >> 23);
}
/* Without the bit behind each set one no float is rounded up to the next power of two.  The highest bit makes the float negative, and
 * so its exponent with the sign too large; 0 has exponent 0. */
HX_FN hx_nuw hx_zeros_w(hx_nuw x)
{
    const hx_nw zeros = 127 + 31 - hx_exponent(x & ~(x >> 1));

    return (hx_nuw)(hx_nmin(zeros, (hx_nw){0} + 32) & (hx_nw)(zeros > 0));
}
HX_FN hx_nuh hx_zeros_h(hx_nuh x)
{
    const hx_nw exponents = hx_exponent(hx_euh((hx_nw)x)) | hx_exponent(hx_ouh((hx_nw)x)) << 16;
    const hx_nh zeros = 127 + 15 - (hx_nh)exponents;

    return (hx_nuh)HX_PICK(h, zeros < 16, zeros, (hx_nh){0} + 16);
}
#endif

/* --- set bits */
HX_FN hx_nuh hx_ones_h(hx_nuh x)
{
#if HX_NATIVE_BYTES == 64 && defined(__AVX512BITALG__)
    return (hx_nuh)_mm512_popcnt_epi16((__m512i)x);
#else
    x -= (x >> 1) & 0x5555;
    x = (x & 0x3333) + ((x >> 2) & 0x3333);
    x = (x + (x >> 4)) & 0x0f0f;
    return (x + (x >> 8)) & 31;
#endif
}

/* Leading copies of the sign. */
HX_FN hx_nuw hx_signs_w(hx_nw x)
{
    return hx_zeros_w((hx_nuw)(x ^ (x >> 31)));
}
HX_FN hx_nuh hx_signs_h(hx_nh x)
{
    return hx_zeros_h((hx_nuh)(x ^ (x >> 15)));
}

#define HX_COUNT1(name, t, expr) \
    HX_MID_FN HVX_Vector name(HVX_Vector Vu) \
    { \
        union hx_v d; \
        HX_LOAD(a, Vu); \
        HX_HVX_COUNT(VS); \
        HX_EACH(i) { \
            HX_LANE(a, t); \
            d.n[i] = (hx_nw)(expr); \
        } \
        return d.v; \
    }
HX_COUNT1(Q6_Vuh_vcl0_Vuh, uh, hx_zeros_h(a))
HX_COUNT1(Q6_Vuw_vcl0_Vuw, uw, hx_zeros_w(a))
HX_COUNT1(Q6_Vh_vnormamt_Vh, h, hx_signs_h(a) - 1)
HX_COUNT1(Q6_Vw_vnormamt_Vw, w, hx_signs_w(a) - 1)
HX_COUNT1(Q6_Vh_vpopcount_Vh, uh, hx_ones_h(a))
#undef HX_COUNT1

#define HX_COUNT2(name, t) \
    HX_MID_FN HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) \
    { \
        union hx_v d; \
        HX_LOAD(a, Vu); \
        HX_LOAD(b, Vv); \
        HX_HVX_COUNT(VS); \
        HX_EACH(i) { \
            HX_LANE(a, t); \
            HX_LANE(b, u##t); \
            d.n[i] = (hx_nw)(b + hx_signs_##t(a)); \
        } \
        return d.v; \
    }
HX_COUNT2(Q6_Vh_vadd_vclb_VhVh, h)
HX_COUNT2(Q6_Vw_vadd_vclb_VwVw, w)
#undef HX_COUNT2

/* --- predicate bits up to and including each lane */
/* Lanes of 64 bits k places up, zeros below. */
HX_FN hx_nud hx_up_1(hx_nud x)
{
    return __builtin_shufflevector((hx_nud){0}, x, HX_D_INDEX(HX_D_NEXT, HX_D_LANES - 1));
}
#if HX_NATIVE_BYTES >= 32
HX_FN hx_nud hx_up_2(hx_nud x)
{
    return __builtin_shufflevector((hx_nud){0}, x, HX_D_INDEX(HX_D_NEXT, HX_D_LANES - 2));
}
#endif
#if HX_NATIVE_BYTES >= 64
HX_FN hx_nud hx_up_4(hx_nud x)
{
    return __builtin_shufflevector((hx_nud){0}, x, HX_D_INDEX(HX_D_NEXT, HX_D_LANES - 4));
}
#endif

/* Sums of the lanes of 64 bits up to and including each. */
HX_FN hx_nud hx_sums_d(hx_nud x)
{
    x += hx_up_1(x);
#if HX_NATIVE_BYTES >= 32
    x += hx_up_2(x);
#endif
#if HX_NATIVE_BYTES >= 64
    x += hx_up_4(x);
#endif
    return x;
}

/* For each byte, within 64 bits first; then what the lanes before have is added to all bytes of a lane. */
HX_FN HVX_Vector hx_prefix_sums(HVX_Vector q)
{
    union hx_v d;
    uint64_t before = 0;

    d.v = q;
    HX_EACH(i) {
        hx_nud x = (hx_nud)d.n[i] & 0x0101010101010101u, sums;

        x += x << 8;
        x += x << 16;
        x += x << 32;
        sums = hx_sums_d(x >> 56) + before;
        before = sums[HX_D_LANES - 1];
        sums -= x >> 56;
        sums |= sums << 8;
        sums |= sums << 16;
        d.n[i] = (hx_nw)(x + (sums | sums << 32));
    }
    return d.v;
}

/* The sum of a wider lane is that of its last byte. */
#define HX_PREFIX(name, t, others) \
    HX_MID_FN HVX_Vector name(HVX_VectorPred Qv) \
    { \
        union hx_v d; \
        HX_HVX_COUNT(VS); \
        d.v = hx_prefix_sums(Qv); \
        HX_EACH(i) \
        d.n[i] = (hx_nw)((hx_n##t)d.n[i] >> (others)); \
        return d.v; \
    }
HX_PREFIX(Q6_Vb_prefixsum_Q, ub, 0)
HX_PREFIX(Q6_Vh_prefixsum_Q, uh, 8)
HX_PREFIX(Q6_Vw_prefixsum_Q, uw, 24)
#undef HX_PREFIX

/* --- 64-bit lanes of Vxx (high, low) take in word Vu: shifted right by Vv (7 bits, signed) with Vu
 * coming from above, or left with Vu from below; what stays of Vxx is of its low word, in both halves */
#if HX_NATIVE_BYTES > 16
/* Shifts of words that take any count, as the machine's do: from 32 on, and below 0, nothing of the word is left. */
#if HX_NATIVE_BYTES == 64
#define HX_ANY_SHIFT(name, x, k) (hx_nw)_mm512_maskz_##name##_epi32(0xffff, (__m512i)(x), (__m512i)(k))
#else
#define HX_ANY_SHIFT(name, x, k) (hx_nw)_mm256_##name##_epi32((__m256i)(x), (__m256i)(k))
#endif
HX_FN hx_nw hx_any_shl(hx_nw x, hx_nw k)
{
    return HX_ANY_SHIFT(sllv, x, k);
}
HX_FN hx_nw hx_any_shr_u(hx_nw x, hx_nw k)
{
    return HX_ANY_SHIFT(srlv, x, k);
}
HX_FN hx_nw hx_any_shr(hx_nw x, hx_nw k)
{
    return HX_ANY_SHIFT(srav, x, k);
}
#undef HX_ANY_SHIFT

HX_MID_FN HVX_VectorPair Q6_Ww_vasrinto_WwVwVw(HVX_VectorPair Vxx, HVX_Vector Vu, HVX_Vector Vv)
{
    union hx_w x;
    union hx_v u, v;

    HX_HVX_COUNT(VP_VS);
    x.w = Vxx;
    u.v = Vu;
    v.v = Vv;
    HX_EACH(i) {
        const hx_nw in = u.n[i], low = x.n[i], ones = (hx_nw){0} - 1;
        const hx_nw n = (hx_nw)((hx_nuw)v.n[i] << 25) >> 25, is_left = n >> 31, m = -n;
        const hx_nw right_low = hx_any_shl(in, 32 - n) | ((hx_nw)(n > 31) & hx_any_shr(in, n - 32)) |
                                (low & hx_any_shr_u(ones, n));
        const hx_nw left_high =
            hx_any_shl(in, m) | (low & (hx_any_shr_u(ones, 32 - m) | hx_any_shl(ones, m - 32)));

        x.n[i] = hx_nsel(is_left, low & hx_any_shl(ones, m), right_low);
        x.n[HX_NATIVES + i] = hx_nsel(is_left, left_high, hx_any_shr(in, n));
    }
    return x.w;
}
#else
HX_BIG_FN HVX_VectorPair Q6_Ww_vasrinto_WwVwVw(HVX_VectorPair Vxx, HVX_Vector Vu, HVX_Vector Vv)
{
    union hx_w x;
    union hx_v u, v;

    HX_HVX_COUNT(VP_VS);
    x.w = Vxx;
    u.v = Vu;
    v.v = Vv;
    for (int i = 0; i < 32; i++) {
        const int n = (v.w[i] & 0x3f) - (v.w[i] & 0x40);
        const uint64_t in = (uint64_t)u.uw[i] << 32;
        const uint64_t both = (uint64_t)x.u[0].uw[i] << 32 | x.u[0].uw[i];
        uint64_t r = 0;

        if (n >= 0)
            r = (uint64_t)((int64_t)in >> n) |
                (both & 0xffffffffu >> (n > 31 ? 31 : n) >> (n > 31));
        else if (n > -64)
            r = in << -n | (both & 0xffffffffull << -n);
        x.u[0].uw[i] = (uint32_t)r;
        x.u[1].uw[i] = (uint32_t)(r >> 32);
    }
    return x.w;
}
#endif

#endif
