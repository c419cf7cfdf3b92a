/* qfloat arithmetic of V69, lane by lane and without branches.  Definition: docs/hvx.md, section
 * "qfloat".
 *
 * A qf32 (qf16) word is [ s : 24 (11) bits, two's complement ][ e : 8 (5) bits ]; its value is
 * (2s+1) * 2^(e - bias - F) with F = 23 (10), bias = 127 (15).  All work is done in 32-bit lanes:
 *   m, x, y  significand as an integer in units of 2^-F (2s+1, or the IEEE mantissa)
 *   e        biased exponent, may leave its field until the result is rounded
 *   t        8 * (value / 2^-F), with bit 0 also set when anything below it was cut off
 * An odd t stands for every value strictly between its even neighbours: that is all rounding needs
 * to know, because all thresholds are even.
 *
 * Three points that public sources leave open are decided here and nowhere else:
 *  (a) IEEE * IEEE rounds the magnitude and then complements s (not: rounds the signed product);
 *  (b) qf -> IEEE uses the all-ones exponent as an ordinary binade and saturates there (not: gives
 * inf); (c) an exact zero becomes the word 0. */
#ifndef HEXRIG_HVX_QFLOAT_H
#define HEXRIG_HVX_QFLOAT_H

#include "hexrig_hvx_lanes.h"

/* qf word: signed odd significand and exponent. */
HX_FN hx_nw hx_qf_m(hx_nw w, int X)
{
    return (w >> (X - 1)) | 1;
}

HX_FN hx_nw hx_qf_e(hx_nw w, int X)
{
    return w & ((1 << X) - 1);
}

/* IEEE word: magnitude of the mantissa, and the exponent (a subnormal has that of the smallest
 * normal).  Exponent all ones is an ordinary binade. */
HX_FN hx_nw hx_ieee_m(hx_nw w, int F, int X)
{
    const hx_nw ef = (w >> F) & ((1 << X) - 1);

    return (w & ((1 << F) - 1)) | ((ef != 0) & (1 << F));
}

HX_FN hx_nw hx_ieee_e(hx_nw w, int F, int X)
{
    const hx_nw ef = (w >> F) & ((1 << X) - 1);

    return ef - (ef == 0);
}

#if HX_NATIVE_BYTES == 64
/* Rounding, sum and product of F = 23 once more for registers of 64 bytes: comparisons there give bits, not lanes, and the
 * portable forms below make the compiler turn each into lanes and back.  tests/dsp/test_qfloat.c holds either form to the same
 * vectors; builds without AVX-512 use the portable one. */
#define HX_QF_BITS 1
/* With a mask of all lanes: what has none makes g++ 12 warn of a word without a value. */
#define HX_ALL 0xffff
#define HX_SLL(x, n) _mm512_maskz_slli_epi32(HX_ALL, x, n)
#define HX_SRA(x, n) _mm512_maskz_srai_epi32(HX_ALL, x, n)
#define HX_SLLV(x, n) _mm512_maskz_sllv_epi32(HX_ALL, x, n)
#define HX_ABS(x) _mm512_maskz_abs_epi32(HX_ALL, x)
#define HX_SLL64(x, n) _mm512_maskz_slli_epi64((__mmask8)HX_ALL, x, n)
#define HX_SRL64(x, n) _mm512_maskz_srli_epi64((__mmask8)HX_ALL, x, n)
#define HX_MUL(x, y) _mm512_maskz_mul_epi32((__mmask8)HX_ALL, x, y)
#define HX_I(x) ((__m512i)(x))
#define HX_N(x) ((hx_nw)(x))

