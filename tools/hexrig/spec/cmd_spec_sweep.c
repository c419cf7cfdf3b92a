/* hexrig spec sweep: drafters times guesses per step. */
#include <stdio.h>

#include "cli/gnuplot.h"
#include "cli/report.h"
#include "cmd_spec.h"
#include "plot.h"
#include "rows.h"
#include "sweep.h"

enum { OPT_PLOT = HX_SPEC_OPT_FREE };

static const struct argp_option options[] = {
    {"draft", HX_SPEC_OPT_DRAFT, "LIST", 0, "drafters, as in hexrig run (lookup,bigram,onedecode,swarm:4,gp:128,perfect)", 0},
    HX_SPEC_TEXT_OPTIONS,
    {"spec-batch", HX_SPEC_OPT_BATCH, "LIST", 0, "guesses of a step (1,2,4,8,16)", 0},
    {"plot", OPT_PLOT, "FILE", 0, "also a picture, FILE.svg or FILE.png, by gnuplot", 0},
    {0},
};

static const char doc[] =
    "Makes greedy texts with each drafter and each number of guesses, guesses along pieces of a text that is given, and prints a row of "
    "both as it is done: tokens per step, the share of right guesses among those that were compared, tokens per step by the law; what of "
    "a greedy text's token the driver counted; and what a guess (T_D), a pass of one row (T_V1) and one with guesses (T_V) take, modelled "
    "on the DSP and measured here."
    "\vOptions of methods are those of hexrig run.\n\n"
    "Example: hexrig spec sweep --draft lookup,bigram --spec-batch 2,4,8";

static const struct hx_spec_column columns[] = {
    {"", "g", "guesses", 1, 3, 0},
    {"greedy texts", "tok/step", "greedy.tokens_per_step", 1, 8, 3},
    {"", "accept", "greedy.accept", 1, 6, 3},
    {"", "law", "greedy.law", 1, 6, 3},
    {"along a text", "tok/step", "along.tokens_per_step", 1, 8, 3},
    {"", "accept", "along.accept", 1, 6, 3},
    {"", "law", "along.law", 1, 6, 3},
    {"per token of greedy texts", "calls", "calls_per_token", 1, 7, 3},
    {"", "packets", "packets_per_token", 1, 7, 3},
    {"", "copied B", "bytes_copied_per_token", 1, 8, 0},
    {"", "shared B", "bytes_shared_per_token", 1, 8, 0},
    {"modelled, ms", "T_D", "model.t_d_us", 1e-3, 7, 3},
    {"", "T_V1", "model.t_v1_us", 1e-3, 7, 3},
    {"", "T_V", "model.t_v_us", 1e-3, 7, 3},
    {"", "gain", "model.gain", 1, 6, 3},
    {"", "law", "model.law", 1, 6, 3},
    {"measured here, ms", "T_D", "host.t_d_s", 1e3, 7, 3},
    {"", "T_V1", "host.t_v1_s", 1e3, 7, 3},
    {"", "T_V", "host.t_v_s", 1e3, 7, 3},
    {"", "gain", "host.gain", 1, 6, 3},
    {"", "law", "host.law", 1, 6, 3},
    {NULL, NULL, NULL, 0, 0, 0},
};

struct sweep {
    struct hx_spec_sweep s;
    const char *batches, *plot; /* NULL: not given */
    json_t *rows;
};

static int option(struct sweep *s, int key, const char *arg)
{
    switch (key) {
    case HX_SPEC_OPT_BATCH:
        s->batches = arg;
        return 0;
    case OPT_PLOT:
        s->plot = arg;
        return 0;
    default:
        return hx_spec_sweep_option(&s->s, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct sweep *s = state->input;

    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &s->s.o;
    return hx_opt_error(option(s, key, arg));
}

static int parse(struct sweep *s, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&s->s.o), 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};
    int rc = hx_opt_parse(s->s.o.cmd, &argp, argc, argv, s);

    if (!rc)
        rc = hx_spec_sweep_check(&s->s, s->batches ? s->batches : "1,2,4,8,16");
    return rc || !s->plot ? rc : hx_gnuplot_check(s->s.o.cmd, s->plot);
}

static int take(void *arg, json_t *row)
{
    struct sweep *s = arg;
    const int first = json_array_size(s->rows) == 0;

    if (json_array_append(s->rows, row))
        return hx_cmd_fail(s->s.o.cmd, "out of memory");
    if (s->s.o.json)
        return 0;
    if (first)
        hx_spec_print_head(columns, s->s.csv);
    hx_spec_print_row(columns, s->s.csv, row);
    return 0;
}

static int run(struct sweep *s)
{
    int rc;

    s->rows = json_array();
    rc = s->rows ? hx_spec_sweep_run(&s->s, take, s) : hx_cmd_fail(s->s.o.cmd, "out of memory");
    if (!rc && s->s.o.json)
        rc = hx_report_print(s->s.o.cmd, hx_spec_sweep_report(&s->s, s->rows), 1);
    if (!rc && s->plot)
        rc = json_array_remove(s->rows, 0) ? 0 : hx_spec_plot(s->s.o.cmd, s->plot, s->rows); /* without that of no drafter */
    json_decref(s->rows);
    return rc;
}

int hx_spec_cmd_sweep(int argc, char **argv)
{
    struct sweep s = {.rows = NULL};
    int rc = hx_spec_sweep_init(&s.s, "spec sweep");

    if (!rc)
        rc = parse(&s, argc, argv);
    if (!rc)
        rc = run(&s);
    hx_spec_sweep_free(&s.s);
    return rc;
}
