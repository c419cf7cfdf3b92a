/* Norms and activations, see row_ops.h. */
#include "row_ops.h"

#include <math.h>

#include "base/vec.h"

static void rms_norm(float *y, const float *x, const float *w, size_t n, float eps)
{
    const float scale = 1 / sqrtf(hx_dot(x, x, n) / (float)n + eps);

    for (size_t i = 0; i < n; i++)
        y[i] = w[i] * (x[i] * scale);
}

static void multiply(float *x, const float *up, size_t n)
{
    for (size_t i = 0; up && i < n; i++)
        x[i] *= up[i];
}

static void silu(float *x, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] / (1 + expf(-x[i]));
    multiply(x, up, n);
}

static void gelu(float *x, const float *up, size_t n)
{
    const float root = 0.79788456080286535588f; /* sqrt(2 / pi) */

    for (size_t i = 0; i < n; i++)
        x[i] = 0.5f * x[i] * (1 + tanhf(root * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
    multiply(x, up, n);
}

static void relu(float *x, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
    multiply(x, up, n);
}

static int finite_all(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

const struct hx_row_ops hx_row_ops_ref = {
    .rms_norm = rms_norm,
    .act = {[HX_SILU] = silu, [HX_GELU] = gelu, [HX_RELU] = relu},
    .finite = finite_all,
};

struct hx_row_ops hx_row_ops_of(const struct hx_cpu_kernels *isa)
{
    struct hx_row_ops s = hx_row_ops_ref;

    if (isa) {
        s.rms_norm = isa->rmsnorm;
        s.act[HX_SILU] = isa->swiglu;
        s.act[HX_GELU] = isa->geglu;
        s.finite = isa->finite;
    }
    return s;
}
