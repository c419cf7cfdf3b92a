/* One intrinsic of every family, as C and (copied to .cc) as C++: tests/cases/hvx_headers.sh
 * compiles it. */
#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>

/* as portable code does for parts without the instruction */
#if __HVX_ARCH__ < 73
static inline HVX_Vector Q6_Vsf_equals_Vw(HVX_Vector const in)
{
    return Q6_Vsf_equals_Vqf32(in);
}
#endif

union view {
    HVX_Vector v;
    float f[32];
    HVX_VectorPred q;
};

#ifdef __cplusplus
template <class T> struct box {
    T value;
};
static HVX_Vector unboxed(box<HVX_Vector> b)
{
    return b.value;
}
#define BOXED(v) unboxed(box<HVX_Vector>{v})
#else
#define BOXED(v) (v)
#endif

static HVX_Vector floats(HVX_Vector a, HVX_Vector b)
{
    HVX_Vector q = Q6_Vqf32_vmpy_VsfVsf(a, b);
    HVX_VectorPair w = Q6_Wqf32_vmpy_VhfVhf(a, b);

    q = Q6_Vqf32_vadd_Vqf32Vqf32(q, Q6_Vqf32_vsub_VsfVsf(a, b));
    q = Q6_V_vxor_VV(q, Q6_Vqf16_vadd_VhfVhf(a, Q6_Vhf_equals_Vqf16(b)));
    q = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VsfVsf(a, b), q, Q6_Vhf_equals_Wqf32(w));
    return Q6_Vsf_vmax_VsfVsf(Q6_Vsf_equals_Vqf32(q), Q6_Vsf_equals_Vw(a));
}

static HVX_Vector narrow(HVX_VectorPair w, HVX_Vector a, int r)
{
    HVX_Vector v = Q6_Vh_vasr_VwVwR_sat(Q6_V_hi_W(w), Q6_V_lo_W(w), r);

    v = Q6_Vub_vsat_VhVh(v, Q6_Vh_vround_VwVw_sat(a, v));
    v = Q6_Vb_vpacke_VhVh(v, Q6_Vh_vpack_VwVw_sat(v, a));
    v = Q6_Vw_vadd_vclb_VwVw(v, Q6_Vh_vpopcount_Vh(Q6_Vuw_vcl0_Vuw(Q6_Vh_vnormamt_Vh(v))));
    return Q6_Vw_vsatdw_VwVw(v, Q6_Vuw_vrotr_VuwVuw(v, a));
}

static HVX_VectorPair multiply(HVX_Vector a, HVX_Vector b, int r)
{
    HVX_VectorPair w = Q6_Ww_vmpyacc_WwVhVh(Q6_Ww_vmpy_VhVuh(a, b), b, a);

    w = Q6_Wh_vmpa_WubRb(w, r);
    w = Q6_Ww_v6mpy_WubWbI_h(w, Q6_Wh_vtmpy_WbRb(w, r), 1);
    w = Q6_Wuw_vrsad_WubRubI(Q6_Wuw_vdsad_WuhRuh(w, r), r, 1);
    a = Q6_Vw_vrmpyacc_VwVbVb(a, Q6_Vw_vdmpy_VhRh_sat(a, r), Q6_Vw_vmpyi_VwRb(b, r));
    a = Q6_Vh_vmpa_VhVhVhPh_sat(a, Q6_Vh_vlut4_VuhPh(b, 5), Q6_P_combine_RR(r, r));
    b = Q6_Vw_vmpyo_VwVh_s1_rnd_sat(b, Q6_Vw_vmpye_VwVuh(a, b));
    return Q6_Ww_vaddacc_WwVhVh(w, a, b);
}

static HVX_Vector permute(HVX_Vector a, HVX_Vector b, int r)
{
    HVX_VectorPair w = Q6_W_vshuff_VVR(a, b, -4);

    w = Q6_W_vdeal_VVR(Q6_V_hi_W(w), Q6_V_lo_W(w), r);
    w = Q6_W_vcombine_VV(Q6_V_valign_VVR(a, b, r), Q6_V_vlalign_VVI(a, b, 3));
    w = Q6_Wh_vunpackoor_WhVb(w, Q6_Vb_vlut32_VbVbR(a, Q6_V_hi_W(w), r));
    a = Q6_V_vror_VR(Q6_V_vdelta_VV(a, Q6_Vb_vdeal_Vb(b)), r);
    a = Q6_V_vrdelta_VV(a, Q6_Vh_vshuffe_VhVh(a, Q6_V_lo_W(Q6_Wh_vlut16_VbVhR(a, b, 1))));
    return Q6_V_vxor_VV(a, Q6_V_lo_W(Q6_Wuh_vzxt_Vub(Q6_V_hi_W(w))));
}

static HVX_Vector alu(HVX_Vector a, HVX_Vector b, int r)
{
    HVX_VectorPred q = Q6_Q_and_QQ(Q6_Q_vcmp_gt_VubVub(a, b), Q6_Q_vsetq_R(r));
    HVX_Vector v = Q6_Vw_vadd_VwVwQ_carry(a, b, &q);

    q = Q6_Q_vcmp_eqand_QVbVb(Q6_Q_vand_VR(v, r), a, b);
    v = Q6_Vh_condacc_QVhVh(q, v, Q6_Vub_vavg_VubVub_rnd(a, b));
    v = Q6_Vub_vabsdiff_VubVub(v, Q6_Vh_vabs_Vh_sat(Q6_Vh_vadd_VhVh_sat(a, b)));
    v = Q6_Vw_vinsert_VwR(v, Q6_R_vextract_VR(v, 8) + Q6_R_satub_R(r));
    return Q6_V_vor_VV(Q6_Vb_prefixsum_Q(q), Q6_Vw_vasr_VwVw(Q6_Vw_vmin_VwVw(v, a), b));
}

extern
#ifdef __cplusplus
    "C"
#endif
    void
    families(const float *x, void *y, HVX_Vector *target, int r);

void families(const float *x, void *y, HVX_Vector *target, int r)
{
    union view u;
    HVX_VectorPair w;

    Q6_l2fetch_AR(x, r);
    u.v = *(const HVX_Vector *)x;
    u.v = floats(u.v, *(const HVX_UVector *)((const char *)x + 4));
    u.f[3] = 1.0f;
    w = multiply(u.v, BOXED(alu(u.v, Q6_V_vsplat_R(r), r)), r);
    u.v = permute(narrow(w, u.v, r), Q6_V_hi_W(w), r);
    Q6_vmem_QRIV(u.q, target, u.v);
    Q6_vgather_ARMVw(target, r, 255, u.v);
    Q6_vscatteracc_RMVwV(r, 255, u.v, *target);
    *(HVX_UVector *)y = u.v + __builtin_HEXAGON_V6_vaddw_128B(u.v, *target);
}