/* hx_qf_round() for F = 23. */
HX_FN hx_nw hx_qf_round_bits(hx_nw t, hx_nw e)
{
    const __m512i one = _mm512_set1_epi32(1), top = _mm512_set1_epi32(255);
    const __m512i sign = HX_SLL(HX_SRA(HX_I(t), 31), 8);
    /* whole: not halved; three: not two candidates */
    const __mmask16 whole = _mm512_mask_cmpneq_epi32_mask(
        _mm512_cmplt_epu32_mask(HX_I(t + (1 << 27)), _mm512_set1_epi32(1 << 28)), HX_I(e),
        _mm512_set1_epi32(-1));
    const __mmask16 three = _mm512_mask_cmpneq_epi32_mask(whole, HX_I(e), top);
    const __m512i u = _mm512_mask_slli_epi32(HX_I(t), whole, HX_I(t), 1);
    const __m512i q = HX_SRA(u, 6), rem = _mm512_and_si512(u, _mm512_set1_epi32(63));
    const __m512i most =
        _mm512_mask_mov_epi32(_mm512_set1_epi32(32), three, _mm512_set1_epi32(40));
    const __mmask16 up = _mm512_cmpgt_epi32_mask(rem, most);
    const __mmask16 mid = _mm512_mask_cmple_epi32_mask(
        _mm512_mask_cmpgt_epi32_mask(three, rem, _mm512_set1_epi32(24)), rem, most);
    __m512i s = _mm512_mask_mov_epi32(HX_SLL(q, 1), mid, q), ex, w;

    s = _mm512_mask_add_epi32(s, up, s, one);
    ex = _mm512_mask_mov_epi32(HX_I(e + 1), whole, HX_I(e));
    ex = _mm512_mask_add_epi32(ex, mid, ex, one);
    w = _mm512_or_si512(HX_SLL(s, 8), _mm512_and_si512(ex, top));
    w = _mm512_mask_xor_epi32(w, _mm512_cmpgt_epi32_mask(ex, top), sign,
                              _mm512_set1_epi32(INT32_MAX));
    w = _mm512_mask_mov_epi32(w, _mm512_movepi32_mask(ex), sign);
    return HX_N(_mm512_maskz_mov_epi32(_mm512_test_epi32_mask(HX_I(t), HX_I(t)), w));
}

/* hx_qf_sum() for F = 23. */
HX_FN hx_nw hx_qf_sum_bits(hx_nw x, hx_nw ex, hx_nw y, hx_nw ey, hx_nw *e)
{
    const __mmask16 swap = _mm512_cmplt_epi32_mask(HX_I(ex), HX_I(ey));
    const __m512i dist = HX_ABS(HX_I(ex - ey));
    const __m512i big = _mm512_mask_mov_epi32(HX_I(x), swap, HX_I(y));
    const __m512i small = HX_SLL(_mm512_mask_mov_epi32(HX_I(y), swap, HX_I(x)), 3);
    const __m512i zeros = _mm512_sub_epi32(_mm512_maskz_lzcnt_epi32(HX_ALL, HX_ABS(big)),
                                           _mm512_set1_epi32(8));
    const __m512i left = _mm512_maskz_min_epi32(HX_ALL, zeros, dist), right = _mm512_sub_epi32(dist, left);
    const __m512i kept = _mm512_maskz_srav_epi32(HX_ALL, small, right);
    const __mmask16 cut = _mm512_cmpneq_epi32_mask(HX_SLLV(kept, right), small);
    const __m512i t = _mm512_add_epi32(
        HX_SLL(HX_SLLV(big, left), 3), kept);

    *e = HX_N(_mm512_sub_epi32(_mm512_maskz_max_epi32(HX_ALL, HX_I(ex), HX_I(ey)), left));
    return HX_N(_mm512_mask_or_epi32(t, cut, t, _mm512_set1_epi32(1)));
}

/* hx_qf_product24(). */
HX_FN hx_nw hx_qf_product24_bits(hx_nw x, hx_nw y)
{
    const __mmask16 upper = 0xaaaa;
    const __m512i even = HX_MUL(HX_I(x), HX_I(y));
    const __m512i odd = HX_MUL(HX_SRL64(HX_I(x), 32), HX_SRL64(HX_I(y), 32));
    const __m512i low = _mm512_mask_mov_epi32(even, upper, HX_SLL64(odd, 32));
    const __m512i t = _mm512_mask_mov_epi32(HX_SRL64(even, 20), upper,
                                            HX_SLL64(odd, 12));

    return HX_N(_mm512_mask_or_epi32(
        t, _mm512_test_epi32_mask(low, _mm512_set1_epi32((1 << 20) - 1)), t, _mm512_set1_epi32(1)));
}
#endif

