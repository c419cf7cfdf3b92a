/* Measures the exact linear layer beside fp32 and int8, and asks the rig what it would cost on the DSP. */
#include "bench_ok_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "cli/report.h"

/* The first is what ratios are of, the second likewise. */
static const struct way {
    const char *name;
    const char *settings[4];
    int dsp; /* it exists there, too */
} ways[] = {
    {"fp32", {"linear=ref"}, 0},
    {"int8", {"linear=cpu"}, 1},
    {"ok_native", {"native-ok"}, 1},
    {"ok_B", {"frobenius-quant"}, 1},
    {"ok_E", {"frobenius-quant", "shim-config=E"}, 1},
    {"ok_native_q15", {"native-ok", "q-max=15"}, 1},
    {"ok_B_q15", {"frobenius-quant", "q-max=15"}, 1},
    {"ok_B_scalar", {"frobenius-quant", "ok-kernel=scalar"}, 0},
};
enum { N_WAYS = sizeof(ways) / sizeof(ways[0]), FP32 = 0, INT8 = 1, TOGETHER = 3 };

struct result {
    double token_s, batch_s;
    double dsp_us; /* negative: none */
    uint64_t bytes;
};

/* Buffers for `batch` vectors of any matrix. */
struct buffers {
    float *x, *y[TOGETHER], *scratch;
};

static size_t widest(const struct hx_model *m)
{
    const size_t q = m->n_head * m->dh, a = m->width > m->ffn ? m->width : m->ffn;

    return a > q ? a : q;
}

static int buffers_alloc(struct buffers *b, size_t wide, size_t batch)
{
    b->x = calloc(wide * batch, sizeof(float));
    b->scratch = calloc(wide, sizeof(float));
    for (size_t i = 0; i < TOGETHER; i++)
        b->y[i] = calloc(wide * batch, sizeof(float));
    if (!b->x || !b->scratch || !b->y[0] || !b->y[1] || !b->y[2])
        return -ENOMEM;
    for (size_t i = 0; i < wide * batch; i++) /* any numbers of both signs */
        b->x[i] = (float)((int)(i * 2654435761u % 2001) - 1000) / 512;
    return 0;
}

static void buffers_free(struct buffers *b)
{
    free(b->x);
    free(b->scratch);
    for (size_t i = 0; i < TOGETHER; i++)
        free(b->y[i]);
}

/* n vectors through all matrices of the ring, those with one input together. */
static int pass(const struct hx_matrices *m, const struct buffers *b, size_t n, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < m->n_layer && !rc; i++) {
        const struct hx_layer *l = &m->layers[i];
        const struct hx_linear *const inputs[][TOGETHER] = {
            {&l->q, &l->k, &l->v}, {&l->o}, {&l->up, &l->gate}, {&l->down}};

        for (size_t g = 0; g < sizeof(inputs) / sizeof(inputs[0]) && !rc; g++) {
            size_t n_m = 0;

            while (n_m < TOGETHER && inputs[g][n_m] && inputs[g][n_m]->rows)
                n_m++;
            rc = hx_linear_apply(inputs[g], b->y, n_m, b->x, n, b->scratch, err);
        }
    }
    return rc;
}

/* Seconds of the fastest of `runs` passes, after one that does not count. */
static int fastest(const struct hx_matrices *m, const struct buffers *b, size_t n, size_t runs,
                   double *seconds, struct hx_error *err)
{
    int rc = 0;

    for (size_t r = 0; r <= runs && !rc; r++) {
        const double start = hx_report_clock();

        rc = pass(m, b, n, err);
        const double s = hx_report_clock() - start;

        if (r == 1 || (r > 1 && s < *seconds))
            *seconds = s;
    }
    return rc;
}

static int open_way(struct hx_engine **e, const struct way *w, const struct hx_bench_ok *b, int dsp,
                    struct hx_error *err)
{
    const char *settings[8] = {"kv=f32"};
    size_t n = 1;

