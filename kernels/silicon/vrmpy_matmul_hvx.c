/* The int8 matmul on vrmpy: quantised activations, row sums, rows, see vrmpy_matmul.h. */
#include "vrmpy_matmul.h"

#include <stddef.h>

#include "skel/kernel.h"
#include "vrmpy_matmul_hvx.listing.h"

static HX_KERNEL float vrmpy_quantize(const float *x, int in, int stride, uint8_t *u)
{
    float top = 0;

    HX_CODE(vrmpy_quantize);
    HX_TRIPS(1, in);
    for (int i = 0; i < in; i++) {
        float a = __builtin_fabsf(x[i]);

        if (a > top)
            top = a;
    }

    const float scale = top > HX_MATMUL_TINY ? 127.0f / top : 0;
    HX_TRIPS(2, in);
    for (int i = 0; i < in; i++) {
        float v = x[i] * scale;
        int code = (int)(v + (v >= 0 ? 0.5f : -0.5f));

        if (code > 127)
            code = 127;
        if (code < -127)
            code = -127;
        u[i] = (uint8_t)(code + 128);
    }
    HX_TRIPS(3, stride - in);
    for (int i = in; i < stride; i++)
        u[i] = 128;
    return top;
}

float hx_matmul_quantize(const float *x, int in, uint8_t *u)
{
    return vrmpy_quantize(x, in, hx_matmul_stride(in), u);
}

static HX_KERNEL void vrmpy_row_sums(const int8_t *w, int rows, int stride, int32_t *sum)
{
    HX_CODE(vrmpy_row_sums);
    HX_TRIPS(1, rows);
    for (int r = 0; r < rows; r++) {
        int32_t s = 0;

        HX_TRIPS(2, stride);
        for (int i = 0; i < stride; i++)
            s += w[r * stride + i];
        sum[r] = s;
    }
}

void hx_matmul_row_sums(const int8_t *w, int rows, int stride, int32_t *sum)
{
    vrmpy_row_sums(w, rows, stride, sum);
}

/* 128 bytes of a row: into the dot product, and into the row's sum. */
#define DOT_AND_SUM(i)                                                                             \
    do {                                                                                           \
        HVX_Vector wi = w[(i)], ui = u[(i)];                                                       \
        dot = Q6_Vw_vrmpyacc_VwVubVb(dot, ui, wi);                                                 \
        sum = Q6_Vw_vrmpyacc_VwVubVb(sum, ones, wi);                                               \
    } while (0)

/* One token against all rows.  Unrolled by two, as the published listing is. */
static HX_KERNEL void vrmpy_rows_single(const HVX_Vector *u, float top, const HVX_Vector *w,
                                        int vectors, int rows, const float *w_scale, float *y)
{
    const HVX_Vector ones = Q6_V_vsplat_R(0x01010101);

    HX_CODE(vrmpy_rows_single);
    HX_TRIPS(1, rows);
    for (int r = 0; r < rows; r++, w += vectors) {
        HVX_Vector dot = Q6_V_vzero(), sum = Q6_V_vzero();
        int i = 0;

        HX_TRIPS(2, vectors / 2);
        for (; i + 2 <= vectors; i += 2) {
            DOT_AND_SUM(i);
            DOT_AND_SUM(i + 1);
        }
        if (i < vectors)
            DOT_AND_SUM(i);

        int32_t d = hx_spill_lane0(hx_sum_words(dot)), s = hx_spill_lane0(hx_sum_words(sum));
        y[r] = (float)(d - 128 * s) * (top * w_scale[r] / 127.0f);
    }
}
#undef DOT_AND_SUM

/* The same with row sums from a table: one vrmpy per 128 bytes. */
static HX_KERNEL void vrmpy_rows(const HVX_Vector *u, float top, const HVX_Vector *w, int vectors,
                                 int rows, const int32_t *sum, const float *w_scale, float *y)
{
    HX_CODE(vrmpy_rows);
    HX_TRIPS(1, rows);
    for (int r = 0; r < rows; r++, w += vectors) {
        HVX_Vector dot = Q6_V_vzero();
        int i = 0;

        HX_TRIPS(2, vectors / 2);
        for (; i + 2 <= vectors; i += 2) {
            HVX_Vector w0 = w[i], w1 = w[i + 1], u0 = u[i], u1 = u[i + 1];

            dot = Q6_Vw_vrmpyacc_VwVubVb(dot, u0, w0);
            dot = Q6_Vw_vrmpyacc_VwVubVb(dot, u1, w1);
        }
        if (i < vectors)
            dot = Q6_Vw_vrmpyacc_VwVubVb(dot, u[i], w[i]);

        int32_t d = hx_spill_lane0(hx_sum_words(dot));
        y[r] = (float)(d - 128 * sum[r]) * (top * w_scale[r] / 127.0f);
    }
}

int hx_matmul_single_hvx(const struct hx_matmul_half *half, const float *x, const int8_t *w,
                         const int32_t *sum, const float *w_scale, float *y, uint8_t *u)
{
    const struct hx_vrmpy_matmul *shape = &half->shape;
    const int stride = hx_matmul_stride(shape->in), vectors = stride / HX_VECTOR_BYTES;

    (void)sum;
    if (!hx_is_aligned(w) || !hx_is_aligned(u))
        return AEE_EBADPARM;
    for (int t = 0; t < shape->tokens; t++) {
        float top = vrmpy_quantize(x + (size_t)t * shape->in, shape->in, stride, u);

        vrmpy_rows_single((const HVX_Vector *)u, top, (const HVX_Vector *)w, vectors, half->n,
                          w_scale + half->first, y + (size_t)t * shape->rows + half->first);
    }
    return AEE_SUCCESS;
}

int hx_matmul_half_hvx(const struct hx_matmul_half *half, const float *x, const int8_t *w,
                       const int32_t *sum, const float *w_scale, float *y, uint8_t *u)
{
    const struct hx_vrmpy_matmul *shape = &half->shape;
    const int stride = hx_matmul_stride(shape->in), vectors = stride / HX_VECTOR_BYTES;

    if (!hx_is_aligned(w) || !hx_is_aligned(u))
        return AEE_EBADPARM;
    for (int t = 0; t < shape->tokens; t++) {
        float top = vrmpy_quantize(x + (size_t)t * shape->in, shape->in, stride, u);

        vrmpy_rows((const HVX_Vector *)u, top, (const HVX_Vector *)w, vectors, half->n,
                   sum + half->first, w_scale + half->first,
                   y + (size_t)t * shape->rows + half->first);
    }
    return AEE_SUCCESS;
}
