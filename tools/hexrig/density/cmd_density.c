/* hexrig density: what one token costs at a position, by how the work is cut into calls. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bar.h"
#include "budget/gate.h"
#include "cli/cmd.h"
#include "cli/report.h"
#include "plot.h"
#include "resume.h"
#include "rows.h"
#include "sweep.h"
#include "work.h"

enum { OPT_GEOMETRY = HX_OPT_FREE, OPT_DENSITY, OPT_POS, OPT_ROWS, OPT_SWEEP, OPT_CSV, OPT_PLOT, OPT_RESUME };

static const struct argp_option options[] = {
    {"geometry", OPT_GEOMETRY, "NAME", 0,
     "instead of a model: calls of the cache and of matrices on the DSP, on random vectors.  qwen3-4b | llama3-8b | gemma3-1b | "
     "smollm2-135m | gptj-6b | FILE, a model's config.json or .gguf, or lines of KEY = VALUE | its numbers, as "
     "24x16/4x128x2048x5632x32000", 0},
    {"density", OPT_DENSITY, "LIST", 0,
     "per-vector,per-layer,batched,per-token,queue (all that the methods allow), of caches with this option; layer: whole "
     "layers", 0},
    {"pos", OPT_POS, "LIST", 0, "positions of the token, from 0 (16,128)", 0},
    {"sweep", OPT_SWEEP, "NAME=LIST", 0,
     "rows for each value of something else: profile, geometry, model, or an option of methods (kv, placement, ...); repeatable", 0},
    {"rows", OPT_ROWS, "HOW", 0,
     "auto | counted | analytic: far positions of a geometry follow from two near ones that are counted, where counting them would take "
     "long, never, or always (auto)", 0},
    {"csv", OPT_CSV, NULL, 0, "comma-separated values instead of the table", 0},
    {"plot", OPT_PLOT, "FILE", 0, "also a picture, FILE.svg or FILE.png, by gnuplot", 0},
    {"resume", OPT_RESUME, "FILE", 0, "keep rows there as they are done, and take from there those that are", 0},
    {0},
};

static const char doc[] =
    "Runs one token at each position and prints what its DSP calls and packets cost, one row for each density and position, as it is "
    "done.  Ctrl-C ends the sweep, and keeps what is there."
    "\vTimes are modelled.\n\n"
    "Example: hexrig density --geometry qwen3-4b --density batched --pos 16,128,512";

/* A sweep at work. */
struct density {
    struct hx_sweep s;
    struct hx_gate gate;
    const char *plot, *resume; /* paths; NULL: not asked for */
    int csv;
    struct hx_resume kept;
    struct hx_bar bar;
    char *wanted;     /* [points]: 1: it has to be measured */
    size_t done;      /* points in front of this one are printed */
    json_t *rows, *first, *uncosted;
};

static volatile sig_atomic_t signalled; /* which one came */
static volatile sig_atomic_t worker;    /* process that measures; 0: none */

/* With the worker ends the wait for its next row. */
static void on_signal(int sig)
{
    signalled = sig;
    if (worker > 0)
        kill(worker, SIGTERM);
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct sigaction a = {.sa_handler = on_signal};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &a, NULL);
}

/* --- options */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct density *d = state->input;
    size_t how = 0;
    int rc;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &d->s.o;
        state->child_inputs[1] = &d->gate;
        return 0;
    case OPT_GEOMETRY:
        d->s.geometry = arg;
        return 0;
    case OPT_DENSITY:
        d->s.densities = arg;
        return 0;
    case OPT_POS:
        d->s.positions = arg;
        return 0;
    case OPT_SWEEP:
        return hx_opt_error(hx_sweep_add(&d->s, arg));
    case OPT_ROWS:
        rc = hx_opt_name(d->s.o.cmd, "rows", arg, hx_density_how_names, &how);
        d->s.how = (enum hx_density_how)how;
        return hx_opt_error(rc);
    case OPT_CSV:
        d->csv = 1;
        return 0;
    case OPT_PLOT:
        d->plot = arg;
        return 0;
    case OPT_RESUME:
        d->resume = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int parse(struct density *d, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&d->s.o), 0, NULL, 0}, {&hx_gate_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};
    int rc = hx_opt_parse(d->s.o.cmd, &argp, argc, argv, d);

    if (!rc)
        rc = hx_sweep_check(&d->s);
    if (!rc && d->csv && d->s.o.json)
        rc = hx_cmd_usage(d->s.o.cmd, "--csv and --json exclude each other");
    if (!rc)
        rc = hx_gate_begin(&d->gate);
    return rc || !d->plot ? rc : hx_plot_check(&d->s, d->plot);
}

/* --- the sweep */

static enum hx_rows_form form_of(const struct density *d)
{
    return d->s.o.json ? HX_ROWS_JSON : d->csv ? HX_ROWS_CSV : HX_ROWS_TABLE;
}

/* Positions, as a measure of work: good enough for a bar. */
static double work_of(const struct density *d, size_t i)
{
    return 8 + (double)d->s.pos[hx_sweep_point(&d->s, i).pos];
}

static int print(struct density *d, const struct hx_sweep_point *p, json_t *line)
{
    json_t *row = hx_rows_of_line(&d->s, p, line);

    if (!row)
        return hx_cmd_fail(d->s.o.cmd, "out of memory");
    hx_bar_clear(&d->bar);
    if (!d->first) {
        d->first = json_incref(line);
        hx_rows_head(&d->s, form_of(d), line);
    }
    hx_rows_print(&d->s, form_of(d), row);
    return json_array_append_new(d->rows, row) ? hx_cmd_fail(d->s.o.cmd, "out of memory") : 0;
}

