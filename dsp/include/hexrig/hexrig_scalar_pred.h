/* Compares, predicates and what they select.  A predicate is 8 bits in an int: a scalar compare gives 0 or 0xff, a vector
 * compare one bit per byte.  Notation: hexrig_scalar.h. */
#ifndef HEXRIG_SCALAR_PRED_H
#define HEXRIG_SCALAR_PRED_H

#include "hexrig_scalar.h"

/* Compares; each has a negated form where V69 has one. */
#define HXS_CMP(form, B, c) HXS_Q6_2(p, Q6_p_cmp_##form, R, B, HXS_BOOL(c))
#define HXS_NOT_CMP(form, B, c)                                                                    \
    HXS_CMP(form, B, c)                                                                            \
    HXS_Q6_2(p, Q6_p_not_cmp_##form, R, B, HXS_BOOL(!(c)))
HXS_NOT_CMP(eq_RR, R, a == b)
HXS_NOT_CMP(eq_RI, R, a == b)
HXS_NOT_CMP(gt_RR, R, a > b)
HXS_NOT_CMP(gt_RI, R, a > b)
HXS_NOT_CMP(gtu_RR, R, (uint32_t)a > (uint32_t)b)
HXS_NOT_CMP(gtu_RI, R, (uint32_t)a > (uint32_t)b)
HXS_CMP(ge_RI, R, a >= b)
HXS_CMP(geu_RI, R, (uint32_t)a >= (uint32_t)b)
HXS_CMP(lt_RR, R, a < b)
HXS_CMP(ltu_RR, R, (uint32_t)a < (uint32_t)b)
HXS_Q6_2(p, Q6_p_cmp_eq_PP, P, P, HXS_BOOL(a == b))
HXS_Q6_2(p, Q6_p_cmp_gt_PP, P, P, HXS_BOOL((int64_t)a > (int64_t)b))
HXS_Q6_2(p, Q6_p_cmp_gtu_PP, P, P, HXS_BOOL(a > b))
HXS_Q6_2(R, Q6_R_cmp_eq_RR, R, R, a == b)
HXS_Q6_2(R, Q6_R_cmp_eq_RI, R, R, a == b)
HXS_Q6_2(R, Q6_R_not_cmp_eq_RR, R, R, a != b)
HXS_Q6_2(R, Q6_R_not_cmp_eq_RI, R, R, a != b)
HXS_Q6_2(p, Q6_p_cmpb_eq_RR, R, R, HXS_BOOL(HXS_UB(a, 0) == HXS_UB(b, 0)))
HXS_Q6_2(p, Q6_p_cmpb_eq_RI, R, R, HXS_BOOL(HXS_UB(a, 0) == b))
HXS_Q6_2(p, Q6_p_cmpb_gt_RR, R, R, HXS_BOOL(HXS_B(a, 0) > HXS_B(b, 0)))
HXS_Q6_2(p, Q6_p_cmpb_gt_RI, R, R, HXS_BOOL(HXS_B(a, 0) > b))
HXS_Q6_2(p, Q6_p_cmpb_gtu_RR, R, R, HXS_BOOL(HXS_UB(a, 0) > HXS_UB(b, 0)))
HXS_Q6_2(p, Q6_p_cmpb_gtu_RI, R, R, HXS_BOOL(HXS_UB(a, 0) > b))
HXS_Q6_2(p, Q6_p_cmph_eq_RR, R, R, HXS_BOOL(HXS_UH(a, 0) == HXS_UH(b, 0)))
HXS_Q6_2(p, Q6_p_cmph_eq_RI, R, R, HXS_BOOL(HXS_H(a, 0) == b))
HXS_Q6_2(p, Q6_p_cmph_gt_RR, R, R, HXS_BOOL(HXS_H(a, 0) > HXS_H(b, 0)))
HXS_Q6_2(p, Q6_p_cmph_gt_RI, R, R, HXS_BOOL(HXS_H(a, 0) > b))
HXS_Q6_2(p, Q6_p_cmph_gtu_RR, R, R, HXS_BOOL(HXS_UH(a, 0) > HXS_UH(b, 0)))
HXS_Q6_2(p, Q6_p_cmph_gtu_RI, R, R, HXS_BOOL(HXS_UH(a, 0) > b))

/* Bits. */
HXS_Q6_2(p, Q6_p_bitsclr_RR, R, R, HXS_BOOL(!(a & b)))
HXS_Q6_2(p, Q6_p_bitsclr_RI, R, R, HXS_BOOL(!(a & b)))
HXS_Q6_2(p, Q6_p_bitsset_RR, R, R, HXS_BOOL((a & b) == b))
HXS_Q6_2(p, Q6_p_not_bitsclr_RR, R, R, HXS_BOOL(a & b))
HXS_Q6_2(p, Q6_p_not_bitsclr_RI, R, R, HXS_BOOL(a & b))
HXS_Q6_2(p, Q6_p_not_bitsset_RR, R, R, HXS_BOOL((a & b) != b))
HXS_Q6_2(p, Q6_p_tstbit_RI, R, R, HXS_BOOL(a >> (b & 31) & 1))
HXS_Q6_2(p, Q6_p_tstbit_RR, R, R, HXS_BOOL((uint32_t)a & hxs_lsl(1, b)))
HXS_Q6_2(p, Q6_p_not_tstbit_RI, R, R, HXS_BOOL(!(a >> (b & 31) & 1)))
HXS_Q6_2(p, Q6_p_not_tstbit_RR, R, R, HXS_BOOL(!((uint32_t)a & hxs_lsl(1, b))))

/* Ranges: boundscheck is lo <= a < hi of the pair b; tlbmatch compares an address with a TLB entry. */
HXS_Q6_2(p, Q6_p_boundscheck_RP, R, P,
        HXS_BOOL((uint32_t)a >= (uint32_t)b && (uint32_t)a < (uint32_t)(b >> 32)))

static inline int Q6_p_tlbmatch_PR(Word64 entry, Word32 address)
{
    const uint32_t lo = (uint32_t)entry, hi = (uint32_t)((uint64_t)entry >> 32);
    const int zeros = lo ? __builtin_ctz(lo) : 32, size = zeros < 6 ? zeros : 6;
    const uint32_t mask = 0x07ffffffu & ~0u << 2 * size;

    return HXS_BOOL(hi >> 31 && (hi & mask) == ((uint32_t)address & mask));
}

/* Vector compares: `rep` predicate bits per lane. */
#define HXS_VCMP(name, B, y_, n, rep, K, c)                                                        \
    static inline int name(Word64 a, B b)                                                          \
    {                                                                                              \
        int hxs_d = 0;                                                                             \
        for (int i = 0; i < (n); i++) {                                                            \
            const int64_t x = HXS_##K(a, i), y = y_;                                               \
            hxs_d |= (c) ? ((1 << (rep)) - 1) << (rep) * i : 0;                                    \
        }                                                                                          \
        return hxs_d;                                                                              \
    }
#define HXS_VCMP_PP(name, n, rep, K, c) HXS_VCMP(name, Word64, HXS_##K(b, i), n, rep, K, c)
#define HXS_VCMP_PI(name, n, rep, K, c) HXS_VCMP(name, Word32, b, n, rep, K, c)
HXS_VCMP_PP(Q6_p_vcmpb_eq_PP, 8, 1, UB, x == y)
HXS_VCMP_PP(Q6_p_vcmpb_gt_PP, 8, 1, B, x > y)
HXS_VCMP_PP(Q6_p_vcmpb_gtu_PP, 8, 1, UB, x > y)
HXS_VCMP_PP(Q6_p_vcmph_eq_PP, 4, 2, H, x == y)
HXS_VCMP_PP(Q6_p_vcmph_gt_PP, 4, 2, H, x > y)
HXS_VCMP_PP(Q6_p_vcmph_gtu_PP, 4, 2, UH, x > y)
HXS_VCMP_PP(Q6_p_vcmpw_eq_PP, 2, 4, W, x == y)
HXS_VCMP_PP(Q6_p_vcmpw_gt_PP, 2, 4, W, x > y)
HXS_VCMP_PP(Q6_p_vcmpw_gtu_PP, 2, 4, UW, x > y)
HXS_VCMP_PI(Q6_p_vcmpb_eq_PI, 8, 1, UB, x == y)
HXS_VCMP_PI(Q6_p_vcmpb_gt_PI, 8, 1, B, x > y)
HXS_VCMP_PI(Q6_p_vcmpb_gtu_PI, 8, 1, UB, x > y)
HXS_VCMP_PI(Q6_p_vcmph_eq_PI, 4, 2, H, x == y)
HXS_VCMP_PI(Q6_p_vcmph_gt_PI, 4, 2, H, x > y)
HXS_VCMP_PI(Q6_p_vcmph_gtu_PI, 4, 2, UH, x > y)
HXS_VCMP_PI(Q6_p_vcmpw_eq_PI, 2, 4, W, x == y)
HXS_VCMP_PI(Q6_p_vcmpw_gt_PI, 2, 4, W, x > y)
HXS_VCMP_PI(Q6_p_vcmpw_gtu_PI, 2, 4, UW, x > y)
HXS_Q6_2(p, Q6_p_any8_vcmpb_eq_PP, P, P, HXS_BOOL(Q6_p_vcmpb_eq_PP((Word64)a, (Word64)b)))
HXS_Q6_2(p, Q6_p_not_any8_vcmpb_eq_PP, P, P, HXS_BOOL(!Q6_p_vcmpb_eq_PP((Word64)a, (Word64)b)))

/* Predicate logic: bit by bit. */
HXS_Q6_1(p, Q6_p_equals_p, p, a)
HXS_Q6_1(R, Q6_R_equals_p, p, a)
HXS_Q6_1(p, Q6_p_equals_R, R, a & 0xff)
HXS_Q6_1(p, Q6_p_not_p, p, ~a & 0xff)
HXS_Q6_1(p, Q6_p_all8_p, p, HXS_BOOL(a == 0xff))
HXS_Q6_1(p, Q6_p_any8_p, p, HXS_BOOL(a))
HXS_Q6_2(p, Q6_p_and_pp, p, p, a & b)
HXS_Q6_2(p, Q6_p_and_pnp, p, p, a & ~b)
HXS_Q6_2(p, Q6_p_or_pp, p, p, a | b)
HXS_Q6_2(p, Q6_p_or_pnp, p, p, (a | ~b) & 0xff)
HXS_Q6_2(p, Q6_p_xor_pp, p, p, a ^ b)
HXS_Q6_3(p, Q6_p_and_and_ppp, p, p, p, a & (b & c))
HXS_Q6_3(p, Q6_p_and_and_ppnp, p, p, p, a & (b & ~c))
HXS_Q6_3(p, Q6_p_and_or_ppp, p, p, p, a & (b | c))
HXS_Q6_3(p, Q6_p_and_or_ppnp, p, p, p, a & (b | ~c))
HXS_Q6_3(p, Q6_p_or_and_ppp, p, p, p, a | (b & c))
HXS_Q6_3(p, Q6_p_or_and_ppnp, p, p, p, a | (b & ~c))
HXS_Q6_3(p, Q6_p_or_or_ppp, p, p, p, a | b | c)
HXS_Q6_3(p, Q6_p_or_or_ppnp, p, p, p, (a | b | ~c) & 0xff)
HXS_Q6_2(R, Q6_R_vitpack_pp, p, p, (a & 0x55) | (b & 0xaa))

/* Nine ones in a row, around the corner between b and a? */
static inline int hxs_corner9(unsigned int a, unsigned int b)
{
    uint32_t run = (a << 8 | b) * 0x10001u;

    for (int i = 1; i < 9; i++)
        run &= run >> 1;
    return run != 0;
}

HXS_Q6_2(p, Q6_p_fastcorner9_pp, p, p, HXS_BOOL(hxs_corner9(a, b)))
HXS_Q6_2(p, Q6_p_not_fastcorner9_pp, p, p, HXS_BOOL(!hxs_corner9(a, b)))

/* Selection: mux by bit 0, vmux by one bit per byte. */
HXS_Q6_3(R, Q6_R_mux_pRR, p, R, R, a & 1 ? b : c)
HXS_Q6_3(R, Q6_R_mux_pII, p, R, R, a & 1 ? b : c)
HXS_Q6_3(R, Q6_R_mux_pRI, p, R, R, a & 1 ? b : c)
HXS_Q6_3(R, Q6_R_mux_pIR, p, R, R, a & 1 ? b : c)
HXS_EACH(P, Q6_P_mask_p, (int a), 8, 8, a >> i & 1, 0, -x)
HXS_EACH(P, Q6_P_vmux_pPP, (int p, Word64 a, Word64 b), 8, 8, HXS_B(a, i), HXS_B(b, i),
        p >> i & 1 ? x : y)

#endif
