/* qf32 arithmetic once more, bit for bit what hexrig_hvx_qfloat.h says, in fewer operations for registers of 32 and 64 bytes.
 *
 * v is the value in 16ths of a unit of 2s, rounded down, with bit 0 also set where something was cut off.  Rounding is two facts then:
 *   - of three candidates the middle one is taken where 24 < v mod 64 <= 40; else s = v >> 5 and the exponent stays;
 *   - for the middle one, and where |value| >= 2 is halved, s = v >> 6 with the next exponent: one formula for both.
 * So a word is v << 3 or v << 2 with the exponent for its low byte.  Exponents outside of 0..254 want more: where a register has one, the
 * general code makes all of it.
 *
 * A skel that tells of its basic blocks keeps to the general code, which has no branch. */
#ifndef HEXRIG_HVX_QF32_H
#define HEXRIG_HVX_QF32_H

#include "hexrig_hvx_qfloat.h"

#if HX_NATIVE_BYTES > 16 && !(defined(__SANITIZE_ADDRESS__) && !defined(__clang__))
#define HX_QF32_SHORT 1

#define HX_RARE __attribute__((noinline, cold, unused)) static hx_nw
HX_RARE hx_qf32_any_mpy_qq(hx_nw a, hx_nw b)
{
    return hx_qf_mpy_qq(a, b, 23, 8, 23, 8);
}
HX_RARE hx_qf32_any_mpy_ii(hx_nw a, hx_nw b)
{
    return hx_qf_mpy_ii(a, b, 23, 8, 23, 8);
}
HX_RARE hx_qf32_any_add_qq(hx_nw a, hx_nw b, int neg)
{
    return hx_qf_add_qq(a, b, neg, 23, 8);
}
HX_RARE hx_qf32_any_add_qi(hx_nw a, hx_nw b, int neg)
{
    return hx_qf_add_qi(a, b, neg, 23, 8);
}
HX_RARE hx_qf32_any_add_ii(hx_nw a, hx_nw b, int neg)
{
    return hx_qf_add_ii(a, b, neg, 23, 8);
}
HX_RARE hx_qf32_any_to_sf(hx_nw a)
{
    return hx_qf_to_ieee(hx_qf_m(a, 8), hx_qf_e(a, 8), 23, 23, 0) | (a & INT32_MIN);
}
#undef HX_RARE

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

/* The complement of s, the upper 24 bits of w, where `sign` is negative. */
HX_FN hx_nw hx_qf32_flip(hx_nw w, hx_nw sign)
{
    return HX_N(_mm512_mask_xor_epi32(HX_I(w), _mm512_movepi32_mask(HX_I(sign)), HX_I(w), HX_SET(-256)));
}

/* Of an IEEE word: the significand in 16ths, without the sign, and the exponent. */
HX_FN hx_nw hx_sf_16ths(hx_nw w, hx_nw *e)
{
    const __m512i m = HX_I((w & 0x7fffff) << 4);

    *e = HX_N(_mm512_maskz_max_epi32(HX_ALL, HX_I((hx_nuw)(w << 1) >> 24), HX_SET(1)));
    return HX_N(_mm512_mask_or_epi32(m, _mm512_test_epi32_mask(HX_I(w), HX_SET(0x7f800000)), m, HX_SET(1 << 27)));
}

/* The word of v and e; 0 outside of `in`.  ties: v may lie on a threshold; then of two candidates the even s is taken. */
HX_FN hx_nw hx_qf32_pack(hx_nw v, hx_nw e, int ties, hx_lanes in)
{
    const __mmask16 over = _mm512_cmpge_epu32_mask(HX_I(v + (1 << 28)), HX_SET(1 << 29));
    const __mmask16 plain = _mm512_mask_test_epi32_mask((__mmask16)~over, HX_I(v - (ties ? 25 : 24)), HX_SET(0x30));
    __m512i x = HX_I(v << 2);

    if (ties)
        x = _mm512_mask_sub_epi32(x, _mm512_mask_cmpeq_epi32_mask(over, HX_I(v & 127), HX_SET(64)), x, HX_SET(1));
    x = _mm512_mask_slli_epi32(x, plain, HX_I(v), 3);
    e = HX_N(_mm512_mask_add_epi32(HX_I(e), (__mmask16)~plain, HX_I(e), HX_SET(1)));
    return HX_N(_mm512_maskz_ternarylogic_epi32(in, x, HX_SET(-256), HX_I(e), 0xea));
}

/* v of x * 2^ex + y * 2^ey, and its exponent; x and y in 16ths.  odd: both significands are, so what is cut off follows from the
 * distance. */
