/* The guard's steps in qf32, see guard.h. */
#include "guard.h"

#include "guard_hvx.listing.h"
#include "skel/kernel.h"

union bits {
    float f;
    int32_t i;
};

HX_INLINE HVX_Vector sum_lanes(HVX_Vector v)
{
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 64));
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 32));
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 16));
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 8));
    return Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 4));
}

HX_KERNEL float hx_guard_product_hvx(const float *a, const float *b, int vectors)
{
    const HVX_Vector *u = (const HVX_Vector *)a, *v = (const HVX_Vector *)b;
    HVX_Vector sum = Q6_V_vzero();
    union bits lane;

    HX_CODE(hx_guard_product_hvx);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, Q6_Vqf32_vmpy_VsfVsf(u[i], v[i]));
    lane.i = hx_spill_lane0(Q6_Vsf_equals_Vqf32(sum_lanes(sum)));
    return lane.f;
}

HX_KERNEL void hx_guard_take_hvx(const float *q, float z, float *x, int vectors)
{
    const HVX_Vector *u = (const HVX_Vector *)q;
    HVX_Vector *v = (HVX_Vector *)x;
    const union bits by = {.f = -z};
    const HVX_Vector scale = Q6_V_vsplat_R(by.i);

    HX_CODE(hx_guard_take_hvx);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        v[i] = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vadd_Vqf32Vsf(Q6_Vqf32_vmpy_VsfVsf(u[i], scale), v[i]));
}
