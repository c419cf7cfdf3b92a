/* What all linear methods share: biases, which matrices are applied together, single rows. */
#include "linear.h"

#include <string.h>

#include "quant/quant.h"

static void add_bias(const struct hx_linear *w, float *y, size_t n)
{
    for (size_t i = 0; w->bias && i < n; i++)
        for (size_t r = 0; r < w->rows; r++)
            y[i * w->rows + r] += w->bias[r];
}

int hx_linear_group(struct hx_linear_group *out, const struct hx_linear *const *w, float *const *y, size_t n_m,
                    uint32_t *taken, int (*alike)(const struct hx_linear *a, const struct hx_linear *b))
{
    out->n = 0;
    for (size_t m = 0; m < n_m; m++) {
        if (*taken & 1u << m || (out->n && !alike(out->w[0], w[m])))
            continue;
        *taken |= 1u << m;
        out->w[out->n] = w[m];
        out->y[out->n++] = y[m];
    }
    return out->n > 0;
}

static int same_method(const struct hx_linear *a, const struct hx_linear *b)
{
    return a->ops == b->ops && a->state == b->state;
}

int hx_linear_apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                    size_t n, float *scratch, struct hx_error *err)
{
    struct hx_linear_group g;
    uint32_t taken = 0;
    int rc = 0;

    while (!rc && hx_linear_group(&g, w, y, n_m, &taken, same_method))
        rc = g.w[0]->ops->apply(g.w, g.y, g.n, x, n, scratch, err);
    for (size_t m = 0; m < n_m && !rc; m++)
        add_bias(w[m], y[m], n);
    return rc;
}

void hx_linear_close(struct hx_linear_method *m)
{
    if (m)
        m->close(m);
}

void hx_linear_row(const struct hx_linear *w, size_t r, float *out)
{
    const size_t bytes = hx_quant_row_bytes(w->type, w->cols);
    const uint8_t *row = (const uint8_t *)w->w + r * bytes;

    if (w->type == HX_QUANT_F32)
        memcpy(out, row, bytes);
    else
        hx_quant_info(w->type)->widen(out, row, w->cols);
}