/* Rounds t * 2^(e - bias) to a qf word (sign-extended when F = 10).  |t| < 2^29.
 * Out of range (|value| >= 2 at the top exponent) saturates, far below range it becomes +-tiny; one
 * step out of range on either side, the value is halved and rounded to two candidates; elsewhere a
 * third one keeps s unnormalised. */
HX_FN hx_nw hx_qf_round(hx_nw t, hx_nw e, int F, int X)
{
#ifdef HX_QF_BITS
    if (F == 23)
        return hx_qf_round_bits(t, e);
#endif
    const int emax = (1 << X) - 1;
    const int smax = (1 << F) - 1;
    const hx_nw ovf = (hx_nw)((hx_nuw)(t + (1 << (F + 4))) >= (uint32_t)1 << (F + 5));
    const hx_nw half = ovf | (e == -1);
    const hx_nw two = half | (e == emax);
    const hx_nw u = (t << 1) - (t & half); /* 16ths of a unit of 2s */
    const hx_nw q = u >> 6;
    const hx_nw rem = u & 63;
    const hx_nw up = rem > 40 - (two & 8);
    const hx_nw mid = (rem > 24 + (two & 8)) ^ up; /* nothing where there are two candidates */
    const hx_nw s = (q << 1) - (q & mid) - up;
    const hx_nw ex = e - half - mid;
    const hx_nw sign = (t >> 31) << X;
    hx_nw w = (hx_nw)((hx_nuw)s << X) | (ex & emax);

    w = hx_nsel(ex > emax, ((smax << X) | emax) ^ sign, w);
    w = hx_nsel(ex < 0, sign, w);
    return w & ~(t == 0);
}

/* t of x * y, both below 2^24 (25 bits with sign), for F = 23: products of 48 bits in 64-bit lanes.
 */
HX_FN hx_nw hx_qf_product24(hx_nw x, hx_nw y)
{
#ifdef HX_QF_BITS
    return hx_qf_product24_bits(x, y);
#else
    const hx_nd low = (1 << 20) - 1 + (hx_nd){0};
    const hx_nd dx = (hx_nd)x, dy = (hx_nd)y;
#if HX_NATIVE_BYTES == 32 /* AVX2 multiplies 32 bits to 64, not 64 by 64 */
    const hx_nd even = (hx_nd)_mm256_mul_epi32((__m256i)x, (__m256i)y);
    const hx_nd odd =
        (hx_nd)_mm256_mul_epi32((__m256i)((hx_nud)dx >> 32), (__m256i)((hx_nud)dy >> 32));
#else
    const hx_nd even = ((dx << 32) >> 32) * ((dy << 32) >> 32);
    const hx_nd odd = (dx >> 32) * (dy >> 32);
#endif
    const hx_nd even_cut = ((even & low) + low) >> 20; /* 1 when bits fall off */
    const hx_nd odd_cut = ((odd & low) + low) << 12;   /* bit 32 when bits fall off */
    const hx_nd even_t = ((hx_nd)((hx_nud)even >> 20) | even_cut) & 0xffffffffLL;
    const hx_nd odd_t = ((hx_nd)((hx_nud)odd << 12) & ~0xffffffffLL) | (odd_cut & (1LL << 32));

    return (hx_nw)(even_t | odd_t);
#endif
}

/* t of x * y for F = 10, rounded to qf16 (to = 10: seven bits fall off) or qf32 (to = 23: exact).
 */
HX_FN hx_nw hx_qf_product11(hx_nw x, hx_nw y, int to)
{
    const hx_nw p = x * y;

    if (to == 23)
        return p << 6;
    return (p >> 7) | (((p & 127) + 127) >> 7);
}

