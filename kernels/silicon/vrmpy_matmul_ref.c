/* The int8 matmul in plain C, see vrmpy_matmul.h. */
#include "vrmpy_matmul.h"

#include <math.h>
#include <stddef.h>

static int code_of(float x, float scale)
{
    float v = x * scale;

    v = truncf(v + copysignf(0.5f, v));
    return v > 127 ? 127 : v < -127 ? -127 : (int)v;
}

void hx_matmul_ref(const struct hx_vrmpy_matmul *shape, const float *x, const int8_t *w,
                   const float *w_scale, float *y)
{
    const int stride = hx_matmul_stride(shape->in);

    for (int t = 0; t < shape->tokens; t++) {
        const float *xt = x + (size_t)t * shape->in;
        float top = 0;

        for (int i = 0; i < shape->in; i++)
            top = fmaxf(top, fabsf(xt[i]));

        const float scale = top > HX_MATMUL_TINY ? 127.0f / top : 0;
        for (int r = 0; r < shape->rows; r++) {
            int32_t dot = 0;

            for (int i = 0; i < shape->in; i++)
                dot += code_of(xt[i], scale) * w[(size_t)r * stride + i];
            y[(size_t)t * shape->rows + r] = (float)dot * (top * w_scale[r] / 127.0f);
        }
    }
}
