/* Floats in HVX lanes, for the kernels of this folder: V69 multiplies and adds in qf32 only, whose values are not normalised by
 * themselves.  Everything here is inlined into the kernel that uses it. */
#ifndef LAYER_FLOAT_H
#define LAYER_FLOAT_H

#include <stdint.h>

#include "skel/kernel.h"

union hx_layer_bits {
    float f;
    int32_t i;
};

HX_INLINE int32_t bits_of(float f)
{
    const union hx_layer_bits v = {.f = f};

    return v.i;
}

HX_INLINE float float_of(int32_t pattern)
{
    const union hx_layer_bits v = {.i = pattern};

    return v.f;
}

HX_INLINE HVX_Vector splat(float f)
{
    return Q6_V_vsplat_R(bits_of(f));
}

HX_INLINE HVX_Vector qf32_of(HVX_Vector sf)
{
    return Q6_Vqf32_vadd_VsfVsf(sf, Q6_V_vzero());
}

HX_INLINE HVX_Vector to_sf(HVX_Vector qf32)
{
    return Q6_Vsf_equals_Vqf32(qf32);
}

HX_INLINE HVX_Vector add(HVX_Vector a, HVX_Vector b)
{
    return Q6_Vqf32_vadd_Vqf32Vqf32(a, b);
}

HX_INLINE HVX_Vector mul(HVX_Vector a, HVX_Vector b)
{
    return Q6_Vqf32_vmpy_Vqf32Vqf32(a, b);
}

/* a * b + c, a and b qf32, c IEEE. */
HX_INLINE HVX_Vector mul_add(HVX_Vector a, HVX_Vector b, HVX_Vector c)
{
    return Q6_Vqf32_vadd_Vqf32Vsf(mul(a, b), c);
}

/* IEEE in, IEEE out. */
HX_INLINE HVX_Vector times(HVX_Vector a, HVX_Vector b)
{
    return to_sf(Q6_Vqf32_vmpy_VsfVsf(a, b));
}

/* sum + a * b, sum qf32, a and b IEEE. */
HX_INLINE HVX_Vector add_product(HVX_Vector sum, HVX_Vector a, HVX_Vector b)
{
    return add(sum, Q6_Vqf32_vmpy_VsfVsf(a, b));
}

/* Differences keep the exponent of the larger operand, and products the bits that this leaves them. */
HX_INLINE HVX_Vector normal(HVX_Vector qf32)
{
    return qf32_of(to_sf(qf32));
}

/* Sum of all lanes of a qf32 vector, in every lane. */
HX_INLINE HVX_Vector sum_lanes(HVX_Vector v)
{
    v = add(v, Q6_V_vror_VR(v, 64));
    v = add(v, Q6_V_vror_VR(v, 32));
    v = add(v, Q6_V_vror_VR(v, 16));
    v = add(v, Q6_V_vror_VR(v, 8));
    return add(v, Q6_V_vror_VR(v, 4));
}

/* Patterns of floats ordered as integers, and back. */
HX_INLINE HVX_Vector ordered(HVX_Vector sf)
{
    return Q6_V_vxor_VV(sf, Q6_V_vand_VV(Q6_Vw_vasr_VwR(sf, 31), Q6_V_vsplat_R(INT32_MAX)));
}

/* Largest of all lanes as signed integers, in every lane. */
HX_INLINE HVX_Vector max_lanes(HVX_Vector v)
{
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 64));
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 32));
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 16));
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 8));
    return Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 4));
}

/* V69 converts no floats into integers: behind x + ROUND the low bits are a whole number near x, not always the nearest. */
#define ROUND 0x1.8p23f

/* exp(x), x <= 0; what is below -87 counts as -87. */
HX_INLINE HVX_Vector exp_lanes(HVX_Vector x)
{
    const HVX_Vector least = splat(-87), round = splat(ROUND);
    HVX_Vector p = splat(1.0f / 362880);

    x = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(x, least), least, x); /* patterns of negative floats grow as they fall */
    const HVX_Vector n = to_sf(Q6_Vqf32_vadd_Vqf32Vsf(Q6_Vqf32_vmpy_VsfVsf(x, splat(1.44269504f)), round));
    const HVX_Vector whole = to_sf(Q6_Vqf32_vsub_VsfVsf(n, round));
    /* ln 2 in two parts, of which the first times a whole number is exact */
    const HVX_Vector high = to_sf(Q6_Vqf32_vsub_Vqf32Vqf32(qf32_of(x), Q6_Vqf32_vmpy_VsfVsf(whole, splat(0.693359375f))));
    const HVX_Vector r = normal(Q6_Vqf32_vsub_Vqf32Vqf32(qf32_of(high), Q6_Vqf32_vmpy_VsfVsf(whole, splat(-2.12194440e-4f))));

    p = mul_add(qf32_of(p), r, splat(1.0f / 40320));
    p = mul_add(p, r, splat(1.0f / 5040));
    p = mul_add(p, r, splat(1.0f / 720));
    p = mul_add(p, r, splat(1.0f / 120));
    p = mul_add(p, r, splat(1.0f / 24));
    p = mul_add(p, r, splat(1.0f / 6));
    p = mul_add(p, r, splat(0.5f));
    p = mul_add(p, r, splat(1));
    p = to_sf(mul_add(p, r, splat(1)));
    /* times 2^n: into the exponent's field */
    return Q6_Vw_vadd_VwVw(p, Q6_Vw_vasl_VwR(Q6_Vw_vsub_VwVw(n, round), 23));
}

/* One step towards -1/d. */
HX_INLINE HVX_Vector newton(HVX_Vector r, HVX_Vector d)
{
    return times(r, to_sf(Q6_Vqf32_vadd_Vqf32Vsf(Q6_Vqf32_vmpy_VsfVsf(r, d), splat(2))));
}

/* -1/d, d in 1..2, from a guess that is right to 3 bits. */
HX_INLINE HVX_Vector minus_reciprocal(HVX_Vector d)
{
    const HVX_Vector guess = to_sf(Q6_Vqf32_vadd_Vqf32Vsf(Q6_Vqf32_vmpy_VsfVsf(d, splat(0.5f)), splat(-1.4571068f)));

    return newton(newton(newton(guess, d), d), d);
}

/* x / (1 + exp(-w)) */
HX_INLINE HVX_Vector by_sigmoid(HVX_Vector x, HVX_Vector w)
{
    const HVX_Vector sign = Q6_V_vsplat_R(INT32_MIN), one = splat(1);
    const HVX_Vector e = exp_lanes(Q6_V_vor_VV(w, sign)); /* of -|w| */
    const HVX_VectorPred negative = Q6_Q_vcmp_gt_VwVw(Q6_V_vzero(), w);
    const HVX_Vector top = Q6_V_vmux_QVV(negative, e, one);
    const HVX_Vector by = minus_reciprocal(to_sf(Q6_Vqf32_vadd_VsfVsf(e, one)));

    return times(times(Q6_V_vxor_VV(x, sign), top), by);
}

#endif
