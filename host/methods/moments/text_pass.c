/* Runs windows of a text, see text_pass.h. */
#include "text_pass.h"

#include <errno.h>
#include <stdlib.h>

#include "base/watch.h"
#include "engine/forward.h"
#include "methods/cpu/attn_flash.h"
#include "methods/cpu/linear_cpu.h"
#include "model/matrix.h"

/* What runs the text. */
struct runner {
    struct hx_matrices matrices;
    struct hx_linear_method *linear;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_forward *forward;
};

static int take_over(struct runner *r, const struct hx_text_pass *p, struct hx_error *err)
{
    const size_t most = r->matrices.n_layer * HX_PER_LAYER;
    struct hx_linear_set set = {.at = calloc(most + 1, sizeof(*set.at))};
    int rc = set.at ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < most && !rc; i++)
        set.at[set.n++].w = hx_matrices_at(&r->matrices, i / HX_PER_LAYER, (enum hx_matrix)(i % HX_PER_LAYER));
    if (!rc)
        rc = hx_linear_cpu_open(&r->linear, &set, NULL, p->pool, err);
    free(set.at);
    return rc;
}

static int open_runner(struct runner *r, const struct hx_text_pass *p, struct hx_tap *const *taps, struct hx_error *err)
{
    const struct hx_forward_parts parts = {.matrices = &r->matrices, .taps = taps};
    const struct hx_model *m = p->model;
    int rc = hx_matrices_copy(&r->matrices, m) ? hx_error_set(err, -ENOMEM, "out of memory") : take_over(r, p, err);

    if (!rc)
        rc = hx_kv_f32_open(&r->kv, m->n_layer, m->n_kv, m->dh, p->ctx, err);
    if (!rc)
        rc = hx_attn_flash_open(&r->attn, NULL, p->pool, err);
    if (!rc)
        rc = hx_forward_open(&r->forward, m, r->kv, r->attn, p->ctx, err);
    return rc ? rc : hx_forward_use(r->forward, &parts, err);
}

static void close_runner(struct runner *r)
{
    hx_forward_close(r->forward);
    hx_attn_close(r->attn);
    hx_kv_close(r->kv);
    hx_linear_close(r->linear);
    hx_matrices_free(&r->matrices);
}

int hx_text_pass_run(const struct hx_text_pass *p, struct hx_tap *const *taps, struct hx_error *err)
{
    struct runner r = {.linear = NULL};
    int rc = open_runner(&r, p, taps, err);

    for (size_t i = 0; i < p->windows && !rc; i++) {
        rc = hx_forward_run(r.forward, p->ids + i * p->ctx, p->ctx, 0, err);
        hx_watch_step(p->watch, "windows of the text", i + 1, p->windows);
    }
    close_runner(&r);
    return rc;
}
