/* A layer's row operations on HVX, in qf32, see layer.h. */
/* listing: rmsnorm rope softmax gelu silu add */
#include "layer.h"

#include <stdint.h>

#include "skel/kernel.h"
#include "layer_hvx.listing.h"

union float_bits {
    float f;
    int32_t i;
};

HX_INLINE HVX_Vector splat(float f)
{
    const union float_bits v = {.f = f};

    return Q6_V_vsplat_R(v.i);
}

HX_INLINE float float_of(int32_t pattern)
{
    const union float_bits v = {.i = pattern};

    return v.f;
}

HX_INLINE HVX_Vector qf32_of(HVX_Vector sf)
{
    return Q6_Vqf32_vadd_VsfVsf(sf, Q6_V_vzero());
}

HX_INLINE HVX_Vector mul(HVX_Vector a, HVX_Vector b)
{
    return Q6_Vqf32_vmpy_Vqf32Vqf32(a, b);
}

/* a * b + c, c as IEEE */
HX_INLINE HVX_Vector mul_add(HVX_Vector a, HVX_Vector b, HVX_Vector c)
{
    return Q6_Vqf32_vadd_Vqf32Vsf(mul(a, b), c);
}

HX_INLINE HVX_Vector to_sf(HVX_Vector qf32)
{
    return Q6_Vsf_equals_Vqf32(qf32);
}

/* Differences keep the exponent of the larger operand, and products the bits that this leaves them. */
HX_INLINE HVX_Vector normal(HVX_Vector qf32)
{
    return qf32_of(to_sf(qf32));
}

/* Sum of all lanes of a qf32 vector, in every lane. */
HX_INLINE HVX_Vector sum_lanes(HVX_Vector v)
{
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 64));
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 32));
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 16));
    v = Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 8));
    return Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, 4));
}

HX_INLINE HVX_Vector times(HVX_Vector a, HVX_Vector b)
{
    return to_sf(Q6_Vqf32_vmpy_VsfVsf(a, b));
}

/* From here to by_sigmoid(): IEEE lanes in, IEEE lanes out. */

/* exp(x), x <= 0; what is below -87 counts as -87.  V69 converts no floats into integers: adding 3 * 2^22 leaves one near it
 * in the low bits, not always the nearest, so |r| may reach ln 2. */
HX_INLINE HVX_Vector exp_lanes(HVX_Vector x)
{
    const HVX_Vector least = splat(-87), round = splat(0x1.8p23f);
    HVX_Vector p = splat(1.0f / 5040);

    x = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(x, least), least, x); /* patterns of negative floats grow as they fall */
    const HVX_Vector n = to_sf(Q6_Vqf32_vadd_Vqf32Vsf(Q6_Vqf32_vmpy_VsfVsf(x, splat(1.44269504f)), round));
    const HVX_Vector whole = to_sf(Q6_Vqf32_vsub_VsfVsf(n, round));
    const HVX_Vector r = normal(
        Q6_Vqf32_vsub_Vqf32Vqf32(qf32_of(x), Q6_Vqf32_vmpy_VsfVsf(whole, splat(0.693147181f))));

    p = mul_add(qf32_of(p), r, splat(1.0f / 720));
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

/* 2^-126 < v: Newton from a guess that is right to 4 bits. */
HX_INLINE float one_by_root(float v)
{
    const union float_bits bits = {.f = v}, guess = {.i = 0x5f3759df - (bits.i >> 1)};
    float r = guess.f;

    r = r * (1.5f - 0.5f * v * r * r);
    r = r * (1.5f - 0.5f * v * r * r);
    return r * (1.5f - 0.5f * v * r * r);
}

HX_INLINE int vectors_of(int n)
{
    return (n + HX_VECTOR_WORDS - 1) / HX_VECTOR_WORDS;
}

static int are_rows(const float *x, const float *other, const float *y, int n, int multiple)
{
    return n >= 1 && n % multiple == 0 && hx_is_aligned(x) && hx_is_aligned(other) && hx_is_aligned(y);
}

/* --- rows */

static HX_KERNEL void rmsnorm(const HVX_Vector *x, const HVX_Vector *w, int vectors, HVX_Vector *y)
{
    HVX_Vector sum = Q6_V_vzero();

    HX_CODE(rmsnorm);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, Q6_Vqf32_vmpy_VsfVsf(x[i], x[i]));

    const float all = float_of(hx_spill_lane0(to_sf(sum_lanes(sum))));
    const float n = (float)(vectors * HX_VECTOR_WORDS);
    const HVX_Vector scale = qf32_of(splat(one_by_root(all / n + HX_NORM_EPS)));
    HX_TRIPS(2, vectors);
    for (int i = 0; i < vectors; i++)
        y[i] = to_sf(mul(Q6_Vqf32_vmpy_VsfVsf(x[i], w[i]), scale));
}

int hx_rmsnorm_hvx(const float *x, const float *w, int n, int row, float *y)
{
    (void)row;
    if (!are_rows(x, w, y, n, HX_VECTOR_WORDS))
        return AEE_EBADPARM;
    rmsnorm((const HVX_Vector *)x, (const HVX_Vector *)w, n / HX_VECTOR_WORDS, (HVX_Vector *)y);
    return AEE_SUCCESS;
}

static HX_KERNEL void rope(const HVX_Vector *x, const HVX_Vector *turn, int half, HVX_Vector *y)
{
    HX_CODE(rope);
    HX_TRIPS(1, half);
    for (int i = 0; i < half; i++) {
        const HVX_Vector a = x[i], b = x[i + half], c = turn[i], s = turn[i + half];

        y[i] = to_sf(Q6_Vqf32_vsub_Vqf32Vqf32(Q6_Vqf32_vmpy_VsfVsf(a, c), Q6_Vqf32_vmpy_VsfVsf(b, s)));
        y[i + half] = to_sf(Q6_Vqf32_vadd_Vqf32Vqf32(Q6_Vqf32_vmpy_VsfVsf(b, c), Q6_Vqf32_vmpy_VsfVsf(a, s)));
    }
}

