/* Vector and complex multiplies on registers and pairs.  Notation: hexrig_scalar.h; a complex number is a half (or word)
 * for the real part below one for the imaginary part. */
#ifndef HEXRIG_SCALAR_MPYV_H
#define HEXRIG_SCALAR_MPYV_H

#include "hexrig_scalar.h"

/* Product of half i of s and half j of t: signed, signed by unsigned; bytes likewise. */
#define HXS_HXH(s, i, t, j) (HXS_H(s, i) * HXS_H(t, j))
#define HXS_HXUH(s, i, t, j) (HXS_H(s, i) * HXS_UH(t, j))
#define HXS_BXUB(s, i, t, j) (HXS_B(s, i) * HXS_UB(t, j))
#define HXS_UBXUB(s, i, t, j) (HXS_UB(s, i) * HXS_UB(t, j))

/* Complex halves, number n (0 or 1) of s and t; _C with t conjugated. */
#define HXS_RE(s, t, n) (HXS_HXH(s, 2 * (n), t, 2 * (n)) - HXS_HXH(s, 2 * (n) + 1, t, 2 * (n) + 1))
#define HXS_IM(s, t, n) (HXS_HXH(s, 2 * (n) + 1, t, 2 * (n)) + HXS_HXH(s, 2 * (n), t, 2 * (n) + 1))
#define HXS_RE_C(s, t, n)                                                                          \
    (HXS_HXH(s, 2 * (n), t, 2 * (n)) + HXS_HXH(s, 2 * (n) + 1, t, 2 * (n) + 1))
#define HXS_IM_C(s, t, n)                                                                          \
    (HXS_HXH(s, 2 * (n) + 1, t, 2 * (n)) - HXS_HXH(s, 2 * (n), t, 2 * (n) + 1))

HXS_Q6_2(P, Q6_P_cmpyr_RR, R, R, HXS_RE(a, b, 0))
HXS_Q6_2(P, Q6_P_cmpyi_RR, R, R, HXS_IM(a, b, 0))
HXS_Q6_3(P, Q6_P_cmpyracc_RR, P, R, R, a + (uint64_t)HXS_RE(b, c, 0))
HXS_Q6_3(P, Q6_P_cmpyiacc_RR, P, R, R, a + (uint64_t)HXS_IM(b, c, 0))

/* Saturated to words, plain and accumulated; rounded to halves.  k is 1, or 2 for _s1. */
#define HXS_CMPY(tail, rnd_tail, k, RE, IM)                                                        \
    HXS_Q6_2(P, Q6_P_cmpy_RR##tail, R, R,                                                          \
             HXS_WW(HXS_SAT(IM(a, b, 0) * k), HXS_SAT(RE(a, b, 0) * k)))                           \
    HXS_Q6_3(P, Q6_P_cmpyacc_RR##tail, P, R, R,                                                    \
            HXS_WW(HXS_SAT(HXS_W(a, 1) + IM(b, c, 0) * k), HXS_SAT(HXS_W(a, 0) + RE(b, c, 0) * k)))\
    HXS_Q6_3(P, Q6_P_cmpynac_RR##tail, P, R, R,                                                    \
            HXS_WW(HXS_SAT(HXS_W(a, 1) - IM(b, c, 0) * k), HXS_SAT(HXS_W(a, 0) - RE(b, c, 0) * k)))\
    HXS_Q6_2(R, Q6_R_cmpy_RR##rnd_tail, R, R,                                                      \
             HXS_HH(HXS_SAT(IM(a, b, 0) * k + 0x8000) >> 16,                                       \
                    HXS_SAT(RE(a, b, 0) * k + 0x8000) >> 16))
HXS_CMPY(_sat, _rnd_sat, 1, HXS_RE, HXS_IM)
HXS_CMPY(_s1_sat, _s1_rnd_sat, 2, HXS_RE, HXS_IM)
HXS_CMPY(_conj_sat, _conj_rnd_sat, 1, HXS_RE_C, HXS_IM_C)
HXS_CMPY(_conj_s1_sat, _conj_s1_rnd_sat, 2, HXS_RE_C, HXS_IM_C)