/* t of x * 2^ex + y * 2^ey at the common exponent that the hardware picks: that of the operand with
 * the larger exponent after its leading zeros are used up, but not below the other one's. */
HX_FN hx_nw hx_qf_sum(hx_nw x, hx_nw ex, hx_nw y, hx_nw ey, int F, hx_nw *e)
{
#ifdef HX_QF_BITS
    if (F == 23)
        return hx_qf_sum_bits(x, ex, y, ey, e);
#endif
    const hx_nw swap = ex < ey;
    const hx_nw diff = ex - ey;
    const hx_nw dist = (diff ^ swap) - swap;
    const hx_nw flip = (x ^ y) & swap;
    const hx_nw big = x ^ flip, small = (y ^ flip) << 3;
    /* |big| < 2^24 converts exactly, so the float's exponent gives the leading bit; 0 counts as
     * 2^-1 */
    const hx_nw msb = (((hx_nw) __builtin_convertvector(big, hx_nsf) >> 23) & 255) - 127;
    const hx_nw left = hx_nmin(hx_nmin(F - msb, (hx_nw){0} + F + 1), dist);
    const hx_nw right = hx_nmin(dist - left, (hx_nw){0} + 31);
    const hx_nw kept = small >> right;
    const hx_nw cut = (kept << right) != small;

    *e = ex - (diff & swap) - left;
    return ((big << left) << 3) + (kept | (cut & 1));
}

/* qf significand and exponent -> IEEE pattern without sign, round to nearest even, gradual
 * underflow. bias_diff = bias of the target - bias of the source; F_in, F_out fraction bits of
 * source and target. */
HX_FN hx_nw hx_qf_to_ieee(hx_nw m, hx_nw e, int F_in, int F_out, int bias_diff)
{
    const hx_nw sign = m >> 31;
    const hx_nw mag = (m ^ sign) - sign;
    const hx_nw msb = ((hx_nw) __builtin_convertvector(mag, hx_nsf) >> 23) - 127;
    const hx_nw ef = msb + e + (bias_diff - F_in); /* exponent field; < 1 is subnormal */
    const hx_nw sub = (1 - ef) & (ef < 1);
    /* put the leading bit at 24, then drop (24 - F_out) bits, more when subnormal */
    const hx_nw wide = mag << (24 - msb);
    const hx_nw drop = hx_nmin(sub + (24 - F_out), (hx_nw){0} + 27);
    const hx_nw odd = (wide >> drop) & 1;
    const hx_nw r = (wide + ((((hx_nw){0} + 1) << (drop - 1)) - 1) + odd) >> drop;

    /* r carries the hidden bit when normal: one less in the field, and a carry out of r moves it up
     */
    return r + (((ef - 1) & (ef > 0)) << F_out);
}

HX_FN hx_nw hx_qf_to_sf(hx_nw a)
{
    return hx_qf_to_ieee(hx_qf_m(a, 8), hx_qf_e(a, 8), 23, 23, 0) | (a & INT32_MIN);
}

/* hf of the even and the odd halves; of words whose results are the even (a) and the odd halves (b), which saturate past the top
 * binade. */
HX_FN hx_nw hx_qf16_to_hf(hx_nw a)
{
    const hx_nw lo = (a << 16) >> 16, hi = a >> 16;
    const hx_nw even = hx_qf_to_ieee(hx_qf_m(lo, 5), hx_qf_e(lo, 5), 10, 10, 0);
    const hx_nw odd = hx_qf_to_ieee(hx_qf_m(hi, 5), hx_qf_e(hi, 5), 10, 10, 0);

    return even | (odd << 16) | (a & (hx_nw)((hx_nuw){0} + 0x80008000u));
}

HX_FN hx_nw hx_qf32_to_hf(hx_nw a, hx_nw b)
{
    const hx_nw top = (hx_nw){0} + 0x7fff;
    const hx_nw even = hx_nmin(hx_qf_to_ieee(hx_qf_m(a, 8), hx_qf_e(a, 8), 23, 10, 15 - 127), top);
    const hx_nw odd = hx_nmin(hx_qf_to_ieee(hx_qf_m(b, 8), hx_qf_e(b, 8), 23, 10, 15 - 127), top);

    return even | (((hx_nw)((hx_nuw)a >> 31)) << 15) | (odd << 16) | (b & INT32_MIN);
}

