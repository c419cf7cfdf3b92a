/* Floating-point intrinsics that a V69 does not have.
 *
 * The 32 IEEE names assemble for V69 only with the ieee-fp option, and V69 silicon gets them wrong;
 * the V73 names do not exist there at all.  A use fails to compile and says so.  For code that
 * targets later parts: -DHEXRIG_HVX_IEEE       the 32 names, in IEEE arithmetic, round to nearest
 * even -DHEXRIG_HVX_ARCH=73    the int <-> float converts of V73 No oracle covers them: what
 * silicon does with NaNs, and how it orders the sums of vdmpyacc, is not known here. */
#ifndef HEXRIG_HVX_IEEE_H
#define HEXRIG_HVX_IEEE_H

/* A skel that is compiled for a later part says so; a rig whose profile is an earlier one does not load it. */
#if (defined(HEXRIG_HVX_IEEE) || HEXRIG_HVX_ARCH >= 73) && !defined(__hexagon__)
#ifdef __cplusplus
extern "C" {
#endif
extern unsigned hx_skel_arch;
__attribute__((visibility("default"), used, weak)) unsigned hx_skel_arch = 73;
#ifdef __cplusplus
}
#endif
#endif

#include "hexrig_hvx_lanes.h"

#if defined(__clang__) || __GNUC__ >= 12
#define HX_REFUSE(why) __attribute__((unavailable(why)))
#else
#define HX_REFUSE(why) __attribute__((error(why)))
#endif

#define HX_V1 HVX_Vector
#define HX_V2 HVX_Vector, HVX_Vector
#define HX_V3 HVX_Vector, HVX_Vector, HVX_Vector
#define HX_WV HVX_VectorPair, HVX_Vector, HVX_Vector

/* --- hf <-> sf in 32-bit lanes; hf sits in the low half of its lane */
HX_FN hx_nsf hx_sf_of_hf(hx_nuw h)
{
    const hx_nuw mag = h & 0x7fff;
    const hx_nsf scaled = (hx_nsf)(mag << 13) *
                          5192296858534827628530496329220096.0f; /* exact, subnormals included */
    const hx_nuw special = (hx_nuw)(mag >= 0x7c00) & 0x7f800000;

    return (hx_nsf)((hx_nuw)scaled | special | ((h & 0x8000) << 16));
}

HX_FN hx_nuw hx_hf_of_sf(hx_nsf f)
{
    const hx_nuw x = (hx_nuw)f, mag = x & 0x7fffffff;
    /* below 2^-14: adding 1/2 lines the last bit of hf up with the last bit of the sum */
    const hx_nuw tiny = (hx_nuw)((hx_nsf)mag + 0.5f) - 0x3f000000;
    const hx_nuw normal = (mag - 0x38000000 + 0xfff + ((mag >> 13) & 1)) >> 13;
    const hx_nuw nan = (hx_nuw)(mag > 0x7f800000) & 0x200;
    hx_nuw r = HX_PICK(uw, mag < 0x38800000, tiny, normal);

    r = HX_PICK(uw, (r > 0x7c00) | (mag >= 0x47800000), 0x7c00 | nan, r);
    return r | ((x >> 16) & 0x8000);
}

#define HX_EVEN_HF(x) hx_sf_of_hf(hx_euh(x))
#define HX_ODD_HF(x) hx_sf_of_hf(hx_ouh(x))
#define HX_WEAVE_HF(even, odd) hx_weave_h(hx_hf_of_sf(even), hx_hf_of_sf(odd))

/* Nearest integer (ties to even) of |x| < 2^22, clamped; the sum's low bits are the integer. */
HX_FN hx_nw hx_int_of(hx_nsf x, float low, float high)
{
    x = (hx_nsf)HX_PICK(w, x > high, (hx_nsf){0} + high, x);
    x = (hx_nsf)HX_PICK(w, x < low, (hx_nsf){0} + low, x);
    return (hx_nw)(x + 12582912.0f) - 0x4b400000;
}

#ifdef HEXRIG_HVX_IEEE
/* A result that the compiler takes as it is.  Two intrinsics round twice: no product and sum may become one fused operation (gcc
 * does that unless told -ffp-contract=off), and no sum may be reordered (-ffast-math). */
HX_FN hx_nsf hx_rounded(hx_nsf x)
{
#if defined(__x86_64__)
    __asm__("" : "+v"(x));
#elif defined(__aarch64__)
    __asm__("" : "+w"(x));
#else
    __asm__("" : "+m"(x));
#endif
    return x;
}

