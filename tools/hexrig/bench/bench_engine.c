/* hexrig bench engine: how fast a model runs here. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cli/cmd.h"
#include "methods/cpu/isa/isa.h"
#include "options/engine_opts.h"
#include "cli/report.h"
#include "power_sensor.h"

enum { OPT_PREFILL = HX_OPT_FREE, OPT_DECODE, OPT_RUNS };

static const struct argp_option options[] = {
    {"prefill", OPT_PREFILL, "N", 0, "tokens of the prompt (512)", 0},
    {"decode", OPT_DECODE, "N", 0, "tokens after it (64)", 0},
    {"runs", OPT_RUNS, "N", 0, "that count (5)", 0},
    {0},
};

static const char doc[] =
    "Tokens per second of the engine on this machine: a prompt at once (prefill), then one token after the other (decode), "
    "each with its logits.  K and V are f32 unless --kv says otherwise.  A first run is not counted; of the others the "
    "fastest is printed, and the median.  All figures are measured."
    "\vExample: hexrig bench engine -m model.gguf --threads 2 --json";

static const char cmd[] = "bench engine";

enum { MAX_RUNS = 1000 };

struct bench {
    struct hx_engine_opts o;
    size_t prefill, decode, runs;
    struct hx_power_sensor sensor;
    char sensor_text[512];
};

/* One phase of all runs. */
struct phase {
    size_t tokens;
    double s[MAX_RUNS];
    double joules; /* of all runs; negative: unknown */
};

static int option(struct bench *b, int key, const char *arg)
{
    switch (key) {
    case OPT_PREFILL:
        return hx_opt_size(cmd, "prefill", arg, 1, HX_MAX_TOKENS, &b->prefill);
    case OPT_DECODE:
        return hx_opt_size(cmd, "decode", arg, 1, HX_MAX_TOKENS, &b->decode);
    case OPT_RUNS:
        return hx_opt_size(cmd, "runs", arg, 1, MAX_RUNS, &b->runs);
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct bench *b = state->input;

    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &b->o;
    return hx_opt_error(option(b, key, arg));
}

static int parse(struct bench *b, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&b->o), 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, b);

    if (!rc)
        rc = hx_engine_opts_default(&b->o, "kv", "f32");
    return rc ? rc : hx_engine_opts_done(&b->o);
}

/* The same ids in every run and for every engine that is compared with this one: an LCG over the vocabulary. */
static void fill_tokens(uint32_t *ids, size_t n, size_t vocab)
{
    uint32_t s = 1;

    for (size_t i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        ids[i] = (uint32_t)((uint64_t)s * vocab >> 32);
    }
}

/* Tokens first..first+n-1 in batches of `batch`, with the logits of each batch's last. */
static int run_phase(const struct bench *b, struct hx_engine *e, const uint32_t *ids, size_t first, size_t n,
                     size_t batch, float *logits, struct phase *p, size_t run, struct hx_error *err)
{
    const double j0 = b->sensor.path[0] ? hx_power_sensor_joules(&b->sensor) : 0;
    const double t0 = hx_report_clock();
    double joules;
    int rc = 0;

    for (size_t i = first; !rc && i < first + n; i += batch) {
        rc = hx_engine_run(e, ids + i, batch, i, err);
        if (!rc)
            rc = hx_engine_logits(e, logits, err);
    }
    if (run) {
        p->s[run - 1] = hx_report_clock() - t0;
        joules = b->sensor.path[0] ? hx_power_sensor_joules(&b->sensor) - j0 : -1;
        p->joules = joules < 0 ? -1 : p->joules + joules; /* the counter may have wrapped */
    }
    p->tokens = n;
    return rc;
}

static int less(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static json_t *phase_json(const struct bench *b, struct phase *p)
{
    json_t *j;

    qsort(p->s, b->runs, sizeof(p->s[0]), less);
    j = json_pack("{s:I, s:f, s:f}", "tokens", (json_int_t)p->tokens, "tok_per_s",
                  (double)p->tokens / p->s[0], "median_tok_per_s",
                  (double)p->tokens / p->s[b->runs / 2]);
    if (j && b->sensor.path[0] && p->joules > 0)
        json_object_set_new(j, "tok_per_joule",
                            json_real((double)(p->tokens * b->runs) / p->joules));
    return j;
}

static json_t *report(const struct bench *b, const struct hx_engine *e, struct phase *prefill,
                      struct phase *decode)
{
    json_t *j = json_pack("{s:o, s:I, s:s, s:I, s:o, s:o, s:s, s:I}", "model", hx_json_text(b->o.model), "threads",
                          (json_int_t)hx_pool_threads(e->core->pool), "isa", hx_isa_best()->name, "runs",
                          (json_int_t)b->runs, "prefill", phase_json(b, prefill), "decode", phase_json(b, decode),
                          "power_sensor", b->sensor_text, "peak_rss_bytes", (json_int_t)hx_report_peak_rss());

    return hx_engine_opts_report(&b->o, e, j);
}

static int measure(struct bench *b, struct hx_engine *e)
{
    const size_t n = b->prefill + b->decode;
    struct phase *phases = calloc(2, sizeof(*phases));
    uint32_t *ids = calloc(n, sizeof(*ids));
    float *logits = calloc(e->model->vocab, sizeof(*logits));
    struct hx_error err = {""};
    json_t *j = NULL;
    int rc = phases && ids && logits ? 0 : -1;

    if (rc)
        snprintf(err.text, sizeof(err.text), "out of memory");
    else
        fill_tokens(ids, n, e->model->vocab);
    for (size_t run = 0; !rc && run <= b->runs; run++) {
        rc = run_phase(b, e, ids, 0, b->prefill, b->prefill, logits, &phases[0], run, &err);
        if (!rc)
            rc = run_phase(b, e, ids, b->prefill, b->decode, 1, logits, &phases[1], run, &err);
    }
    if (!rc) {
        j = report(b, e, &phases[0], &phases[1]);
        rc = hx_engine_finish(e, &err);
    }
    if (rc)
        json_decref(j);
    rc = rc ? hx_cmd_fail(cmd, "%s", err.text) : hx_report_print(cmd, j, b->o.json);
    free(phases);
    free(ids);
    free(logits);
    return rc;
}

static int bench(struct bench *b)
{
    struct hx_engine *e = NULL;
    int rc;

    b->o.n_ctx = b->prefill + b->decode;
    snprintf(b->sensor_text, sizeof(b->sensor_text), "rapl");
    hx_power_sensor_find(&b->sensor, NULL, b->sensor_text, sizeof(b->sensor_text));
    rc = hx_engine_opts_open(&b->o, &e);
    if (!rc)
        rc = measure(b, e);
    hx_engine_close(e);
    return rc;
}

int hx_bench_engine(int argc, char **argv)
{
    struct bench b = {.prefill = 512, .decode = 64, .runs = 5};
    int rc = hx_engine_opts_init(&b.o, cmd, 0);

    if (!rc)
        rc = parse(&b, argc, argv);
    if (!rc)
        rc = bench(&b);
    hx_engine_opts_free(&b.o);
    return rc;
}
