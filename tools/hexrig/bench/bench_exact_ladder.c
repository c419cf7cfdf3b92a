/* hexrig bench exact: rung by rung, the same tokens through the same model; all must give the same logits. */
#include "bench_exact_ladder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "methods/ntt/attn_poly.h"
#include "bench_exact_attn.h"
#include "engine/engine.h"
#include "cli/report.h"

/* own: the bench's attention; else the engine's. */
static const struct way {
    const char *name, *kv; /* kv: a setting */
    int own;
    struct hx_bench_attn_cfg attn;
    const char *how; /* the option that says how products are found; NULL: schoolbook */
    int dsp;
} ways[HX_LADDER_RUNGS] = {
    {"schoolbook", "kv=f32", 0, {0, 0}, NULL, 0},
    {"ntt60_percent", "kv=f32", 1, {0, 0}, "ntt", 0},
    {"barrett", "kv=f32", 1, {1, 0}, "ntt", 0},
    {"q_hoist", "kv=f32", 1, {1, 1}, "ntt", 0},
    {"vector_kernel", "kv=f32", 0, {0, 0}, "ntt", 0},
    {"persistent_k", "kv=ntt", 0, {0, 0}, "ntt", 0},
    {"crt", "kv=ntt", 0, {0, 0}, "ntt-crt", 1},
};

/* Attention and cache between the forward pass and the real ones: they tell how long those took. */
struct timed {
    struct hx_attn attn;
    struct hx_attn *inner;
    double seconds;
};

struct timed_kv {
    struct hx_kv kv; /* first, as every cache has it */
    struct hx_kv *inner;
    struct timed *clock;
};

struct rung {
    const struct way *way;
    struct hx_engine *e;
    struct hx_attn *own;
    struct timed attn;
    struct timed_kv kv;
    struct hx_forward *forward;
    float *logits; /* of the last token */
};

static int run_timed(struct hx_attn *a, const struct hx_attn_in *in, float *out, struct hx_error *err)
{
    struct timed *t = (struct timed *)a;
    struct hx_attn_in real = *in;
    const double start = hx_report_clock();
    int rc;

    real.kv = ((struct timed_kv *)in->kv)->inner;
    rc = t->inner->ops->run(t->inner, &real, out, err);
    t->seconds += hx_report_clock() - start;
    return rc;
}

static int put_timed(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const float *k,
                     const float *v, struct hx_error *err)
{
    struct timed_kv *t = (struct timed_kv *)kv;
    const double start = hx_report_clock();
    int rc = t->inner->ops->put(t->inner, layer, pos, n, k, v, err);

    t->clock->seconds += hx_report_clock() - start;
    return rc;
}

static int open_way(struct hx_engine **e, const struct way *way, const struct hx_engine *of, int dsp, size_t ctx,
                    struct hx_error *err)
{
    const char *settings[6] = {"linear=cpu", "attn=poly", way->kv};
    size_t n = 3;

    if (way->how)
        settings[n++] = way->how;
    if (dsp)
        settings[n++] = "offload=kv";
    return hx_engine_open(e, &(struct hx_engine_cfg){.settings = settings, .share_with = of, .n_ctx = ctx,
                                                     .max_batch = 1}, err);
}

static int open_rung(struct rung *r, const struct way *way, const struct hx_engine *of,
                     const struct hx_ladder_cfg *cfg, struct hx_error *err)
{
    static const struct hx_attn_ops attn_ops = {.name = "timed", .run = run_timed};
    static const struct hx_kv_ops kv_ops = {.name = "timed", .put = put_timed};
    int rc = open_way(&r->e, way, of, 0, cfg->ctx, err);

    struct hx_forward_parts parts;

    r->way = way;
    if (!rc && way->own)
        rc = hx_bench_attn_open(&r->own, &way->attn, r->e->kv->n_kv, r->e->kv->dh, cfg->ctx, err);
    if (rc)
        return rc;
    r->attn = (struct timed){.attn = {.ops = &attn_ops}, .inner = r->own ? r->own : r->e->attn};
    r->kv = (struct timed_kv){.kv = *r->e->kv, .inner = r->e->kv, .clock = &r->attn};
    r->kv.kv.ops = &kv_ops;
    rc = hx_forward_open(&r->forward, r->e->model, &r->kv.kv, &r->attn.attn, 1, err);
    if (rc)
        return rc;
    parts = (struct hx_forward_parts){.matrices = &r->e->core->matrices, .kernels = r->e->core->kernels,
                                      .pool = r->e->core->pool};
    rc = hx_forward_use(r->forward, &parts, err);
    if (rc)
        return rc;
    r->logits = calloc(r->e->model->vocab, sizeof(*r->logits));
    return r->logits ? 0 : hx_error_set(err, -ENOMEM, "bench: out of memory");
}

