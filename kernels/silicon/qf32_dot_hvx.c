/* Dot products in qf32, and the matmul that was built of them, see qf32_dot.h. */
#include "qf32_dot.h"

#include <stddef.h>

#include "skel/kernel.h"
#include "qf32_dot_hvx.listing.h"

HX_INLINE float float_of(int32_t pattern)
{
    union {
        int32_t i;
        float f;
    } v = {.i = pattern};

    return v.f;
}

/* One step of the published reduction: rotate, add, convert. */
HX_INLINE HVX_Vector fold(HVX_Vector v, int bytes)
{
    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vadd_VsfVsf(v, Q6_V_vror_VR(v, bytes)));
}

static HX_KERNEL void qf32_dot(const HVX_Vector *a, const HVX_Vector *b, int vectors, int count,
                               float *sums)
{
    HX_CODE(qf32_dot);
    HX_TRIPS(1, count);
    for (int i = 0; i < count; i++) {
        HVX_Vector sum = Q6_V_vzero();

        HX_TRIPS(2, vectors);
        for (int j = 0; j < vectors; j++) {
            HVX_Vector product = Q6_Vqf32_vmpy_VsfVsf(a[j], b[j]);

            sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, product);
        }
        sum = fold(fold(fold(fold(fold(Q6_Vsf_equals_Vqf32(sum), 64), 32), 16), 8), 4);
        sums[i] = float_of(hx_spill_lane0(sum));
        a += vectors;
        b += vectors;
    }
}

int hx_qf32_dot_hvx(const float *a, const float *b, int n, int count, float *sums)
{
    if (n < HX_VECTOR_WORDS || n % HX_VECTOR_WORDS || !hx_is_aligned(a) || !hx_is_aligned(b))
        return AEE_EBADPARM;
    qf32_dot((const HVX_Vector *)a, (const HVX_Vector *)b, n / HX_VECTOR_WORDS, count, sums);
    return AEE_SUCCESS;
}

/* What qf32_rows() runs over. */
struct rows {
    const float *x;
    const int8_t *w;
    const float *w_scale;
    float *y;
    int tokens, vectors, rows, stride, of_rows;
};

HX_INLINE HVX_Vector add_ror(HVX_Vector v, int bytes)
{
    return Q6_Vqf32_vadd_Vqf32Vqf32(v, Q6_V_vror_VR(v, bytes));
}

static HX_KERNEL void qf32_rows(const struct rows *s)
{
    union {
        HVX_Vector v;
        float f[HX_VECTOR_WORDS];
    } tile;
    const int8_t *w = s->w;

    HX_CODE(qf32_rows);
    HX_TRIPS(1, s->rows);
    for (int r = 0; r < s->rows; r++, w += s->stride) {
        const HVX_Vector *x = (const HVX_Vector *)s->x;

        HX_TRIPS(2, s->tokens);
        for (int t = 0; t < s->tokens; t++) {
            HVX_Vector sum = Q6_V_vzero();

            HX_TRIPS(3, s->vectors);
            for (int i = 0; i < s->vectors; i++) {
                HX_TRIPS(4, HX_VECTOR_WORDS);
                for (int j = 0; j < HX_VECTOR_WORDS; j++)
                    tile.f[j] = (float)w[i * HX_VECTOR_WORDS + j];
                sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, Q6_Vqf32_vmpy_VsfVsf(tile.v, *x++));
            }
            sum = add_ror(add_ror(add_ror(add_ror(add_ror(sum, 64), 32), 16), 8), 4);
            s->y[t * s->of_rows + r] =
                float_of(hx_spill_lane0(Q6_Vsf_equals_Vqf32(sum))) * s->w_scale[r];
        }
    }
}

int hx_qf32_matmul_hvx(const struct hx_matmul_half *half, const float *x, const int8_t *w,
                       const int32_t *sum, const float *w_scale, float *y, uint8_t *u)
{
    const int stride = hx_matmul_stride(half->shape.in);
    const struct rows s = {.x = x,
                           .w = w,
                           .w_scale = w_scale + half->first,
                           .y = y + half->first,
                           .tokens = half->shape.tokens,
                           .vectors = half->shape.in / HX_VECTOR_WORDS,
                           .rows = half->n,
                           .stride = stride,
                           .of_rows = half->shape.rows};

    (void)sum, (void)u;
    if (half->shape.in % HX_VECTOR_WORDS || !hx_is_aligned(x))
        return AEE_EBADPARM;
    qf32_rows(&s);
    return AEE_SUCCESS;
}
