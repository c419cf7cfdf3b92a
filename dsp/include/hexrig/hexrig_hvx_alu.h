/* HVX intrinsics of the ALU: logic, predicates, compares, add and subtract, average, min and max,
 * absolute value. */
#ifndef HEXRIG_HVX_ALU_H
#define HEXRIG_HVX_ALU_H

#include "hexrig_hvx_lanes.h"

/* --- whole vectors */
HX_OP1(Q6_V_equals_V, VA, w, a)
HX_OP1(Q6_V_vnot_V, VA, w, ~a)
HX_OP2(Q6_V_vand_VV, VA, w, w, a &b)
HX_OP2(Q6_V_vor_VV, VA, w, w, a | b)
HX_OP2(Q6_V_vxor_VV, VA, w, w, a ^ b)
/* register by register: gcc clears a whole vector in memory */
HX_FN HVX_Vector hx_nothing(void)
{
    union hx_v d;

    HX_EACH(i)
    d.n[i] = (hx_nw){0};
    return d.v;
}
HX_OP0(Q6_V_vzero, VA, (void), HVX_Vector, hx_nothing())
HX_OP0(Q6_W_vzero, VA_DV, (void), HVX_VectorPair, hx_pair(hx_nothing(), hx_nothing()))
HX_OP0(Q6_V_lo_W, VA, (HVX_VectorPair Vss), HVX_Vector, hx_lo(Vss))
HX_OP0(Q6_V_hi_W, VA, (HVX_VectorPair Vss), HVX_Vector, hx_hi(Vss))
HX_OP0(Q6_W_equals_W, VA_DV, (HVX_VectorPair Vuu), HVX_VectorPair, Vuu)
HX_OP0(Q6_W_vcombine_VV, VA_DV, (HVX_Vector Vu, HVX_Vector Vv), HVX_VectorPair, hx_pair(Vu, Vv))