static void close_rung(struct rung *r)
{
    hx_forward_close(r->forward);
    hx_attn_close(r->own);
    hx_engine_close(r->e);
    free(r->logits);
}

/* Any ids, the same ones every time. */
static uint32_t token(size_t i, size_t vocab)
{
    return (uint32_t)((i * 2654435761u + 12345) % vocab);
}

/* One run of a rung; run 0 does not count. */
static int run_once(struct rung *r, size_t ctx, size_t run, struct hx_ladder_rung *out,
                    struct hx_error *err)
{
    const double start = hx_report_clock();
    double wall;
    int rc = 0;

    r->attn.seconds = 0;
    for (size_t i = 0; !rc && i < ctx; i++) {
        const uint32_t id = token(i, r->e->model->vocab);

        rc = hx_forward_run(r->forward, &id, 1, i, err);
    }
    wall = hx_report_clock() - start;
    if (run == 1 || (run > 1 && wall < out->wall_s))
        out->wall_s = wall;
    if (run == 1 || (run > 1 && r->attn.seconds < out->attn_s))
        out->attn_s = r->attn.seconds;
    return rc ? rc : hx_forward_logits(r->forward, 0, 1, r->logits, err);
}

/* By turns, so that what else the machine does falls on all alike. */
static int run_all(struct rung *rungs, const struct hx_ladder_cfg *cfg, struct hx_ladder_rung *out,
                   struct hx_error *err)
{
    const size_t bytes = rungs[0].e->model->vocab * sizeof(float);
    int rc = 0;

    for (size_t run = 0; !rc && run <= cfg->runs; run++)
        for (size_t i = 0; !rc && i < HX_LADDER_RUNGS; i++)
            rc = run_once(&rungs[i], cfg->ctx, run, &out[i], err);
    for (size_t i = 1; !rc && i < HX_LADDER_RUNGS; i++)
        if (memcmp(rungs[0].logits, rungs[i].logits, bytes) != 0)
            rc = hx_error_set(err, -EBADMSG, "bench: the logits of %s are not those of %s",
                            ways[i].name,
                            ways[0].name);
    return rc;
}

/* Modelled exec of put() and scores() of the last token, whose past is the longest. */
static int measure_dsp(const struct way *way, const struct hx_engine *of,
                       const struct hx_ladder_cfg *cfg, double *us,
                       struct hx_error *err)
{
    struct hx_session_stats before = {0}, after = {0}, spent;
    struct hx_engine *e = NULL;
    int rc = open_way(&e, way, of, 1, cfg->ctx, err);

    for (size_t i = 0; !rc && i < cfg->ctx; i++) {
        const uint32_t id = token(i, e->model->vocab);

        if (i + 1 == cfg->ctx)
            rc = hx_report_now(&before);
        if (rc)
            hx_error_set(err, rc, "bench: cannot read the session's figures");
        else
            rc = hx_engine_run(e, &id, 1, i, err);
    }
    if (!rc && hx_report_now(&after))
        rc = hx_error_set(err, -EIO, "bench: cannot read the session's figures");
    spent = hx_report_diff(&after, &before);
    *us = (double)spent.exec_ns / 1000;
    hx_engine_close(e);
    return rc;
}

int hx_ladder_run(struct hx_ladder_rung out[HX_LADDER_RUNGS], const struct hx_ladder_cfg *cfg,
                  struct hx_error *err)
{
    static const char *const settings[] = {"kv=f32", "linear=cpu", NULL};
    const struct hx_engine_cfg first = {.settings = settings, .model = cfg->model, .threads = 1, .n_ctx = cfg->ctx,
                                        .max_batch = 1};
    struct rung rungs[HX_LADDER_RUNGS] = {0};
    struct hx_engine *e = NULL;
    int rc = hx_engine_open(&e, &first, err);

    for (size_t i = 0; !rc && i < HX_LADDER_RUNGS; i++) {
        rc = open_rung(&rungs[i], &ways[i], e, cfg, err);
        if (!rc)
            out[i] = (struct hx_ladder_rung){
                .name = ways[i].name,
                .kernel = ways[i].own ? "ref" : hx_poly_kernel(hx_attn_poly(rungs[i].e->attn)),
                .dsp_model_us = -1};
    }
    if (!rc)
        rc = run_all(rungs, cfg, out, err);
    for (size_t i = 0; !rc && cfg->rig && i < HX_LADDER_RUNGS; i++)
        if (ways[i].dsp)
            rc = measure_dsp(&ways[i], e, cfg, &out[i].dsp_model_us, err);
    for (size_t i = 0; i < HX_LADDER_RUNGS; i++)
        close_rung(&rungs[i]);
    hx_engine_close(e);
    return rc;
}
