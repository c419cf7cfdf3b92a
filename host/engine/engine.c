/* Puts model, cache and forward pass together, see engine.h. */
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "methods/cpu/attn_flash.h"
#include "methods/ntt/attn_poly.h"
#include "methods/spinor/cal_choose.h"
#include "methods/ntt/kv_ntt.h"
#include "methods/spinor/kv_spinor.h"
#include "methods/spinor/kv_spinor_attn.h"
#include "methods/cpu/linear_cpu.h"

enum { DEFAULT_BATCH = 512 };

static int open_f32(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    const struct hx_model *m = e->model;

    return hx_kv_f32_open(&e->kv, m->n_layer, m->n_kv, m->dh, cfg->n_ctx, err);
}

static int open_spinor(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    struct hx_cal *cal = NULL;
    int rc = hx_cal_choose(&cal, e->model, cfg, err);

    if (!rc)
        rc = (cfg->offload & HX_OFFLOAD_ATTN ? hx_kv_spinor_attn_open : hx_kv_spinor_open)(
            &e->kv, e->model, cal, cfg->density, cfg->n_ctx, err);
    if (!rc) {
        e->block = cal->format;
        e->k_after_rope = cal->k_after_rope;
    }
    hx_cal_free(cal);
    return rc;
}

static int open_ntt(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    const struct hx_model *m = e->model;
    const struct hx_kv_shape shape = {m->n_layer, m->n_kv, m->dh, cfg->n_ctx};

    return (cfg->offload & HX_OFFLOAD_KV ? hx_kv_ntt_dsp_open : hx_kv_ntt_open)(&e->kv, &shape, &cfg->poly,
                                                                                e->pool, err);
}

static int open_linear_ref(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    (void)e;
    (void)cfg;
    (void)err;
    return 0; /* what the model's matrices have from the start */
}

/* The output matrix is no element of the ring: it stays here. */
static int open_linear_ok(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    struct hx_ok_cfg ok = cfg->ok;

    ok.dsp_set = cfg->offload & HX_OFFLOAD_LINEAR & ~(uint32_t)HX_OFFLOAD_OUT;
    return hx_linear_ok_open(&e->linear, e->model, &ok, e->pool, err);
}

/* What is on the DSP is not here. */
static int open_linear_cpu(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    const struct hx_linear_dsp_cfg dsp = {cfg->offload & HX_OFFLOAD_LINEAR, cfg->placement};
    int rc = hx_linear_cpu_open(&e->linear, e->model, NULL, e->pool, err);

    e->isa = hx_isa_best();
    return !rc && dsp.set ? hx_linear_dsp_open(&e->offload, e->model, &dsp, err) : rc;
}

static int open_attn_flash(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    (void)cfg;
    return hx_attn_flash_open(&e->attn, NULL, e->pool, err);
}

static int open_attn_ref(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    return hx_attn_ref_open(&e->attn, cfg->n_ctx, err);
}

static int open_attn_poly(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    return hx_attn_poly_open(&e->attn, &cfg->poly, e->model->dh, e->pool, err);
}

/* The methods of each seam, the default first: a new one is a name and an open function here. */
typedef int open_fn(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err);

const char *const hx_engine_kvs[] = {"spinor", "f32", "ntt", NULL};
static open_fn *const open_kvs[] = {open_spinor, open_f32, open_ntt, NULL};

const char *const hx_engine_linears[] = {"ref", "cpu", "ok", NULL};
static open_fn *const open_linears[] = {open_linear_ref, open_linear_cpu, open_linear_ok, NULL};

const char *const hx_engine_attns[] = {"ref", "flash", "poly", NULL};
static open_fn *const open_attns[] = {open_attn_ref, open_attn_flash, open_attn_poly, NULL};

#define SAME_LENGTH(a, b) _Static_assert(sizeof(a) == sizeof(b), "a name for each method")
SAME_LENGTH(hx_engine_kvs, open_kvs);
SAME_LENGTH(hx_engine_linears, open_linears);
SAME_LENGTH(hx_engine_attns, open_attns);

static const struct seam {
    const char *name;
    const char *const *methods;
    open_fn *const *open;
} kv_seam = {"kv", hx_engine_kvs, open_kvs},
  linear_seam = {"linear", hx_engine_linears, open_linears},
  attn_seam = {"attn", hx_engine_attns, open_attns};

