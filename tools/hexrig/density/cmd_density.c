/* hexrig density: what one token costs at a position, by how the work is cut into calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/gnuplot.h"
#include "measure.h"
#include "ranks.h"
#include "slurm.h"
#include "stop.h"

enum {
    OPT_GEOMETRY = HX_OPT_FREE, OPT_DENSITY, OPT_POS, OPT_ROWS, OPT_SWEEP, OPT_SPEC, OPT_CSV, OPT_PLOT, OPT_RESUME, OPT_PART, OPT_SLURM
};

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
     "rows for each value of something else: profile, geometry, model, clients (side by side, 1 to 32), or an option of methods (kv, "
     "placement, ...); repeatable", 0},
    {"spec", OPT_SPEC, "G,A", 0,
     "also rows with G guesses a step, of which the share A is right (from 0 to 1): figures per token that comes out of it, without what "
     "guessing costs; repeatable", 0},
    {"rows", OPT_ROWS, "HOW", 0,
     "auto | counted | analytic: far positions of a geometry follow from two near ones that are counted, where counting them would take "
     "long, never, or always (auto)", 0},
    {"csv", OPT_CSV, NULL, 0, "comma-separated values instead of the table", 0},
    {"plot", OPT_PLOT, "FILE", 0, "also a picture, FILE.svg or FILE.png, by gnuplot", 0},
    {"resume", OPT_RESUME, "FILE", 0, "keep rows there as they are done, and take from there those that are", 0},
    {"part", OPT_PART, "I/N", 0,
     "only the Ith of N parts, from 0 on: its rows are left in FILE.rankI beside the FILE of --resume, for the next who opens FILE, and "
     "nothing is printed", 0},
    {"slurm", OPT_SLURM, NULL, 0, "print a script for sbatch that measures this sweep as a job array, with --resume FILE", 0},
    {0},
};

static const char doc[] =
    "Runs one token at each position and prints what its DSP calls and packets cost, one row for each density and position, as it is "
    "done.  Ctrl-C ends the sweep, and keeps what is there.  Processes that mpirun or srun has started share a sweep."
    "\vTimes are modelled.\n\n"
    "Example: hexrig density --geometry qwen3-4b --density batched --pos 16,128,512";

/* --- options */

static int read_part(struct hx_density_run *d, const char *arg)
{
    char end;

    if (strspn(arg, "0123456789/") == strlen(arg) && sscanf(arg, "%zu/%zu%c", &d->part, &d->parts, &end) == 2 &&
        d->part < d->parts && d->parts <= HX_LAUNCHER_RANKS)
        return 0;
    return hx_cmd_usage(d->s.o.cmd, "--part: '%s' is no I/N with N from 1 to %d and I from 0 to N - 1", arg, HX_LAUNCHER_RANKS);
}

/* Both leave rows for others to print. */
static int check_parts(const struct hx_density_run *d)
{
    if (d->slurm && d->parts)
        return hx_cmd_usage(d->s.o.cmd, "--slurm and --part exclude each other: tasks of the script have parts of their own");
    if ((d->slurm || d->parts) && !d->resume)
        return hx_cmd_usage(d->s.o.cmd, "%s needs --resume FILE, beside which rows are left", d->slurm ? "--slurm" : "--part");
    if ((d->slurm || d->parts) && d->l.ranks > 1)
        return hx_cmd_usage(d->s.o.cmd, "%s is one process, not one of %zu ranks", d->slurm ? "--slurm" : "--part", d->l.ranks);
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct hx_density_run *d = state->input;
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
    case OPT_SPEC:
        return hx_opt_error(hx_sweep_add_spec(&d->s, arg));
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
    case OPT_PART:
        return hx_opt_error(read_part(d, arg));
    case OPT_SLURM:
        rc = d->slurm ? hx_cmd_usage(d->s.o.cmd, "--slurm twice") : 0;
        d->slurm = state->next - 1;
        return hx_opt_error(rc);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int parse(struct hx_density_run *d, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&d->s.o), 0, NULL, 0}, {&hx_gate_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};
    struct hx_error err = {""};
    int rc = hx_opt_parse(d->s.o.cmd, &argp, argc, argv, d);

    if (!rc && hx_launcher_find(&d->l, &err))
        rc = hx_cmd_usage(d->s.o.cmd, "%s", err.text);
    if (!rc)
        rc = check_parts(d);
    if (!rc)
        rc = hx_sweep_check(&d->s);
    if (!rc && d->csv && d->s.o.json)
        rc = hx_cmd_usage(d->s.o.cmd, "--csv and --json exclude each other");
    if (!rc)
        rc = hx_gate_begin(&d->gate);
    return rc || !d->plot || d->parts || d->l.rank ? rc : hx_gnuplot_check(d->s.o.cmd, d->plot);
}

/* --- the sweep */

static int take(void *d, size_t point, json_t *line)
{
    return hx_run_take(d, point, line);
}

static int measure(struct hx_density_run *d)
{
    char *wanted = hx_run_wanted(d);
    const struct hx_measure m = {.s = &d->s, .wanted = wanted, .take = take, .arg = d};
    int rc = wanted ? hx_measure(&m) : hx_cmd_fail(d->s.o.cmd, "out of memory");

    free(wanted);
    return rc;
}

static int sweep(struct hx_density_run *d)
{
    int rc;

    hx_stop_catch();
    if (d->parts)
        return hx_part_run(d, d->part, d->parts);
    if (d->l.rank)
        return hx_ranks_run(d);
    rc = hx_run_begin(d);
    if (!rc)
        rc = d->l.ranks > 1 ? hx_ranks_run(d) : measure(d);
    return hx_run_finish(d, rc);
}

/* The command line as it came, but for the word that asks for the script. */
static int print_script(const struct hx_density_run *d, int argc, char **argv)
{
    const char *words[argc];
    size_t n = 0;

    for (int i = 1; i < argc; i++)
        if (i != d->slurm)
            words[n++] = argv[i];
    return hx_slurm_print(&d->s, words, n);
}

int hx_cmd_density(int argc, char **argv)
{
    struct hx_density_run d = {.gate = {.cmd = "density"}, .kept = {.fd = -1}};
    int rc = hx_engine_opts_init(&d.s.o, "density", 0);

    if (rc == 0)
        rc = parse(&d, argc, argv);
    if (rc == 0)
        rc = d.slurm ? print_script(&d, argc, argv) : sweep(&d);
    hx_run_free(&d);
    return rc;
}
