/* Dot products and their matmul in plain C, see qf32_dot.h. */
#include "qf32_dot.h"

#include <stddef.h>

#include "AEEStdErr.h"

int hx_qf32_dot_ref(const float *a, const float *b, int n, int count, float *sums)
{
    for (int i = 0; i < count; i++) {
        double sum = 0;

        for (int j = 0; j < n; j++)
            sum += (double)a[(size_t)i * n + j] * b[(size_t)i * n + j];
        sums[i] = (float)sum;
    }
    return AEE_SUCCESS;
}

int hx_qf32_matmul_ref(const struct hx_vrmpy_matmul *shape, const float *x, const int8_t *w,
                       const float *w_scale, float *y)
{
    const size_t stride = (size_t)hx_matmul_stride(shape->in);

    for (int t = 0; t < shape->tokens; t++) {
        for (int r = 0; r < shape->rows; r++) {
            double sum = 0;

            for (int i = 0; i < shape->in; i++)
                sum += (double)w[r * stride + i] * x[(size_t)t * shape->in + i];
            y[(size_t)t * shape->rows + r] = (float)(sum * w_scale[r]);
        }
    }
    return AEE_SUCCESS;
}