#define HX_SF(x) ((hx_nsf)(x))
HX_DEF2(Q6_Vsf_vadd_VsfVsf, VX, V, V, V, hx_rounded(HX_SF(a) + HX_SF(b)))
HX_DEF2(Q6_Vsf_vsub_VsfVsf, VX, V, V, V, hx_rounded(HX_SF(a) - HX_SF(b)))
HX_DEF2(Q6_Vsf_vmpy_VsfVsf, VX_DV, V, V, V, hx_rounded(HX_SF(a) * HX_SF(b)))
HX_DEF2(Q6_Vsf_vfmax_VsfVsf, VX_LATE, V, V, V, HX_PICK(w, HX_SF(a) > HX_SF(b), a, b))
HX_DEF2(Q6_Vsf_vfmin_VsfVsf, VX_LATE, V, V, V, HX_PICK(w, HX_SF(a) < HX_SF(b), a, b))
HX_DEF1(Q6_Vsf_vabs_Vsf, VX_LATE, V, V, a &INT32_MAX)
HX_DEF1(Q6_Vsf_vfneg_Vsf, VX_LATE, V, V, a ^ INT32_MIN)
HX_DEF1(Q6_Vw_vfmv_Vw, VX_LATE, V, V, a)

#define HX_HF2(name, cls, op) \
    HX_DEF2(name, cls, V, V, V, \
            HX_WEAVE_HF(HX_EVEN_HF(a) op HX_EVEN_HF(b), HX_ODD_HF(a) op HX_ODD_HF(b)))
HX_HF2(Q6_Vhf_vadd_VhfVhf, VX, +)
HX_HF2(Q6_Vhf_vsub_VhfVhf, VX, -)
HX_HF2(Q6_Vhf_vmpy_VhfVhf, VX, *)
#undef HX_HF2
HX_DEF3(Q6_Vhf_vmpyacc_VhfVhfVhf, VX, V, V, V, V,
        HX_WEAVE_HF(HX_EVEN_HF(a) + HX_EVEN_HF(b) * HX_EVEN_HF(c),
                    HX_ODD_HF(a) + HX_ODD_HF(b) * HX_ODD_HF(c)))
#define HX_HF_PICK(name, op) \
    HX_DEF2(name, VX_LATE, V, V, V, \
            hx_weave_h(HX_PICK(uw, HX_EVEN_HF(a) op HX_EVEN_HF(b), hx_euh(a), hx_euh(b)), \
                       HX_PICK(uw, HX_ODD_HF(a) op HX_ODD_HF(b), hx_ouh(a), hx_ouh(b))))
HX_HF_PICK(Q6_Vhf_vfmax_VhfVhf, >)
HX_HF_PICK(Q6_Vhf_vfmin_VhfVhf, <)
#undef HX_HF_PICK
HX_DEF1(Q6_Vhf_vabs_Vhf, VX_LATE, V, V, a & 0x7fff7fff)
HX_DEF1(Q6_Vhf_vfneg_Vhf, VX_LATE, V, V, (hx_nuw)a ^ 0x80008000u)

/* hf operands, sf results; products of hf are exact in sf */
#define HX_WIDE_HF(name, op) \
    HX_DEF2(name, VX_DV, W, V, V, HX_EVEN_HF(a) op HX_EVEN_HF(b), HX_ODD_HF(a) op HX_ODD_HF(b))
HX_WIDE_HF(Q6_Wsf_vadd_VhfVhf, +)
HX_WIDE_HF(Q6_Wsf_vsub_VhfVhf, -)
HX_WIDE_HF(Q6_Wsf_vmpy_VhfVhf, *)
#undef HX_WIDE_HF
HX_DEF3(Q6_Wsf_vmpyacc_WsfVhfVhf, VX_DV, W, W, V, V, HX_SF(a0) + HX_EVEN_HF(b) * HX_EVEN_HF(c),
        HX_SF(a1) + HX_ODD_HF(b) * HX_ODD_HF(c))
#define HX_DOT_HF(x, y) (HX_EVEN_HF(x) * HX_EVEN_HF(y) + HX_ODD_HF(x) * HX_ODD_HF(y))
HX_DEF2(Q6_Vsf_vdmpy_VhfVhf, VX, V, V, V, HX_DOT_HF(a, b))
HX_DEF3(Q6_Vsf_vdmpyacc_VsfVhfVhf, VX, V, V, V, V, HX_SF(a) + HX_DOT_HF(b, c))
#undef HX_DOT_HF

