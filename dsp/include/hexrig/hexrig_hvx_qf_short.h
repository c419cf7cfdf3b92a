/* qfloat arithmetic once more, bit for bit what hexrig_hvx_qfloat.h says, in fewer operations for registers of 32 and 64 bytes.
 *
 * v is the value in 16ths of a unit of 2s, rounded down, with bit 0 also set where something was cut off.  Rounding is two facts then:
 *   - of three candidates the middle one is taken where 24 < v mod 64 <= 40; else s = v >> 5 and the exponent stays;
 *   - for the middle one, and where |value| >= 2 is halved, s = v >> 6 with the next exponent: one formula for both.
 * So a word is v, or v / 2, shifted to its place, with the exponent for its low bits.  The smallest exponent and those behind either end
 * want more: where a register has one, the general code makes all of it.
 *
 * A skel that tells of its basic blocks keeps to the general code, which has no branch. */
#ifndef HEXRIG_HVX_QF_SHORT_H
#define HEXRIG_HVX_QF_SHORT_H

#include "hexrig_hvx_qfloat.h"

#if HX_NATIVE_BYTES > 16 && !(defined(__SANITIZE_ADDRESS__) && !defined(__clang__))
#define HX_RARE __attribute__((noinline, cold, unused)) static hx_nw
#define HX_RARE_MPY(kinds) \
    HX_RARE hx_rare_mpy_##kinds##_32(hx_nw a, hx_nw b) \
    { \
        return hx_qf_mpy_##kinds(a, b, 23, 8, 23, 8); \
    } \
    HX_RARE hx_rare_mpy_##kinds##_16(hx_nw a, hx_nw b) \
    { \
        return hx_qf_mpy_##kinds(a, b, 10, 5, 10, 5); \
    }
#define HX_RARE_ADD(kinds) \
    HX_RARE hx_rare_add_##kinds(hx_nw a, hx_nw b, int neg, int F) \
    { \
        return F == 23 ? hx_qf_add_##kinds(a, b, neg, 23, 8) : hx_qf_add_##kinds(a, b, neg, 10, 5); \
    }
HX_RARE_MPY(qq)
HX_RARE_MPY(qi)
HX_RARE_MPY(ii)
HX_RARE_ADD(qq)
HX_RARE_ADD(qi)
HX_RARE_ADD(ii)
HX_RARE hx_rare_to_sf(hx_nw a)
{
    return hx_qf_to_sf(a);
}
HX_RARE hx_rare_qf16_to_hf(hx_nw a)
{
    return hx_qf16_to_hf(a);
}
HX_RARE hx_rare_qf32_to_hf(hx_nw a, hx_nw b)
{
    return hx_qf32_to_hf(a, b);
}
#undef HX_RARE
#undef HX_RARE_MPY
#undef HX_RARE_ADD

/* --- what the two widths do differently.  hx_lanes: a set of lanes */
#if HX_NATIVE_BYTES == 64
typedef __mmask16 hx_lanes;
#define HX_EVERY ((hx_lanes)HX_ALL)
#define HX_SET(x) _mm512_set1_epi32(x)

HX_FN hx_lanes hx_not_zero(hx_nw x)
{
    return _mm512_test_epi32_mask(HX_I(x), HX_I(x));
}

HX_FN hx_nw hx_only(hx_lanes in, hx_nw x)
{
    return HX_N(_mm512_maskz_mov_epi32(in, HX_I(x)));
}

/* Is any of these lanes outside of 0..most? */
HX_FN int hx_any_beyond(hx_nw x, int most, hx_lanes in)
{
    return _mm512_mask_cmpgt_epu32_mask(in, HX_I(x), HX_SET(most)) != 0;
}

HX_FN hx_nw hx_and_or(hx_nw x, int mask, hx_nw y)
{
    return HX_N(_mm512_ternarylogic_epi32(HX_I(x), HX_SET(mask), HX_I(y), 0xea));
}

HX_FN hx_nw hx_high_words(hx_nud even, hx_nud odd)
{
    return HX_N(_mm512_mask_shuffle_epi32((__m512i)odd, 0x5555, (__m512i)even, (_MM_PERM_ENUM)0xf5));
}

/* -x where s is negative. */
HX_FN hx_nw hx_signed_as(hx_nw x, hx_nw s)
{
    return HX_N(_mm512_mask_sub_epi32(HX_I(x), _mm512_movepi32_mask(HX_I(s)), _mm512_setzero_si512(), HX_I(x)));
}

