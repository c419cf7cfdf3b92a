/* What all linear methods share: biases, neighbours that are applied together, single rows. */
#include "linear.h"

#include <string.h>

#include "quant/quant.h"

static void add_bias(const struct hx_linear *w, float *y, size_t n)
{
    for (size_t i = 0; w->bias && i < n; i++)
        for (size_t r = 0; r < w->rows; r++)
            y[i * w->rows + r] += w->bias[r];
}

int hx_linear_apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                    size_t n, float *scratch, struct hx_error *err)
{
    size_t now;
    int rc = 0;

    for (size_t m = 0; m < n_m && !rc; m += now) {
        for (now = 1; m + now < n_m && w[m + now]->ops == w[m]->ops &&
                      w[m + now]->state == w[m]->state; now++)
            ;
        rc = w[m]->ops->apply(w + m, y + m, now, x, n, scratch, err);
    }
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
