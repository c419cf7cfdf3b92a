/* Arithmetic modulo a 30-bit prime q (2^29 < q < 2^30) on 32 lanes of u32, inputs and outputs in 0..q-1.
 * The Barrett constant is mu = floor(2^60 / q). */
#ifndef MOD30_H
#define MOD30_H

#include "kernel.h"

#define HX_NTT_Q1 1073738753u
#define HX_NTT_Q2 1073732609u

/* One modulus as vectors. */
struct hx_mod30 {
    HVX_Vector q, q_less_1, mu;
};

HX_INLINE uint32_t hx_mod30_mu(uint32_t q)
{
    return (uint32_t)((1ull << 60) / q);
}

HX_INLINE struct hx_mod30 hx_mod30_splat(uint32_t q, uint32_t mu)
{
    return (struct hx_mod30){Q6_V_vsplat_R((int)q), Q6_V_vsplat_R((int)(q - 1)),
                             Q6_V_vsplat_R((int)mu)};
}

/* r - q where r >= q; V69 compares unsigned words with > only. */
HX_INLINE HVX_Vector hx_mod30_reduce(HVX_Vector r, const struct hx_mod30 *m)
{
    return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(r, m->q_less_1), Q6_Vw_vsub_VwVw(r, m->q), r);
}

/* All 64 bits of a * b: low words in lo, high words in hi. */
HX_INLINE HVX_VectorPair hx_mul64(HVX_Vector a, HVX_Vector b)
{
    return Q6_W_vmpyoacc_WVwVh(Q6_W_vmpye_VwVuh(a, b), a, b);
}

/* a * b mod q: qhat = ((a * b >> 29) * mu) >> 31 is at most 2 too small. */
HX_INLINE HVX_Vector hx_mod30_mul(HVX_Vector a, HVX_Vector b, const struct hx_mod30 *m)
{
    HVX_VectorPair x = hx_mul64(a, b);
    HVX_Vector lo = Q6_V_lo_W(x);
    HVX_Vector s = Q6_V_vor_VV(Q6_Vuw_vlsr_VuwR(lo, 29), Q6_Vw_vasl_VwR(Q6_V_hi_W(x), 3));
    HVX_VectorPair p = hx_mul64(s, m->mu);
    HVX_Vector qhat = Q6_V_vor_VV(Q6_Vuw_vlsr_VuwR(Q6_V_lo_W(p), 31),
                                  Q6_Vw_vasl_VwR(Q6_V_hi_W(p), 1));
    HVX_Vector r = Q6_Vw_vsub_VwVw(lo, Q6_V_lo_W(hx_mul64(qhat, m->q)));

    return hx_mod30_reduce(hx_mod30_reduce(r, m), m);
}

HX_INLINE HVX_Vector hx_mod30_add(HVX_Vector a, HVX_Vector b, const struct hx_mod30 *m)
{
    return hx_mod30_reduce(Q6_Vw_vadd_VwVw(a, b), m);
}

HX_INLINE HVX_Vector hx_mod30_sub(HVX_Vector a, HVX_Vector b, const struct hx_mod30 *m)
{
    HVX_Vector r = Q6_Vw_vsub_VwVw(a, b);

    return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(b, a), Q6_Vw_vadd_VwVw(r, m->q), r);
}

#endif