int hx_rope_hvx(const float *x, const float *turn, int n, int row, float *y)
{
    (void)row;
    if (!are_rows(x, turn, y, n, 2 * HX_VECTOR_WORDS))
        return AEE_EBADPARM;
    rope((const HVX_Vector *)x, (const HVX_Vector *)turn, n / (2 * HX_VECTOR_WORDS), (HVX_Vector *)y);
    return AEE_SUCCESS;
}

/* Patterns of floats ordered as integers, and back. */
HX_INLINE HVX_Vector ordered(HVX_Vector sf)
{
    return Q6_V_vxor_VV(sf, Q6_V_vand_VV(Q6_Vw_vasr_VwR(sf, 31), Q6_V_vsplat_R(INT32_MAX)));
}

HX_INLINE HVX_Vector max_lanes(HVX_Vector v)
{
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 64));
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 32));
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 16));
    v = Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 8));
    return Q6_Vw_vmax_VwVw(v, Q6_V_vror_VR(v, 4));
}

/* The last vector comes alone, its padding as `least`, so that it adds nothing. */
static HX_KERNEL void softmax(const HVX_Vector *x, int n, HVX_Vector *y)
{
    const HVX_Vector least = splat(-0x1p127f);
    const int last = (n - 1) / HX_VECTOR_WORDS, bytes = (n - last * HX_VECTOR_WORDS) * 4;
    const HVX_VectorPred used = Q6_Q_vsetq2_R(bytes);
    HVX_Vector sum = Q6_V_vzero();

    HX_CODE(softmax);
    const HVX_Vector end = Q6_V_vmux_QVV(used, x[last], least);
    HVX_Vector top = ordered(end);
    HX_TRIPS(1, last);
    for (int i = 0; i < last; i++)
        top = Q6_Vw_vmax_VwVw(top, ordered(x[i]));
    top = ordered(max_lanes(top));

    HX_TRIPS(2, last);
    for (int i = 0; i < last; i++) {
        const HVX_Vector e = exp_lanes(to_sf(Q6_Vqf32_vsub_VsfVsf(x[i], top)));

        y[i] = e;
        sum = Q6_Vqf32_vadd_Vqf32Vsf(sum, e);
    }
    y[last] = exp_lanes(to_sf(Q6_Vqf32_vsub_VsfVsf(end, top)));
    sum = Q6_Vqf32_vadd_Vqf32Vsf(sum, y[last]);

    const HVX_Vector scale = splat(1 / float_of(hx_spill_lane0(to_sf(sum_lanes(sum)))));
    HX_TRIPS(3, last + 1);
    for (int i = 0; i <= last; i++)
        y[i] = times(y[i], scale);
}

int hx_softmax_hvx(const float *x, const float *unused, int n, int row, float *y)
{
    (void)unused, (void)row;
    if (!are_rows(x, NULL, y, n, 1))
        return AEE_EBADPARM;
    softmax((const HVX_Vector *)x, n, (HVX_Vector *)y);
    return AEE_SUCCESS;
}

/* (1 + tanh z) / 2 = 1 / (1 + exp(-2z)) */
static HX_KERNEL void gelu(const HVX_Vector *x, const HVX_Vector *up, int vectors, HVX_Vector *y)
{
    const HVX_Vector cube = qf32_of(splat(2 * 0.797884561f * 0.044715f)), line = splat(2 * 0.797884561f);

    HX_CODE(gelu);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++) {
        const HVX_Vector v = x[i], square = Q6_Vqf32_vmpy_VsfVsf(v, v);
        const HVX_Vector w = to_sf(mul(mul_add(square, cube, line), qf32_of(v)));

        y[i] = times(by_sigmoid(v, w), up[i]);
    }
}

int hx_gelu_hvx(const float *x, const float *up, int n, int row, float *y)
{
    (void)row;
    if (!are_rows(x, up, y, n, 1))
        return AEE_EBADPARM;
    gelu((const HVX_Vector *)x, (const HVX_Vector *)up, vectors_of(n), (HVX_Vector *)y);
    return AEE_SUCCESS;
}

static HX_KERNEL void silu(const HVX_Vector *x, const HVX_Vector *up, int vectors, HVX_Vector *y)
{
    HX_CODE(silu);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        y[i] = times(by_sigmoid(x[i], x[i]), up[i]);
}

int hx_silu_hvx(const float *x, const float *up, int n, int row, float *y)
{
    (void)row;
    if (!are_rows(x, up, y, n, 1))
        return AEE_EBADPARM;
    silu((const HVX_Vector *)x, (const HVX_Vector *)up, vectors_of(n), (HVX_Vector *)y);
    return AEE_SUCCESS;
}

static HX_KERNEL void add(const HVX_Vector *x, const HVX_Vector *other, int vectors, HVX_Vector *y)
{
    HX_CODE(add);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        y[i] = to_sf(Q6_Vqf32_vadd_VsfVsf(x[i], other[i]));
}

int hx_add_hvx(const float *x, const float *other, int n, int row, float *y)
{
    (void)row;
    if (!are_rows(x, other, y, n, 1))
        return AEE_EBADPARM;
    add((const HVX_Vector *)x, (const HVX_Vector *)other, vectors_of(n), (HVX_Vector *)y);
    return AEE_SUCCESS;
}
