/* hexrig bench exact: what exact arithmetic costs here, step by step. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "barrett.h"
#include "bench.h"
#include "bench_exact_ladder.h"
#include "bench_ok_rows.h"
#include "dsp_ladder.h"
#include "engine/arch/arch.h"
#include "methods/ntt/ring/ntt.h"
#include "model/model.h"
#include "cli/opt.h"
#include "cli/report.h"

enum { OPT_RUNS = HX_OPT_FREE, OPT_BATCH, OPT_NO_DSP };
enum { MAX_CTX = 4096, MAX_RUNS = 100, MAX_BATCH = 512 };
enum { BARRETT_ROUNDS = 8 }; /* for each run */

static const char cmd[] = "bench exact";

static const struct argp_option options[] = {
    {"model", 'm', "FILE", 0, "GGUF model (share/hexrig/" HX_BENCH_MODEL ")", 0},
    {"ctx", HX_OPT_CTX, "N", 0, "tokens of the ladder (128)", 0},
    {"runs", OPT_RUNS, "N", 0, "that count (5)", 0},
    {"batch", OPT_BATCH, "N", 0, "vectors of the batch (32)", 0},
    {"no-dsp", OPT_NO_DSP, NULL, 0, "without modelled time on the DSP, which needs a rig", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "ladder: N tokens through a model, one by one, on one thread, attention in one exact way after the other; all must give "
    "the same logits, bit for bit.  Ratios are of wall_s: to the rung before and to the first.\n\n"
    "linear: one token through the matrices of all layers, and a batch: fp32, int8, exact integers.\n\n"
    "dsp_ladder: modelled exec of one token's scores on the DSP, by the calls that each step would make.\n\n"
    "barrett: products modulo the 60-bit prime, reduced by a 128-bit division and by Barrett's method, in turns.\n\n"
    "Seconds are measured, the ladder by turns; the fastest run counts.  dsp_model_us is modelled."
    "\vExample: hexrig bench exact --ctx 64 --runs 3 --json";

struct bench {
    struct hx_ladder_cfg ladder;
    size_t batch;
    int json;
};

static int option(struct bench *b, int key, const char *arg)
{
    switch (key) {
    case 'm':
        b->ladder.model = arg;
        return 0;
    case HX_OPT_CTX:
        return hx_opt_size(cmd, "ctx", arg, 1, MAX_CTX, &b->ladder.ctx);
    case OPT_RUNS:
        return hx_opt_size(cmd, "runs", arg, 1, MAX_RUNS, &b->ladder.runs);
    case OPT_BATCH:
        return hx_opt_size(cmd, "batch", arg, 1, MAX_BATCH, &b->batch);
    case OPT_NO_DSP:
        b->ladder.rig = 0;
        return 0;
    case HX_OPT_JSON:
        b->json = 1;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static json_t *rung_json(const struct hx_ladder_rung *r, const struct hx_ladder_rung *before,
                         const struct hx_ladder_rung *first)
{
    json_t *j = json_pack("{s:s, s:f, s:f, s:f, s:f, s:f}", "kernel", r->kernel, "wall_s",
                          r->wall_s, "attn_s",
                          r->attn_s, "ratio_before", r->wall_s / before->wall_s, "ratio_first",
                          r->wall_s / first->wall_s, "attn_ratio_before", r->attn_s / before->attn_s);

    if (j && r->dsp_model_us >= 0)
        json_object_set_new(j, "dsp_model_us", json_real(r->dsp_model_us));
    return j;
}

/* Each rung at most 2 % slower than the one before it, and the last against where the paper's begins. */
static json_t *gate_json(const struct hx_ladder_rung *rungs)
{
    const double last = rungs[HX_LADDER_RUNGS - 1].wall_s;
    int monotone = 1;

    for (size_t i = 1; i < HX_LADDER_RUNGS; i++)
        monotone &= rungs[i].wall_s <= 1.02 * rungs[i - 1].wall_s;
    return json_pack("{s:i, s:s, s:f}", "monotone_within_2_percent", monotone, "base",
                     rungs[HX_LADDER_BASE].name, "cumulative_percent",
                     100 * (last / rungs[HX_LADDER_BASE].wall_s - 1));
}

/* As gate_json(); modelled time has no noise to allow for. */
static json_t *dsp_gate_json(const struct hx_dsp_ladder_rung *rungs)
{
    int monotone = 1;

    for (size_t i = 1; i < HX_DSP_LADDER_RUNGS; i++)
        monotone &= rungs[i].exec_us <= rungs[i - 1].exec_us;
    return json_pack("{s:i, s:s, s:f}", "monotone", monotone, "base", rungs[0].name, "cumulative_percent",
                     100 * (rungs[HX_DSP_LADDER_RUNGS - 1].exec_us / rungs[0].exec_us - 1));
}

static json_t *dsp_ladder_json(const struct hx_dsp_ladder_rung *rungs)
{
    json_t *all = json_object();

    for (size_t i = 0; i < HX_DSP_LADDER_RUNGS; i++)
        json_object_set_new(all, rungs[i].name,
                            json_pack("{s:f, s:f, s:f, s:I, s:I}", "exec_us", rungs[i].exec_us, "ratio_before",
                                      rungs[i].exec_us / rungs[i ? i - 1 : 0].exec_us, "ratio_first",
                                      rungs[i].exec_us / rungs[0].exec_us, "key_transforms", (json_int_t)rungs[i].key_transforms,
                                      "query_transforms", (json_int_t)rungs[i].query_transforms));
    return all;
}

/* hx_bench_ok_rows() makes its rows so, too. */
static json_t *barrett_json(const struct hx_barrett_row *rows)
{
    json_t *all = json_array();

    for (size_t i = 0; i < HX_BARRETT_ROWS; i++)
        json_array_append_new(all, json_pack("{s:s, s:f, s:f, s:f, s:f, s:f}", "name", rows[i].name, "percent_ns", rows[i].percent_ns,
                                             "barrett_ns", rows[i].barrett_ns, "speedup", rows[i].speedup, "speedup_low",
                                             rows[i].interval.low, "speedup_high", rows[i].interval.high));
    return all;
}

/* Rows with names become members of those names, which text and JSON show alike. */
static json_t *by_name(json_t *rows)
{
    json_t *all = json_object(), *row;
    size_t i;

    json_array_foreach(rows, i, row) {
        json_t *name = json_incref(json_object_get(row, "name"));

        json_object_del(row, "name");
        json_object_set(all, json_string_value(name), row);
        json_decref(name);
    }
    json_decref(rows);
    return all;
}

/* What was measured beside the rows of `linear`. */
struct measured {
    struct hx_ladder_rung rungs[HX_LADDER_RUNGS];
    struct hx_dsp_ladder_rung dsp[HX_DSP_LADDER_RUNGS]; /* with a rig */
    struct hx_barrett_row barrett[HX_BARRETT_ROWS];
};

static json_t *report(const struct bench *b, const struct measured *m, json_t *rows)
{
    const struct hx_ladder_rung *rungs = m->rungs;
    json_t *ladder = json_object(), *j;

    for (size_t i = 0; i < HX_LADDER_RUNGS; i++)
        json_object_set_new(ladder, rungs[i].name, rung_json(&rungs[i], &rungs[i ? i - 1 : 0],
                                                             &rungs[0]));
    j = json_pack("{s:o, s:I, s:I, s:I, s:i, s:o, s:o, s:o, s:o}", "model",
                     hx_json_text(b->ladder.model), "ctx", (json_int_t)b->ladder.ctx, "runs", (json_int_t)b->ladder.runs, "batch",
                     (json_int_t)b->batch, "same_bits", 1, "ladder", ladder, "gate",
                     gate_json(rungs), "barrett", by_name(barrett_json(m->barrett)), "linear", by_name(rows));
    if (j && b->ladder.rig) {
        json_object_set_new(j, "dsp_ladder", dsp_ladder_json(m->dsp));
        json_object_set_new(j, "dsp_gate", dsp_gate_json(m->dsp));
    }
    return j;
}

/* The shapes of the model's attention, one token behind ctx - 1 others. */
static int measure_dsp(const struct bench *b, struct hx_dsp_ladder_rung *rungs, struct hx_error *err)
{
    struct hx_dsp_ladder_cfg cfg = {.positions = b->ladder.ctx};
    struct hx_model *m = NULL;
    int rc = hx_model_open(&m, b->ladder.model, hx_archs, err);

    if (rc)
        return rc;
    cfg.layers = m->n_layer;
    cfg.heads = m->n_kv;
    cfg.queries = m->n_head;
    cfg.n = hx_poly_n(m->dh);
    hx_model_close(m);
    return hx_dsp_ladder_run(rungs, &cfg, err);
}

static int measure(const struct bench *b)
{
    const struct hx_bench_ok linear = {.model = b->ladder.model, .threads = 1,
                                       .runs = b->ladder.runs, .batch = b->batch, .rig = b->ladder.rig};
    struct measured m;
    json_t *rows = json_array();
    struct hx_error err = {""};

    if (hx_ladder_run(m.rungs, &b->ladder, &err) || hx_barrett_measure(m.barrett, BARRETT_ROUNDS * (b->ladder.runs + 1), &err) ||
        hx_bench_ok_rows(rows, &linear, &err) || (b->ladder.rig && measure_dsp(b, m.dsp, &err))) {
        json_decref(rows);
        return hx_cmd_fail(cmd, "%s", err.text);
    }
    return hx_report_print(cmd, report(b, &m, rows), b->json);
}

int hx_bench_exact(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct bench b = {.ladder = {.ctx = 128, .runs = 5, .rig = 1}, .batch = 32};
    char *shipped = NULL;
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &b);

    if (!rc)
        rc = hx_bench_model(cmd, &b.ladder.model, &shipped);
    if (!rc && b.ladder.rig)
        rc = hx_cmd_connect(cmd);
    if (!rc)
        rc = measure(&b);
    free(shipped);
    return rc;
}
