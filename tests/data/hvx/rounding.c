/* Prints numbers that depend on every rounding of chains of IEEE intrinsics: tests/cases/hvx_headers.sh builds it in many ways, which have
 * to agree. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <hexagon_types.h>

static HVX_Vector splat(float f)
{
    int32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return Q6_V_vsplat_R(bits);
}

/* (1 + 2^-12)^2 - (1 + 2^-11): 2^-24 was rounded away in the product, so 0; fused it is 2^-24. */
static HVX_Vector square_less(HVX_Vector x, HVX_Vector y)
{
    return Q6_Vsf_vsub_VsfVsf(Q6_Vsf_vmpy_VsfVsf(x, x), y);
}

int main(void)
{
    const HVX_Vector d = square_less(splat(1.000244140625f), splat(1.00048828125f));
    HVX_Vector x = Q6_V_vzero(), sum = splat(0.1f);
    uint32_t hash = 2166136261u, state = 1;

    for (int n = 0; n < 200; n++) {
        for (int i = 0; i < 32; i++) {
            state = state * 1664525u + 1013904223u;
            x[i] = (int32_t)(state >> 9 | 0x3f000000u);
        }
        sum = Q6_Vsf_vadd_VsfVsf(Q6_Vsf_vmpy_VsfVsf(sum, x), Q6_Vsf_vsub_VsfVsf(x, sum));
        sum = Q6_Vsf_vadd_VsfVsf(sum, Q6_Vsf_vdmpy_VhfVhf(x, x));
        sum = Q6_V_vor_VV(Q6_V_vand_VV(sum, Q6_V_vsplat_R(0x007fffff)), Q6_V_vsplat_R(0x3f000000));
        for (int i = 0; i < 32; i++)
            hash = (hash ^ (uint32_t)sum[i]) * 16777619u;
    }
    printf("%x %08x\n", (unsigned)d[7], hash);
    return 0;
}