    for (size_t i = 0; w->settings[i]; i++)
        settings[n++] = w->settings[i];
    if (dsp)
        settings[n++] = "offload=linear=wq,wk,wv,wo,gate,up,down";
    return hx_engine_open(e, &(struct hx_engine_cfg){.settings = settings, .model = b->model, .threads = b->threads,
                                                     .n_ctx = 1, .max_batch = 1}, err);
}

/* Bytes of the weights in the method's own form; 0: it has none. */
static uint64_t bytes_of(const struct hx_engine *e)
{
    json_t *j = json_object();
    uint64_t bytes = 0;

    if (j && !hx_engine_report(e, j))
        bytes = (uint64_t)json_integer_value(json_object_get(json_object_get(j, "ok"), "bytes"));
    json_decref(j);
    return bytes;
}

static int measure_here(const struct way *w, const struct hx_bench_ok *b, struct result *out,
                        struct hx_error *err)
{
    struct buffers buffers = {0};
    struct hx_engine *e = NULL;
    int rc = open_way(&e, w, b, 0, err);

    if (!rc && buffers_alloc(&buffers, widest(e->model), b->batch))
        rc = hx_error_set(err, -ENOMEM, "no memory for %zu vectors", b->batch);
    if (!rc)
        rc = fastest(&e->core->matrices, &buffers, 1, b->runs, &out->token_s, err);
    if (!rc)
        rc = fastest(&e->core->matrices, &buffers, b->batch, b->runs, &out->batch_s, err);
    out->bytes = rc ? 0 : bytes_of(e);
    buffers_free(&buffers);
    hx_engine_close(e);
    return rc;
}

/* A token's modelled exec; the first pass asks for VTCM and does not count. */
static int measure_dsp(const struct way *w, const struct hx_bench_ok *b, struct result *out,
                       struct hx_error *err)
{
    struct hx_session_stats before = {0}, after = {0}, spent;
    struct buffers buffers = {0};
    struct hx_engine *e = NULL;
    int rc = open_way(&e, w, b, 1, err);

    if (!rc && buffers_alloc(&buffers, widest(e->model), 1))
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    if (!rc)
        rc = pass(&e->core->matrices, &buffers, 1, err);
    if (!rc)
        rc = hx_report_now(&before);
    if (!rc)
        rc = pass(&e->core->matrices, &buffers, 1, err);
    if (!rc)
        rc = hx_report_now(&after);
    spent = hx_report_diff(&after, &before);
    out->dsp_us = (double)spent.exec_ns / 1000;
    buffers_free(&buffers);
    hx_engine_close(e);
    return rc;
}

static json_t *row(const struct way *w, const struct result *r, const struct result *all,
                   size_t batch)
{
    json_t *j = json_pack("{s:s, s:f, s:f, s:f, s:f}", "name", w->name, "token_us", 1e6 * r->token_s,
                          "batch_us_per_token", 1e6 * r->batch_s / (double)batch, "ratio_fp32",
                          r->token_s / all[FP32].token_s, "ratio_int8",
                          r->token_s / all[INT8].token_s);

    if (j && r->bytes)
        json_object_set_new(j, "bytes", json_integer((json_int_t)r->bytes));
    if (j && r->dsp_us >= 0)
        json_object_set_new(j, "dsp_model_us", json_real(r->dsp_us));
    return j;
}

int hx_bench_ok_rows(json_t *rows, const struct hx_bench_ok *b, struct hx_error *err)
{
    struct result results[N_WAYS];
    int rc = 0;

    for (size_t i = 0; i < N_WAYS && !rc; i++) {
        results[i] = (struct result){.dsp_us = -1};
        rc = measure_here(&ways[i], b, &results[i], err);
        if (!rc && b->rig && ways[i].dsp)
            rc = measure_dsp(&ways[i], b, &results[i], err);
    }
    for (size_t i = 0; i < N_WAYS && !rc; i++)
        if (json_array_append_new(rows, row(&ways[i], &results[i], results, b->batch)))
            rc = hx_error_set(err, -ENOMEM, "out of memory");
    return rc;
}
