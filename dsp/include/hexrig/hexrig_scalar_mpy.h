/* Scalar multiplies: word by word, half by half, carry-less.  Notation: hexrig_scalar.h. */
#ifndef HEXRIG_SCALAR_MPY_H
#define HEXRIG_SCALAR_MPY_H

#include "hexrig_scalar.h"

/* Word by word.  A product of two words fits 64 bits; the sums with pairs wrap. */
#define HXS_UMUL(s, t) ((uint64_t)(uint32_t)(s) * (uint32_t)(t))
HXS_Q6_2(R, Q6_R_mpyi_RR, R, R, a * b)
HXS_Q6_2(R, Q6_R_mpyi_RI, R, R, a * b)
HXS_Q6_2(R, Q6_R_mpyui_RR, R, R, a * b)
HXS_Q6_3(R, Q6_R_mpyiacc_RR, R, R, R, (uint64_t)a + (uint64_t)(b * c))
HXS_Q6_3(R, Q6_R_mpyinac_RR, R, R, R, (uint64_t)a - (uint64_t)(b * c))
HXS_Q6_3(R, Q6_R_mpyiacc_RI, R, R, R, a + b * c)
HXS_Q6_3(R, Q6_R_mpyinac_RI, R, R, R, a - b * c)
HXS_Q6_3(R, Q6_R_add_mpyi_IRI, R, R, R, a + b * c)
HXS_Q6_3(R, Q6_R_add_mpyi_RRI, R, R, R, a + b * c)
HXS_Q6_3(R, Q6_R_add_mpyi_RIR, R, R, R, a + b * c)
HXS_Q6_3(R, Q6_R_add_mpyi_IRR, R, R, R, (uint64_t)a + (uint64_t)(b * c))
HXS_Q6_3(R, Q6_R_add_mpyi_RRR, R, R, R, (uint64_t)a + (uint64_t)(b * c))
HXS_Q6_2(R, Q6_R_mpy_RR, R, R, a * b >> 32)
HXS_Q6_2(R, Q6_R_mpy_RR_rnd, R, R, (a * b + (1ll << 31)) >> 32)
HXS_Q6_2(R, Q6_R_mpy_RR_s1, R, R, a * b >> 31)
HXS_Q6_2(R, Q6_R_mpy_RR_s1_sat, R, R, HXS_SAT(a * b >> 31))
HXS_Q6_3(R, Q6_R_mpyacc_RR_s1_sat, R, R, R, HXS_SAT(a + (b * c >> 31)))
HXS_Q6_3(R, Q6_R_mpynac_RR_s1_sat, R, R, R, HXS_SAT(a - (b * c >> 31)))
HXS_Q6_2(R, Q6_R_mpysu_RR, R, R, a * (int64_t)(uint32_t)b >> 32)
HXS_Q6_2(U, Q6_R_mpyu_RR, R, R, HXS_UMUL(a, b) >> 32)
HXS_Q6_2(P, Q6_P_mpy_RR, R, R, a * b)
HXS_Q6_3(P, Q6_P_mpyacc_RR, P, R, R, a + (uint64_t)(b * c))
HXS_Q6_3(P, Q6_P_mpynac_RR, P, R, R, a - (uint64_t)(b * c))
HXS_Q6_2(V, Q6_P_mpyu_RR, R, R, HXS_UMUL(a, b))
HXS_Q6_3(P, Q6_P_mpyuacc_RR, P, R, R, a + HXS_UMUL(b, c))
HXS_Q6_3(P, Q6_P_mpyunac_RR, P, R, R, a - HXS_UMUL(b, c))
HXS_Q6_2(R, Q6_R_mpy_RRh_s1_sat, R, R, HXS_SAT(a * HXS_H(b, 1) * 2 >> 16))
HXS_Q6_2(R, Q6_R_mpy_RRl_s1_sat, R, R, HXS_SAT(a * HXS_H(b, 0) * 2 >> 16))
HXS_Q6_2(R, Q6_R_mpy_RRh_s1_rnd_sat, R, R, HXS_SAT((a * HXS_H(b, 1) * 2 + 0x8000) >> 16))
HXS_Q6_2(R, Q6_R_mpy_RRl_s1_rnd_sat, R, R, HXS_SAT((a * HXS_H(b, 0) * 2 + 0x8000) >> 16))