HX_FN hx_nw hx_qf32_total(hx_nw x, hx_nw ex, hx_nw y, hx_nw ey, int odd, hx_nw *e)
{
    const __mmask16 swap = _mm512_cmplt_epi32_mask(HX_I(ex), HX_I(ey));
    const __m512i big = _mm512_mask_mov_epi32(HX_I(x), swap, HX_I(y)), small = _mm512_mask_mov_epi32(HX_I(y), swap, HX_I(x));
    const __m512i most = _mm512_maskz_max_epi32(HX_ALL, HX_I(ex), HX_I(ey)), least = _mm512_maskz_min_epi32(HX_ALL, HX_I(ex), HX_I(ey));
    const __m512i zeros = _mm512_maskz_lzcnt_epi32(HX_ALL, HX_ABS(big));
    const __m512i at = _mm512_maskz_max_epi32(HX_ALL, _mm512_sub_epi32(_mm512_add_epi32(most, HX_SET(4)), zeros), least);
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
        return hx_qf32_any_mpy_ii(a, b);
    s = _mm512_mask_sub_epi32(s, tie, s, HX_SET(256));
    s = _mm512_maskz_ternarylogic_epi32(some, s, HX_SET(-256), _mm512_mask_add_epi32(HX_I(e), mid, HX_I(e), HX_SET(1)), 0xea);
    return hx_qf32_flip(HX_N(s), a ^ b);
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

HX_FN hx_nw hx_qf32_flip(hx_nw w, hx_nw sign)
{
    return w ^ (hx_nw)((hx_nuw)(sign >> 31) << 8);
}

HX_FN hx_nw hx_sf_16ths(hx_nw w, hx_nw *e)
{
    const __m256i field = HX_I((hx_nuw)(w << 1) >> 24), one = _mm256_set1_epi32(1);

    *e = HX_N(_mm256_max_epi32(field, one));
    return ((w & 0x7fffff) << 4) | (HX_N(_mm256_min_epi32(field, one)) << 27);
}

HX_FN hx_nw hx_pick_w(hx_lanes in, hx_nw a, hx_nw b)
{
    return HX_N(_mm256_blendv_epi8(HX_I(b), HX_I(a), HX_I(in)));
}

HX_FN hx_nw hx_qf32_pack(hx_nw v, hx_nw e, int ties, hx_lanes in)
{
    const hx_nw v3 = v << 3, fits = (v3 >> 3) == v;
    const hx_nw plain = fits & ~(hx_nw)(((v - (ties ? 25 : 24)) & 0x30) == 0);

    if (ties)
        v += ~fits & (hx_nw)((v & 127) == 64);
    return in & hx_and_or(hx_pick_w(plain, v3, v << 2), -256, e + 1 + plain);
}

/* Leading zeros from bit 27 on, by the exponent of a float: |x| < 2^28 is a multiple of 16. */
HX_FN hx_nw hx_qf32_zeros(hx_nw x)
{
    const hx_nw f = (hx_nw) __builtin_convertvector(x, hx_nsf);

    return 127 + 27 - (hx_nw)((hx_nuw)(f << 1) >> 24);
}

HX_FN hx_nw hx_qf32_total(hx_nw x, hx_nw ex, hx_nw y, hx_nw ey, int odd, hx_nw *e)
{
    const hx_nw swap = ey > ex, big = hx_pick_w(swap, y, x), small = hx_pick_w(swap, x, y);
    const __m256i dist = _mm256_abs_epi32(HX_I(ex - ey));
    const __m256i left = _mm256_min_epu32(HX_I(hx_qf32_zeros(big)), dist), right = _mm256_sub_epi32(dist, left);
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
    const hx_nw x = hx_sf_16ths(a, &ex) << 4, y = hx_sf_16ths(b, &ey) << 1;
    const hx_nud even = (hx_nud)_mm256_mul_epu32(HX_I(x), HX_I(y));
    const hx_nud odd = (hx_nud)_mm256_mul_epu32(HX_I((hx_nud)x >> 32), HX_I((hx_nud)y >> 32));
    const hx_nw v = hx_high_words(even, odd) | ((hx_nw)(hx_words_of(even, odd << 32) != 0) & 1);
    const hx_nw e = ex + ey - 127;
    const hx_lanes some = hx_not_zero(v);

    if (__builtin_expect(hx_any_beyond(e, 254, some), 0))
        return hx_qf32_any_mpy_ii(a, b);
    return hx_qf32_flip(hx_qf32_pack(v, e, 1, some), a ^ b);
}
#endif

/* --- the intrinsics in terms of one register, as in hexrig_hvx_qfloat.h */

/* The upper words of significands << 7 times significands << 6 are 16ths; a product of odd numbers is no tie. */
HX_FN hx_nw hx_qf32_mpy_qq(hx_nw a, hx_nw b)
{
    const hx_nw half = (hx_nw){0} + 128, x = hx_and_or(a, -256, half), y = hx_and_or(b, -256, half) >> 1;
    const hx_nw v = hx_high_words(hx_product_ew(x, y), hx_product_ow(x, y)), e = (a & 255) + (b & 255) - 127;

    if (__builtin_expect(hx_any_beyond(e, 254, HX_EVERY), 0))
        return hx_qf32_any_mpy_qq(a, b);
    return hx_qf32_pack(v, e, 0, HX_EVERY);
}

/* The significand in 16ths. */
HX_FN hx_nw hx_qf32_16ths(hx_nw w)
{
    return hx_and_or(w >> 3, -32, (hx_nw){0} + 16);
}

HX_FN hx_nw hx_qf32_add_qq(hx_nw a, hx_nw b, int neg)
{
    const hx_nw y = hx_qf32_16ths(b);
    hx_nw e;
    const hx_nw v = hx_qf32_total(hx_qf32_16ths(a), a & 255, neg ? -y : y, b & 255, 1, &e);

    if (__builtin_expect(hx_any_beyond(e, 254, HX_EVERY), 0))
        return hx_qf32_any_add_qq(a, b, neg);
    return hx_qf32_pack(v, e, 1, hx_not_zero(v));
}

HX_FN hx_nw hx_qf32_add_qi(hx_nw a, hx_nw b, int neg)
{
    hx_nw ey, e;
    const hx_nw y = hx_signed_as(hx_sf_16ths(b, &ey), neg ? ~b : b);
    const hx_nw v = hx_qf32_total(hx_qf32_16ths(a), a & 255, y, ey, 0, &e);

    if (__builtin_expect(hx_any_beyond(e, 254, HX_EVERY), 0))
        return hx_qf32_any_add_qi(a, b, neg);
    return hx_qf32_pack(v, e, 1, hx_not_zero(v));
}

HX_FN hx_nw hx_qf32_add_ii(hx_nw a, hx_nw b, int neg)
{
    const hx_nw c = neg ? b ^ INT32_MIN : b;
    hx_nw ex, ey, e;
    const hx_nw x = hx_signed_as(hx_sf_16ths(a, &ex), a & ~c), y = hx_signed_as(hx_sf_16ths(b, &ey), c & ~a);
    const hx_nw v = hx_qf32_total(x, ex, y, ey, 0, &e);

    if (__builtin_expect(hx_any_beyond(e, 254, HX_EVERY), 0))
        return hx_qf32_any_add_ii(a, b, neg);
    return hx_qf32_flip(hx_qf32_pack(v, e, 1, hx_not_zero(v)), a & c);
}

/* |m| * 2^(e - 150) is a normal float below 2^128 for these e, whatever m is.  Word 0, which padding is made of, is 0. */
HX_FN hx_nw hx_qf32_to_sf(hx_nw a)
{
    const hx_nw e = hx_qf_e(a, 8), f = (hx_nw) __builtin_convertvector(hx_qf_m(a, 8), hx_nsf);
    const hx_lanes some = hx_not_zero(a);

    if (__builtin_expect(hx_any_beyond(e - 24, 230, some), 0))
        return hx_qf32_any_to_sf(a);
    return hx_only(some, (hx_nw)((hx_nuw)f + ((hx_nuw)(e - 150) << 23)));
}
#undef HX_EVERY

#else

HX_FN hx_nw hx_qf32_mpy_qq(hx_nw a, hx_nw b)
{
    return hx_qf_mpy_qq(a, b, 23, 8, 23, 8);
}
HX_FN hx_nw hx_qf32_mpy_ii(hx_nw a, hx_nw b)
{
    return hx_qf_mpy_ii(a, b, 23, 8, 23, 8);
}
HX_FN hx_nw hx_qf32_add_qq(hx_nw a, hx_nw b, int neg)
{
    return hx_qf_add_qq(a, b, neg, 23, 8);
}
HX_FN hx_nw hx_qf32_add_qi(hx_nw a, hx_nw b, int neg)
{
    return hx_qf_add_qi(a, b, neg, 23, 8);
}
HX_FN hx_nw hx_qf32_add_ii(hx_nw a, hx_nw b, int neg)
{
    return hx_qf_add_ii(a, b, neg, 23, 8);
}
HX_FN hx_nw hx_qf32_to_sf(hx_nw a)
{
    return hx_qf_to_ieee(hx_qf_m(a, 8), hx_qf_e(a, 8), 23, 23, 0) | (a & INT32_MIN);
}

#endif

#endif