#define HXS_VCMPY(part, M)                                                                         \
    HXS_Q6_2(P, Q6_P_vcmpy##part##_PP_sat, P, P, HXS_WW(HXS_SAT(M(a, b, 1)), HXS_SAT(M(a, b, 0)))) \
    HXS_Q6_2(P, Q6_P_vcmpy##part##_PP_s1_sat, P, P,                                                \
            HXS_WW(HXS_SAT(M(a, b, 1) * 2), HXS_SAT(M(a, b, 0) * 2)))                              \
    HXS_Q6_3(P, Q6_P_vcmpy##part##acc_PP_sat, P, P, P,                                             \
            HXS_WW(HXS_SAT(HXS_W(a, 1) + M(b, c, 1)), HXS_SAT(HXS_W(a, 0) + M(b, c, 0))))
HXS_VCMPY(r, HXS_RE)
HXS_VCMPY(i, HXS_IM)

#define HXS_VRCMPY(form, tail, M)                                                                  \
    HXS_Q6_2(P, Q6_P_vrcmpy##form##_PP##tail, P, P, M(a, b, 0) + M(a, b, 1))                       \
    HXS_Q6_3(P, Q6_P_vrcmpy##form##acc_PP##tail, P, P, P, a + (uint64_t)(M(b, c, 0) + M(b, c, 1)))
HXS_VRCMPY(r, , HXS_RE)
HXS_VRCMPY(i, , HXS_IM)
HXS_VRCMPY(r, _conj, HXS_RE_C)
HXS_VRCMPY(i, _conj, HXS_IM_C)

/* Two complex numbers by two real halves. */
#define HXS_RCMPYS(s, t, part) ((HXS_HXH(s, part, t, 0) + HXS_HXH(s, (part) + 2, t, 1)) * 2)
HXS_Q6_2(P, Q6_P_vrcmpys_PR_s1_sat, P, R, HXS_WW(HXS_SAT(HXS_RCMPYS(a, b, 1)),
        HXS_SAT(HXS_RCMPYS(a, b, 0))))
HXS_Q6_3(P, Q6_P_vrcmpysacc_PR_s1_sat, P, P, R,
        HXS_WW(HXS_SAT(HXS_W(a, 1) + HXS_RCMPYS(b, c, 1)), HXS_SAT(HXS_W(a,
            0) + HXS_RCMPYS(b, c, 0))))
HXS_Q6_2(R, Q6_R_vrcmpys_PR_s1_rnd_sat, P, R,
        HXS_HH(HXS_SAT(HXS_RCMPYS(a, b, 1) + 0x8000) >> 16, HXS_SAT(HXS_RCMPYS(a, b,
            0) + 0x8000) >> 16))

/* A complex of words by a complex of halves. */
#define HXS_WXH(s, i, t, j) (HXS_W(s, i) * HXS_H(t, j))
#define HXS_CMPYWH(e) HXS_SAT(((e) + 0x4000) >> 15)
HXS_Q6_2(R, Q6_R_cmpyiwh_PR_s1_rnd_sat, P, R, HXS_CMPYWH(HXS_WXH(a, 0, b, 1) + HXS_WXH(a, 1, b, 0)))
HXS_Q6_2(R, Q6_R_cmpyiwh_PR_conj_s1_rnd_sat, P, R,
        HXS_CMPYWH(HXS_WXH(a, 1, b, 0) - HXS_WXH(a, 0, b, 1)))
HXS_Q6_2(R, Q6_R_cmpyrwh_PR_s1_rnd_sat, P, R, HXS_CMPYWH(HXS_WXH(a, 0, b, 0) - HXS_WXH(a, 1, b, 1)))
HXS_Q6_2(R, Q6_R_cmpyrwh_PR_conj_s1_rnd_sat, P, R,
        HXS_CMPYWH(HXS_WXH(a, 0, b, 0) + HXS_WXH(a, 1, b, 1)))

/* Words by even or odd halves, >> 16; sat, acc, s1 and rnd in every mixture. */
#define HXS_WXH_LANE(s, t, K, odd, k, r)                                                           \
    ((HXS_W(s, i) * HXS_##K(t, 2 * i + (odd)) * (k) + (r)) >> 16)
#define HXS_VMPYW1(kind, tail, K, odd, k, r)                                                       \
    HXS_EACH(P, Q6_P_vmpyw##kind##_PP##tail, (Word64 a, Word64 b), 2, 32, 0,                       \
            HXS_WXH_LANE(a, b, K, odd, k, r), HXS_SAT(x + y))                                      \
    HXS_EACH(P, Q6_P_vmpyw##kind##acc_PP##tail, (Word64 d, Word64 a, Word64 b), 2, 32, HXS_W(d, i),\
            HXS_WXH_LANE(a, b, K, odd, k, r), HXS_SAT(x + y))
#define HXS_VMPYW(kind, K, odd)                                                                    \
    HXS_VMPYW1(kind, _sat, K, odd, 1, 0)                                                           \
    HXS_VMPYW1(kind, _s1_sat, K, odd, 2, 0)                                                        \
    HXS_VMPYW1(kind, _rnd_sat, K, odd, 1, 0x8000)                                                  \
    HXS_VMPYW1(kind, _s1_rnd_sat, K, odd, 2, 0x8000)
HXS_VMPYW(eh, H, 0)
HXS_VMPYW(oh, H, 1)
HXS_VMPYW(euh, UH, 0)
HXS_VMPYW(ouh, UH, 1)

#define HXS_VRMPYW(s, t, odd, k)                                                                   \
    ((uint64_t)(HXS_WXH(s, 0, t, odd) * (k)) + (uint64_t)(HXS_WXH(s, 1, t, 2 + (odd)) * (k)))
#define HXS_VRMPYW4(kind, odd)                                                                     \
    HXS_Q6_2(P, Q6_P_vrmpyw##kind##_PP, P, P, HXS_VRMPYW(a, b, odd, 1))                            \
    HXS_Q6_2(P, Q6_P_vrmpyw##kind##_PP_s1, P, P, HXS_VRMPYW(a, b, odd, 2))                         \
    HXS_Q6_3(P, Q6_P_vrmpyw##kind##acc_PP, P, P, P, a + HXS_VRMPYW(b, c, odd, 1))                  \
    HXS_Q6_3(P, Q6_P_vrmpyw##kind##acc_PP_s1, P, P, P, a + HXS_VRMPYW(b, c, odd, 2))
HXS_VRMPYW4(eh, 0)
HXS_VRMPYW4(oh, 1)

/* Halves by halves into words: M(i) is the product for word i.  d is the accumulator. */
#define HXS_M_H HXS_HXH(a, i, b, i)
#define HXS_M_HSU HXS_HXUH(a, i, b, i)
#define HXS_M_EH HXS_HXH(a, 2 * i, b, 2 * i)
#define HXS_M_D (HXS_HXH(a, 2 * i, b, 2 * i) + HXS_HXH(a, 2 * i + 1, b, 2 * i + 1))
#define HXS_VMPYH(name, form, T, M)                                                                \
    HXS_EACH(P, Q6_P_##name##_##form##_sat, (T a, T b), 2, 32, M, 0, HXS_SAT(x))                   \
    HXS_EACH(P, Q6_P_##name##_##form##_s1_sat, (T a, T b), 2, 32, M, 0, HXS_SAT(x * 2))            \
    HXS_EACH(P, Q6_P_##name##acc_##form##_sat, (Word64 d, T a, T b), 2, 32, M, HXS_W(d, i),        \
            HXS_SAT(y + x))                                                                        \
    HXS_EACH(P, Q6_P_##name##acc_##form##_s1_sat, (Word64 d, T a, T b), 2, 32, M, HXS_W(d, i),     \
            HXS_SAT(y + x * 2))
HXS_VMPYH(vmpyh, RR, Word32, HXS_M_H)
HXS_VMPYH(vmpyhsu, RR, Word32, HXS_M_HSU)
HXS_VMPYH(vmpyeh, PP, Word64, HXS_M_EH)
HXS_VMPYH(vdmpy, PP, Word64, HXS_M_D)
HXS_EACH(P, Q6_P_vmpyhacc_RR, (Word64 d, Word32 a, Word32 b), 2, 32, HXS_M_H, HXS_W(d, i), y + x)
HXS_EACH(P, Q6_P_vmpyehacc_PP, (Word64 d, Word64 a, Word64 b), 2, 32, HXS_M_EH, HXS_W(d, i), y + x)
#define HXS_RND_H(name, T, M, k)                                                                   \
    HXS_EACH(R, name, (T a, T b), 2, 16, M, 0, HXS_SAT(x * (k) + 0x8000) >> 16)
HXS_RND_H(Q6_R_vmpyh_RR_rnd_sat, Word32, HXS_M_H, 1)
HXS_RND_H(Q6_R_vmpyh_RR_s1_rnd_sat, Word32, HXS_M_H, 2)
HXS_RND_H(Q6_R_vdmpy_PP_rnd_sat, Word64, HXS_M_D, 1)
HXS_RND_H(Q6_R_vdmpy_PP_s1_rnd_sat, Word64, HXS_M_D, 2)
#define HXS_RMPYH(s, t)                                                                            \
    (HXS_HXH(s, 0, t, 0) + HXS_HXH(s, 1, t, 1) + HXS_HXH(s, 2, t, 2) + HXS_HXH(s, 3, t, 3))
HXS_Q6_2(P, Q6_P_vrmpyh_PP, P, P, HXS_RMPYH(a, b))
HXS_Q6_3(P, Q6_P_vrmpyhacc_PP, P, P, P, a + (uint64_t)HXS_RMPYH(b, c))

/* Bytes. */
#define HXS_M_BB(M) M(a, i, b, i)
#define HXS_M_DB(M) (M(a, 2 * i, b, 2 * i) + M(a, 2 * i + 1, b, 2 * i + 1))
#define HXS_M_RB(M)                                                                                \
    (M(a, 4 * i, b, 4 * i) + M(a, 4 * i + 1, b, 4 * i + 1) + M(a, 4 * i + 2, b, 4 * i + 2) +       \
     M(a, 4 * i + 3, b, 4 * i + 3))
#define HXS_VMPYB(name, form, T, n, bits, M, K, fit)                                               \
    HXS_EACH(P, Q6_P_##name##_##form, (T a, T b), n, bits, M, 0, fit(x))                           \
    HXS_EACH(P, Q6_P_##name##acc_##form, (Word64 d, T a, T b), n, bits, M, HXS_##K(d, i),          \
             fit(y + x))
#define HXS_WRAP(v) (v)
#define HXS_SAT16(v) hxs_sat(v, 16)
HXS_VMPYB(vmpybsu, RR, Word32, 4, 16, HXS_M_BB(HXS_BXUB), H, HXS_WRAP)
HXS_VMPYB(vmpybu, RR, Word32, 4, 16, HXS_M_BB(HXS_UBXUB), H, HXS_WRAP)
HXS_VMPYB(vdmpybsu, PP_sat, Word64, 4, 16, HXS_M_DB(HXS_BXUB), H, HXS_SAT16)
HXS_VMPYB(vrmpybsu, PP, Word64, 2, 32, HXS_M_RB(HXS_BXUB), W, HXS_WRAP)
HXS_VMPYB(vrmpybu, PP, Word64, 2, 32, HXS_M_RB(HXS_UBXUB), W, HXS_WRAP)

#endif