/* The complement of s, all of w but the exponent, where `sign` is negative. */
HX_FN hx_nw hx_qf_flip(hx_nw w, hx_nw sign, int X)
{
    return HX_N(_mm512_mask_xor_epi32(HX_I(w), _mm512_movepi32_mask(HX_I(sign)), HX_I(w), HX_SET(-(1 << X))));
}

/* Of an IEEE word: the significand in 16ths, without the sign, and the exponent. */
HX_FN hx_nw hx_ieee_16ths(hx_nw w, int F, int X, hx_nw *e)
{
    const __m512i m = HX_I((w & ((1 << F) - 1)) << 4);

    *e = HX_N(_mm512_maskz_max_epi32(HX_ALL, HX_I((hx_nuw)(w << (32 - F - X)) >> (32 - X)), HX_SET(1)));
    return HX_N(_mm512_mask_or_epi32(m, _mm512_test_epi32_mask(HX_I(w), HX_SET(((1 << X) - 1) << F)), m, HX_SET(1 << (F + 4))));
}

/* The word of v and e; 0 outside of `in`.  ties: v may lie on a threshold; then of two candidates the even s is taken. */
HX_FN hx_nw hx_qf_pack(hx_nw v, hx_nw e, int ties, hx_lanes in, int F, int X)
{
    const __mmask16 over = _mm512_cmpge_epu32_mask(HX_I(v + (1 << (F + 5))), HX_SET(1 << (F + 6)));
    const __mmask16 plain = _mm512_mask_test_epi32_mask((__mmask16)~over, HX_I(v - (ties ? 25 : 24)), HX_SET(0x30));
    __m512i x = HX_I(X == 8 ? v << 2 : v >> 1);

    if (ties)
        x = _mm512_mask_sub_epi32(x, _mm512_mask_cmpeq_epi32_mask(over, HX_I(v & 127), HX_SET(64)), x, HX_SET(1));
    x = X == 8 ? _mm512_mask_slli_epi32(x, plain, HX_I(v), 3) : _mm512_mask_mov_epi32(x, plain, HX_I(v));
    e = HX_N(_mm512_mask_add_epi32(HX_I(e), (__mmask16)~plain, HX_I(e), HX_SET(1)));
    return HX_N(_mm512_maskz_ternarylogic_epi32(in, x, HX_SET(-(1 << X)), HX_I(e), 0xea));
}

/* v of x * 2^ex + y * 2^ey, and its exponent; x and y in 16ths.  odd: both significands are, so what is cut off follows from the
 * distance. */
HX_FN hx_nw hx_qf_sum16ths(hx_nw x, hx_nw ex, hx_nw y, hx_nw ey, int odd, int F, hx_nw *e)
{
    const __mmask16 swap = _mm512_cmplt_epi32_mask(HX_I(ex), HX_I(ey));
    const __m512i big = _mm512_mask_mov_epi32(HX_I(x), swap, HX_I(y)), small = _mm512_mask_mov_epi32(HX_I(y), swap, HX_I(x));
    const __m512i most = _mm512_maskz_max_epi32(HX_ALL, HX_I(ex), HX_I(ey)), least = _mm512_maskz_min_epi32(HX_ALL, HX_I(ex), HX_I(ey));
    const __m512i zeros = _mm512_maskz_lzcnt_epi32(HX_ALL, HX_ABS(big));
    const __m512i at = _mm512_maskz_max_epi32(HX_ALL, _mm512_sub_epi32(_mm512_add_epi32(most, HX_SET(27 - F)), zeros), least);
    const __m512i left = _mm512_sub_epi32(most, at), right = _mm512_sub_epi32(at, least);
    const __m512i kept = _mm512_maskz_srav_epi32(HX_ALL, small, right), v = _mm512_add_epi32(HX_SLLV(big, left), kept);
    const __mmask16 cut = odd ? _mm512_test_epi32_mask(right, HX_SET(~3)) : _mm512_cmpneq_epi32_mask(HX_SLLV(kept, right), small);

    *e = HX_N(at);
    return HX_N(_mm512_mask_or_epi32(v, cut, v, HX_SET(1)));
}

/* By float arithmetic, whose flags and rounding the operations name themselves: the product cut off, the product rounded with ties
 * downwards (2^-48 of itself is taken away first), and what was cut off.  The exponent field of the first is the result's also
 * where the product is 2 and more; the middle candidate is where the second is 2 mod 4. */
