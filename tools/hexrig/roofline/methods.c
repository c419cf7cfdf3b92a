/* Methods of the engine below the ceilings: one token of a model by each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "work.h"

enum { SETTINGS = 6 };

static const struct {
    const char *name;
    const char *settings[SETTINGS]; /* of the plan, NULL-terminated */
} methods[] = {
    {"kv spinor", {"kv=spinor", "density=queue"}},
    {"attn blocks", {"kv=spinor", "offload=attn"}},
    {"linear ddr", {"kv=f32", "offload=linear", "placement=ddr"}},
    {"linear vtcm", {"kv=f32", "offload=linear", "placement=vtcm"}},
    {"linear dma", {"kv=f32", "offload=linear", "placement=dma"}},
    {"linear ok", {"kv=f32", "linear=ok", "offload=linear"}},
    {"kv ntt", {"kv=ntt", "offload=kv"}},
};

enum { N_METHODS = sizeof(methods) / sizeof(methods[0]) };

/* Any ids do: what a token costs does not depend on them. */
static int fill(struct hx_engine *e, size_t pos, struct hx_error *err)
{
    uint32_t *ids = calloc(pos + 1, sizeof(*ids));
    int rc = 0;

    if (!ids)
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i <= pos; i++)
        ids[i] = (uint32_t)(i * 7919 % e->model->vocab);
    if (pos)
        rc = hx_engine_run(e, ids, pos, 0, err);
    free(ids);
    return rc;
}

static int token(struct hx_engine *e, size_t pos, float *logits, struct hx_error *err)
{
    const uint32_t id = (uint32_t)(pos * 7919 % e->model->vocab);
    int rc = hx_engine_run(e, &id, 1, pos, err);

    return rc ? rc : hx_engine_logits(e, logits, err);
}

static int measure(struct hx_engine *e, size_t pos, struct hx_session_stats *sum, struct hx_error *err)
{
    float *logits = calloc(e->model->vocab, sizeof(*logits));
    struct hx_session_stats before, after;
    int rc = logits ? fill(e, pos, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc && hx_report_now(&before))
        rc = hx_error_set(err, -EIO, "cannot read the session's figures");
    if (!rc)
        rc = token(e, pos, logits, err);
    if (!rc && hx_report_now(&after))
        rc = hx_error_set(err, -EIO, "cannot read the session's figures");
    if (!rc)
        *sum = hx_report_diff(&after, &before);
    free(logits);
    return rc;
}

static int run(const struct hx_engine_opts *o, size_t method, size_t pos, struct hx_session_stats *sum, struct hx_error *err)
{
    struct hx_engine_cfg cfg = hx_engine_opts_cfg(o);
    struct hx_engine *e = NULL;
    struct hx_plan *p = NULL;
    int rc = hx_plan_open(&p, "--", 0, err);

    if (!rc)
        rc = hx_plan_set_list(p, methods[method].settings, err);
    if (!rc)
        rc = hx_plan_resolve(p, err);
    cfg.plan = p;
    cfg.n_ctx = pos + 1;
    if (!rc)
        rc = hx_engine_open(&e, &cfg, err);
    if (!rc)
        rc = measure(e, pos, sum, err);
    hx_engine_close(e);
    hx_plan_close(p);
    return rc;
}

int hx_roofline_methods(const struct hx_engine_opts *o, size_t pos, struct hx_roofline_work **out, size_t *n, struct hx_error *err)
{
    struct hx_roofline_work *w = calloc(N_METHODS, sizeof(*w));
    struct hx_error why = {""};
    int rc = 0;

    if (!w)
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < N_METHODS && !rc; i++) {
        w[i].name = methods[i].name;
        rc = run(o, i, pos, &w[i].sum, &why);
        if (rc)
            hx_error_set(err, rc, "%s: %s", methods[i].name, why.text);
    }
    if (rc) {
        free(w);
        return rc;
    }
    *out = w;
    *n = N_METHODS;
    return 0;
}