/* method: NULL means the seam's first. */
static int open_method(const struct seam *seam, const char *method, struct hx_engine *e,
                       const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    char legal[128] = "";

    for (size_t i = 0; seam->methods[i]; i++) {
        if (!method || strcmp(seam->methods[i], method) == 0)
            return seam->open[i](e, cfg, err);
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", i ? ", " : "",
                 seam->methods[i]);
    }
    return hx_error_set(err, -EINVAL, "unknown %s '%s'; legal: %s", seam->name, method, legal);
}

static size_t cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);
}

/* Model, threads and matrices: another engine's, or its own. */
static int open_model(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    int rc;

    if (cfg->of) {
        e->shared = 1;
        e->model = cfg->of->model;
        e->pool = cfg->of->pool;
        e->linear = cfg->of->linear;
        e->offload = cfg->of->offload;
        e->isa = cfg->of->isa;
        return 0;
    }
    rc = hx_model_open(&e->model, cfg->model, hx_archs, err);
    if (rc)
        return rc;
    hx_gguf_will_need(e->model->file);
    return hx_pool_open(&e->pool, cfg->threads ? cfg->threads : cpus(), err);
}

/* After a calibration, which runs the model as it is. */
static int open_matrices(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    const struct hx_linear_dsp_cfg dsp = {cfg->offload & HX_OFFLOAD_LINEAR, cfg->placement};
    int rc = 0;

    if (!e->shared)
        rc = open_method(&linear_seam, cfg->linear, e, cfg, err);
    if (!rc && !e->shared && dsp.set && !e->linear) /* another method than the reference has seen to it */
        rc = hx_linear_dsp_open(&e->offload, e->model, &dsp, err);
    return rc;
}

static size_t context(const struct hx_engine_cfg *cfg, const struct hx_model *m)
{
    if (cfg->n_ctx)
        return cfg->n_ctx;
    return cfg->n_ctx_most && cfg->n_ctx_most < m->n_ctx ? cfg->n_ctx_most : m->n_ctx;
}

int hx_engine_open(struct hx_engine **out, const struct hx_engine_cfg *user, struct hx_error *err)
{
    struct hx_engine *e = calloc(1, sizeof(*e));
    struct hx_engine_cfg cfg = *user;
    size_t batch;
    int rc;

    if (!e)
        return hx_error_set(err, -ENOMEM, "out of memory");
    rc = open_model(e, &cfg, err);
    if (rc)
        goto fail;
    cfg.density = cfg.density ? cfg.density : "batched";
    cfg.n_ctx = context(&cfg, e->model);
    e->argmax = (cfg.offload & HX_OFFLOAD_ARGMAX) != 0;
    rc = open_method(&kv_seam, cfg.kv, e, &cfg, err);
    if (!rc)
        rc = open_matrices(e, &cfg, err);
    if (!rc)
        rc = cfg.offload & HX_OFFLOAD_ATTN ? hx_attn_kv_open(&e->attn, err)
                                           : open_method(&attn_seam, cfg.attn, e, &cfg, err);
    if (!rc && cfg.softmax_int)
        rc = hx_attn_softmax_int(e->attn, err);
    if (rc)
        goto fail;
    batch = cfg.max_batch ? cfg.max_batch : DEFAULT_BATCH;
    rc = hx_forward_open(&e->forward, e->model, e->kv, e->attn,
                         batch < e->kv->max_batch ? batch : e->kv->max_batch, err);
    if (rc)
        goto fail;
    if (e->isa)
        hx_forward_use(e->forward, e->isa, e->pool);
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
    hx_attn_close(e->attn);
    hx_kv_close(e->kv);
    if (!e->shared) {
        hx_linear_close(e->offload);
        hx_linear_close(e->linear);
        hx_pool_close(e->pool);
        hx_model_close(e->model);
    }
    free(e);
}

int hx_engine_run(struct hx_engine *e, const uint32_t *tokens, size_t n, size_t pos,
                  struct hx_error *err)
{
    const size_t batch = hx_forward_max_batch(e->forward);

    for (size_t i = 0; i < n; i += batch) {
        size_t now = n - i < batch ? n - i : batch;
        int rc = hx_forward_run(e->forward, tokens + i, now, pos + i, err);

        if (rc)
            return rc;
        e->last = now - 1;
    }
    return 0;
}

int hx_engine_logits(struct hx_engine *e, float *out, struct hx_error *err)
{
    return hx_forward_logits(e->forward, e->last, 1, out, err);
}