HX_FN hx_nw hx_qf32_mpy_ii(hx_nw a, hx_nw b)
{
    enum { CUT = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC, NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    const __m512 x = (__m512)a, y = (__m512)b;
    const __m512 cut = _mm512_maskz_mul_round_ps(HX_ALL, x, y, CUT);
    const __m512 less = _mm512_maskz_mul_round_ps(HX_ALL, cut, _mm512_set1_ps(0x1p-48f), CUT);
    const __m512 rounded = _mm512_fmsub_round_ps(x, y, less, NEAREST), rest = _mm512_fmsub_round_ps(x, y, cut, NEAREST);
    const hx_nw p = (hx_nw)cut, e = (hx_nw)((hx_nuw)(p << 1) >> 24);
    const hx_nw hidden = (hx_nw){0} + (1 << 23), m = hx_and_or(p, 0x7fffff, hidden);
    /* 0: a zero, below 2^24: a subnormal */
    const __m512i least = _mm512_maskz_min_epu32(HX_ALL, HX_I(a << 1), HX_I(b << 1));
    const __mmask16 some = _mm512_test_epi32_mask(least, least);
    const __mmask16 below_2 = _mm512_cmpge_epu32_mask(HX_I(m), HX_I(hx_and_or(a, 0x7fffff, hidden)));
    const __mmask16 mid = _mm512_mask_cmpeq_epi32_mask(below_2, HX_I((hx_nw)rounded & 3), HX_SET(2));
    const __mmask16 exact = _mm512_mask_cmp_round_ps_mask((__mmask16)~below_2, rest, _mm512_setzero_ps(), _CMP_EQ_OQ, _MM_FROUND_NO_EXC);
    const __mmask16 tie = _mm512_mask_cmpeq_epi32_mask(exact, HX_I(p & 3), HX_SET(2)); /* halved: to the even s */
    __m512i s = _mm512_mask_slli_epi32(HX_I(m << 7), mid, HX_I(m), 6);

    if (__builtin_expect(hx_any_beyond(e - 64, 253 - 64, some) | _mm512_mask_cmplt_epu32_mask(some, least, HX_SET(1 << 24)), 0))
        return hx_rare_mpy_ii_32(a, b);
    s = _mm512_mask_sub_epi32(s, tie, s, HX_SET(256));
    s = _mm512_maskz_ternarylogic_epi32(some, s, HX_SET(-256), _mm512_mask_add_epi32(HX_I(e), mid, HX_I(e), HX_SET(1)), 0xea);
    return hx_qf_flip(HX_N(s), a ^ b, 8);
}

#define HX_HALVES 1
/* The halves nearest to floats, in the low half of each word. */
HX_FN hx_nw hx_halves_of_sf(hx_nw f)
{
    const __m256i halves = _mm512_maskz_cvtps_ph(HX_ALL, (__m512)f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);

    return HX_N(_mm512_maskz_cvtepu16_epi32(HX_ALL, halves));
}
#undef HX_SET

#else
typedef hx_nw hx_lanes;
#define HX_EVERY ((hx_lanes){0} - 1)
#define HX_I(x) ((__m256i)(x))
#define HX_N(x) ((hx_nw)(x))

HX_FN hx_lanes hx_not_zero(hx_nw x)
{
    return x != 0;
}

HX_FN hx_nw hx_only(hx_lanes in, hx_nw x)
{
    return in & x;
}

HX_FN int hx_any_beyond(hx_nw x, int most, hx_lanes in)
{
    return _mm256_movemask_ps((__m256)(in & (x | (x > most)))) != 0;
}

HX_FN hx_nw hx_and_or(hx_nw x, int mask, hx_nw y)
{
    return (x & mask) | y;
}

HX_FN hx_nw hx_high_words(hx_nud even, hx_nud odd)
{
    return (hx_nw)hx_words_of(even >> 32, odd);
}

HX_FN hx_nw hx_signed_as(hx_nw x, hx_nw s)
{
    return HX_N(_mm256_sign_epi32(HX_I(x), HX_I(s | 1)));
}

HX_FN hx_nw hx_qf_flip(hx_nw w, hx_nw sign, int X)
{
    return w ^ (hx_nw)((hx_nuw)(sign >> 31) << X);
}

HX_FN hx_nw hx_ieee_16ths(hx_nw w, int F, int X, hx_nw *e)
{
    const __m256i field = HX_I((hx_nuw)(w << (32 - F - X)) >> (32 - X)), one = _mm256_set1_epi32(1);

    *e = HX_N(_mm256_max_epi32(field, one));
    return ((w & ((1 << F) - 1)) << 4) | (HX_N(_mm256_min_epi32(field, one)) << (F + 4));
}

HX_FN hx_nw hx_pick_w(hx_lanes in, hx_nw a, hx_nw b)
{
    return HX_N(_mm256_blendv_epi8(HX_I(b), HX_I(a), HX_I(in)));
}

HX_FN hx_nw hx_qf_pack(hx_nw v, hx_nw e, int ties, hx_lanes in, int F, int X)
{
    const hx_nw up = v << (26 - F), fits = (up >> (26 - F)) == v, whole = X == 8 ? v << 3 : v;
    const hx_nw plain = fits & ~(hx_nw)(((v - (ties ? 25 : 24)) & 0x30) == 0);

    if (ties)
        v += ~fits & (hx_nw)((v & 127) == 64);
    return in & hx_and_or(hx_pick_w(plain, whole, X == 8 ? v << 2 : v >> 1), -(1 << X), e + 1 + plain);
}

/* Leading zeros from bit F + 4 on, by the exponent of a float: |x| < 2^(F + 5) is a multiple of 16. */
HX_FN hx_nw hx_zeros_16ths(hx_nw x, int F)
{
    const hx_nw f = (hx_nw) __builtin_convertvector(x, hx_nsf);

    return 127 + F + 4 - (hx_nw)((hx_nuw)(f << 1) >> 24);
}

HX_FN hx_nw hx_qf_sum16ths(hx_nw x, hx_nw ex, hx_nw y, hx_nw ey, int odd, int F, hx_nw *e)
{
    const hx_nw swap = ey > ex, big = hx_pick_w(swap, y, x), small = hx_pick_w(swap, x, y);
    const __m256i dist = _mm256_abs_epi32(HX_I(ex - ey));
    const __m256i left = _mm256_min_epu32(HX_I(hx_zeros_16ths(big, F)), dist), right = _mm256_sub_epi32(dist, left);
    const __m256i kept = _mm256_srav_epi32(HX_I(small), right);
    const hx_nw v = HX_N(_mm256_add_epi32(_mm256_sllv_epi32(HX_I(big), left), kept));

    *e = HX_N(_mm256_max_epi32(HX_I(ex), HX_I(ey))) - HX_N(left);
    if (odd)
        return v | (hx_nw)((hx_nuw)(HX_N(right) > 4) >> 31);
    return v | ((hx_nw)(HX_N(_mm256_sllv_epi32(kept, right)) != small) & 1);
}

/* By products of 64 bits, the low word of which tells whether anything is cut off. */
HX_FN hx_nw hx_qf32_mpy_ii(hx_nw a, hx_nw b)
{
    hx_nw ex, ey;
    const hx_nw x = hx_ieee_16ths(a, 23, 8, &ex) << 4, y = hx_ieee_16ths(b, 23, 8, &ey) << 1;
    const hx_nud even = (hx_nud)_mm256_mul_epu32(HX_I(x), HX_I(y));
    const hx_nud odd = (hx_nud)_mm256_mul_epu32(HX_I((hx_nud)x >> 32), HX_I((hx_nud)y >> 32));
    const hx_nw v = hx_high_words(even, odd) | ((hx_nw)(hx_words_of(even, odd << 32) != 0) & 1);
    const hx_nw e = ex + ey - 127;
    const hx_lanes some = hx_not_zero(v);

    if (__builtin_expect(hx_any_beyond(e, 254, some), 0))
        return hx_rare_mpy_ii_32(a, b);
    return hx_qf_flip(hx_qf_pack(v, e, 1, some, 23, 8), a ^ b, 8);
}
#ifdef __F16C__
#define HX_HALVES 1
HX_FN hx_nw hx_halves_of_sf(hx_nw f)
{
    return HX_N(_mm256_cvtepu16_epi32(_mm256_cvtps_ph((__m256)f, _MM_FROUND_TO_NEAREST_INT)));
}
#endif
#endif

/* --- the intrinsics in terms of one register, as in hexrig_hvx_qfloat.h */

/* qf32: the upper words of significands << 7 times significands << 6 are 16ths.  A product of odd numbers is no tie. */
HX_FN hx_nw hx_qf32_mpy_qq(hx_nw a, hx_nw b)
{
    const hx_nw half = (hx_nw){0} + 128, x = hx_and_or(a, -256, half), y = hx_and_or(b, -256, half) >> 1;
    const hx_nw v = hx_high_words(hx_product_ew(x, y), hx_product_ow(x, y)), e = (a & 255) + (b & 255) - 127;

    if (__builtin_expect(hx_any_beyond(e, 254, HX_EVERY), 0))
        return hx_rare_mpy_qq_32(a, b);
    return hx_qf_pack(v, e, 0, HX_EVERY, 23, 8);
}

/* Products of halves' significands, 11 bits and a sign, whose halves lie in words. */
HX_FN hx_nw hx_product_hs(hx_nw x, hx_nw y)
{
    return (hx_nw)hx_madd_h((hx_nuh)(x & 0xffff), (hx_nuh)y);
}

/* v of such a product: six bits are cut off for qf16; qf32 has room for all. */
HX_FN hx_nw hx_16ths_of(hx_nw p, int to)
{
    return to == 23 ? p << 7 : (p >> 6) | (((p & 63) + 63) >> 6);
}

/* Exponents of qf32 from halves are never near an end. */
HX_FN hx_nw hx_qfs_mpy_qq(hx_nw a, hx_nw b, int F, int X, int to, int Xto)
{
    if (F == 23)
        return hx_qf32_mpy_qq(a, b);
    const hx_nw v = hx_16ths_of(hx_product_hs(hx_qf_m(a, X), hx_qf_m(b, X)), to);
    const hx_nw e = hx_qf_e(a, X) + hx_qf_e(b, X) + (to == 23 ? 127 - 30 : -15);

    if (to == 10 && __builtin_expect(hx_any_beyond(e, 30, HX_EVERY), 0))
        return hx_rare_mpy_qq_16(a, b);
    return hx_qf_pack(v, e, 0, HX_EVERY, to, Xto);
}

HX_FN hx_nw hx_qfs_mpy_qi(hx_nw a, hx_nw b, int F, int X, int to, int Xto)
{
    hx_nw ey;
    const hx_nw y = hx_ieee_16ths(b, F, X, &ey) >> 4, v = hx_16ths_of(hx_product_hs(hx_qf_m(a, X), y), to);
    const hx_nw e = hx_qf_e(a, X) + ey + (to == 23 ? 127 - 30 : -15);
    const hx_lanes some = hx_not_zero(v);

    if (to == 10 && __builtin_expect(hx_any_beyond(e, 30, some), 0))
        return hx_rare_mpy_qi_16(a, b);
    return hx_qf_flip(hx_qf_pack(v, e, 1, some, to, Xto), b, Xto);
}

HX_FN hx_nw hx_qfs_mpy_ii(hx_nw a, hx_nw b, int F, int X, int to, int Xto)
{
    if (F == 23)
        return hx_qf32_mpy_ii(a, b);
    hx_nw ex, ey;
    const hx_nw x = hx_ieee_16ths(a, F, X, &ex) >> 4, y = hx_ieee_16ths(b, F, X, &ey) >> 4;
    const hx_nw v = hx_16ths_of(hx_product_hs(x, y), to), e = ex + ey + (to == 23 ? 127 - 30 : -15);
    const hx_lanes some = hx_not_zero(v);

    if (to == 10 && __builtin_expect(hx_any_beyond(e, 30, some), 0))
        return hx_rare_mpy_ii_16(a, b);
    return hx_qf_flip(hx_qf_pack(v, e, 1, some, to, Xto), a ^ b, Xto);
}

HX_FN hx_nw hx_qf_16ths(hx_nw w, int X)
{
    return hx_and_or(w >> (X - 5), -32, (hx_nw){0} + 16);
}

HX_FN hx_nw hx_qfs_add_qq(hx_nw a, hx_nw b, int neg, int F, int X)
{
    const hx_nw y = hx_qf_16ths(b, X);
    hx_nw e;
    const hx_nw v = hx_qf_sum16ths(hx_qf_16ths(a, X), hx_qf_e(a, X), neg ? -y : y, hx_qf_e(b, X), 1, F, &e);

    if (__builtin_expect(hx_any_beyond(e, (1 << X) - 2, HX_EVERY), 0))
        return hx_rare_add_qq(a, b, neg, F);
    return hx_qf_pack(v, e, 1, hx_not_zero(v), F, X);
}

HX_FN hx_nw hx_qfs_add_qi(hx_nw a, hx_nw b, int neg, int F, int X)
{
    hx_nw ey, e;
    const hx_nw y = hx_signed_as(hx_ieee_16ths(b, F, X, &ey), neg ? ~b : b);
    const hx_nw v = hx_qf_sum16ths(hx_qf_16ths(a, X), hx_qf_e(a, X), y, ey, 0, F, &e);

    if (__builtin_expect(hx_any_beyond(e, (1 << X) - 2, HX_EVERY), 0))
        return hx_rare_add_qi(a, b, neg, F);
    return hx_qf_pack(v, e, 1, hx_not_zero(v), F, X);
}

HX_FN hx_nw hx_qfs_add_ii(hx_nw a, hx_nw b, int neg, int F, int X)
{
    const hx_nw c = neg ? b ^ INT32_MIN : b;
    hx_nw ex, ey, e;
    const hx_nw x = hx_signed_as(hx_ieee_16ths(a, F, X, &ex), a & ~c), y = hx_signed_as(hx_ieee_16ths(b, F, X, &ey), c & ~a);
    const hx_nw v = hx_qf_sum16ths(x, ex, y, ey, 0, F, &e);

    if (__builtin_expect(hx_any_beyond(e, (1 << X) - 2, HX_EVERY), 0))
        return hx_rare_add_ii(a, b, neg, F);
    return hx_qf_flip(hx_qf_pack(v, e, 1, hx_not_zero(v), F, X), a & c, X);
}

/* m * 2^e as a float, which it is exactly where that is normal. */
HX_FN hx_nw hx_scaled_sf(hx_nw m, hx_nw e)
{
    return (hx_nw)((hx_nuw)(hx_nw) __builtin_convertvector(m, hx_nsf) + ((hx_nuw)e << 23));
}

/* |m| * 2^(e - 150) is a normal float below 2^128 for exponents from 24 to 254, whatever m is.  Word 0, which padding is made of, is 0. */
HX_FN hx_nw hx_qfs_to_sf(hx_nw a)
{
    const hx_nw e = hx_qf_e(a, 8);
    const hx_lanes some = hx_not_zero(a);

    if (__builtin_expect(hx_any_beyond(e - 24, 230, some), 0))
        return hx_rare_to_sf(a);
    return hx_only(some, hx_scaled_sf(hx_qf_m(a, 8), e - 150));
}

#ifdef HX_HALVES
/* Only exponent 31 holds what a half does not: 2^16 and more. */
HX_FN hx_nw hx_qfs16_to_hf(hx_nw a)
{
    const hx_nw lo = (a << 16) >> 16, hi = a >> 16, e_lo = hx_qf_e(lo, 5), e_hi = hx_qf_e(hi, 5);

    if (__builtin_expect(hx_any_beyond(e_lo, 30, HX_EVERY) | hx_any_beyond(e_hi, 30, HX_EVERY), 0))
        return hx_rare_qf16_to_hf(a);
    return hx_halves_of_sf(hx_scaled_sf(hx_qf_m(lo, 5), e_lo - 25)) | hx_halves_of_sf(hx_scaled_sf(hx_qf_m(hi, 5), e_hi - 25)) << 16;
}

/* Exponents from 143 on do. */
HX_FN hx_nw hx_qfs32_to_hf(hx_nw a, hx_nw b)
{
    const hx_nw ea = hx_qf_e(a, 8), eb = hx_qf_e(b, 8);
    const hx_lanes in_a = hx_not_zero(a), in_b = hx_not_zero(b);

    if (__builtin_expect(hx_any_beyond(ea - 24, 118, in_a) | hx_any_beyond(eb - 24, 118, in_b), 0))
        return hx_rare_qf32_to_hf(a, b);
    return hx_halves_of_sf(hx_only(in_a, hx_scaled_sf(hx_qf_m(a, 8), ea - 150))) |
           hx_halves_of_sf(hx_only(in_b, hx_scaled_sf(hx_qf_m(b, 8), eb - 150))) << 16;
}
#undef HX_HALVES
#else
#define hx_qfs16_to_hf hx_rare_qf16_to_hf
#define hx_qfs32_to_hf hx_rare_qf32_to_hf
#endif
#undef HX_EVERY

#else
#define hx_qfs16_to_hf hx_qf16_to_hf
#define hx_qfs32_to_hf hx_qf32_to_hf
#define hx_qfs_mpy_qq hx_qf_mpy_qq
#define hx_qfs_mpy_qi hx_qf_mpy_qi
#define hx_qfs_mpy_ii hx_qf_mpy_ii
#define hx_qfs_add_qq hx_qf_add_qq
#define hx_qfs_add_qi hx_qf_add_qi
#define hx_qfs_add_ii hx_qf_add_ii
#define hx_qfs_to_sf hx_qf_to_sf
#endif

#endif
