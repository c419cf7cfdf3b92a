/* Adds, averages, min, max, absolute values and saturations of the lanes of a register or pair.
 * Notation: hexrig_scalar.h; x and y are the lanes of the first and second argument. */
#ifndef HEXRIG_SCALAR_VEC_H
#define HEXRIG_SCALAR_VEC_H

#include "hexrig_scalar.h"

HXS_EACH_PP(Q6_P_vaddb_PP, B, 8, x + y)
HXS_EACH_PP(Q6_P_vaddub_PP, UB, 8, x + y)
HXS_EACH_PP(Q6_P_vaddub_PP_sat, UB, 8, hxs_usat(x + y, 8))
HXS_EACH_PP(Q6_P_vaddh_PP, H, 16, x + y)
HXS_EACH_PP(Q6_P_vaddh_PP_sat, H, 16, hxs_sat(x + y, 16))
HXS_EACH_PP(Q6_P_vadduh_PP_sat, UH, 16, hxs_usat(x + y, 16))
HXS_EACH_PP(Q6_P_vaddw_PP, W, 32, x + y)
HXS_EACH_PP(Q6_P_vaddw_PP_sat, W, 32, HXS_SAT(x + y))
HXS_EACH_PP(Q6_P_vsubb_PP, B, 8, x - y)
HXS_EACH_PP(Q6_P_vsubub_PP, UB, 8, x - y)
HXS_EACH_PP(Q6_P_vsubub_PP_sat, UB, 8, hxs_usat(x - y, 8))
HXS_EACH_PP(Q6_P_vsubh_PP, H, 16, x - y)
HXS_EACH_PP(Q6_P_vsubh_PP_sat, H, 16, hxs_sat(x - y, 16))
HXS_EACH_PP(Q6_P_vsubuh_PP_sat, UH, 16, hxs_usat(x - y, 16))
HXS_EACH_PP(Q6_P_vsubw_PP, W, 32, x - y)
HXS_EACH_PP(Q6_P_vsubw_PP_sat, W, 32, HXS_SAT(x - y))
HXS_EACH_RR(Q6_R_vaddh_RR, H, 16, x + y)
HXS_EACH_RR(Q6_R_vaddh_RR_sat, H, 16, hxs_sat(x + y, 16))
HXS_EACH_RR(Q6_R_vadduh_RR_sat, UH, 16, hxs_usat(x + y, 16))
HXS_EACH_RR(Q6_R_vsubh_RR, H, 16, x - y)
HXS_EACH_RR(Q6_R_vsubh_RR_sat, H, 16, hxs_sat(x - y, 16))
HXS_EACH_RR(Q6_R_vsubuh_RR_sat, UH, 16, hxs_usat(x - y, 16))
HXS_EACH(R, Q6_R_vaddhub_PP_sat, (Word64 a, Word64 b), 4, 8, HXS_H(a, i), HXS_H(b, i),
        hxs_usat(x + y, 8))