/* converts */
#define HX_FLOATS(x) __builtin_convertvector((hx_nw)(x), hx_nsf)
HX_DEF1(Q6_Wsf_vcvt_Vhf, VX_DV, W, V, HX_EVEN_HF(a), HX_ODD_HF(a))
HX_DEF2(Q6_Vhf_vcvt_VsfVsf, VX, V, V, V, HX_WEAVE_HF(HX_SF(b), HX_SF(a)))
HX_DEF1(Q6_Vhf_vcvt_Vh, VX, V, V, HX_WEAVE_HF(HX_FLOATS(hx_eh(a)), HX_FLOATS(hx_oh(a))))
HX_DEF1(Q6_Vhf_vcvt_Vuh, VX, V, V, HX_WEAVE_HF(HX_FLOATS(hx_euh(a)), HX_FLOATS(hx_ouh(a))))
#define HX_INTS(x, low, high) \
    hx_weave_h((hx_nuw)hx_int_of(HX_EVEN_HF(x), low, high), \
               (hx_nuw)hx_int_of(HX_ODD_HF(x), low, high))
HX_DEF1(Q6_Vh_vcvt_Vhf, VX, V, V, HX_INTS(a, -32768, 32767))
HX_DEF1(Q6_Vuh_vcvt_Vhf, VX, V, V, HX_INTS(a, 0, 65535))
HX_DEF2(Q6_Vb_vcvt_VhfVhf, VX, V, V, V,
        hx_weave_b((hx_nuh)HX_INTS(b, -128, 127), (hx_nuh)HX_INTS(a, -128, 127)))
HX_DEF2(Q6_Vub_vcvt_VhfVhf, VX, V, V, V,
        hx_weave_b((hx_nuh)HX_INTS(b, 0, 255), (hx_nuh)HX_INTS(a, 0, 255)))
#define HX_HALVES(x) HX_WEAVE_HF(HX_FLOATS(hx_eh((hx_nw)(x))), HX_FLOATS(hx_oh((hx_nw)(x))))
HX_DEF1(Q6_Whf_vcvt_Vb, VX_DV, W, V, HX_HALVES(hx_eb(a)), HX_HALVES(hx_ob(a)))
HX_DEF1(Q6_Whf_vcvt_Vub, VX_DV, W, V, HX_HALVES(hx_eub(a)), HX_HALVES(hx_oub(a)))
#undef HX_FLOATS
#undef HX_INTS
#undef HX_HALVES
#undef HX_SF

#else
#define HX_NO_IEEE(ret, name, args) \
    ret name(args) HX_REFUSE( \
        "IEEE HVX float gives wrong results on V69 (docs/hvx.md): use qf32, or build with " \
        "-DHEXRIG_HVX_IEEE for later parts")
HX_NO_IEEE(HVX_Vector, Q6_Vb_vcvt_VhfVhf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vh_vcvt_Vhf, HX_V1);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vabs_Vhf, HX_V1);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vadd_VhfVhf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vcvt_Vh, HX_V1);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vcvt_VsfVsf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vcvt_Vuh, HX_V1);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vfmax_VhfVhf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vfmin_VhfVhf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vfneg_Vhf, HX_V1);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vmpy_VhfVhf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vmpyacc_VhfVhfVhf, HX_V3);
HX_NO_IEEE(HVX_Vector, Q6_Vhf_vsub_VhfVhf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vsf_vabs_Vsf, HX_V1);
HX_NO_IEEE(HVX_Vector, Q6_Vsf_vadd_VsfVsf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vsf_vdmpy_VhfVhf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vsf_vdmpyacc_VsfVhfVhf, HX_V3);
HX_NO_IEEE(HVX_Vector, Q6_Vsf_vfmax_VsfVsf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vsf_vfmin_VsfVsf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vsf_vfneg_Vsf, HX_V1);
HX_NO_IEEE(HVX_Vector, Q6_Vsf_vmpy_VsfVsf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vsf_vsub_VsfVsf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vub_vcvt_VhfVhf, HX_V2);
HX_NO_IEEE(HVX_Vector, Q6_Vuh_vcvt_Vhf, HX_V1);
HX_NO_IEEE(HVX_Vector, Q6_Vw_vfmv_Vw, HX_V1);
HX_NO_IEEE(HVX_VectorPair, Q6_Whf_vcvt_Vb, HX_V1);
HX_NO_IEEE(HVX_VectorPair, Q6_Whf_vcvt_Vub, HX_V1);
HX_NO_IEEE(HVX_VectorPair, Q6_Wsf_vadd_VhfVhf, HX_V2);
HX_NO_IEEE(HVX_VectorPair, Q6_Wsf_vcvt_Vhf, HX_V1);
HX_NO_IEEE(HVX_VectorPair, Q6_Wsf_vmpy_VhfVhf, HX_V2);
HX_NO_IEEE(HVX_VectorPair, Q6_Wsf_vmpyacc_WsfVhfVhf, HX_WV);
HX_NO_IEEE(HVX_VectorPair, Q6_Wsf_vsub_VhfVhf, HX_V2);
#undef HX_NO_IEEE
#endif

