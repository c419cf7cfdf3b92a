/* The source of sample.release.s and sample.debug.s: two loops whose packets on silicon are published, a modular
 * multiply-accumulate (10 packets, 29 words) and an NTT butterfly (23 packets).  To make the listings again, see
 * tools/listing/listings.sh for the flags; only these two functions and the line with the compiler's name are kept. */
#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

/* a * b mod q for q < 2^30, by Barrett with mu = floor(2^60 / q); two corrections. */
INLINE HVX_Vector barrett(HVX_Vector a, HVX_Vector b, HVX_Vector q, HVX_Vector q1, HVX_Vector mu)
{
    HVX_VectorPair x = Q6_W_vmpyoacc_WVwVh(Q6_W_vmpye_VwVuh(a, b), a, b);
    HVX_Vector lo = Q6_V_lo_W(x), hi = Q6_V_hi_W(x);
    HVX_Vector s = Q6_V_vor_VV(Q6_Vuw_vlsr_VuwR(lo, 29), Q6_Vw_vasl_VwR(hi, 3));
    HVX_VectorPair p = Q6_W_vmpyoacc_WVwVh(Q6_W_vmpye_VwVuh(s, mu), s, mu);
    HVX_Vector h = Q6_V_vor_VV(Q6_Vuw_vlsr_VuwR(Q6_V_lo_W(p), 31), Q6_Vw_vasl_VwR(Q6_V_hi_W(p), 1));
    HVX_VectorPair t = Q6_W_vmpyoacc_WVwVh(Q6_W_vmpye_VwVuh(h, q), h, q);
    HVX_Vector r = Q6_Vw_vsub_VwVw(lo, Q6_V_lo_W(t));

    r = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(r, q1), Q6_Vw_vsub_VwVw(r, q), r);
    return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(r, q1), Q6_Vw_vsub_VwVw(r, q), r);
}

INLINE HVX_Vector modadd(HVX_Vector a, HVX_Vector b, HVX_Vector q, HVX_Vector q1)
{
    HVX_Vector r = Q6_Vw_vadd_VwVw(a, b);

    return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(r, q1), Q6_Vw_vsub_VwVw(r, q), r);
}

INLINE HVX_Vector modsub(HVX_Vector a, HVX_Vector b, HVX_Vector q)
{
    HVX_Vector r = Q6_Vw_vsub_VwVw(a, b);

    return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(b, a), Q6_Vw_vadd_VwVw(r, q), r);
}

HVX_Vector modmac(const uint32_t *x, const uint32_t *w, int stride, int k, uint32_t q, uint32_t mu)
{
    HVX_Vector vq = Q6_V_vsplat_R(q), vq1 = Q6_V_vsplat_R(q - 1), vm = Q6_V_vsplat_R(mu), acc = Q6_V_vzero();

    for (int i = 0; i < k; i++) {
        HVX_Vector row = *(const HVX_Vector *)(w + i * stride);

        acc = modadd(acc, barrett(row, Q6_V_vsplat_R(x[i]), vq, vq1, vm), vq, vq1);
    }
    return acc;
}

void stage(uint32_t *v, const uint32_t *w, int half, uint32_t q, uint32_t mu)
{
    HVX_Vector vq = Q6_V_vsplat_R(q), vq1 = Q6_V_vsplat_R(q - 1), vm = Q6_V_vsplat_R(mu);

    for (int j = 0; j < half; j += 32) {
        HVX_Vector *a = (HVX_Vector *)(v + j), *b = (HVX_Vector *)(v + j + half);
        HVX_Vector t = barrett(*b, *(const HVX_Vector *)(w + j), vq, vq1, vm), u = *a;

        *a = modadd(u, t, vq, vq1);
        *b = modsub(u, t, vq);
    }
}
