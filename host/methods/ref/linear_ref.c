/* The plain fp32 linear layer: a row is widened once and used for all vectors of the batch. */
#include <errno.h>

#include "engine/linear.h"
#include "engine/method.h"
#include "methods/dsp/linear_dsp.h"
#include "quant/quant.h"
#include "base/vec.h"

/* Row r as f32; points into the weights when they are f32 already, else into out. */
static const float *widen_row(const struct hx_linear *l, size_t r, float *out)
{
    if (l->type == HX_QUANT_F32)
        return (const float *)l->w + r * l->cols;
    hx_linear_row(l, r, out);
    return out;
}

static void apply_one(const struct hx_linear *l, float *y, const float *x, size_t n,
                      float *scratch)
{
    for (size_t r = 0; r < l->rows; r++) {
        const float *w = widen_row(l, r, scratch);
        size_t i = 0;

        for (; i + 4 <= n; i += 4) {
            float four[4];

            hx_dot4(four, w, x + i * l->cols, l->cols, l->cols);
            for (size_t t = 0; t < 4; t++)
                y[(i + t) * l->rows + r] = four[t];
        }
        for (; i < n; i++)
            y[i * l->rows + r] = hx_dot(w, x + i * l->cols, l->cols);
    }
}

static int apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                 size_t n, float *scratch, struct hx_error *err)
{
    for (size_t m = 0; m < n_m; m++)
        if (!w[m]->w)
            return hx_error_set(err, -ENODATA, "linear ref: the model's file has been let go, and these weights with it");
    for (size_t m = 0; m < n_m; m++)
        apply_one(w[m], y[m], x, n, scratch);
    return 0;
}

const struct hx_linear_ops hx_linear_ref = {"ref", apply, NULL, 1, NULL};

/* An engine's matrices are the reference's until somebody takes them over. */
static int open_ref(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                    struct hx_error *err)
{
    (void)o;
    (void)set;
    (void)err;
    *out = NULL;
    return 0;
}

const struct hx_method hx_method_linear_ref = {
    .name = "ref",
    .seam = HX_SEAM_LINEAR,
    .about = "plain fp32: the reference",
    .gives = HX_TRAIT_PAGES,
    .offloaded = &hx_method_linear_dsp,
    .open.linear = open_ref,
};
