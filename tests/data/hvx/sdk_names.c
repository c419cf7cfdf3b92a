/* What foreign HVX code relies on beside the intrinsics, with <hexagon_types.h> as its only include: as C and (copied to .cc) as C++.
 * tests/cases/hvx_headers.sh compiles it, with and without -D__hexagon__. */
#include <hexagon_types.h>

#if !defined(Q6_Vw_vadd_VwVw) || !defined(Q6_R_add_RR) || !defined(Q6_vmaskedstorenq_QAV) || !defined(HEXAGON_V64_CREATE_H)
#error "an intrinsic is not a macro"
#endif
#ifdef HEXRIG_HVX_IEEE
#ifndef Q6_Vsf_vadd_VsfVsf
#error "asked for, and not a macro"
#endif
#elif defined(Q6_Vsf_vadd_VsfVsf)
#error "not on V69, and a macro"
#endif
#if __HVX_ARCH__ < 69 || __HEXAGON_ARCH__ != __HVX_ARCH__
#error "no architecture"
#endif

/* brought by the one header */
long long sums(const short *p, int n, HVX_Vector *v, HEXAGON_Vect64 w);
long long sums(const short *p, int n, HVX_Vector *v, HEXAGON_Vect64 w)
{
    short *ring = (short *)memalign(128, 128), *at = ring, x = 0;
    long long sum = HEXAGON_V64_CREATE_H(4, 3, 2, 1) + HEXAGON_V64_GET_W1(w);
    __fp16 half = 1.5f;

    __builtin_assume(n > 0);
    for (int i = 0; i < n; i++) {
        Q6_circ_load_update_H(x, at, 1, 6, 3);
        sum += x + p[i];
    }
    half = (float)half + 0.25f;
    *v = Q6_Vw_vadd_VwVw(*v, Q6_V_vsplat_R((int)((float)half * 4) + (int)sizeof(__fp16)));
    return sum;
}
