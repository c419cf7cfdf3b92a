/* Scalar ALU: moves, add and subtract, logic, min and max, saturation, extension.  Notation: hexrig_scalar.h. */
#ifndef HEXRIG_SCALAR_ALU_H
#define HEXRIG_SCALAR_ALU_H

#include "hexrig_scalar.h"

/* Moves and combinations. */
HXS_Q6_1(R, Q6_R_equals_R, R, a)
HXS_Q6_1(P, Q6_P_equals_P, P, a)
HXS_Q6_1(R, Q6_R_equals_I, R, a)
HXS_Q6_1(P, Q6_P_equals_I, R, a)
HXS_Q6_2(R, Q6_Rh_equals_I, R, R, HXS_HH(b, a))
HXS_Q6_2(R, Q6_Rl_equals_I, R, R, HXS_HH(a >> 16, b))
HXS_Q6_2(P, Q6_P_combine_RR, R, R, HXS_WW(a, b))
HXS_Q6_2(P, Q6_P_combine_II, R, R, HXS_WW(a, b))
HXS_Q6_2(P, Q6_P_combine_IR, R, R, HXS_WW(a, b))
HXS_Q6_2(P, Q6_P_combine_RI, R, R, HXS_WW(a, b))
HXS_Q6_2(R, Q6_R_combine_RhRh, R, R, HXS_HH(a >> 16, b >> 16))
HXS_Q6_2(R, Q6_R_combine_RhRl, R, R, HXS_HH(a >> 16, b))
HXS_Q6_2(R, Q6_R_combine_RlRh, R, R, HXS_HH(a, b >> 16))
HXS_Q6_2(R, Q6_R_combine_RlRl, R, R, HXS_HH(a, b))
HXS_Q6_2(P, Q6_P_packhl_RR, R, R, HXS_HHHH(a >> 16, b >> 16, a, b))
HXS_Q6_1(R, Q6_R_aslh_R, R, (uint64_t)a << 16)
HXS_Q6_1(R, Q6_R_asrh_R, R, a >> 16)
HXS_Q6_1(R, Q6_R_swiz_R, R, __builtin_bswap32((uint32_t)a))
HXS_Q6_1(R, Q6_R_sxtb_R, R, HXS_B(a, 0))
HXS_Q6_1(R, Q6_R_sxth_R, R, HXS_H(a, 0))
HXS_Q6_1(R, Q6_R_zxtb_R, R, HXS_UB(a, 0))
HXS_Q6_1(R, Q6_R_zxth_R, R, HXS_UH(a, 0))
HXS_Q6_1(P, Q6_P_sxtw_R, R, a)

/* Add and subtract. */
HXS_Q6_2(R, Q6_R_add_RR, R, R, a + b)
HXS_Q6_2(R, Q6_R_add_RI, R, R, a + b)
HXS_Q6_2(R, Q6_R_add_RR_sat, R, R, HXS_SAT(a + b))
HXS_Q6_2(P, Q6_P_add_PP, P, P, a + b)
HXS_Q6_2(P, Q6_P_add_PP_sat, P, P, hxs_addsat64(a, b))
HXS_Q6_2(P, Q6_P_add_RP, R, P, (uint64_t)a + b)
HXS_Q6_2(R, Q6_R_sub_RR, R, R, a - b)
HXS_Q6_2(R, Q6_R_sub_IR, R, R, a - b)
HXS_Q6_2(R, Q6_R_sub_RR_sat, R, R, HXS_SAT(a - b))
HXS_Q6_2(P, Q6_P_sub_PP, P, P, a - b)
HXS_Q6_1(R, Q6_R_neg_R, R, -a)
HXS_Q6_1(R, Q6_R_neg_R_sat, R, HXS_SAT(-a))
HXS_Q6_1(P, Q6_P_neg_P, P, 0 - a)
HXS_Q6_1(R, Q6_R_abs_R, R, hxs_abs(a))
HXS_Q6_1(R, Q6_R_abs_R_sat, R, HXS_SAT(hxs_abs(a)))
HXS_Q6_1(P, Q6_P_abs_P, P, (int64_t)a < 0 ? 0 - a : a)
HXS_Q6_3(R, Q6_R_addacc_RR, R, R, R, a + b + c)
HXS_Q6_3(R, Q6_R_addacc_RI, R, R, R, a + b + c)
HXS_Q6_3(R, Q6_R_addnac_RR, R, R, R, a - (b + c))
HXS_Q6_3(R, Q6_R_addnac_RI, R, R, R, a - (b + c))
HXS_Q6_3(R, Q6_R_subacc_RR, R, R, R, a + b - c)
HXS_Q6_3(R, Q6_R_add_add_RRI, R, R, R, a + b + c)
HXS_Q6_3(R, Q6_R_add_sub_RIR, R, R, R, a + b - c)
HXS_Q6_2(R, Q6_R_modwrap_RR, R, R, a < 0 ? a + b : (uint32_t)a >= (uint32_t)b ? a - b : a)

