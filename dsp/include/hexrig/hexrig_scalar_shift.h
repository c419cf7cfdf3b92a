/* Scalar shifts and rotates.  By register the amount is 7 bits, signed.  Notation: hexrig_scalar.h. */
#ifndef HEXRIG_SCALAR_SHIFT_H
#define HEXRIG_SCALAR_SHIFT_H

#include "hexrig_scalar.h"

/* A shift and its accumulating forms: S the kind of what is shifted, sh(v, n) the shift. */
#define HXS_SHIFT_FORMS(S, kind, form, sh)                                                         \
    HXS_Q6_2(S, Q6_##S##_##kind##_##form, S, R, sh(a, b))                                          \
    HXS_Q6_3(S, Q6_##S##_##kind##acc_##form, S, S, R, a + sh(b, c))                                \
    HXS_Q6_3(S, Q6_##S##_##kind##nac_##form, S, S, R, a - sh(b, c))                                \
    HXS_Q6_3(S, Q6_##S##_##kind##and_##form, S, S, R, a & sh(b, c))                                \
    HXS_Q6_3(S, Q6_##S##_##kind##or_##form, S, S, R, a | sh(b, c))
#define HXS_SHIFT_XACC(S, kind, form, sh)                                                          \
    HXS_Q6_3(S, Q6_##S##_##kind##xacc_##form, S, S, R, a ^ sh(b, c))

#define HXS_ASL_R(v, n) ((v) * (1ll << ((n) & 31)))
#define HXS_ASR_R(v, n) ((v) >> ((n) & 31))
#define HXS_LSR_R(v, n) ((int64_t)((uint32_t)(v) >> ((n) & 31)))
#define HXS_ROL_R(v, n) ((int64_t)((uint32_t)(v) << ((n) & 31) | (uint32_t)(v) >> (-(n) & 31)))
#define HXS_ASL_P(v, n) ((v) << ((n) & 63))
#define HXS_ASR_P(v, n) ((uint64_t)((int64_t)(v) >> ((n) & 63)))
#define HXS_LSR_P(v, n) ((v) >> ((n) & 63))
#define HXS_ROL_P(v, n) ((v) << ((n) & 63) | (v) >> (-(n) & 63))
/* the 64-bit accumulators of the R forms may not overflow: what shifts leave above bit 31 is cut first */
#define HXS_ASL_RR(v, n) ((int64_t)(int32_t)hxs_asl(v, n))
#define HXS_ASR_RR(v, n) ((int64_t)(int32_t)hxs_asr(v, n))
#define HXS_LSL_RR(v, n) ((int64_t)(int32_t)hxs_lsl((uint32_t)(v), n))
#define HXS_LSR_RR(v, n) ((int64_t)(int32_t)hxs_lsr((uint32_t)(v), n))
#define HXS_ASL_PR(v, n) ((uint64_t)hxs_asl((int64_t)(v), n))
#define HXS_ASR_PR(v, n) ((uint64_t)hxs_asr((int64_t)(v), n))

HXS_SHIFT_FORMS(R, asl, RI, HXS_ASL_R)
HXS_SHIFT_XACC(R, asl, RI, HXS_ASL_R)
HXS_SHIFT_FORMS(R, asr, RI, HXS_ASR_R)
HXS_SHIFT_FORMS(R, lsr, RI, HXS_LSR_R)
HXS_SHIFT_XACC(R, lsr, RI, HXS_LSR_R)
HXS_SHIFT_FORMS(R, rol, RI, HXS_ROL_R)
HXS_SHIFT_XACC(R, rol, RI, HXS_ROL_R)
HXS_SHIFT_FORMS(R, asl, RR, HXS_ASL_RR)
HXS_SHIFT_FORMS(R, asr, RR, HXS_ASR_RR)
HXS_SHIFT_FORMS(R, lsl, RR, HXS_LSL_RR)
HXS_SHIFT_FORMS(R, lsr, RR, HXS_LSR_RR)
HXS_SHIFT_FORMS(P, asl, PI, HXS_ASL_P)
HXS_SHIFT_XACC(P, asl, PI, HXS_ASL_P)
HXS_SHIFT_FORMS(P, asr, PI, HXS_ASR_P)
HXS_SHIFT_FORMS(P, lsr, PI, HXS_LSR_P)
HXS_SHIFT_XACC(P, lsr, PI, HXS_LSR_P)
HXS_SHIFT_FORMS(P, rol, PI, HXS_ROL_P)
HXS_SHIFT_XACC(P, rol, PI, HXS_ROL_P)
HXS_SHIFT_FORMS(P, asl, PR, HXS_ASL_PR)
HXS_SHIFT_XACC(P, asl, PR, HXS_ASL_PR)
HXS_SHIFT_FORMS(P, asr, PR, HXS_ASR_PR)
HXS_SHIFT_XACC(P, asr, PR, HXS_ASR_PR)
HXS_SHIFT_FORMS(P, lsl, PR, hxs_lsl)
HXS_SHIFT_XACC(P, lsl, PR, hxs_lsl)
HXS_SHIFT_FORMS(P, lsr, PR, hxs_lsr)
HXS_SHIFT_XACC(P, lsr, PR, hxs_lsr)

/* Saturating and rounding.  asrrnd rounds what asr by the whole amount would drop; asr_.._rnd shifts by one more. */
HXS_Q6_2(R, Q6_R_asl_RI_sat, R, R, hxs_shl_sat(a, b & 31))
HXS_Q6_2(R, Q6_R_asl_RR_sat, R, R,
        hxs_amount(b) < 0 ? hxs_sar(a, -hxs_amount(b)) : hxs_shl_sat(a, hxs_amount(b)))
HXS_Q6_2(R, Q6_R_asr_RR_sat, R, R,
        hxs_amount(b) < 0 ? hxs_shl_sat(a, -hxs_amount(b)) : hxs_sar(a, hxs_amount(b)))
HXS_Q6_2(R, Q6_R_asr_RI_rnd, R, R, ((a >> (b & 31)) + 1) >> 1)
HXS_Q6_2(R, Q6_R_asrrnd_RI, R, R, b & 31 ? ((a >> ((b & 31) - 1)) + 1) >> 1 : a)
#define HXS_HALF_P(v) (HXS_ASR_P(v, 1) + ((v) & 1)) /* (v + 1) >> 1 without overflow */
HXS_Q6_2(P, Q6_P_asr_PI_rnd, P, R, HXS_HALF_P(HXS_ASR_P(a, b)))
HXS_Q6_2(P, Q6_P_asrrnd_PI, P, R, b & 63 ? HXS_HALF_P(HXS_ASR_P(a, b - 1)) : a)
HXS_Q6_2(R, Q6_R_lsl_IR, R, R, hxs_lsl((uint32_t)a, b))

/* Shift and operate: a the immediate, b what is shifted. */
HXS_Q6_3(R, Q6_R_addasl_RRI, R, R, R, a + b * (1 << (c & 7)))
HXS_Q6_3(R, Q6_R_add_asl_IRI, R, R, R, a + HXS_ASL_R(b, c))
HXS_Q6_3(R, Q6_R_add_lsr_IRI, R, R, R, a + HXS_LSR_R(b, c))
HXS_Q6_3(R, Q6_R_sub_asl_IRI, R, R, R, a - HXS_ASL_R(b, c))
HXS_Q6_3(R, Q6_R_sub_lsr_IRI, R, R, R, a - HXS_LSR_R(b, c))
HXS_Q6_3(R, Q6_R_and_asl_IRI, R, R, R, a & HXS_ASL_R(b, c))
HXS_Q6_3(R, Q6_R_and_lsr_IRI, R, R, R, a & HXS_LSR_R(b, c))
HXS_Q6_3(R, Q6_R_or_asl_IRI, R, R, R, a | HXS_ASL_R(b, c))
HXS_Q6_3(R, Q6_R_or_lsr_IRI, R, R, R, a | HXS_LSR_R(b, c))

/* Lanes of a pair, one amount for all (y). */
HXS_EACH_PR(Q6_P_vaslh_PI, H, 16, x * (1 << (y & 15)))
HXS_EACH_PR(Q6_P_vaslw_PI, W, 32, HXS_ASL_R(x, y))
HXS_EACH_PR(Q6_P_vasrh_PI, H, 16, x >> (y & 15))
HXS_EACH_PR(Q6_P_vasrw_PI, W, 32, x >> (y & 31))
HXS_EACH_PR(Q6_P_vlsrh_PI, UH, 16, x >> (y & 15))
HXS_EACH_PR(Q6_P_vlsrw_PI, UW, 32, x >> (y & 31))
HXS_EACH_PR(Q6_P_vasrh_PI_rnd, H, 16, y & 15 ? ((x >> ((y & 15) - 1)) + 1) >> 1 : x)
HXS_EACH_PR(Q6_P_vaslh_PR, H, 16, hxs_asl(x, y))
HXS_EACH_PR(Q6_P_vaslw_PR, W, 32, hxs_asl(x, y))
HXS_EACH_PR(Q6_P_vasrh_PR, H, 16, hxs_asr(x, y))
HXS_EACH_PR(Q6_P_vasrw_PR, W, 32, hxs_asr(x, y))
HXS_EACH_PR(Q6_P_vlslh_PR, UH, 16, hxs_lsl((uint64_t)x, y))
HXS_EACH_PR(Q6_P_vlslw_PR, UW, 32, hxs_lsl((uint64_t)x, y))
HXS_EACH_PR(Q6_P_vlsrh_PR, UH, 16, hxs_lsr((uint64_t)x, y))
HXS_EACH_PR(Q6_P_vlsrw_PR, UW, 32, hxs_lsr((uint64_t)x, y))
HXS_EACH(R, Q6_R_vasrw_PI, (Word64 a, Word32 b), 2, 16, HXS_W(a, i), b, x >> (y & 31))
HXS_EACH(R, Q6_R_vasrw_PR, (Word64 a, Word32 b), 2, 16, HXS_W(a, i), b, hxs_asr(x, y))
HXS_EACH(R, Q6_R_vasrhub_PI_sat, (Word64 a, Word32 b), 4, 8, HXS_H(a, i), b,
        hxs_usat(x >> (y & 15), 8))
HXS_EACH(R, Q6_R_vasrhub_PI_rnd_sat, (Word64 a, Word32 b), 4, 8, HXS_H(a, i), b,
        hxs_usat(y & 15 ? ((x >> ((y & 15) - 1)) + 1) >> 1 : x, 8))

#endif