/* Averages: _rnd rounds up, _crnd to even; vnavg is half the difference. */
#define HXS_CRND(v) (((v) & 3) == 3 ? (v) + 1 : (v))
HXS_EACH_PP(Q6_P_vavgub_PP, UB, 8, (x + y) >> 1)
HXS_EACH_PP(Q6_P_vavgub_PP_rnd, UB, 8, (x + y + 1) >> 1)
HXS_EACH_PP(Q6_P_vavgh_PP, H, 16, (x + y) >> 1)
HXS_EACH_PP(Q6_P_vavgh_PP_rnd, H, 16, (x + y + 1) >> 1)
HXS_EACH_PP(Q6_P_vavgh_PP_crnd, H, 16, HXS_CRND(x + y) >> 1)
HXS_EACH_PP(Q6_P_vavguh_PP, UH, 16, (x + y) >> 1)
HXS_EACH_PP(Q6_P_vavguh_PP_rnd, UH, 16, (x + y + 1) >> 1)
HXS_EACH_PP(Q6_P_vavgw_PP, W, 32, (x + y) >> 1)
HXS_EACH_PP(Q6_P_vavgw_PP_rnd, W, 32, (x + y + 1) >> 1)
HXS_EACH_PP(Q6_P_vavgw_PP_crnd, W, 32, HXS_CRND(x + y) >> 1)
HXS_EACH_PP(Q6_P_vavguw_PP, UW, 32, (x + y) >> 1)
HXS_EACH_PP(Q6_P_vavguw_PP_rnd, UW, 32, (x + y + 1) >> 1)
HXS_EACH_PP(Q6_P_vnavgh_PP, H, 16, (x - y) >> 1)
HXS_EACH_PP(Q6_P_vnavgh_PP_rnd_sat, H, 16, hxs_sat((x - y + 1) >> 1, 16))
HXS_EACH_PP(Q6_P_vnavgh_PP_crnd_sat, H, 16, hxs_sat(HXS_CRND(x - y) >> 1, 16))
HXS_EACH_PP(Q6_P_vnavgw_PP, W, 32, (x - y) >> 1)
HXS_EACH_PP(Q6_P_vnavgw_PP_rnd_sat, W, 32, HXS_SAT((x - y + 1) >> 1))
HXS_EACH_PP(Q6_P_vnavgw_PP_crnd_sat, W, 32, HXS_SAT(HXS_CRND(x - y) >> 1))
HXS_EACH_RR(Q6_R_vavgh_RR, H, 16, (x + y) >> 1)
HXS_EACH_RR(Q6_R_vavgh_RR_rnd, H, 16, (x + y + 1) >> 1)
HXS_EACH_RR(Q6_R_vnavgh_RR, H, 16, (x - y) >> 1)

HXS_EACH_PP(Q6_P_vmaxb_PP, B, 8, hxs_max(x, y))
HXS_EACH_PP(Q6_P_vmaxub_PP, UB, 8, hxs_max(x, y))
HXS_EACH_PP(Q6_P_vmaxh_PP, H, 16, hxs_max(x, y))
HXS_EACH_PP(Q6_P_vmaxuh_PP, UH, 16, hxs_max(x, y))
HXS_EACH_PP(Q6_P_vmaxw_PP, W, 32, hxs_max(x, y))
HXS_EACH_PP(Q6_P_vmaxuw_PP, UW, 32, hxs_max(x, y))
HXS_EACH_PP(Q6_P_vminb_PP, B, 8, hxs_min(x, y))
HXS_EACH_PP(Q6_P_vminub_PP, UB, 8, hxs_min(x, y))
HXS_EACH_PP(Q6_P_vminh_PP, H, 16, hxs_min(x, y))
HXS_EACH_PP(Q6_P_vminuh_PP, UH, 16, hxs_min(x, y))
HXS_EACH_PP(Q6_P_vminw_PP, W, 32, hxs_min(x, y))
HXS_EACH_PP(Q6_P_vminuw_PP, UW, 32, hxs_min(x, y))

HXS_EACH_P(Q6_P_vabsh_P, H, 16, hxs_abs(x))
HXS_EACH_P(Q6_P_vabsh_P_sat, H, 16, hxs_sat(hxs_abs(x), 16))
HXS_EACH_P(Q6_P_vabsw_P, W, 32, hxs_abs(x))
HXS_EACH_P(Q6_P_vabsw_P_sat, W, 32, HXS_SAT(hxs_abs(x)))
HXS_EACH_PP(Q6_P_vabsdiffb_PP, B, 8, hxs_abs(x - y))
HXS_EACH_PP(Q6_P_vabsdiffub_PP, UB, 8, hxs_abs(x - y))
HXS_EACH_PP(Q6_P_vabsdiffh_PP, H, 16, hxs_abs(x - y))
HXS_EACH_PP(Q6_P_vabsdiffw_PP, W, 32, hxs_abs(x - y))

/* Negations and quarter turns of complex halves, chosen by bits of a register. */
HXS_EACH_P(Q6_P_vconj_P_sat, H, 16, i & 1 ? hxs_sat(-x, 16) : x)
HXS_EACH_PR(Q6_P_vcnegh_PR, H, 16, y >> i & 1 ? hxs_sat(-x, 16) : x)

