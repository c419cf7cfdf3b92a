/* Seam `linear`: how y = W x is computed.  A method is one table of functions; linear_ref.c is the fp32 reference. */
#ifndef HX_LINEAR_H
#define HX_LINEAR_H

#include <stddef.h>
#include <stdint.h>

struct hx_linear;

struct hx_linear_ops {
    const char *name;

    /* y[i] = W x[i] for n vectors.  x: [n][cols], y: [n][rows], scratch: [cols] f32, none overlapping.
     * The result for a vector must not depend on n or on the other vectors. */
    void (*apply)(const struct hx_linear *l, float *y, const float *x, size_t n, float *scratch);

    /* Row r as f32: out [cols].  Embedding look-up. */
    void (*row)(const struct hx_linear *l, size_t r, float *out);
};

struct hx_linear {
    const struct hx_linear_ops *ops;
    const void *w; /* [rows][cols] in `type`; borrowed from the model file */
    uint32_t type; /* enum hx_quant */
    size_t rows, cols;
};

/* F32, F16 and Q8_0 weights widened exactly to f32, f32 activations, f32 sums. */
extern const struct hx_linear_ops hx_linear_ref;

#endif