/* Half by half, all four choices of halves: Q6_..._Rx Ry with h = high, l = low.  For each: an optional << 1 (_s1).
 * m(s, i, t, j) is the product of half i of s and half j of t; `e` uses it as HXS_M and, in accumulating forms, a. */
#define HXS_SGN(s, i, t, j) (HXS_H(s, i) * HXS_H(t, j))
#define HXS_UNS(s, i, t, j) (HXS_UH(s, i) * HXS_UH(t, j))
#define HXS_MPY2(D, name, tail, m, op)                                                             \
    HXS_Q6_2(D, name##_RhRh##tail, R, R, op(m(a, 1, b, 1)))                                        \
    HXS_Q6_2(D, name##_RhRl##tail, R, R, op(m(a, 1, b, 0)))                                        \
    HXS_Q6_2(D, name##_RlRh##tail, R, R, op(m(a, 0, b, 1)))                                        \
    HXS_Q6_2(D, name##_RlRl##tail, R, R, op(m(a, 0, b, 0)))
#define HXS_MPY3(D, name, tail, m, op)                                                             \
    HXS_Q6_3(D, name##_RhRh##tail, D, R, R, op(a, m(b, 1, c, 1)))                                  \
    HXS_Q6_3(D, name##_RhRl##tail, D, R, R, op(a, m(b, 1, c, 0)))                                  \
    HXS_Q6_3(D, name##_RlRh##tail, D, R, R, op(a, m(b, 0, c, 1)))                                  \
    HXS_Q6_3(D, name##_RlRl##tail, D, R, R, op(a, m(b, 0, c, 0)))

#define HXS_OP(m) (m)
#define HXS_OP_S1(m) ((m) * 2)
#define HXS_OP_SAT(m) HXS_SAT(m)
#define HXS_OP_S1_SAT(m) HXS_SAT((m) * 2)
#define HXS_OP_RND(m) ((m) + 0x8000)
#define HXS_OP_S1_RND(m) ((m) * 2 + 0x8000)
#define HXS_OP_RND_SAT(m) HXS_SAT((m) + 0x8000)
#define HXS_OP_S1_RND_SAT(m) HXS_SAT((m) * 2 + 0x8000)
#define HXS_OP_UP(x, m) ((uint64_t)(x) + (uint64_t)(m))
#define HXS_OP_UP_S1(x, m) ((uint64_t)(x) + (uint64_t)(m) * 2)
#define HXS_OP_DOWN(x, m) ((uint64_t)(x) - (uint64_t)(m))
#define HXS_OP_DOWN_S1(x, m) ((uint64_t)(x) - (uint64_t)(m) * 2)
#define HXS_OP_UP_SAT(x, m) HXS_SAT((x) + (m))
#define HXS_OP_UP_S1_SAT(x, m) HXS_SAT((x) + (m) * 2)
#define HXS_OP_DOWN_SAT(x, m) HXS_SAT((x) - (m))
#define HXS_OP_DOWN_S1_SAT(x, m) HXS_SAT((x) - (m) * 2)

HXS_MPY2(R, Q6_R_mpy, , HXS_SGN, HXS_OP)
HXS_MPY2(R, Q6_R_mpy, _s1, HXS_SGN, HXS_OP_S1)
HXS_MPY2(R, Q6_R_mpy, _sat, HXS_SGN, HXS_OP_SAT)
HXS_MPY2(R, Q6_R_mpy, _s1_sat, HXS_SGN, HXS_OP_S1_SAT)
HXS_MPY2(R, Q6_R_mpy, _rnd, HXS_SGN, HXS_OP_RND)
HXS_MPY2(R, Q6_R_mpy, _s1_rnd, HXS_SGN, HXS_OP_S1_RND)
HXS_MPY2(R, Q6_R_mpy, _rnd_sat, HXS_SGN, HXS_OP_RND_SAT)
HXS_MPY2(R, Q6_R_mpy, _s1_rnd_sat, HXS_SGN, HXS_OP_S1_RND_SAT)
HXS_MPY2(U, Q6_R_mpyu, , HXS_UNS, HXS_OP)
HXS_MPY2(U, Q6_R_mpyu, _s1, HXS_UNS, HXS_OP_S1)
HXS_MPY2(P, Q6_P_mpy, , HXS_SGN, HXS_OP)
HXS_MPY2(P, Q6_P_mpy, _s1, HXS_SGN, HXS_OP_S1)
HXS_MPY2(P, Q6_P_mpy, _rnd, HXS_SGN, HXS_OP_RND)
HXS_MPY2(P, Q6_P_mpy, _s1_rnd, HXS_SGN, HXS_OP_S1_RND)
HXS_MPY2(V, Q6_P_mpyu, , HXS_UNS, HXS_OP)
HXS_MPY2(V, Q6_P_mpyu, _s1, HXS_UNS, HXS_OP_S1)
HXS_MPY3(R, Q6_R_mpyacc, , HXS_SGN, HXS_OP_UP)
HXS_MPY3(R, Q6_R_mpyacc, _s1, HXS_SGN, HXS_OP_UP_S1)
HXS_MPY3(R, Q6_R_mpyacc, _sat, HXS_SGN, HXS_OP_UP_SAT)
HXS_MPY3(R, Q6_R_mpyacc, _s1_sat, HXS_SGN, HXS_OP_UP_S1_SAT)
HXS_MPY3(R, Q6_R_mpynac, , HXS_SGN, HXS_OP_DOWN)
HXS_MPY3(R, Q6_R_mpynac, _s1, HXS_SGN, HXS_OP_DOWN_S1)
HXS_MPY3(R, Q6_R_mpynac, _sat, HXS_SGN, HXS_OP_DOWN_SAT)
HXS_MPY3(R, Q6_R_mpynac, _s1_sat, HXS_SGN, HXS_OP_DOWN_S1_SAT)
HXS_MPY3(R, Q6_R_mpyuacc, , HXS_UNS, HXS_OP_UP)
HXS_MPY3(R, Q6_R_mpyuacc, _s1, HXS_UNS, HXS_OP_UP_S1)
HXS_MPY3(R, Q6_R_mpyunac, , HXS_UNS, HXS_OP_DOWN)
HXS_MPY3(R, Q6_R_mpyunac, _s1, HXS_UNS, HXS_OP_DOWN_S1)
HXS_MPY3(P, Q6_P_mpyacc, , HXS_SGN, HXS_OP_UP)
HXS_MPY3(P, Q6_P_mpyacc, _s1, HXS_SGN, HXS_OP_UP_S1)
HXS_MPY3(P, Q6_P_mpynac, , HXS_SGN, HXS_OP_DOWN)
HXS_MPY3(P, Q6_P_mpynac, _s1, HXS_SGN, HXS_OP_DOWN_S1)
HXS_MPY3(P, Q6_P_mpyuacc, , HXS_UNS, HXS_OP_UP)
HXS_MPY3(P, Q6_P_mpyuacc, _s1, HXS_UNS, HXS_OP_UP_S1)
HXS_MPY3(P, Q6_P_mpyunac, , HXS_UNS, HXS_OP_DOWN)
HXS_MPY3(P, Q6_P_mpyunac, _s1, HXS_UNS, HXS_OP_DOWN_S1)

/* Carry-less (polynomial) products. */
static inline uint64_t hxs_pmpy(uint64_t a, uint64_t b)
{
    uint64_t d = 0;

    for (int i = 0; i < 32; i++)
        d ^= b >> i & 1 ? a << i : 0;
    return d;
}

static inline uint64_t hxs_pmpyh(uint64_t a, uint64_t b)
{
    const uint64_t low = hxs_pmpy(a & 0xffff, b & 0xffff);
    const uint64_t high = hxs_pmpy(a >> 16 & 0xffff, b >> 16 & 0xffff);

    return HXS_HHHH(high >> 16, low >> 16, high, low);
}

HXS_Q6_2(P, Q6_P_pmpyw_RR, R, R, hxs_pmpy((uint32_t)a, (uint32_t)b))
HXS_Q6_3(P, Q6_P_pmpywxacc_RR, P, R, R, a ^ hxs_pmpy((uint32_t)b, (uint32_t)c))
HXS_Q6_2(P, Q6_P_vpmpyh_RR, R, R, hxs_pmpyh((uint32_t)a, (uint32_t)b))
HXS_Q6_3(P, Q6_P_vpmpyhxacc_RR, P, R, R, a ^ hxs_pmpyh((uint32_t)b, (uint32_t)c))

#endif