static inline int64_t hxs_cneg_sum(uint64_t v, int64_t which)
{
    int64_t d = 0;

    for (int i = 0; i < 4; i++)
        d += which >> i & 1 ? -HXS_H(v, i) : HXS_H(v, i);
    return d;
}

HXS_Q6_3(P, Q6_P_vrcneghacc_PR, P, P, R, a + (uint64_t)hxs_cneg_sum(b, c))

/* Real (part 0) or imaginary (part 1) part of (re + i im) times 1, -i, i, -1. */
static inline int64_t hxs_turn(int64_t re, int64_t im, int64_t by, int part)
{
    switch (by & 3) {
    case 0:
        return part ? im : re;
    case 1:
        return part ? -re : im;
    case 2:
        return part ? re : -im;
    default:
        return part ? -im : -re;
    }
}

HXS_EACH(P, Q6_P_vcrotate_PR, (Word64 a, Word32 b), 4, 16, HXS_H(a, i & 2), HXS_H(a, i | 1),
        hxs_sat(hxs_turn(x, y, b >> (i & 2), i & 1), 16))

static inline int64_t hxs_rcrotate(uint64_t v, uint64_t control, int part)
{
    int64_t d = 0;

    for (int i = 0; i < 4; i++)
        d += hxs_turn(HXS_B(v, 2 * i), HXS_B(v, 2 * i + 1), (int64_t)(control >> 2 * i), part);
    return d;
}

#define HXS_CONTROL(r, n) ((uint64_t)HXS_UB(r, (n) & 3))
HXS_Q6_3(P, Q6_P_vrcrotate_PRI, P, R, R,
        HXS_WW(hxs_rcrotate(a, HXS_CONTROL(b, c), 1), hxs_rcrotate(a, HXS_CONTROL(b, c), 0)))
HXS_Q6_4(P, Q6_P_vrcrotateacc_PRI, P, P, R, R,
        HXS_WW(HXS_W(a, 1) + hxs_rcrotate(b, HXS_CONTROL(c, d), 1),
              HXS_W(a, 0) + hxs_rcrotate(b, HXS_CONTROL(c, d), 0)))

/* Crosswise: even lanes of a with odd lanes of b and the other way round. */
#define HXS_CROSS(name, K, bits, even, odd)                                                        \
    HXS_EACH(P, name, (Word64 a, Word64 b), 64 / (bits), bits, HXS_##K(a, i), HXS_##K(b, i ^ 1),   \
            hxs_sat(i & 1 ? (odd) : (even), bits))
HXS_CROSS(Q6_P_vxaddsubh_PP_sat, H, 16, x + y, x - y)
HXS_CROSS(Q6_P_vxsubaddh_PP_sat, H, 16, x - y, x + y)
HXS_CROSS(Q6_P_vxaddsubw_PP_sat, W, 32, x + y, x - y)
HXS_CROSS(Q6_P_vxsubaddw_PP_sat, W, 32, x - y, x + y)
HXS_CROSS(Q6_P_vxaddsubh_PP_rnd_rs1_sat, H, 16, (x + y + 1) >> 1, (x - y + 1) >> 1)
HXS_CROSS(Q6_P_vxsubaddh_PP_rnd_rs1_sat, H, 16, (x - y + 1) >> 1, (x + y + 1) >> 1)

/* Sums over lanes. */
#define HXS_SUM4(e, i0) (e((i0)) + e((i0) + 1) + e((i0) + 2) + e((i0) + 3))
#define HXS_SUM_UB(k) (HXS_UB(a, k) + HXS_UB(b, k))
#define HXS_SAD_UB(k) hxs_abs(HXS_UB(a, k) - HXS_UB(b, k))
#define HXS_SUM_H(k) (HXS_H(a, k) + HXS_H(b, k))
#define HXS_SUM_UH(k) (HXS_UH(a, k) + HXS_UH(b, k))
HXS_EACH(P, Q6_P_vraddub_PP, (Word64 a, Word64 b), 2, 32, HXS_SUM4(HXS_SUM_UB, 4 * i), 0, x)
HXS_EACH(P, Q6_P_vrsadub_PP, (Word64 a, Word64 b), 2, 32, HXS_SUM4(HXS_SAD_UB, 4 * i), 0, x)
HXS_EACH(P, Q6_P_vraddubacc_PP, (Word64 d, Word64 a, Word64 b), 2, 32, HXS_SUM4(HXS_SUM_UB, 4 * i),
        HXS_W(d, i), x + y)
