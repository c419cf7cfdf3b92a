/* A layer's row operations in qf32, see layer_rows.h. */
#include "layer_rows.h"

#include "layer_float.h"
#include "layer_rows_hvx.listing.h"

/* 2^-126 < v: Newton from a guess that is right to 4 bits. */
HX_INLINE float one_by_root(float v)
{
    float r = float_of(0x5f3759df - (bits_of(v) >> 1));

    r = r * (1.5f - 0.5f * v * r * r);
    r = r * (1.5f - 0.5f * v * r * r);
    r = r * (1.5f - 0.5f * v * r * r);
    return r * (1.5f - 0.5f * v * r * r);
}

static HX_KERNEL void layer_rmsnorm(const HVX_Vector *x, const HVX_Vector *w, int vectors, float eps, HVX_Vector *y)
{
    HVX_Vector sum = Q6_V_vzero();

    HX_CODE(layer_rmsnorm);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        sum = add_product(sum, x[i], x[i]);

    const float all = float_of(hx_spill_lane0(to_sf(sum_lanes(sum))));
    const HVX_Vector scale = splat(one_by_root(all / (float)(vectors * HX_VECTOR_WORDS) + eps));
    HX_TRIPS(2, vectors);
    for (int i = 0; i < vectors; i++)
        y[i] = times(times(x[i], scale), w[i]);
}

void hx_layer_rmsnorm_hvx(const float *x, const float *w, int n, float eps, float *y)
{
    layer_rmsnorm((const HVX_Vector *)x, (const HVX_Vector *)w, n / HX_VECTOR_WORDS, eps, (HVX_Vector *)y);
}

static HX_KERNEL void layer_rope(HVX_Vector *x, const HVX_Vector *turn, int half)
{
    HX_CODE(layer_rope);
    HX_TRIPS(1, half);
    for (int i = 0; i < half; i++) {
        const HVX_Vector a = x[i], b = x[i + half], c = turn[i], s = turn[i + half];

        x[i] = to_sf(Q6_Vqf32_vsub_Vqf32Vqf32(Q6_Vqf32_vmpy_VsfVsf(a, c), Q6_Vqf32_vmpy_VsfVsf(b, s)));
        x[i + half] = to_sf(add_product(Q6_Vqf32_vmpy_VsfVsf(b, c), a, s));
    }
}

void hx_layer_rope_hvx(float *x, const float *turn, int n)
{
    layer_rope((HVX_Vector *)x, (const HVX_Vector *)turn, n / (2 * HX_VECTOR_WORDS));
}

static HX_KERNEL void layer_silu(HVX_Vector *x, const HVX_Vector *up, int vectors)
{
    HX_CODE(layer_silu);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++)
        x[i] = times(by_sigmoid(x[i], x[i]), up[i]);
}

void hx_layer_silu_hvx(float *x, const float *up, int n)
{
    layer_silu((HVX_Vector *)x, (const HVX_Vector *)up, n / HX_VECTOR_WORDS);
}

/* (1 + tanh z) / 2 = 1 / (1 + exp(-2z)) */
static HX_KERNEL void layer_gelu(HVX_Vector *x, const HVX_Vector *up, int vectors)
{
    const HVX_Vector cube = qf32_of(splat(2 * 0.797884561f * 0.044715f)), line = splat(2 * 0.797884561f);

    HX_CODE(layer_gelu);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++) {
        const HVX_Vector v = x[i], square = Q6_Vqf32_vmpy_VsfVsf(v, v);
        const HVX_Vector w = to_sf(mul(mul_add(square, cube, line), qf32_of(v)));

        x[i] = times(by_sigmoid(v, w), up[i]);
    }
}

void hx_layer_gelu_hvx(float *x, const float *up, int n)
{
    layer_gelu((HVX_Vector *)x, (const HVX_Vector *)up, n / HX_VECTOR_WORDS);
}

/* Returns the largest pattern of magnitudes; qf32 holds 2^128 and more, which is an infinity again as IEEE. */
static HX_KERNEL int32_t layer_add(const HVX_Vector *x, const HVX_Vector *y, int vectors, HVX_Vector *sum)
{
    const HVX_Vector magnitude = Q6_V_vsplat_R(INT32_MAX);
    HVX_Vector top = Q6_V_vzero();

    HX_CODE(layer_add);
    HX_TRIPS(1, vectors);
    for (int i = 0; i < vectors; i++) {
        const HVX_Vector in = Q6_Vw_vmax_VwVw(Q6_V_vand_VV(x[i], magnitude), Q6_V_vand_VV(y[i], magnitude));
        const HVX_Vector out = to_sf(Q6_Vqf32_vadd_VsfVsf(x[i], y[i]));

        top = Q6_Vw_vmax_VwVw(top, Q6_Vw_vmax_VwVw(in, Q6_V_vand_VV(out, magnitude)));
        sum[i] = out;
    }
    return hx_spill_lane0(max_lanes(top));
}

int hx_layer_add_hvx(const float *x, const float *y, int n, float *sum)
{
    enum { INFINITE = 0x7f800000 };

    return layer_add((const HVX_Vector *)x, (const HVX_Vector *)y, n / HX_VECTOR_WORDS, (HVX_Vector *)sum) < INFINITE;
}
