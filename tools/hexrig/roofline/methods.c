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
    {"linear resident", {"kv=f32", "offload=linear", "placement=resident"}},
    {"linear ok", {"kv=f32", "linear=ok", "offload=linear"}},
    {"kv ntt", {"kv=ntt", "offload=kv"}},
    {"kv banded", {"kv=banded", "offload=kv"}},
    {"layer", {"offload=layer"}},
};

enum { N_METHODS = sizeof(methods) / sizeof(methods[0]) };

/* Positions 0 to n - 1, n > 0.  Any ids do: what a token costs does not depend on them. */
static int fill(struct hx_engine *e, size_t n, struct hx_error *err)
{
    uint32_t *ids = calloc(n, sizeof(*ids));
    int rc;

    if (!ids)
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        ids[i] = (uint32_t)(i * 7919 % e->model->vocab);
    rc = hx_engine_run(e, ids, n, 0, err);
    free(ids);
    return rc;
}

static int token(struct hx_engine *e, size_t pos, float *logits, struct hx_error *err)
{
    const uint32_t id = (uint32_t)(pos * 7919 % e->model->vocab);
    int rc = hx_engine_run(e, &id, 1, pos, err);

    return rc ? rc : hx_engine_logits(e, logits, err);
}

/* The tokens before `pos`, the last of them as a token: it leaves in VTCM what stays there. */
static int come_to(struct hx_engine *e, size_t pos, float *logits, struct hx_error *err)
{
    int rc = pos > 1 ? fill(e, pos - 1, err) : 0;

    return rc || !pos ? rc : token(e, pos - 1, logits, err);
}

static int measure(struct hx_engine *e, size_t pos, struct hx_session_stats *sum, struct hx_error *err)
{
    float *logits = calloc(e->model->vocab, sizeof(*logits));
    struct hx_session_stats before, after;
    int rc = logits ? come_to(e, pos, logits, err) : hx_error_set(err, -ENOMEM, "out of memory");

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

/* What a model or its files do not allow; anything else is a failure. */
static int is_refusal(int rc)
{
    return rc == -EINVAL || rc == -ENOENT || rc == -ENOTSUP;
}

int hx_roofline_methods(const struct hx_engine_opts *o, size_t pos, struct hx_roofline_left_out left_out, struct hx_roofline_work **out,
                        size_t *n, struct hx_error *err)
{
    struct hx_roofline_work *w = calloc(N_METHODS, sizeof(*w));
    struct hx_error why = {""};
    int rc = 0;

    *n = 0;
    if (!w)
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < N_METHODS; i++) {
        w[*n].name = methods[i].name;
        rc = run(o, i, pos, &w[*n].sum, &why);
        if (rc)
            left_out.tell(left_out.arg, methods[i].name, why.text, is_refusal(rc));
        else
            ++*n;
    }
    *out = w;
    return 0;
}
