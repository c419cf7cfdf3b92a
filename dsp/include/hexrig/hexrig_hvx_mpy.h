/* HVX intrinsics of the multiply units.
 *
 * Widening forms put the even lanes' results into the low vector and the odd lanes' into the high
 * one.  A scalar operand acts as a vector that repeats its bytes or halves, unless its line says
 * otherwise. */
#ifndef HEXRIG_HVX_MPY_H
#define HEXRIG_HVX_MPY_H

#include "hexrig_hvx_alu.h"
#include "hexrig_hvx_lanes.h"

/* --- widening add and subtract (done by the multipliers) */
#define HX_WIDE_ADD(X, T) \
    HX_DEF2(Q6_W##X##_vadd_V##T##V##T, VX_DV, W, V, V, hx_e##T(a) + hx_e##T(b), \
            hx_o##T(a) + hx_o##T(b)) \
    HX_DEF2(Q6_W##X##_vsub_V##T##V##T, VX_DV, W, V, V, hx_e##T(a) - hx_e##T(b), \
            hx_o##T(a) - hx_o##T(b)) \
    HX_DEF3(Q6_W##X##_vaddacc_W##X##V##T##V##T, VX_DV, W, W, V, V, \
            (hx_nu##X)a0 + hx_e##T(b) + hx_e##T(c), (hx_nu##X)a1 + hx_o##T(b) + hx_o##T(c))
HX_WIDE_ADD(h, ub)
HX_WIDE_ADD(w, h)
HX_WIDE_ADD(w, uh)
#undef HX_WIDE_ADD

/* --- widening multiply, plain and accumulating, by a vector (k2 = V) or a scalar (k2 = R) */
#define HX_WIDE_MPY(X, S, k1, T, k2, U) \
    HX_DEF2(Q6_W##X##_vmpy_##k1##T##k2##U, VX_DV, W, k1, k2, hx_e##T(a) * hx_e##U(b), \
            hx_o##T(a) * hx_o##U(b))
#define HX_WIDE_MAC(X, S, k1, T, k2, U) \
    HX_DEF3(Q6_W##X##_vmpyacc_W##X##k1##T##k2##U, VX_DV, W, W, k1, k2, \
            (hx_n##S)a0 + hx_e##T(b) * hx_e##U(c), (hx_n##S)a1 + hx_o##T(b) * hx_o##U(c))
HX_WIDE_MPY(h, uh, V, b, V, b)
HX_WIDE_MPY(h, uh, V, ub, V, b)
HX_WIDE_MPY(h, uh, V, ub, R, b)
HX_WIDE_MPY(uh, uh, V, ub, V, ub)
HX_WIDE_MPY(uh, uh, V, ub, R, ub)
HX_WIDE_MPY(w, uw, V, h, V, h)
HX_WIDE_MPY(w, uw, V, h, V, uh)
HX_WIDE_MPY(w, uw, V, h, R, h)
HX_WIDE_MPY(uw, uw, V, uh, V, uh)
HX_WIDE_MPY(uw, uw, V, uh, R, uh)
HX_WIDE_MAC(h, uh, V, b, V, b)
HX_WIDE_MAC(h, uh, V, ub, V, b)
HX_WIDE_MAC(h, uh, V, ub, R, b)
HX_WIDE_MAC(uh, uh, V, ub, V, ub)
HX_WIDE_MAC(uh, uh, V, ub, R, ub)
HX_WIDE_MAC(w, uw, V, h, V, h)
HX_WIDE_MAC(w, uw, V, h, V, uh)
HX_WIDE_MAC(w, uw, V, h, R, h)
HX_WIDE_MAC(uw, uw, V, uh, V, uh)
HX_WIDE_MAC(uw, uw, V, uh, R, uh)
#undef HX_WIDE_MPY
#undef HX_WIDE_MAC
HX_DEF3(Q6_Ww_vmpyacc_WwVhRh_sat, VX_DV, W, W, V, R, hx_adds_w(a0, (hx_nw)(hx_eh(b) * hx_eh(c))),
        hx_adds_w(a1, (hx_nw)(hx_oh(b) * hx_oh(c))))

/* The even half only. */
HX_DEF2(Q6_Vuw_vmpye_VuhRuh, VX, V, V, R, hx_euh(a) * hx_euh(b))
HX_DEF3(Q6_Vuw_vmpyeacc_VuwVuhRuh, VX, V, V, V, R, (hx_nuw)a + hx_euh(b) * hx_euh(c))

/* --- 16 x 16: upper half of the doubled product (saturating when both are -32768), and other
 * single-width forms */
HX_FN hx_nuw hx_frac(hx_nuw product, int round)
{
    const hx_nuw top = (hx_nuw)(product == 0x40000000);

    return (((product << 1) + (uint32_t)round) >> 16) - (top & 1);
}
#define HX_FRAC(name, k2, round) \
    HX_DEF2(name, VX, V, V, k2, \
            hx_weave_h(hx_frac(hx_eh(a) * hx_eh(b), round), hx_frac(hx_oh(a) * hx_oh(b), round)))
HX_FRAC(Q6_Vh_vmpy_VhRh_s1_sat, R, 0)
HX_FRAC(Q6_Vh_vmpy_VhRh_s1_rnd_sat, R, 0x8000)
HX_FRAC(Q6_Vh_vmpy_VhVh_s1_rnd_sat, V, 0x8000)
#undef HX_FRAC
HX_DEF2(Q6_Vuh_vmpy_VuhVuh_rs16, VX, V, V, V,
        hx_weave_h((hx_euh(a) * hx_euh(b)) >> 16, (hx_ouh(a) * hx_ouh(b)) >> 16))

/* Low half of the product. */
HX_OP2(Q6_Vh_vmpyi_VhVh, VX_DV, uh, uh, a * b)
HX_OP3(Q6_Vh_vmpyiacc_VhVhVh, VX_DV, uh, uh, uh, a + b * c)

/* Lane i meets byte (half) i mod 4 (2) of R, extended to the lane. */
#if HX_NATIVE_BYTES > 16
HX_FN hx_nw hx_repeat16(__m128i x)
{
#if HX_NATIVE_BYTES == 64
    return (hx_nw)_mm512_maskz_broadcast_i32x4(0xffff, x);
#else
    return (hx_nw)_mm256_broadcastsi128_si256(x);
#endif
}
HX_FN hx_nuw hx_bytes_w(Word32 r)
{
    return (hx_nuw)hx_repeat16(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(r)));
}
HX_FN hx_nuw hx_ubytes_w(Word32 r)
{
    return (hx_nuw)hx_repeat16(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(r)));
}
HX_FN hx_nuw hx_halves_w(Word32 r)
{
    return (hx_nuw)hx_repeat16(_mm_cvtepi16_epi32(_mm_set1_epi32(r)));
}
HX_FN hx_nuh hx_bytes_h(Word32 r)
{
    return (hx_nuh)hx_repeat16(_mm_cvtepi8_epi16(_mm_set1_epi32(r)));
}
#else
HX_FN hx_nw hx_repeat4(int32_t x0, int32_t x1, int32_t x2, int32_t x3)
{
    const hx_nw d = {x0, x1, x2, x3};

    return d;
}
HX_FN hx_nuw hx_bytes_w(Word32 r)
{
    return (hx_nuw)hx_repeat4((int8_t)r, (int8_t)(r >> 8), (int8_t)(r >> 16), r >> 24);
}
HX_FN hx_nuw hx_ubytes_w(Word32 r)
{
    return (hx_nuw)hx_repeat4((uint8_t)r, (uint8_t)(r >> 8), (uint8_t)(r >> 16),
                              (uint8_t)(r >> 24));
}
HX_FN hx_nuw hx_halves_w(Word32 r)
{
    return (hx_nuw)hx_repeat4((int16_t)r, r >> 16, (int16_t)r, r >> 16);
}
HX_FN hx_nuh hx_bytes_h(Word32 r)
{
    const uint32_t low = (uint16_t)(int8_t)r | (uint32_t)(int8_t)(r >> 8) << 16;
    const uint32_t high = (uint16_t)(int8_t)(r >> 16) | (uint32_t)(r >> 24) << 16;

    return (hx_nuh)hx_repeat4((int32_t)low, (int32_t)high, (int32_t)low, (int32_t)high);
}
#endif
HX_OP1R(Q6_Vh_vmpyi_VhRb, VX, uh, a * hx_bytes_h(R))
HX_OP2R(Q6_Vh_vmpyiacc_VhVhRb, VX, uh, uh, a + b * hx_bytes_h(R))
HX_OP1R(Q6_Vw_vmpyi_VwRb, VX, uw, a * hx_bytes_w(R))
HX_OP2R(Q6_Vw_vmpyiacc_VwVwRb, VX, uw, uw, a + b * hx_bytes_w(R))
HX_OP1R(Q6_Vw_vmpyi_VwRub, VX, uw, a * hx_ubytes_w(R))
HX_OP2R(Q6_Vw_vmpyiacc_VwVwRub, VX, uw, uw, a + b * hx_ubytes_w(R))
HX_OP1R(Q6_Vw_vmpyi_VwRh, VX_DV, uw, a * hx_halves_w(R))
HX_OP2R(Q6_Vw_vmpyiacc_VwVwRh, VX_DV, uw, uw, a + b * hx_halves_w(R))

/* --- 32 x 16: word times the even (e) or odd (o) half of the other word */
HX_DEF2(Q6_Vw_vmpyie_VwVuh, VX_DV, V, V, V, (hx_nuw)a *hx_euh(b))
HX_DEF2(Q6_Vw_vmpyio_VwVh, VX_DV, V, V, V, (hx_nuw)a *hx_oh(b))
HX_DEF3(Q6_Vw_vmpyieacc_VwVwVh, VX_DV, V, V, V, V, (hx_nuw)a + (hx_nuw)b * hx_eh(c))
HX_DEF3(Q6_Vw_vmpyieacc_VwVwVuh, VX_DV, V, V, V, V, (hx_nuw)a + (hx_nuw)b * hx_euh(c))
HX_DEF2(Q6_Vw_vmpyieo_VhVh, VX, V, V, V, (hx_eh(a) * hx_oh(b)) << 16)

/* Words of 64-bit numbers of the even and the odd lanes: their bits from n on, n up to 32. */
HX_FN hx_nuw hx_bits_from(hx_nud even, hx_nud odd, int n)
{
    return hx_words_of(even >> n, odd << (32 - n));
}

/* acc + x * y of the even and the odd words, + 2^14 where `round` is 1.  A signed word is the unsigned one with its sign flipped,
 * less 2^31. */
HX_FN void hx_sum48(hx_nw acc, hx_nw x, hx_nuw y, int round, hx_nud *even, hx_nud *odd)
{
    const hx_nud flipped = (hx_nud)(acc ^ INT32_MIN);
    const uint64_t more = ((uint64_t)round << 14) - 0x80000000u;

    *even = hx_product_ew(x, (hx_nw)y) + ((flipped & 0xffffffffu) + more);
    *odd = hx_product_ow(x, (hx_nw)y) + ((flipped >> 32) + more);
}

/* << 1 (:rnd) :sat of the product's upper part.  The one that needs it is INT32_MIN * -32768, and no other gives INT32_MIN. */
HX_FN hx_nuw hx_mpyo(hx_nw x, hx_nuw y, int round)
{
    const hx_nud even = hx_product_ew(x, (hx_nw)y) + ((uint64_t)round << 14);
    const hx_nud odd = hx_product_ow(x, (hx_nw)y) + ((uint64_t)round << 14);
    const hx_nuw r = hx_bits_from(even, odd, 15);

    return r + (hx_nuw)(r == (uint32_t)INT32_MIN);
}
/* The sum has 49 bits and its upper part 33: it fits where its sign is the result's. */
HX_FN hx_nw hx_mpyoacc(hx_nw acc, hx_nw x, hx_nuw y, int round)
{
    hx_nud even, odd;
    hx_nw r, above;

    hx_sum48(acc, x, y, round, &even, &odd);
    r = (hx_nw)hx_bits_from(even, odd, 15);
    above = (hx_nw)hx_bits_from(even, odd, 32);
    return HX_PICK(w, (r ^ above) < 0, (above >> 31) ^ INT32_MAX, r);
}
HX_FN hx_nuw hx_mpye(hx_nw x, hx_nuw y, int from)
{
    return hx_bits_from(hx_product_ew(x, (hx_nw)y), hx_product_ow(x, (hx_nw)y), from);
}
HX_FN hx_nuw hx_mpyo_sum(hx_nw high, hx_nw x, hx_nuw y, int from)
{
    hx_nud even, odd;

    hx_sum48(high, x, y, 0, &even, &odd);
    return hx_bits_from(even, odd, from);
}
HX_DEF2(Q6_Vw_vmpye_VwVuh, VX_DV, V, V, V, hx_mpye(a, hx_euh(b), 16))
HX_DEF2(Q6_Vw_vmpyo_VwVh_s1_sat, VX_DV, V, V, V, hx_mpyo(a, hx_oh(b), 0))
HX_DEF2(Q6_Vw_vmpyo_VwVh_s1_rnd_sat, VX_DV, V, V, V, hx_mpyo(a, hx_oh(b), 1))
HX_DEF3(Q6_Vw_vmpyoacc_VwVwVh_s1_sat_shift, VX_DV, V, V, V, V, hx_mpyoacc(a, b, hx_oh(c), 0))
HX_DEF3(Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift, VX_DV, V, V, V, V, hx_mpyoacc(a, b, hx_oh(c), 1))
/* The two halves of a 64-bit product: low vector = product << 16, high = product >> 16; the second
 * adds the high vector of the first and keeps what that one had shifted out. */
HX_DEF2(Q6_W_vmpye_VwVuh, VX_DV, W, V, V, hx_mpye(a, hx_euh(b), 0) << 16, hx_mpye(a, hx_euh(b), 16))
HX_DEF3(Q6_W_vmpyoacc_WVwVh, VX_DV, W, W, V, V,
        (hx_mpyo_sum(a1, b, hx_oh(c), 0) << 16) | ((hx_nuw)a0 >> 16), hx_mpyo_sum(a1, b, hx_oh(c), 16))

/* --- two products per lane: even lane by even, odd by odd */
HX_DEF2(Q6_Vh_vdmpy_VubRb, VX, V, V, R, hx_eub(a) * hx_eb(b) + hx_oub(a) * hx_ob(b))
HX_DEF3(Q6_Vh_vdmpyacc_VhVubRb, VX, V, V, V, R,
        (hx_nuh)a + hx_eub(b) * hx_eb(c) + hx_oub(b) * hx_ob(c))

/* Halves by bytes: word i has halves 2i, 2i + 1, which meet bytes 2i mod 4, (2i + 1) mod 4 of R. */
#define HX_DOT_HB(x, r) hx_madd_h((hx_nuh)(x), hx_bytes_h(r))
HX_DEF2(Q6_Vw_vdmpy_VhRb, VX, V, V, R, HX_DOT_HB(a, B))
HX_DEF3(Q6_Vw_vdmpyacc_VwVhRb, VX, V, V, V, R, (hx_nuw)a + HX_DOT_HB(b, C))
/* Pair forms slide: the low vector sees lanes 2i, 2i + 1 of the low operand, the high one lane 2i +
 * 1 and the next, which is lane 2i of the high operand. */
#define HX_DOT_BB(x, y, r) ((x)*hx_eb(r) + (y)*hx_ob(r))
HX_DEF2(Q6_Wh_vdmpy_WubRb, VX_DV, W, W, R, HX_DOT_BB(hx_eub(a0), hx_oub(a0), b),
        HX_DOT_BB(hx_oub(a0), hx_eub(a1), b))
HX_DEF3(Q6_Wh_vdmpyacc_WhWubRb, VX_DV, W, W, W, R,
        (hx_nuh)a0 + HX_DOT_BB(hx_eub(b0), hx_oub(b0), c),
        (hx_nuh)a1 + HX_DOT_BB(hx_oub(b0), hx_eub(b1), c))
/* The odd half of each word of `low`, then the even one of `high`. */
HX_FN hx_nuw hx_slide_h(hx_nw low, hx_nw high)
{
    return ((hx_nuw)low >> 16) | ((hx_nuw)high << 16);
}
HX_DEF2(Q6_Ww_vdmpy_WhRb, VX_DV, W, W, R, HX_DOT_HB(a0, B), HX_DOT_HB(hx_slide_h(a0, a1), B))
HX_DEF3(Q6_Ww_vdmpyacc_WwWhRb, VX_DV, W, W, W, R, (hx_nuw)a0 + HX_DOT_HB(b0, C),
        (hx_nuw)a1 + HX_DOT_HB(hx_slide_h(b0, b1), C))

/* Saturating: acc + x * p + y * q of 32-bit lanes, exact until the end.  Each product fits a word; what their sum, and the sum with acc,
 * has left out is counted in units of 2^32. */
HX_FN hx_nw hx_left_out(hx_nw sum, hx_nw x, hx_nw y)
{
    return (((sum ^ x) & (sum ^ y)) >> 31) & ((x >> 31) | 1);
}
HX_FN hx_nw hx_add_sat(hx_nw acc, hx_nw s, hx_nw left_out)
{
    const hx_nw sum = (hx_nw)((hx_nuw)acc + (hx_nuw)s), all = left_out + hx_left_out(sum, acc, s);

    return HX_PICK(w, all != 0, (all >> 31) ^ INT32_MAX, sum);
}
/* Signed halves by signed halves: only four times -32768 goes too far, and nothing else gives INT32_MIN. */
HX_FN hx_nw hx_dot_sat_h(hx_nw acc, hx_nuw x, hx_nw y)
{
    const hx_nw s = (hx_nw)hx_madd_h((hx_nuh)x, (hx_nuh)y);

    return hx_add_sat(acc, s, (s == INT32_MIN) & 1);
}
HX_FN hx_nw hx_dot_sat_uh(hx_nw acc, hx_nuw x, hx_nw y)
{
    const hx_nw p = (hx_nw)(hx_eh((hx_nw)x) * hx_euh(y)), q = (hx_nw)(hx_oh((hx_nw)x) * hx_ouh(y));
    const hx_nw s = (hx_nw)((hx_nuw)p + (hx_nuw)q);

    return hx_add_sat(acc, s, hx_left_out(s, p, q));
}
#define HX_ZERO ((hx_nw){0})
HX_DEF2(Q6_Vw_vdmpy_VhVh_sat, VX, V, V, V, hx_dot_sat_h(HX_ZERO, (hx_nuw)a, b))
HX_DEF2(Q6_Vw_vdmpy_VhRh_sat, VX, V, V, R, hx_dot_sat_h(HX_ZERO, (hx_nuw)a, b))
HX_DEF2(Q6_Vw_vdmpy_VhRuh_sat, VX, V, V, R, hx_dot_sat_uh(HX_ZERO, (hx_nuw)a, b))
HX_DEF2(Q6_Vw_vdmpy_WhRh_sat, VX_DV, V, W, R, hx_dot_sat_h(HX_ZERO, hx_slide_h(a0, a1), b))
HX_DEF2(Q6_Vw_vdmpy_WhRuh_sat, VX_DV, V, W, R, hx_dot_sat_uh(HX_ZERO, hx_slide_h(a0, a1), b))
HX_DEF3(Q6_Vw_vdmpyacc_VwVhVh_sat, VX_DV, V, V, V, V, hx_dot_sat_h(a, (hx_nuw)b, c))
HX_DEF3(Q6_Vw_vdmpyacc_VwVhRh_sat, VX, V, V, V, R, hx_dot_sat_h(a, (hx_nuw)b, c))
HX_DEF3(Q6_Vw_vdmpyacc_VwVhRuh_sat, VX, V, V, V, R, hx_dot_sat_uh(a, (hx_nuw)b, c))
HX_DEF3(Q6_Vw_vdmpyacc_VwWhRh_sat, VX_DV, V, V, W, R, hx_dot_sat_h(a, hx_slide_h(b0, b1), c))
HX_DEF3(Q6_Vw_vdmpyacc_VwWhRuh_sat, VX_DV, V, V, W, R, hx_dot_sat_uh(a, hx_slide_h(b0, b1), c))
#undef HX_ZERO

/* --- four products per word */
/* acc + the four products of each word's bytes: of type T in x, U in y */
#define HX_DOT4(T, U) \
    HX_FN hx_nuw hx_dot4_##T##U(hx_nuw acc, hx_nw x, hx_nw y) \
    { \
        return acc + hx_madd_h(hx_e##T(x), hx_e##U(y)) + hx_madd_h(hx_o##T(x), hx_o##U(y)); \
    }
HX_DOT4(ub, ub)
HX_DOT4(b, b)
#if HX_NATIVE_BYTES == 64 && defined(__AVX512VNNI__)
HX_FN hx_nuw hx_dot4_ubb(hx_nuw acc, hx_nw x, hx_nw y)
{
    return (hx_nuw)_mm512_dpbusd_epi32((__m512i)acc, (__m512i)x, (__m512i)y);
}
#else
HX_DOT4(ub, b)
#endif
#undef HX_DOT4
#define HX_RMPY(X, T, k2, U) \
    HX_DEF2(Q6_V##X##_vrmpy_V##T##k2##U, VX, V, V, k2, hx_dot4_##T##U((hx_nuw){0}, a, b)) \
    HX_DEF3(Q6_V##X##_vrmpyacc_V##X##V##T##k2##U, VX, V, V, V, k2, hx_dot4_##T##U((hx_nuw)a, b, c))
HX_RMPY(w, b, V, b)
HX_RMPY(w, ub, V, b)
HX_RMPY(w, ub, R, b)
HX_RMPY(uw, ub, V, ub)
HX_RMPY(uw, ub, R, ub)
#undef HX_RMPY

/* Pair forms with an immediate slide a 4-byte window over the pair: with Iu = 1 byte 0 comes from
 * the high vector and R is rotated by a byte; the high result starts two bytes further on. */
HX_FN hx_nw hx_bytes_of(hx_nw x, hx_nw y, uint32_t from_y)
{
    return hx_nsel(hx_nsplat((int32_t)from_y), y, x);
}
HX_FN Word32 hx_ror(Word32 r, int n)
{
    return (Word32)((uint32_t)r >> n | (uint32_t)r << (32 - n));
}
#define HX_WINDOW_LOW(x, Iu) hx_bytes_of(x##0, x##1, (Iu) ? 0x000000ffu : 0)
#define HX_WINDOW_HIGH(x, Iu) hx_bytes_of(x##0, x##1, (Iu) ? 0x00ffffffu : 0x0000ffffu)
#define HX_R_LOW(r, Iu) hx_nsplat((Iu) ? hx_ror(r, 24) : (r))
#define HX_R_HIGH(r, Iu) hx_nsplat((Iu) ? hx_ror(r, 8) : hx_ror(r, 16))
HX_FN hx_nuw hx_sad4(hx_nuw acc, hx_nw a, hx_nw b)
{
    const hx_nub x = (hx_nub)a, y = (hx_nub)b, less = (hx_nub)(x < y);
    const hx_nw d = (hx_nw)(((x - y) ^ less) - less);
    const hx_nw s = (hx_nw)(hx_eub(d) + hx_oub(d));

    return acc + hx_euh(s) + hx_ouh(s);
}
#define HX_WINDOW4(op, X, U, fn) \
    HX_FN HVX_VectorPair Q6_W##X##_##op##_WubR##U##I(HVX_VectorPair A, Word32 B, Word32 Iu) \
    { \
        union hx_w a_, z; \
        a_.w = A; \
        HX_HVX_COUNT(VX_DV); \
        HX_EACH(i) { \
            HX_N_W(a); \
            HX_S_W(fn((hx_nuw){0}, HX_WINDOW_LOW(a, Iu & 1), HX_R_LOW(B, Iu & 1)), \
                   fn((hx_nuw){0}, HX_WINDOW_HIGH(a, Iu & 1), HX_R_HIGH(B, Iu & 1))); \
        } \
        return z.w; \
    } \
    HX_FN HVX_VectorPair Q6_W##X##_##op##acc_W##X##WubR##U##I(HVX_VectorPair P, HVX_VectorPair A, \
                                                              Word32 B, Word32 Iu) \
    { \
        union hx_w x_, a_, z; \
        x_.w = P; \
        a_.w = A; \
        HX_HVX_COUNT(VX_DV); \
        HX_EACH(i) { \
            HX_N_W(x); \
            HX_N_W(a); \
            HX_S_W(fn((hx_nuw)x0, HX_WINDOW_LOW(a, Iu & 1), HX_R_LOW(B, Iu & 1)), \
                   fn((hx_nuw)x1, HX_WINDOW_HIGH(a, Iu & 1), HX_R_HIGH(B, Iu & 1))); \
        } \
        return z.w; \
    }
HX_WINDOW4(vrmpy, w, b, hx_dot4_ubb)
HX_WINDOW4(vrmpy, uw, ub, hx_dot4_ubub)
HX_WINDOW4(vrsad, uw, ub, hx_sad4)
#undef HX_WINDOW4
#undef HX_WINDOW_LOW
#undef HX_WINDOW_HIGH
#undef HX_R_LOW
#undef HX_R_HIGH

/* Sum of two absolute differences of halves, sliding like vdmpy of pairs. */
HX_FN hx_nuw hx_absdiff(hx_nuw x, hx_nuw y)
{
    const hx_nw d = (hx_nw)(x - y);

    return (hx_nuw)((d ^ (d >> 31)) - (d >> 31));
}
#define HX_DSAD(x, y, r) (hx_absdiff(x, hx_euh(r)) + hx_absdiff(y, hx_ouh(r)))
HX_DEF2(Q6_Wuw_vdsad_WuhRuh, VX_DV, W, W, R, HX_DSAD(hx_euh(a0), hx_ouh(a0), b),
        HX_DSAD(hx_ouh(a0), hx_euh(a1), b))
HX_DEF3(Q6_Wuw_vdsadacc_WuwWuhRuh, VX_DV, W, W, W, R,
        (hx_nuw)a0 + HX_DSAD(hx_euh(b0), hx_ouh(b0), c),
        (hx_nuw)a1 + HX_DSAD(hx_ouh(b0), hx_euh(b1), c))
#undef HX_DSAD

/* --- three taps, the third with weight 1 */
#define HX_TMPY(T) \
    HX_DEF2(Q6_Wh_vtmpy_W##T##Rb, VX_DV, W, W, R, \
            HX_DOT_BB(hx_e##T(a0), hx_o##T(a0), b) + hx_e##T(a1), \
            HX_DOT_BB(hx_o##T(a0), hx_e##T(a1), b) + hx_o##T(a1)) \
    HX_DEF3(Q6_Wh_vtmpyacc_WhW##T##Rb, VX_DV, W, W, W, R, \
            (hx_nuh)a0 + HX_DOT_BB(hx_e##T(b0), hx_o##T(b0), c) + hx_e##T(b1), \
            (hx_nuh)a1 + HX_DOT_BB(hx_o##T(b0), hx_e##T(b1), c) + hx_o##T(b1))
HX_TMPY(b)
HX_TMPY(ub)
#undef HX_TMPY
HX_DEF2(Q6_Ww_vtmpy_WhRb, VX_DV, W, W, R, HX_DOT_HB(a0, B) + hx_eh(a1),
        HX_DOT_HB(hx_slide_h(a0, a1), B) + hx_oh(a1))
HX_DEF3(Q6_Ww_vtmpyacc_WwWhRb, VX_DV, W, W, W, R, (hx_nuw)a0 + HX_DOT_HB(b0, C) + hx_eh(b1),
        (hx_nuw)a1 + HX_DOT_HB(hx_slide_h(b0, b1), C) + hx_oh(b1))
#undef HX_DOT_BB
#undef HX_DOT_HB

/* --- low operand times one factor plus high operand times another: bytes 0, 1 of R for even lanes,
 * 2, 3 for odd ones */
HX_FN hx_nuh hx_factor_h_b(Word32 r, int k)
{
    return (hx_nuh){0} + (uint16_t)(int8_t)(r >> (8 * k));
}
HX_FN hx_nuh hx_factor_h_ub(Word32 r, int k)
{
    return (hx_nuh){0} + (uint8_t)(r >> (8 * k));
}
HX_FN hx_nuw hx_factor_w_b(Word32 r, int k)
{
    return (hx_nuw){0} + (uint32_t)(int8_t)(r >> (8 * k));
}
#define HX_MPA(f, x, y, r, k) ((x)*f(r, k) + (y)*f(r, k + 1))
#define HX_MPA_R(X, T, U) \
    HX_DEF2(Q6_W##X##_vmpa_W##T##R##U, VX_DV, W, W, R, \
            HX_MPA(hx_factor_##X##_##U, hx_e##T(a0), hx_e##T(a1), B, 0), \
            HX_MPA(hx_factor_##X##_##U, hx_o##T(a0), hx_o##T(a1), B, 2)) \
    HX_DEF3(Q6_W##X##_vmpaacc_W##X##W##T##R##U, VX_DV, W, W, W, R, \
            (hx_nu##X)a0 + HX_MPA(hx_factor_##X##_##U, hx_e##T(b0), hx_e##T(b1), C, 0), \
            (hx_nu##X)a1 + HX_MPA(hx_factor_##X##_##U, hx_o##T(b0), hx_o##T(b1), C, 2))
HX_MPA_R(h, ub, b)
HX_MPA_R(h, ub, ub)
HX_MPA_R(w, h, b)
HX_MPA_R(w, uh, b)
#undef HX_MPA_R
#undef HX_MPA
#define HX_MPA_W(U) \
    HX_DEF2(Q6_Wh_vmpa_WubW##U, VX_DV, W, W, W, \
            hx_eub(a0) * hx_e##U(b0) + hx_eub(a1) * hx_e##U(b1), \
            hx_oub(a0) * hx_o##U(b0) + hx_oub(a1) * hx_o##U(b1))
HX_MPA_W(b)
HX_MPA_W(ub)
#undef HX_MPA_W

/* Piecewise linear: the top two bits of Vu choose one of four halves of R, which is added (or
 * subtracted) at weight 2^15 to the product of Vx and Vu; vlut4 is the choice alone. */
HX_FN hx_nuh hx_choose4(hx_nuh x, Word64 r)
{
    const hx_nuh bit0 = (hx_nuh)((x & 0x4000) != 0), bit1 = (hx_nuh)((x & 0x8000) != 0);
    const hx_nuh low = (bit0 & (uint16_t)(r >> 16)) | (~bit0 & (uint16_t)r);
    const hx_nuh high = (bit0 & (uint16_t)(r >> 48)) | (~bit0 & (uint16_t)(r >> 32));

    return (bit1 & high) | (~bit1 & low);
}
HX_OP1_(Q6_Vh_vlut4_VuhPh, VX_DV, uh, hx_choose4(a, P), HVX_Vector A, Word64 P)
#define HX_PIECE(name, e, o, term) \
    HX_OP2_(name, VX_DV, w, w, \
            hx_weave_h(term(hx_eh(a), e(b), e((hx_nw)hx_choose4((hx_nuh)b, P))), \
                       term(hx_oh(a), o(b), o((hx_nw)hx_choose4((hx_nuh)b, P)))), \
            HVX_Vector A, HVX_Vector B, Word64 P)
/* (2xy + 2^15 t) >> 16 and (xy +- 2^15 t) >> 16 without leaving 32 bits */
#define HX_TERM_H(x, y, t) hx_sat_h_w((hx_nw)((x) * (y) + ((t) << 14)) >> 15)
#define HX_TERM_ADD(x, y, t) hx_sat_h_w((((hx_nw)((x) * (y)) >> 15) + (hx_nw)(t)) >> 1)
#define HX_TERM_SUB(x, y, t) hx_sat_h_w((((hx_nw)((x) * (y)) >> 15) - (hx_nw)(t)) >> 1)
HX_PIECE(Q6_Vh_vmpa_VhVhVhPh_sat, hx_eh, hx_oh, HX_TERM_H)
HX_PIECE(Q6_Vh_vmpa_VhVhVuhPuh_sat, hx_euh, hx_ouh, HX_TERM_ADD)
HX_PIECE(Q6_Vh_vmps_VhVhVuhPuh_sat, hx_euh, hx_ouh, HX_TERM_SUB)
#undef HX_PIECE
#undef HX_TERM_H
#undef HX_TERM_ADD
#undef HX_TERM_SUB

/* --- v6mpy: 3 x 2 taps of 10-bit coefficients, for words of 8 pixels (4 of the low, 4 of the high
 * vector). Coefficient k = 0..2 of a word: low eight bits in byte k, top two (signed) in bits 2k,
 * 2k + 1 of byte 3; words of the low vector hold c0..c2, those of the high one c3..c5.  The
 * immediate chooses pixels a, b (bit 1) and which result vector gets the whole sum, a . c0..2 + b .
 * c3..5 (bit 0 clear: the high one); the other gets a . c3..5, or b . c0..2. */
HX_FN hx_nuw hx_tap10(hx_nw w, int k)
{
    return (((hx_nuw)w >> (8 * k)) & 0xff) | (hx_nuw)((hx_nw)((hx_nuw)w << (6 - 2 * k)) >> 30 << 8);
}

HX_FN hx_nuw hx_pixel(hx_nw low, hx_nw high, int k)
{
    return ((hx_nuw)(k < 4 ? low : high) >> (k % 4 * 8)) & 0xff;
}

HX_FN HVX_VectorPair hx_v6mpy(HVX_VectorPair acc, HVX_VectorPair pixels, HVX_VectorPair taps,
                              Word32 Iu, int vertical)
{
    static const uint8_t order[2][2][2][3] = {
        {{{6, 4, 2}, {7, 5, 3}}, {{4, 2, 0}, {5, 3, 1}}},
        {{{1, 4, 5}, {3, 6, 7}}, {{0, 1, 4}, {2, 3, 6}}},
    };
    union hx_w u, v, d;

    u.w = pixels;
    v.w = taps;
    d.w = acc;
    HX_EACH(i) {
        hx_nuw whole = {0}, part = {0};

        HX_UNROLL for (int k = 0; k < 3; k++) {
            const hx_nuw a =
                hx_pixel(u.n[i], u.n[HX_NATIVES + i], order[vertical][Iu >> 1 & 1][0][k]);
            const hx_nuw b =
                hx_pixel(u.n[i], u.n[HX_NATIVES + i], order[vertical][Iu >> 1 & 1][1][k]);
            const hx_nuw c = hx_tap10(v.n[i], k), e = hx_tap10(v.n[HX_NATIVES + i], k);

            whole += a * c + b * e;
            part += Iu & 1 ? b * c : a * e;
        }
        d.n[i] = (hx_nw)((hx_nuw)d.n[i] + (Iu & 1 ? whole : part));
        d.n[HX_NATIVES + i] = (hx_nw)((hx_nuw)d.n[HX_NATIVES + i] + (Iu & 1 ? part : whole));
    }
    return d.w;
}
#define HX_V6MPY(way, vertical) \
    HX_OP0(Q6_Ww_v6mpy_WubWbI_##way, VX_DV, (HVX_VectorPair Vuu, HVX_VectorPair Vvv, Word32 Iu2), \
           HVX_VectorPair, hx_v6mpy((HVX_VectorPair){0}, Vuu, Vvv, Iu2, vertical)) \
    HX_OP0(Q6_Ww_v6mpyacc_WwWubWbI_##way, VX_DV, \
           (HVX_VectorPair Vxx, HVX_VectorPair Vuu, HVX_VectorPair Vvv, Word32 Iu2), \
           HVX_VectorPair, hx_v6mpy(Vxx, Vuu, Vvv, Iu2, vertical))
HX_V6MPY(h, 0)
HX_V6MPY(v, 1)
#undef HX_V6MPY

/* --- late-source form: word 0 */
HX_FN HVX_Vector Q6_Vw_vinsert_VwR(HVX_Vector Vx, Word32 Rt)
{
    const hx_nw first = {-1};
    union hx_v d;

    HX_HVX_COUNT(VX_LATE);
    d.v = Vx;
    d.n[0] = hx_nsel(first, hx_nsplat(Rt), d.n[0]);
    return d.v;
}

#endif
