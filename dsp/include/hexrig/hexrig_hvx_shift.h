/* HVX intrinsics of the shift unit that keep the lane width. */
#ifndef HEXRIG_HVX_SHIFT_H
#define HEXRIG_HVX_SHIFT_H

#include "hexrig_hvx_lanes.h"

/* By a scalar: the count is R modulo the lane width. */
HX_OP1R(Q6_Vw_vasl_VwR, VS, uw, a << (R & 31))
HX_OP1R(Q6_Vw_vasr_VwR, VS, w, a >> (R & 31))
HX_OP1R(Q6_Vuw_vlsr_VuwR, VS, uw, a >> (R & 31))
HX_OP1R(Q6_Vh_vasl_VhR, VS, uh, a << (R & 15))
HX_OP1R(Q6_Vh_vasr_VhR, VS, h, a >> (R & 15))
HX_OP1R(Q6_Vuh_vlsr_VuhR, VS, uh, a >> (R & 15))
HX_OP1R(Q6_Vub_vlsr_VubR, VS, ub, a >> (R & 7))
HX_OP2R(Q6_Vw_vaslacc_VwVwR, VS, uw, uw, a + (b << (R & 31)))
HX_OP2R(Q6_Vw_vasracc_VwVwR, VS, uw, w, a + (hx_nuw)(b >> (R & 31)))
HX_OP2R(Q6_Vh_vaslacc_VhVhR, VS, uh, uh, a + (b << (R & 15)))
HX_OP2R(Q6_Vh_vasracc_VhVhR, VS, uh, h, a + (hx_nuh)(b >> (R & 15)))

/* By a vector: each count is the lane's low log2(bits) + 1 bits as a signed number; a negative one
 * shifts the other way, by up to the whole width (hence the second shift by one).  n: the count, k:
 * n or -n - 1, the distance. */
#define HX_BIDIR(T, bits, unused_bits) \
    HX_FN hx_n##T hx_count_##T(hx_n##T b) \
    { \
        return (hx_n##T)((hx_nu##T)b << unused_bits) >> unused_bits; \
    } \
    HX_FN hx_nu##T hx_distance_##T(hx_n##T n) \
    { \
        return (hx_nu##T)((n ^ (n < 0)) & (bits - 1)); \
    } \
    HX_FN hx_n##T hx_asr_##T(hx_n##T a, hx_n##T n) \
    { \
        const hx_nu##T k = hx_distance_##T(n); \
        return HX_PICK(T, n < 0, hx_shl_##T((hx_nu##T)a, k) << 1, hx_shr_##T(a, k)); \
    } \
    HX_FN hx_n##T hx_lsr_##T(hx_n##T a, hx_n##T n) \
    { \
        const hx_nu##T k = hx_distance_##T(n); \
        return HX_PICK(T, n < 0, hx_shl_##T((hx_nu##T)a, k) << 1, hx_shr_u##T((hx_nu##T)a, k)); \
    } \
    HX_FN hx_n##T hx_asl_##T(hx_n##T a, hx_n##T n) \
    { \
        const hx_nu##T k = hx_distance_##T(n); \
        return HX_PICK(T, n < 0, hx_shr_##T(a, k) >> 1, hx_shl_##T((hx_nu##T)a, k)); \
    } \
    HX_OP2(Q6_V##T##_vasr_V##T##V##T, VS, T, T, hx_asr_##T(a, hx_count_##T(b))) \
    HX_OP2(Q6_V##T##_vlsr_V##T##V##T, VS, T, T, hx_lsr_##T(a, hx_count_##T(b))) \
    HX_OP2(Q6_V##T##_vasl_V##T##V##T, VS, T, T, hx_asl_##T(a, hx_count_##T(b)))
HX_BIDIR(w, 32, 26)
HX_BIDIR(h, 16, 11)
#undef HX_BIDIR

HX_OP2(Q6_Vuw_vrotr_VuwVuw, VS, uw, uw, (a >> (b & 31)) | ((a << (31 - (b & 31))) << 1))

#endif
