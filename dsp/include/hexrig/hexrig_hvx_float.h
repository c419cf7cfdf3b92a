/* The 35 floating-point intrinsics of V69: qfloat arithmetic, and compares, max and min of sf and
 * hf. */
#ifndef HEXRIG_HVX_FLOAT_H
#define HEXRIG_HVX_FLOAT_H

#include "hexrig_hvx_lanes.h"
#include "hexrig_hvx_qf_short.h"
#include "hexrig_hvx_qfloat.h"

/* qf16: the even and odd halfwords of each word, sign-extended, one after the other. */
#define HX_QF16(name, cls, fn, ...) \
    HX_FN HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) \
    { \
        union hx_v u, v, d; \
        HX_HVX_COUNT(cls); \
        u.v = Vu; \
        v.v = Vv; \
        HX_EACH(i) { \
            const hx_nw a = u.n[i], b = v.n[i]; \
            const hx_nw even = fn((a << 16) >> 16, (b << 16) >> 16, __VA_ARGS__); \
            const hx_nw odd = fn(a >> 16, b >> 16, __VA_ARGS__); \
            d.n[i] = (even & 0xffff) | (odd << 16); \
        } \
        return d.v; \
    }

/* hf or qf16 -> qf32: the low result vector comes from the even halfwords, the high one from the
 * odd. */
#define HX_QF_WIDE(name, fn) \
    HX_FN HVX_VectorPair name(HVX_Vector Vu, HVX_Vector Vv) \
    { \
        union hx_v u, v, lo, hi; \
        HX_HVX_COUNT(VX_DV); \
        u.v = Vu; \
        v.v = Vv; \
        HX_EACH(i) { \
            const hx_nw a = u.n[i], b = v.n[i]; \
            lo.n[i] = fn((a << 16) >> 16, (b << 16) >> 16, 10, 5, 23, 8); \
            hi.n[i] = fn(a >> 16, b >> 16, 10, 5, 23, 8); \
        } \
        return hx_pair(hi.v, lo.v); \
    }

HX_OP2(Q6_Vqf32_vmpy_Vqf32Vqf32, VX_DV, w, w, hx_qfs_mpy_qq(a, b, 23, 8, 23, 8))
HX_OP2(Q6_Vqf32_vmpy_VsfVsf, VX_DV, w, w, hx_qfs_mpy_ii(a, b, 23, 8, 23, 8))
HX_OP2(Q6_Vqf32_vadd_Vqf32Vqf32, VS, w, w, hx_qfs_add_qq(a, b, 0, 23, 8))
HX_OP2(Q6_Vqf32_vadd_Vqf32Vsf, VS, w, w, hx_qfs_add_qi(a, b, 0, 23, 8))
HX_OP2(Q6_Vqf32_vadd_VsfVsf, VS, w, w, hx_qfs_add_ii(a, b, 0, 23, 8))
HX_OP2(Q6_Vqf32_vsub_Vqf32Vqf32, VS, w, w, hx_qfs_add_qq(a, b, -1, 23, 8))
HX_OP2(Q6_Vqf32_vsub_Vqf32Vsf, VS, w, w, hx_qfs_add_qi(a, b, -1, 23, 8))
HX_OP2(Q6_Vqf32_vsub_VsfVsf, VS, w, w, hx_qfs_add_ii(a, b, -1, 23, 8))
HX_OP1(Q6_Vsf_equals_Vqf32, VS, w, hx_qfs_to_sf(a))

HX_QF16(Q6_Vqf16_vmpy_Vqf16Vqf16, VX_DV, hx_qfs_mpy_qq, 10, 5, 10, 5)
HX_QF16(Q6_Vqf16_vmpy_Vqf16Vhf, VX_DV, hx_qfs_mpy_qi, 10, 5, 10, 5)
HX_QF16(Q6_Vqf16_vmpy_VhfVhf, VX_DV, hx_qfs_mpy_ii, 10, 5, 10, 5)
HX_QF16(Q6_Vqf16_vadd_Vqf16Vqf16, VS, hx_qfs_add_qq, 0, 10, 5)
HX_QF16(Q6_Vqf16_vadd_Vqf16Vhf, VS, hx_qfs_add_qi, 0, 10, 5)
HX_QF16(Q6_Vqf16_vadd_VhfVhf, VS, hx_qfs_add_ii, 0, 10, 5)
HX_QF16(Q6_Vqf16_vsub_Vqf16Vqf16, VS, hx_qfs_add_qq, -1, 10, 5)
HX_QF16(Q6_Vqf16_vsub_Vqf16Vhf, VS, hx_qfs_add_qi, -1, 10, 5)
HX_QF16(Q6_Vqf16_vsub_VhfVhf, VS, hx_qfs_add_ii, -1, 10, 5)

HX_QF_WIDE(Q6_Wqf32_vmpy_Vqf16Vqf16, hx_qfs_mpy_qq)
HX_QF_WIDE(Q6_Wqf32_vmpy_Vqf16Vhf, hx_qfs_mpy_qi)
HX_QF_WIDE(Q6_Wqf32_vmpy_VhfVhf, hx_qfs_mpy_ii)

HX_OP1(Q6_Vhf_equals_Vqf16, VS, w, hx_qfs16_to_hf(a))
/* Even halfwords from the low vector. */
HX_DEF1(Q6_Vhf_equals_Wqf32, VS, V, W, hx_qfs32_to_hf(a0, a1))

/* Sign and magnitude as integers: the all-ones exponent is an ordinary binade, so +NaN > +inf.  In
 * compares -0 equals +0, for max and min it lies below. */
#define HX_FLOAT_CMP(T, L, bits) \
    HX_FN hx_n##L hx_gt_##T(hx_n##L a, hx_n##L b) \
    { \
        const hx_n##L sa = a >> (bits - 1), sb = b >> (bits - 1); \
        return ((a ^ (sa & INT##bits##_MAX)) - sa) > ((b ^ (sb & INT##bits##_MAX)) - sb); \
    } \
    HX_FN hx_n##L hx_above_##T(hx_n##L a, hx_n##L b) \
    { \
        return (a ^ ((a >> (bits - 1)) & INT##bits##_MAX)) > \
               (b ^ ((b >> (bits - 1)) & INT##bits##_MAX)); \
    } \
    HX_OP2(Q6_Q_vcmp_gt_V##T##V##T, VA, L, L, hx_gt_##T(a, b)) \
    HX_OP3(Q6_Q_vcmp_gtand_QV##T##V##T, VA, w, L, L, a &(hx_nw)hx_gt_##T(b, c)) \
    HX_OP3(Q6_Q_vcmp_gtor_QV##T##V##T, VA, w, L, L, a | (hx_nw)hx_gt_##T(b, c)) \
    HX_OP3(Q6_Q_vcmp_gtxacc_QV##T##V##T, VA, w, L, L, a ^ (hx_nw)hx_gt_##T(b, c)) \
    HX_OP2(Q6_V##T##_vmax_V##T##V##T, VA, L, L, HX_PICK(L, hx_above_##T(a, b), a, b)) \
    HX_OP2(Q6_V##T##_vmin_V##T##V##T, VA, L, L, HX_PICK(L, hx_above_##T(a, b), b, a))
HX_FLOAT_CMP(sf, w, 32)
HX_FLOAT_CMP(hf, h, 16)
#undef HX_FLOAT_CMP
#undef HX_QF16
#undef HX_QF_WIDE

#endif
