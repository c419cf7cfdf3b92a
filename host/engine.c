/* Puts model, cache and forward pass together, see engine.h. */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cal_choose.h"
#include "kv_spinor.h"

enum { DEFAULT_BATCH = 512 };

static int open_f32(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_why *why)
{
    const struct hx_model *m = e->model;

    return hx_kv_f32_open(&e->kv, m->n_layer, m->n_kv, m->dh, cfg->n_ctx, why);
}

static int open_spinor(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_why *why)
{
    struct hx_cal *cal = NULL;
    int rc = hx_cal_choose(&cal, e->model, cfg, why);

    if (!rc)
        rc = hx_kv_spinor_open(&e->kv, e->model, cal, cfg->density, cfg->n_ctx, why);
    if (!rc) {
        e->block = cal->format;
        e->k_after_rope = cal->k_after_rope;
    }
    hx_cal_free(cal);
    return rc;
}

static const struct {
    const char *name;
    int (*open)(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_why *why);
} kvs[] = {{"f32", open_f32}, {"spinor", open_spinor}};

const char *const hx_engine_kvs[] = {"f32", "spinor", NULL};

static int open_kv(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_why *why)
{
    for (size_t i = 0; i < sizeof(kvs) / sizeof(kvs[0]); i++)
        if (strcmp(kvs[i].name, cfg->kv) == 0)
            return kvs[i].open(e, cfg, why);
    return hx_why_set(why, -EINVAL, "unknown kv '%s'; legal: f32, spinor", cfg->kv);
}

static int open_offload(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_why *why)
{
    const struct hx_linear_dsp_cfg linear = {cfg->offload & HX_OFFLOAD_LINEAR, cfg->placement};

    e->argmax = (cfg->offload & HX_OFFLOAD_ARGMAX) != 0;
    return linear.set ? hx_linear_dsp_open(&e->linear, e->model, &linear, why) : 0;
}

int hx_engine_open(struct hx_engine **out, const struct hx_engine_cfg *user, struct hx_why *why)
{
    struct hx_engine *e = calloc(1, sizeof(*e));
    struct hx_engine_cfg cfg = *user;
    size_t batch;
    int rc;

    if (!e)
        return hx_why_set(why, -ENOMEM, "out of memory");
    rc = hx_model_open(&e->model, cfg.model, why);
    if (rc)
        goto fail;
    cfg.kv = cfg.kv ? cfg.kv : "spinor";
    cfg.density = cfg.density ? cfg.density : "batched";
    cfg.n_ctx = cfg.n_ctx ? cfg.n_ctx : e->model->n_ctx;
    rc = open_kv(e, &cfg, why);
    if (!rc)
        rc = open_offload(e, &cfg, why); /* after a calibration, which runs the model as it is */
    if (rc)
        goto fail;
    batch = cfg.max_batch ? cfg.max_batch : DEFAULT_BATCH;
    rc = hx_forward_open(&e->forward, e->model, e->kv,
                         batch < e->kv->max_batch ? batch : e->kv->max_batch, why);
    if (rc)
        goto fail;
    *out = e;
    return 0;
fail:
    hx_engine_close(e);
    return rc;
}

void hx_engine_close(struct hx_engine *e)
{
    if (!e)
        return;
    hx_forward_close(e->forward);
    hx_linear_dsp_close(e->linear);
    hx_kv_close(e->kv);
    hx_model_close(e->model);
    free(e);
}

int hx_engine_run(struct hx_engine *e, const uint32_t *tokens, size_t n, size_t pos,
                  struct hx_why *why)
{
    const size_t batch = hx_forward_max_batch(e->forward);

    for (size_t i = 0; i < n; i += batch) {
        size_t now = n - i < batch ? n - i : batch;
        int rc = hx_forward_run(e->forward, tokens + i, now, pos + i, why);

        if (rc)
            return rc;
        e->last = now - 1;
    }
    return 0;
}

int hx_engine_logits(struct hx_engine *e, float *out, struct hx_why *why)
{
    return hx_forward_logits(e->forward, e->last, 1, out, why);
}