/* Prints what is known already up to the next point that has to be measured. */
static int print_kept(struct density *d)
{
    int rc = 0;

    for (; !rc && d->done < hx_sweep_points(&d->s) && !d->wanted[d->done]; d->done++) {
        const struct hx_sweep_point p = hx_sweep_point(&d->s, d->done);

        rc = print(d, &p, hx_resume_find(&d->kept, &d->s, &p));
    }
    return rc;
}

static int take_line(struct density *d, json_t *line)
{
    struct hx_sweep_point p;
    int rc;

    if (!json_object_get(line, "row"))
        return json_array_extend(d->uncosted, json_object_get(line, "uncosted"));
    p = hx_sweep_point(&d->s, d->done);
    rc = hx_resume_add(&d->kept, &d->s, &p, line);
    if (!rc)
        rc = print(d, &p, line);
    d->done++;
    hx_bar_step(&d->bar, work_of(d, d->done - 1), d->done, hx_sweep_points(&d->s));
    return rc ? rc : print_kept(d);
}

/* 1: the case has a point that has to be measured. */
static int is_wanted(const struct density *d, size_t at)
{
    for (size_t i = d->done; i < hx_sweep_points(&d->s); i++)
        if (d->wanted[i] && hx_sweep_point(&d->s, i).at == at)
            return 1;
    return 0;
}

/* *lost: negative errno when they could not be read. */
static int take_lines(struct density *d, struct hx_density_work *w, int *lost)
{
    json_t *line;
    int rc = 0;

    *lost = 0;
    while (!rc && !signalled) {
        *lost = hx_density_work_next(w, &line);
        if (!line)
            break;
        rc = take_line(d, line);
        json_decref(line);
    }
    return rc;
}

static int run_case(struct density *d, size_t at)
{
    struct hx_density_work w;
    int rc = hx_density_work_begin(&w, &d->s, at, d->wanted), ended, lost;

    if (rc)
        return hx_cmd_fail(d->s.o.cmd, "cannot start a process: %s", strerror(-rc));
    worker = w.pid;
    rc = take_lines(d, &w, &lost);
    worker = 0;
    ended = hx_density_work_end(&w, rc || lost || signalled);
    if (rc || signalled)
        return rc;
    if (lost && (ended <= 0 || ended == HX_DENSITY_WORK_LOST)) /* else it has failed, too, and has said why */
        return hx_cmd_fail(d->s.o.cmd, "cannot read what was measured: %s", strerror(-lost));
    if (ended < 0)
        return hx_cmd_fail(d->s.o.cmd, "the process that measures was ended: %s", strsignal(-ended));
    if (ended == HX_DENSITY_WORK_LOST) /* of a stdout that takes nothing either, main tells */
        return fflush(stdout) ? HX_EXIT_FAILED : hx_cmd_fail(d->s.o.cmd, "a row that was measured could not be handed on");
    if (!ended && is_wanted(d, at))
        return hx_cmd_fail(d->s.o.cmd, "the process that measures has ended too early");
    return ended;
}

/* Which points are not in the file. */
static int choose(struct density *d)
{
    const size_t n = hx_sweep_points(&d->s);
    double work = 0;

    d->wanted = calloc(n, 1);
    d->rows = json_array();
    d->uncosted = json_array();
    if (!d->wanted || !d->rows || !d->uncosted)
        return hx_cmd_fail(d->s.o.cmd, "out of memory");
    for (size_t i = 0; i < n; i++) {
        const struct hx_sweep_point p = hx_sweep_point(&d->s, i);

        d->wanted[i] = !hx_resume_find(&d->kept, &d->s, &p);
        work += d->wanted[i] ? work_of(d, i) : 0;
    }
    hx_bar_begin(&d->bar, work);
    return print_kept(d);
}

static int run(struct density *d)
{
    int rc = choose(d);

    hx_bar_step(&d->bar, 0, d->done, hx_sweep_points(&d->s));
    for (size_t at = 0; !rc && !signalled && at < d->s.n_cases; at++)
        if (is_wanted(d, at))
            rc = run_case(d, at);
    hx_bar_clear(&d->bar);
    return rc;
}

/* What comes behind the last row, also when it was not the last that was asked for. */
static int finish(struct density *d)
{
    int rc = 0;

    if (form_of(d) == HX_ROWS_JSON && d->first)
        rc = hx_report_print(d->s.o.cmd, hx_rows_report(&d->s, d->rows, d->first, d->uncosted), 1);
    if (!rc && d->plot)
        rc = hx_plot_rows(&d->s, d->plot, d->rows);
    if (!rc && !signalled && hx_gate_is_on(&d->gate))
        rc = hx_gate_end(&d->gate, hx_rows_figures(&d->s, d->rows));
    if (rc || !signalled)
        return rc;
    fprintf(stderr, "hexrig %s: interrupted: %zu of %zu rows%s%s\n", d->s.o.cmd, d->done, hx_sweep_points(&d->s),
            d->resume ? "; the same command goes on from " : "", d->resume ? d->resume : "");
    return 128 + signalled;
}

static int sweep(struct density *d)
{
    int rc = hx_resume_open(&d->kept, &d->s, d->resume);

    catch_signals();
    if (!rc)
        rc = run(d);
    if (!rc)
        rc = finish(d);
    json_decref(d->rows);
    json_decref(d->first);
    json_decref(d->uncosted);
    free(d->wanted);
    hx_resume_close(&d->kept);
    return rc;
}

int hx_cmd_density(int argc, char **argv)
{
    struct density d = {.gate = {.cmd = "density"}};
    int rc = hx_engine_opts_init(&d.s.o, "density", 0);

    if (rc == 0)
        rc = parse(&d, argc, argv);
    if (rc == 0)
        rc = sweep(&d);
    hx_gate_free(&d.gate);
    hx_sweep_free(&d.s);
    return rc;
}
