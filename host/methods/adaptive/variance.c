/* Spread of states, see variance.h. */
#include "variance.h"

#include <errno.h>
#include <stdlib.h>

struct watch {
    struct hx_tap tap; /* first */
    size_t n_layer, width;
    double *sum;     /* [n_layer][width] */
    double *squares; /* [n_layer] */
    size_t *seen;    /* [n_layer] */
};

/* What a layer leaves is the next one's input. */
static int add(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct watch *w = (struct watch *)t;
    const size_t layer = at->point == HX_TAP_EMBEDDING ? 0 : at->layer + 1;
    double *sum = w->sum + layer * w->width;

    (void)err;
    if (layer == w->n_layer)
        return 0;
    w->seen[layer] += at->n;
    for (size_t i = 0; i < at->n * w->width; i++) {
        sum[i % w->width] += rows[i];
        w->squares[layer] += (double)rows[i] * rows[i];
    }
    return 0;
}

static double variance_of(const struct watch *w, size_t layer)
{
    const double *sum = w->sum + layer * w->width, n = (double)w->seen[layer];
    double of_mean = 0;

    for (size_t i = 0; i < w->width; i++)
        of_mean += sum[i] / n * (sum[i] / n);
    return (w->squares[layer] / n - of_mean) / (double)w->width;
}

int hx_variances(const struct hx_text_pass *pass, double *variance, struct hx_error *err)
{
    static const struct hx_tap_ops ops = {.name = "variance", .at = add};
    const size_t n = pass->model->n_layer, width = pass->model->width;
    struct watch w = {.tap = {&ops, 1u << HX_TAP_EMBEDDING | 1u << HX_TAP_AFTER_FFN}, .n_layer = n, .width = width,
                      .sum = calloc(n * width, sizeof(*w.sum)), .squares = calloc(n, sizeof(*w.squares)),
                      .seen = calloc(n, sizeof(*w.seen))};
    struct hx_tap *const taps[] = {&w.tap, NULL};
    int rc = w.sum && w.squares && w.seen ? hx_text_pass_run(pass, taps, err) : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < n && !rc; i++)
        variance[i] = variance_of(&w, i);
    free(w.sum);
    free(w.squares);
    free(w.seen);
    return rc;
}