#if HEXRIG_HVX_ARCH >= 73
/* sf -> w rounds towards zero and saturates; a NaN gives 0. */
HX_FN hx_nw hx_trunc_sf(hx_nsf x)
{
    const hx_nw above = x >= 2147483648.0f, ok = (x < 2147483648.0f) & (x >= -2147483648.0f),
                below = x < -2147483648.0f;
    const hx_nw r = __builtin_convertvector((hx_nsf)((hx_nw)x & ok), hx_nw);

    return (above & INT32_MAX) | (below & INT32_MIN) | r;
}
/* the same for hf, whose every finite value fits a word */
HX_FN hx_nuw hx_trunc_hf(hx_nsf x)
{
    return hx_sat_h_w(hx_trunc_sf(x));
}
HX_DEF1(Q6_Vsf_equals_Vw, VS, V, V, __builtin_convertvector(a, hx_nsf))
HX_DEF1(Q6_Vw_equals_Vsf, VS, V, V, hx_trunc_sf((hx_nsf)a))
HX_DEF1(Q6_Vhf_equals_Vh, VS, V, V,
        HX_WEAVE_HF(__builtin_convertvector((hx_nw)hx_eh(a), hx_nsf),
                    __builtin_convertvector((hx_nw)hx_oh(a), hx_nsf)))
HX_DEF1(Q6_Vh_equals_Vhf, VS, V, V,
        hx_weave_h(hx_trunc_hf(HX_EVEN_HF(a)), hx_trunc_hf(HX_ODD_HF(a))))
#define Q6_Vsf_equals_Vw Q6_Vsf_equals_Vw
#define Q6_Vw_equals_Vsf Q6_Vw_equals_Vsf
#define Q6_Vhf_equals_Vh Q6_Vhf_equals_Vh
#define Q6_Vh_equals_Vhf Q6_Vh_equals_Vhf
#else
/* Not declared, because portable code defines these itself for older parts; a use without such a
 * definition names the reason in the compiler's error. */
#define Q6_Vsf_equals_Vw(...) \
    V69_has_no_convert_try_DHEXRIG_HVX_ARCH_73_for_Vsf_equals_Vw(__VA_ARGS__)
#define Q6_Vw_equals_Vsf(...) \
    V69_has_no_convert_try_DHEXRIG_HVX_ARCH_73_for_Vw_equals_Vsf(__VA_ARGS__)
#define Q6_Vhf_equals_Vh(...) \
    V69_has_no_convert_try_DHEXRIG_HVX_ARCH_73_for_Vhf_equals_Vh(__VA_ARGS__)
#define Q6_Vh_equals_Vhf(...) \
    V69_has_no_convert_try_DHEXRIG_HVX_ARCH_73_for_Vh_equals_Vhf(__VA_ARGS__)
#endif

/* bfloat16 came after V73 and is not offered. */
#define HX_NO_BF(ret, name, args) ret name(args) HX_REFUSE("no bfloat16 on V69")
HX_NO_BF(HVX_VectorPred, Q6_Q_vcmp_gt_VbfVbf, HX_V2);
HX_NO_BF(HVX_VectorPred, Q6_Q_vcmp_gtand_QVbfVbf, HX_V3);
HX_NO_BF(HVX_VectorPred, Q6_Q_vcmp_gtor_QVbfVbf, HX_V3);
HX_NO_BF(HVX_VectorPred, Q6_Q_vcmp_gtxacc_QVbfVbf, HX_V3);
HX_NO_BF(HVX_Vector, Q6_Vbf_vcvt_VsfVsf, HX_V2);
HX_NO_BF(HVX_Vector, Q6_Vbf_vmax_VbfVbf, HX_V2);
HX_NO_BF(HVX_Vector, Q6_Vbf_vmin_VbfVbf, HX_V2);
HX_NO_BF(HVX_VectorPair, Q6_Wsf_vadd_VbfVbf, HX_V2);
HX_NO_BF(HVX_VectorPair, Q6_Wsf_vmpy_VbfVbf, HX_V2);
HX_NO_BF(HVX_VectorPair, Q6_Wsf_vmpyacc_WsfVbfVbf, HX_WV);
HX_NO_BF(HVX_VectorPair, Q6_Wsf_vsub_VbfVbf, HX_V2);
#undef HX_NO_BF
#undef HX_REFUSE
#undef HX_V1
#undef HX_V2
#undef HX_V3
#undef HX_WV
#undef HX_EVEN_HF
#undef HX_ODD_HF
#undef HX_WEAVE_HF

#endif
