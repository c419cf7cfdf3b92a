/* A layer's row operations in double, see layer_rows.h. */
#include "layer_rows.h"

#include <math.h>

void hx_layer_rmsnorm_ref(const float *x, const float *w, int n, float eps, float *y)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    const double scale = 1 / sqrt(sum / n + (double)eps);

    for (int i = 0; i < n; i++)
        y[i] = (float)(x[i] * scale * w[i]);
}

void hx_layer_rope_ref(float *x, const float *turn, int n)
{
    const int half = n / 2;

    for (int i = 0; i < half; i++) {
        const double a = x[i], b = x[i + half], c = turn[i], s = turn[i + half];

        x[i] = (float)(a * c - b * s);
        x[i + half] = (float)(b * c + a * s);
    }
}

void hx_layer_silu_ref(float *x, const float *up, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = (float)(x[i] / (1 + exp(-(double)x[i])) * up[i]);
}

void hx_layer_gelu_ref(float *x, const float *up, int n)
{
    const double line = 0.79788456080286536; /* sqrt(2 / pi) */

    for (int i = 0; i < n; i++) {
        const double v = x[i];

        x[i] = (float)(v / 2 * (1 + tanh(line * (v + 0.044715 * v * v * v))) * up[i]);
    }
}

int hx_layer_add_ref(const float *x, const float *y, int n, float *sum)
{
    int finite = 1;

    for (int i = 0; i < n; i++) {
        sum[i] = x[i] + y[i];
        finite &= isfinite(sum[i]) != 0;
    }
    return finite;
}
