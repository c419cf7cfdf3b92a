/* References of layer.h, in double. */
#include "layer.h"

#include <math.h>

#include "AEEStdErr.h"

int hx_rmsnorm_ref(const float *x, const float *w, int n, int row, float *y)
{
    double sum = 0;

    (void)row;
    for (int i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    for (int i = 0; i < n; i++)
        y[i] = (float)(x[i] / sqrt(sum / n + HX_NORM_EPS) * w[i]);
    return AEE_SUCCESS;
}

int hx_rope_ref(const float *x, const float *unused, int n, int row, float *y)
{
    (void)unused;
    for (int i = 0; i < n / 2; i++) {
        const double angle = row * pow(HX_ROPE_BASE, -2.0 * i / n), a = x[i], b = x[i + n / 2];

        y[i] = (float)(a * cos(angle) - b * sin(angle));
        y[i + n / 2] = (float)(b * cos(angle) + a * sin(angle));
    }
    return AEE_SUCCESS;
}

int hx_softmax_ref(const float *x, const float *unused, int n, int row, float *y)
{
    double top = x[0], sum = 0;

    (void)unused, (void)row;
    for (int i = 1; i < n; i++)
        top = fmax(top, x[i]);
    for (int i = 0; i < n; i++)
        sum += exp(x[i] - top);
    for (int i = 0; i < n; i++)
        y[i] = (float)(exp(x[i] - top) / sum);
    return AEE_SUCCESS;
}

int hx_gelu_ref(const float *x, const float *up, int n, int row, float *y)
{
    (void)row;
    for (int i = 0; i < n; i++) {
        const double v = x[i], inner = sqrt(2 / M_PI) * (v + 0.044715 * v * v * v);

        y[i] = (float)(v * (1 + tanh(inner)) / 2 * up[i]);
    }
    return AEE_SUCCESS;
}

int hx_silu_ref(const float *x, const float *up, int n, int row, float *y)
{
    (void)row;
    for (int i = 0; i < n; i++)
        y[i] = (float)(x[i] / (1 + exp(-(double)x[i])) * up[i]);
    return AEE_SUCCESS;
}

int hx_add_ref(const float *x, const float *other, int n, int row, float *y)
{
    (void)row;
    for (int i = 0; i < n; i++)
        y[i] = x[i] + other[i];
    return AEE_SUCCESS;
}

void hx_attend_ref(const float *q, const float *k, const float *v, int stride, int n, int dh, float scale, float *y)
{
    double score[n], top = -INFINITY, sum = 0;

    for (int i = 0; i < n; i++) {
        score[i] = 0;
        for (int d = 0; d < dh; d++)
            score[i] += (double)q[d] * k[i * stride + d] * scale;
        top = fmax(top, score[i]);
    }
    for (int i = 0; i < n; i++)
        sum += score[i] = exp(score[i] - top);
    for (int d = 0; d < dh; d++) {
        double all = 0;

        for (int i = 0; i < n; i++)
            all += score[i] * v[i * stride + d];
        y[d] = (float)(all / sum);
    }
}
