/* The arithmetic of a pass that is neither matrix nor attention, as a table: plain C is the reference, and a CPU's own
 * kernels (cpu/isa.h) can take its place. */
#ifndef HX_ROW_OPS_H
#define HX_ROW_OPS_H

#include <stddef.h>

#include "methods/cpu/isa/isa.h"

enum hx_activation {
    HX_SILU, /* x / (1 + e^-x).  Source: Elfwing et al. 2017. */
    HX_GELU, /* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).  Source: Hendrycks & Gimpel 2016. */
    HX_RELU,
    HX_ACTIVATIONS
};

struct hx_row_ops {
    /* y[i] = w[i] * x[i] / sqrt(mean(x^2) + eps); y may be x.  Source: Zhang & Sennrich 2019. */
    void (*rms_norm)(float *y, const float *x, const float *w, size_t n, float eps);

    /* x[i] = act(x[i]) * up[i]; up NULL: act alone */
    void (*act[HX_ACTIVATIONS])(float *x, const float *up, size_t n);

    /* 1: all of x are finite */
    int (*finite)(const float *x, size_t n);
};

/* The reference: f32, sums as vec.h has them. */
extern const struct hx_row_ops hx_row_ops_ref;

/* The same by a CPU's kernels, which must outlive it; NULL: the reference. */
struct hx_row_ops hx_row_ops_of(const struct hx_cpu_kernels *isa);

#endif