/* The intrinsics in terms of one register of 32-bit lanes.  Q: qf operand, I: IEEE operand. */
HX_FN hx_nw hx_qf_mpy_qq(hx_nw a, hx_nw b, int F, int X, int to, int Xto)
{
    const hx_nw x = hx_qf_m(a, X), y = hx_qf_m(b, X);
    const hx_nw e =
        hx_qf_e(a, X) + hx_qf_e(b, X) + ((1 << (Xto - 1)) - 1 - 2 * ((1 << (X - 1)) - 1));

    return hx_qf_round(F == 23 ? hx_qf_product24(x, y) : hx_qf_product11(x, y, to), e, to, Xto);
}

HX_FN hx_nw hx_qf_mpy_qi(hx_nw a, hx_nw b, int F, int X, int to, int Xto)
{
    const hx_nw x = hx_qf_m(a, X), y = hx_ieee_m(b, F, X);
    const hx_nw e =
        hx_qf_e(a, X) + hx_ieee_e(b, F, X) + ((1 << (Xto - 1)) - 1 - 2 * ((1 << (X - 1)) - 1));

    return hx_qf_round(F == 23 ? hx_qf_product24(x, y) : hx_qf_product11(x, y, to), e, to, Xto) ^
           ((b >> 31) << Xto);
}

HX_FN hx_nw hx_qf_mpy_ii(hx_nw a, hx_nw b, int F, int X, int to, int Xto)
{
    const hx_nw x = hx_ieee_m(a, F, X), y = hx_ieee_m(b, F, X);
    const hx_nw e =
        hx_ieee_e(a, F, X) + hx_ieee_e(b, F, X) + ((1 << (Xto - 1)) - 1 - 2 * ((1 << (X - 1)) - 1));

    return hx_qf_round(F == 23 ? hx_qf_product24(x, y) : hx_qf_product11(x, y, to), e, to, Xto) ^
           (((a ^ b) >> 31) << Xto);
}

/* neg: 0 adds, -1 subtracts. */
HX_FN hx_nw hx_qf_add_qq(hx_nw a, hx_nw b, int neg, int F, int X)
{
    hx_nw e;
    const hx_nw y = hx_qf_m(b, X);
    const hx_nw t = hx_qf_sum(hx_qf_m(a, X), hx_qf_e(a, X), (y ^ neg) - neg, hx_qf_e(b, X), F, &e);

    return hx_qf_round(t, e, F, X);
}

HX_FN hx_nw hx_qf_add_qi(hx_nw a, hx_nw b, int neg, int F, int X)
{
    hx_nw e;
    const hx_nw sign = (b ^ (neg & INT32_MIN)) >> 31, y = hx_ieee_m(b, F, X);
    const hx_nw t =
        hx_qf_sum(hx_qf_m(a, X), hx_qf_e(a, X), (y ^ sign) - sign, hx_ieee_e(b, F, X), F, &e);

    return hx_qf_round(t, e, F, X);
}

/* Two negative operands: the sum of the magnitudes is rounded and then complemented. */
HX_FN hx_nw hx_qf_add_ii(hx_nw a, hx_nw b, int neg, int F, int X)
{
    hx_nw e;
    const hx_nw sa = a >> 31, sb = (b ^ (neg & INT32_MIN)) >> 31, both = sa & sb;
    const hx_nw fa = sa ^ both, fb = sb ^ both;
    const hx_nw x = hx_ieee_m(a, F, X), y = hx_ieee_m(b, F, X);
    const hx_nw t =
        hx_qf_sum((x ^ fa) - fa, hx_ieee_e(a, F, X), (y ^ fb) - fb, hx_ieee_e(b, F, X), F, &e);

    return hx_qf_round(t, e, F, X) ^ (both << X);
}

#endif