/* --- splat: the multiply unit with a late scalar source */
#define HX_SPLAT(name, t, type) \
    HX_FN HVX_Vector name(Word32 Rt) \
    { \
        union hx_v d; \
        HX_HVX_COUNT(VX_LATE); \
        HX_EACH(i) \
        d.n[i] = (hx_nw)((hx_n##t){0} + (type)Rt); \
        return d.v; \
    }
HX_SPLAT(Q6_V_vsplat_R, w, int32_t)
HX_SPLAT(Q6_Vh_vsplat_R, h, int16_t)
HX_SPLAT(Q6_Vb_vsplat_R, b, int8_t)
#undef HX_SPLAT

/* --- predicates */
HX_OP2(Q6_Q_and_QQ, VA_DV, w, w, a &b)
HX_OP2(Q6_Q_and_QQn, VA_DV, w, w, a & ~b)
HX_OP2(Q6_Q_or_QQ, VA_DV, w, w, a | b)
HX_OP2(Q6_Q_or_QQn, VA_DV, w, w, a | ~b)
HX_OP2(Q6_Q_xor_QQ, VA_DV, w, w, a ^ b)
HX_OP1(Q6_Q_not_Q, VA, w, ~a)

#define HX_ROW8(n) (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7
#define HX_ROW16(n) HX_ROW8(n), HX_ROW8((n) + 8)
/* Byte j of register i holds its index in the vector. */
HX_FN hx_nub hx_iota(int i)
{
#if HX_NATIVE_BYTES == 64
    const hx_nub first = {HX_ROW16(0), HX_ROW16(16), HX_ROW16(32), HX_ROW16(48)};
#elif HX_NATIVE_BYTES == 32
    const hx_nub first = {HX_ROW16(0), HX_ROW16(16)};
#else
    const hx_nub first = {HX_ROW16(0)};
#endif
    return first + (uint8_t)(i * HX_NATIVE_BYTES);
}

/* vsetq: the first Rt mod 128 bytes; vsetq2: the same but 128 instead of none. */
#define HX_SETQ(name, test) \
    HX_FN HVX_VectorPred name(Word32 Rt) \
    { \
        union hx_v d; \
        HX_HVX_COUNT(VP); \
        HX_EACH(i) \
        d.n[i] = (hx_nw)(hx_iota(i) test); \
        return d.v; \
    }
HX_SETQ(Q6_Q_vsetq_R, < (uint8_t)(Rt & 127))
HX_SETQ(Q6_Q_vsetq2_R, <= (uint8_t)(((uint32_t)Rt - 1) & 127))
#undef HX_SETQ

/* Byte i of the predicate meets byte i mod 4 of R. */
HX_OP1R(Q6_Q_vand_VR, VX_LATE, w, (hx_nub)(a &R) != 0)
HX_OP2R(Q6_Q_vandor_QVR, VX_LATE, w, w, a | (hx_nw)((hx_nub)(b & R) != 0))
HX_OP1R(Q6_V_vand_QR, VX_LATE, w, a &R)
HX_OP1R(Q6_V_vand_QnR, VX_LATE, w, ~a &R)
HX_OP2R(Q6_V_vandor_VQR, VX_LATE, w, w, a | (b & R))
HX_OP2R(Q6_V_vandor_VQnR, VX_LATE, w, w, a | (~b & R))
HX_OP2(Q6_V_vand_QV, VA, w, w, a &b)
HX_OP2(Q6_V_vand_QnV, VA, w, w, ~a &b)
HX_OP3(Q6_V_vmux_QVV, VA, w, w, w, hx_nsel(a, b, c))

/* Where Qt is set the low vector takes Vu and the high one Vv; elsewhere the other way round. */
HX_FN HVX_VectorPair Q6_W_vswap_QVV(HVX_VectorPred Qt, HVX_Vector Vu, HVX_Vector Vv)
{
    union hx_v q, u, v;
    union hx_w d;

    HX_HVX_COUNT(VA_DV);
    q.v = Qt;
    u.v = Vu;
    v.v = Vv;
    HX_EACH(i) {
        d.n[i] = hx_nsel(q.n[i], u.n[i], v.n[i]);
        d.n[HX_NATIVES + i] = hx_nsel(q.n[i], v.n[i], u.n[i]);
    }
    return d.w;
}

/* Every second predicate bit of two: the even byte (half) lanes come from Qt, the odd ones from Qs.
 */
HX_OP2(Q6_Qb_vshuffe_QhQh, VA_DV, uh, uh, (b & 0xff) | (a << 8))
HX_OP2(Q6_Qh_vshuffe_QwQw, VA_DV, uw, uw, (b & 0xffff) | (a << 16))

/* --- compares: plain, and combined into a predicate by and, or, exclusive or */
#define HX_CMP(rel, op, T) \
    HX_OP2(Q6_Q_vcmp_##rel##_V##T##V##T, VA, T, T, a op b) \
    HX_OP3(Q6_Q_vcmp_##rel##and_QV##T##V##T, VA, w, T, T, a &(hx_nw)(b op c)) \
    HX_OP3(Q6_Q_vcmp_##rel##or_QV##T##V##T, VA, w, T, T, a | (hx_nw)(b op c)) \
    HX_OP3(Q6_Q_vcmp_##rel##xacc_QV##T##V##T, VA, w, T, T, a ^ (hx_nw)(b op c))
HX_CMP(eq, ==, b)
HX_CMP(eq, ==, h)
HX_CMP(eq, ==, w)
HX_CMP(gt, >, b)
HX_CMP(gt, >, h)
HX_CMP(gt, >, w)
HX_CMP(gt, >, ub)
HX_CMP(gt, >, uh)
HX_CMP(gt, >, uw)
#undef HX_CMP

/* --- add and subtract, wrapping; conditional accumulate, where the predicate chooses byte by byte
 * after the sum */
#define HX_ADD(T) \
    HX_OP2(Q6_V##T##_vadd_V##T##V##T, VA, u##T, u##T, a + b) \
    HX_OP2(Q6_V##T##_vsub_V##T##V##T, VA, u##T, u##T, a - b) \
    HX_OPW2(Q6_W##T##_vadd_W##T##W##T, VA_DV, u##T, a + b) \
    HX_OPW2(Q6_W##T##_vsub_W##T##W##T, VA_DV, u##T, a - b) \
    HX_OP3(Q6_V##T##_condacc_QV##T##V##T, VA, w, u##T, u##T, hx_nsel(a, (hx_nw)(b + c), (hx_nw)b)) \
    HX_OP3(Q6_V##T##_condacc_QnV##T##V##T, VA, w, u##T, u##T, \
           hx_nsel(~a, (hx_nw)(b + c), (hx_nw)b)) \
    HX_OP3(Q6_V##T##_condnac_QV##T##V##T, VA, w, u##T, u##T, hx_nsel(a, (hx_nw)(b - c), (hx_nw)b)) \
    HX_OP3(Q6_V##T##_condnac_QnV##T##V##T, VA, w, u##T, u##T, hx_nsel(~a, (hx_nw)(b - c), (hx_nw)b))
HX_ADD(b)
HX_ADD(h)
HX_ADD(w)
#undef HX_ADD

/* --- add and subtract, saturating: signed results are wrong where their sign contradicts the
 * operands' */
#define HX_SAT(T, bits) \
    HX_FN hx_n##T hx_adds_##T(hx_n##T a, hx_n##T b) \
    { \
        const hx_n##T r = (hx_n##T)((hx_nu##T)a + (hx_nu##T)b); \
        return HX_PICK(T, ((r ^ a) & (r ^ b)) < 0, (a >> (bits - 1)) ^ INT##bits##_MAX, r); \
    } \
    HX_FN hx_n##T hx_subs_##T(hx_n##T a, hx_n##T b) \
    { \
        const hx_n##T r = (hx_n##T)((hx_nu##T)a - (hx_nu##T)b); \
        return HX_PICK(T, ((a ^ b) & (r ^ a)) < 0, (a >> (bits - 1)) ^ INT##bits##_MAX, r); \
    } \
    HX_FN hx_nu##T hx_adds_u##T(hx_nu##T a, hx_nu##T b) \
    { \
        return (a + b) | (hx_nu##T)((a + b) < a); \
    } \
    HX_FN hx_nu##T hx_subs_u##T(hx_nu##T a, hx_nu##T b) \
    { \
        return (a - b) & (hx_nu##T)(a >= b); \
    } \
    HX_SAT_NAMES(T) \
    HX_SAT_NAMES(u##T)
#define HX_SAT_NAMES(T) \
    HX_OP2(Q6_V##T##_vadd_V##T##V##T##_sat, VA, T, T, hx_adds_##T(a, b)) \
    HX_OP2(Q6_V##T##_vsub_V##T##V##T##_sat, VA, T, T, hx_subs_##T(a, b)) \
    HX_OPW2(Q6_W##T##_vadd_W##T##W##T##_sat, VA_DV, T, hx_adds_##T(a, b)) \
    HX_OPW2(Q6_W##T##_vsub_W##T##W##T##_sat, VA_DV, T, hx_subs_##T(a, b))
HX_SAT(b, 8)
HX_SAT(h, 16)
HX_SAT(w, 32)
#undef HX_SAT
#undef HX_SAT_NAMES

/* Unsigned byte plus or minus signed byte, clamped to 0..255. */
HX_OP2(Q6_Vub_vadd_VubVb_sat, VA, ub, ub,
       HX_PICK(ub, (hx_nb)b < 0, (a + b) & (hx_nub)((a + b) < a), (a + b) | (hx_nub)((a + b) < a)))
HX_OP2(Q6_Vub_vsub_VubVb_sat, VA, ub, ub,
       HX_PICK(ub, (hx_nb)b < 0, (a - b) | (hx_nub)((a - b) <= a),
               (a - b) & (hx_nub)((a - b) <= a)))

/* --- average (floor, or half up), min and max */
#define HX_AVG(T) \
    HX_OP2(Q6_V##T##_vavg_V##T##V##T, VA, T, T, (a & b) + ((a ^ b) >> 1)) \
    HX_OP2(Q6_V##T##_vavg_V##T##V##T##_rnd, VA, T, T, (a | b) - ((a ^ b) >> 1))
#define HX_MINMAX(T) \
    HX_OP2(Q6_V##T##_vmax_V##T##V##T, VA, T, T, HX_PICK(T, a > b, a, b)) \
    HX_OP2(Q6_V##T##_vmin_V##T##V##T, VA, T, T, HX_PICK(T, a < b, a, b))
HX_AVG(b)
HX_AVG(ub)
HX_AVG(h)
HX_AVG(uh)
HX_AVG(w)
HX_AVG(uw)
HX_MINMAX(b)
HX_MINMAX(ub)
HX_MINMAX(h)
HX_MINMAX(uh)
HX_MINMAX(w)
#undef HX_AVG
#undef HX_MINMAX

/* Half of the difference, floor: the halves differ, and 0 - 1 in the last place borrows. */
#define HX_NAVG(T, in) \
    HX_OP2(Q6_V##T##_vnavg_V##in##V##in, VA, in, in, \
           (hx_nu##T)(a >> 1) - (hx_nu##T)(b >> 1) - (hx_nu##T)(~a & b & 1))
HX_NAVG(b, b)
HX_NAVG(b, ub)
HX_NAVG(h, h)
HX_NAVG(w, w)
#undef HX_NAVG

/* --- absolute value: the most negative lane stays, or with :sat becomes the most positive one */
#define HX_ABS(T, bits) \
    HX_OP1(Q6_V##T##_vabs_V##T, VA, T, (hx_nu##T)(a ^ (a < 0)) - (hx_nu##T)(a < 0)) \
    HX_OP1(Q6_V##T##_vabs_V##T##_sat, VA, T, \
           (hx_nu##T)(a ^ (a < 0)) - (hx_nu##T)((a < 0) & (a != INT##bits##_MIN)))
HX_ABS(b, 8)
HX_ABS(h, 16)
HX_ABS(w, 32)
#undef HX_ABS

#define HX_ABSDIFF(T, in) \
    HX_OP2(Q6_V##T##_vabsdiff_V##in##V##in, VX, in, in, \
           (((hx_n##T)a - (hx_n##T)b) ^ (hx_n##T)(a < b)) - (hx_n##T)(a < b))
HX_ABSDIFF(ub, ub)
HX_ABSDIFF(uh, h)
HX_ABSDIFF(uh, uh)
HX_ABSDIFF(uw, w)
#undef HX_ABSDIFF

#endif
