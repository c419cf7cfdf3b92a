/* E9.5, E10: what the shipped model makes of the shipped text. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "engine/engine.h"
#include "hx_block.h"
#include "lll.h"
#include "text/text.h"

enum {
    TOKENS = 128,
    TRIALS = 20, VECTORS = 16,
    SCALE = 256, /* integer K vectors: K times SCALE, rounded */
};

/* The shipped model, in fp32. */
static int open_model(struct hx_theorem_run *r, struct hx_engine **out, struct hx_error *err)
{
    static const char *const settings[] = {"kv=f32", "linear=ref", "attn=ref", NULL};
    char model[512];
    const struct hx_engine_cfg cfg = {.settings = settings, .model = model, .n_ctx = TOKENS, .threads = 1};

    snprintf(model, sizeof(model), "%s/hexrig-tiny-q8_0.gguf", r->share);
    return hx_engine_open(out, &cfg, err);
}

/* Runs the first tokens of the shipped text. */
static int run_text(struct hx_theorem_run *r, struct hx_engine *e, struct hx_error *err)
{
    char text[512];
    uint32_t *ids = NULL;
    size_t n;
    int rc;

    snprintf(text, sizeof(text), "%s/books-holdout.txt", r->share);
    rc = hx_text_encode(e->model->tok, text, &ids, &n, err);
    if (!rc && n < TOKENS)
        rc = hx_error_set(err, -EINVAL, "%s: %zu tokens, %d are needed", text, n, TOKENS);
    if (!rc)
        rc = hx_engine_run(e, ids, TOKENS, 0, err);
    free(ids);
    return rc;
}

static double mean_cosine(const int64_t *b, size_t dim)
{
    double sum = 0;

    for (size_t i = 0; i < VECTORS; i++)
        for (size_t j = 0; j < i; j++) {
            double ij = 0, ii = 0, jj = 0;

            for (size_t d = 0; d < dim; d++) {
                const double x = (double)b[i * dim + d], y = (double)b[j * dim + d];

                ij += x * y;
                ii += x * x;
                jj += y * y;
            }
            sum += fabs(ij) / sqrt(ii * jj);
        }
    return sum / (VECTORS * (VECTORS - 1) / 2);
}

/* VECTORS consecutive K of one layer and head. */
static int one_trial(struct hx_theorem_run *r, const struct hx_kv_view *view, size_t dim, size_t first)
{
    int64_t b[VECTORS * HX_BLOCK_MAX_DH];
    double before, after;
    long swaps;

    for (size_t i = 0; i < VECTORS; i++)
        for (size_t d = 0; d < dim; d++)
            b[i * dim + d] = llroundf(view->k[(first + i) * view->stride + d] * SCALE);
    before = mean_cosine(b, dim);
    swaps = hx_lll(b, VECTORS, dim);
    after = mean_cosine(b, dim);
    hx_witness(r, "K of positions %zu..%zu: mean |cos| %.4f, reduced %.4f (%ld swaps)", first,
               first + VECTORS - 1, before, after, swaps);
    return swaps >= 0 && after < before;
}

enum hx_verdict hx_e95(struct hx_theorem_run *r)
{
    struct hx_error err = {""};
    struct hx_engine *e = NULL;
    struct hx_kv_view view;
    int good = 0;

    if (open_model(r, &e, &err) || run_text(r, e, &err)) {
        hx_engine_close(e);
        return hx_theorem_stopped(r, "%s", err.text);
    }
    for (size_t t = 0; t < TRIALS; t++) {
        const size_t layer = t % e->model->n_layer, first = t / e->model->n_layer * 2 * VECTORS;

        if (e->kv->ops->rows(e->kv, layer, TOKENS, &view, NULL) == 0)
            good += one_trial(r, &view, e->model->dh, first);
    }
    hx_engine_close(e);
    hx_witness(r, "%d of %d groups of %d vectors", good, TRIALS, VECTORS);
    return good == TRIALS ? HX_VERIFIED : HX_FAILED;
}

/* Sums the logarithms of the residual stream's root mean squares, layer by layer.  (K has been normed, and V is made of a
 * normed vector: neither shows how the stream grows.) */
struct drift {
    struct hx_tap tap;
    double *log_rms; /* [n_layer] over all positions */
    size_t rows;     /* that it has seen */
};

static int add_rows(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct drift *d = (struct drift *)t;

    (void)err;
    d->rows += at->n;
    for (size_t i = 0; i < at->n; i++) {
        double square = 0;

        for (size_t j = 0; j < at->row; j++)
            square += (double)rows[i * at->row + j] * (double)rows[i * at->row + j];
        d->log_rms[at->layer] += log(square / (double)at->row) / 2;
    }
    return 0;
}

/* Runs the text with the tap behind each layer. */
static int measure_drift(struct hx_theorem_run *r, struct hx_engine *e, struct drift *d, struct hx_error *err)
{
    static const struct hx_tap_ops ops = {.name = "drift", .at = add_rows};
    struct hx_tap *const taps[] = {&d->tap, NULL};
    const struct hx_forward_parts parts = {.matrices = &e->core->matrices, .taps = taps};
    int rc;

    d->tap = (struct hx_tap){&ops, 1u << HX_TAP_AFTER_FFN};
    d->log_rms = calloc(e->model->n_layer, sizeof(*d->log_rms));
    if (!d->log_rms)
        return hx_error_set(err, -ENOMEM, "out of memory");
    rc = hx_forward_use(e->forward, &parts, err);
    if (!rc)
        rc = run_text(r, e, err);
    if (!rc && d->rows != TOKENS * e->model->n_layer)
        rc = hx_error_set(err, -EIO, "the tap saw %zu rows of %zu", d->rows, TOKENS * e->model->n_layer);
    return rc;
}

/* Of y against 0, 1, ...: least squares. */
static double slope_of(const double *y, size_t n)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;

    for (size_t i = 0; i < n; i++) {
        const double x = (double)i;

        sx += x;
        sy += y[i];
        sxx += x * x;
        sxy += x * y[i];
    }
    return ((double)n * sxy - sx * sy) / ((double)n * sxx - sx * sx);
}

enum hx_verdict hx_e10(struct hx_theorem_run *r)
{
    struct drift d = {.log_rms = NULL};
    struct hx_error err = {""};
    struct hx_engine *e = NULL;
    double slope;

    if (open_model(r, &e, &err) || measure_drift(r, e, &d, &err)) {
        hx_engine_close(e);
        free(d.log_rms);
        return hx_theorem_stopped(r, "%s", err.text);
    }
    const size_t n = e->model->n_layer;

    for (size_t layer = 0; layer < n; layer++) {
        d.log_rms[layer] /= TOKENS;
        hx_witness(r, "layer %zu: log rms of the residual stream %.4f", layer, d.log_rms[layer]);
    }
    slope = slope_of(d.log_rms, n);
    hx_engine_close(e);
    free(d.log_rms);
    hx_witness(r, "slope %.4f per layer: a factor of %.2f over %zu layers", slope,
               exp(slope * (double)(n - 1)), n);
    return isfinite(slope) && fabs(slope) < 1 ? HX_PENDING : HX_FAILED;
}