/* Halves: x and y are the halves that the name gives; _s16 puts the result into the high half. */
#define HXS_HALVES(op, form, x, y)                                                                 \
    HXS_Q6_2(R, Q6_R_add_##form, R, R, op((x) + (y)))                                              \
    HXS_Q6_2(R, Q6_R_sub_##form, R, R, op((x) - (y)))
#define HXS_HALF_WRAP(v) HXS_H(v, 0)
#define HXS_HALF_SAT(v) hxs_sat(v, 16)
#define HXS_HALF_WRAP_S16(v) ((uint32_t)(v) << 16)
#define HXS_HALF_SAT_S16(v) ((uint32_t)hxs_sat(v, 16) << 16)
HXS_HALVES(HXS_HALF_WRAP, RlRl, HXS_H(a, 0), HXS_H(b, 0))
HXS_HALVES(HXS_HALF_WRAP, RlRh, HXS_H(a, 0), HXS_H(b, 1))
HXS_HALVES(HXS_HALF_SAT, RlRl_sat, HXS_H(a, 0), HXS_H(b, 0))
HXS_HALVES(HXS_HALF_SAT, RlRh_sat, HXS_H(a, 0), HXS_H(b, 1))
HXS_HALVES(HXS_HALF_WRAP_S16, RlRl_s16, HXS_H(a, 0), HXS_H(b, 0))
HXS_HALVES(HXS_HALF_WRAP_S16, RlRh_s16, HXS_H(a, 0), HXS_H(b, 1))
HXS_HALVES(HXS_HALF_WRAP_S16, RhRl_s16, HXS_H(a, 1), HXS_H(b, 0))
HXS_HALVES(HXS_HALF_WRAP_S16, RhRh_s16, HXS_H(a, 1), HXS_H(b, 1))
HXS_HALVES(HXS_HALF_SAT_S16, RlRl_sat_s16, HXS_H(a, 0), HXS_H(b, 0))
HXS_HALVES(HXS_HALF_SAT_S16, RlRh_sat_s16, HXS_H(a, 0), HXS_H(b, 1))
HXS_HALVES(HXS_HALF_SAT_S16, RhRl_sat_s16, HXS_H(a, 1), HXS_H(b, 0))
HXS_HALVES(HXS_HALF_SAT_S16, RhRh_sat_s16, HXS_H(a, 1), HXS_H(b, 1))

/* Logic. */
HXS_Q6_2(R, Q6_R_and_RR, R, R, a & b)
HXS_Q6_2(R, Q6_R_and_RI, R, R, a & b)
HXS_Q6_2(R, Q6_R_and_RnR, R, R, a & ~b)
HXS_Q6_2(P, Q6_P_and_PP, P, P, a & b)
HXS_Q6_2(P, Q6_P_and_PnP, P, P, a & ~b)
HXS_Q6_2(R, Q6_R_or_RR, R, R, a | b)
HXS_Q6_2(R, Q6_R_or_RI, R, R, a | b)
HXS_Q6_2(R, Q6_R_or_RnR, R, R, a | ~b)
HXS_Q6_2(P, Q6_P_or_PP, P, P, a | b)
HXS_Q6_2(P, Q6_P_or_PnP, P, P, a | ~b)
HXS_Q6_2(R, Q6_R_xor_RR, R, R, a ^ b)
HXS_Q6_2(P, Q6_P_xor_PP, P, P, a ^ b)
HXS_Q6_1(R, Q6_R_not_R, R, ~a)
HXS_Q6_1(P, Q6_P_not_P, P, ~a)
HXS_Q6_3(R, Q6_R_andand_RR, R, R, R, a & (b & c))
HXS_Q6_3(R, Q6_R_andand_RnR, R, R, R, a & (b & ~c))
HXS_Q6_3(R, Q6_R_orand_RR, R, R, R, a & (b | c))
HXS_Q6_3(R, Q6_R_xorand_RR, R, R, R, a & (b ^ c))
HXS_Q6_3(R, Q6_R_andor_RR, R, R, R, a | (b & c))
HXS_Q6_3(R, Q6_R_andor_RnR, R, R, R, a | (b & ~c))
HXS_Q6_3(R, Q6_R_andor_RI, R, R, R, a | (b & c))
HXS_Q6_3(R, Q6_R_oror_RR, R, R, R, a | b | c)
HXS_Q6_3(R, Q6_R_oror_RI, R, R, R, a | b | c)
HXS_Q6_3(R, Q6_R_xoror_RR, R, R, R, a | (b ^ c))
HXS_Q6_3(R, Q6_R_or_and_RRI, R, R, R, a | (b & c))
HXS_Q6_3(R, Q6_R_andxacc_RR, R, R, R, a ^ (b & c))
HXS_Q6_3(R, Q6_R_andxacc_RnR, R, R, R, a ^ (b & ~c))
HXS_Q6_3(R, Q6_R_orxacc_RR, R, R, R, a ^ (b | c))
HXS_Q6_3(R, Q6_R_xorxacc_RR, R, R, R, a ^ b ^ c)
HXS_Q6_3(P, Q6_P_xorxacc_PP, P, P, P, a ^ b ^ c)

/* Min and max. */
HXS_Q6_2(R, Q6_R_max_RR, R, R, a > b ? a : b)
HXS_Q6_2(R, Q6_R_min_RR, R, R, a < b ? a : b)
HXS_Q6_2(U, Q6_R_maxu_RR, R, R, (uint32_t)a > (uint32_t)b ? a : b)
HXS_Q6_2(U, Q6_R_minu_RR, R, R, (uint32_t)a < (uint32_t)b ? a : b)
HXS_Q6_2(P, Q6_P_max_PP, P, P, (int64_t)a > (int64_t)b ? a : b)
HXS_Q6_2(P, Q6_P_min_PP, P, P, (int64_t)a < (int64_t)b ? a : b)
HXS_Q6_2(V, Q6_P_maxu_PP, P, P, a > b ? a : b)
HXS_Q6_2(V, Q6_P_minu_PP, P, P, a < b ? a : b)

/* Saturation and rounding. */
HXS_Q6_1(R, Q6_R_sat_P, P, HXS_SAT((int64_t)a))
HXS_Q6_1(R, Q6_R_satb_R, R, hxs_sat(a, 8))
HXS_Q6_1(R, Q6_R_sath_R, R, hxs_sat(a, 16))
HXS_Q6_1(R, Q6_R_satub_R, R, hxs_usat(a, 8))
HXS_Q6_1(R, Q6_R_satuh_R, R, hxs_usat(a, 16))
HXS_Q6_1(R, Q6_R_round_P_sat, P, hxs_addsat64(a, 1ull << 31) >> 32)

/* v plus half a unit of 2^n: halves go up; or to even. */
static inline int64_t hxs_round_up(int64_t v, unsigned int n)
{
    return n ? v + (1ll << (n - 1)) : v;
}

static inline int64_t hxs_round_even(int64_t v, unsigned int n)
{
    const uint64_t half = n ? 1ull << (n - 1) : 0;

    return hxs_zxt((uint64_t)v, n) == half ? v + (int64_t)((uint64_t)v >> n & 1 ? half : 0)
                                          : v + (int64_t)half;
}

HXS_Q6_2(R, Q6_R_round_RI, R, R, hxs_round_up(a, b & 31) >> (b & 31))
HXS_Q6_2(R, Q6_R_round_RR, R, R, hxs_round_up(a, b & 31) >> (b & 31))
HXS_Q6_2(R, Q6_R_round_RI_sat, R, R, HXS_SAT(hxs_round_up(a, b & 31)) >> (b & 31))
HXS_Q6_2(R, Q6_R_round_RR_sat, R, R, HXS_SAT(hxs_round_up(a, b & 31)) >> (b & 31))
HXS_Q6_2(R, Q6_R_cround_RI, R, R, hxs_round_even(a, b & 31) >> (b & 31))
HXS_Q6_2(R, Q6_R_cround_RR, R, R, hxs_round_even(a, b & 31) >> (b & 31))

#endif