HXS_EACH(P, Q6_P_vrsadubacc_PP, (Word64 d, Word64 a, Word64 b), 2, 32, HXS_SUM4(HXS_SAD_UB, 4 * i),
        HXS_W(d, i), x + y)
HXS_Q6_2(R, Q6_R_vraddh_PP, P, P, HXS_SUM4(HXS_SUM_H, 0))
HXS_Q6_2(R, Q6_R_vradduh_PP, P, P, HXS_SUM4(HXS_SUM_UH, 0))

/* Running extreme: d holds the value so far (low word) and its address (high); lane i of a lies at r | i * size. */
#define HXS_EXTREME(name, K, n, shift, before)                                                     \
    static inline Word64 name(Word64 d, Word64 a, Word32 r)                                        \
    {                                                                                              \
        int64_t x = HXS_##K(d, 0), at = HXS_W(d, 1);                                               \
        for (int i = 0; i < (n); i++) {                                                            \
            const int64_t y = HXS_##K(a, i);                                                       \
            if (x before y) {                                                                      \
                x = y;                                                                             \
                at = r | i << (shift);                                                             \
            }                                                                                      \
        }                                                                                          \
        return (Word64)HXS_WW(at, x);                                                              \
    }
HXS_EXTREME(Q6_P_vrmaxh_PR, H, 4, 1, <)
HXS_EXTREME(Q6_P_vrmaxuh_PR, UH, 4, 1, <)
HXS_EXTREME(Q6_P_vrmaxw_PR, W, 2, 2, <)
HXS_EXTREME(Q6_P_vrmaxuw_PR, UW, 2, 2, <)
HXS_EXTREME(Q6_P_vrminh_PR, H, 4, 1, >)
HXS_EXTREME(Q6_P_vrminuh_PR, UH, 4, 1, >)
HXS_EXTREME(Q6_P_vrminw_PR, W, 2, 2, >)
HXS_EXTREME(Q6_P_vrminuw_PR, UW, 2, 2, >)

/* Saturation of lanes, packed into a register or left where they are in a pair. */
HXS_EACH(R, Q6_R_vsathb_R, (Word32 a), 2, 8, HXS_H(a, i), 0, hxs_sat(x, 8))
HXS_EACH(R, Q6_R_vsathub_R, (Word32 a), 2, 8, HXS_H(a, i), 0, hxs_usat(x, 8))
HXS_EACH(R, Q6_R_vsathb_P, (Word64 a), 4, 8, HXS_H(a, i), 0, hxs_sat(x, 8))
HXS_EACH(R, Q6_R_vsathub_P, (Word64 a), 4, 8, HXS_H(a, i), 0, hxs_usat(x, 8))
HXS_EACH(R, Q6_R_vsatwh_P, (Word64 a), 2, 16, HXS_W(a, i), 0, hxs_sat(x, 16))
HXS_EACH(R, Q6_R_vsatwuh_P, (Word64 a), 2, 16, HXS_W(a, i), 0, hxs_usat(x, 16))
HXS_EACH_P(Q6_P_vsathb_P, H, 16, hxs_sat(x, 8))
HXS_EACH_P(Q6_P_vsathub_P, H, 16, hxs_usat(x, 8))
HXS_EACH_P(Q6_P_vsatwh_P, W, 32, hxs_sat(x, 16))
HXS_EACH_P(Q6_P_vsatwuh_P, W, 32, hxs_usat(x, 16))
HXS_EACH(R, Q6_R_vrndwh_P, (Word64 a), 2, 16, HXS_W(a, i), 0, (x + 0x8000) >> 16)
HXS_EACH(R, Q6_R_vrndwh_P_sat, (Word64 a), 2, 16, HXS_W(a, i), 0, HXS_SAT(x + 0x8000) >> 16)

#endif
