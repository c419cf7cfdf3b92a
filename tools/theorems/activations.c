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

/* An engine that has run the first tokens of the text. */
static struct hx_engine *run_text(struct hx_theorem_run *r)
{
    char model[512], text[512];
    static const char *const settings[] = {"kv=f32", "linear=ref", "attn=ref", NULL};
    struct hx_engine_cfg cfg = {.settings = settings, .model = model, .n_ctx = TOKENS, .threads = 1};
    struct hx_engine *e = NULL;
    struct hx_error err = {""};
    uint32_t *ids = NULL;
    size_t n;
    int rc;

    snprintf(model, sizeof(model), "%s/hexrig-tiny-q8_0.gguf", r->share);
    snprintf(text, sizeof(text), "%s/books-holdout.txt", r->share);
    rc = hx_engine_open(&e, &cfg, &err);
    if (!rc)
        rc = hx_text_encode(e->model->tok, text, &ids, &n, &err);
    if (!rc && n < TOKENS)
        rc = hx_error_set(&err, -EINVAL, "%s: %zu tokens, %d are needed", text, n, TOKENS);
    if (!rc)
        rc = hx_engine_run(e, ids, TOKENS, 0, &err);
    free(ids);
    if (!rc)
        return e;
    hx_theorem_stopped(r, "%s", err.text);
    hx_engine_close(e);
    return NULL;
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
    struct hx_engine *e = run_text(r);
    struct hx_kv_view view;
    int good = 0;

    if (!e)
        return HX_FAILED;
    for (size_t t = 0; t < TRIALS; t++) {
        const size_t layer = t % e->model->n_layer, first = t / e->model->n_layer * 2 * VECTORS;

        if (e->kv->ops->rows(e->kv, layer, TOKENS, &view, NULL) == 0)
            good += one_trial(r, &view, e->model->dh, first);
    }
    hx_engine_close(e);
    hx_witness(r, "%d of %d groups of %d vectors", good, TRIALS, VECTORS);
    return good == TRIALS ? HX_VERIFIED : HX_FAILED;
}

/* Of V, which no norm scales: log of the root mean square, averaged over the positions. */
static double log_norm(const struct hx_kv_view *view, size_t width)
{
    double sum = 0;

    for (size_t p = 0; p < TOKENS; p++) {
        double square = 0;

        for (size_t i = 0; i < width; i++)
            square += (double)view->v[p * view->stride + i] * view->v[p * view->stride + i];
        sum += log(square / (double)width) / 2;
    }
    return sum / TOKENS;
}

enum hx_verdict hx_e10(struct hx_theorem_run *r)
{
    struct hx_engine *e = run_text(r);
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    struct hx_kv_view view;

    if (!e)
        return HX_FAILED;
    const size_t n = e->model->n_layer;

    for (size_t layer = 0; layer < n; layer++) {
        e->kv->ops->rows(e->kv, layer, TOKENS, &view, NULL);
        const double x = (double)layer, y = log_norm(&view, e->model->n_kv * e->model->dh);

        hx_witness(r, "layer %zu: log rms of V %.4f", layer, y);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    hx_engine_close(e);
    const double slope = ((double)n * sxy - sx * sy) / ((double)n * sxx - sx * sx);

    hx_witness(r, "slope %.4f per layer: a factor of %.2f over %zu layers", slope,
               exp(slope * (double)(n - 1)), n);
    return isfinite(slope) && fabs(slope) < 1 ? HX_PENDING : HX_FAILED;
}
