/* hexrig geometry resonance: what correcting many questions at once is worth on this machine. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/keyed.h"
#include "cli/gnuplot.h"
#include "cli/line_plot.h"
#include "cli/report.h"
#include "cmd_geometry.h"
#include "on_dsp.h"
#include "subspace/activations.h"
#include "trajectories.h"

enum { OPT_PLOT = HX_MADE_OPT_FREE, OPT_PACKETS, OPT_RECORDS };
enum { SIZES = 5, MOST = 10000, ROUNDS = 7 };

static const size_t sizes[SIZES] = {1, 10, 100, 1000, MOST};

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    HX_MADE_OPTIONS,
    {"profile", HX_OPT_PROFILE, "P", 0, "also on the DSP: of the timing model (s22u-577, s22u-sync, dspqueue)", 0},
    {"packets", OPT_PACKETS, NULL, 0, "with --profile: packets of a dspqueue, no calls", 0},
    {"records", OPT_RECORDS, "N", 0, "with --profile: trajectories in DSP memory (64)", 0},
    {"plot", OPT_PLOT, "FILE", 0, "also a picture, FILE.svg or FILE.png, by gnuplot", 0},
    {0},
};

static const char doc[] =
    "Corrects B questions by one trajectory, one by one and all at once, which gives the same bits (apart: how far they are "
    "apart), and prints what each question takes either way on this machine: the least of 7 rounds, measured.  With -o also "
    "CASE_batch_jacobi.json.  With --profile also a library in DSP memory, which one call asks B questions: each is looked up "
    "and corrected there. us_per_question is modelled, dispatch and all, over_a_call_each what it is worth beside a call for "
    "each question, host_us measured; crossover: the least B from which the DSP is ahead of this machine."
    "\vExample: hexrig geometry resonance --plot resonance.svg";

struct run {
    struct hx_space p; /* first */
    struct hx_made how;
    struct hx_dsp_how dsp; /* profile NULL: not there */
    const char *plot;
};

static int option(struct run *r, int key, char *arg)
{
    int rc;

    switch (key) {
    case OPT_PLOT:
        r->plot = arg;
        return hx_gnuplot_check(r->p.s.cmd, arg);
    case HX_OPT_PROFILE:
        r->dsp.profile = arg;
        return 0;
    case OPT_PACKETS:
        r->dsp.packets = 1;
        return 0;
    case OPT_RECORDS:
        return hx_opt_size(r->p.s.cmd, "records", arg, 1, 65536, &r->dsp.records);
    default:
        rc = hx_made_option(r->p.s.cmd, &r->how, key, arg);
        return rc == HX_OPT_UNKNOWN ? hx_space_option(&r->p, key, arg) : rc;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- measuring */

/* Questions both ways round, and answers. */
struct asked {
    const struct hx_trajectory *t;
    size_t many;
    double *rows, *columns; /* [many][n], [n][many] */
    double *one_by_one, *together;
};

static void ask_one_by_one(const struct asked *a)
{
    for (size_t b = 0; b < a->many; b++)
        hx_trajectory_correct(a->t, a->rows + b * a->t->n, a->one_by_one + b * a->t->n);
}

static void ask_together(const struct asked *a)
{
    hx_trajectory_correct_all(a->t, a->columns, a->many, a->together);
}

/* Nanoseconds of a question: the least of some rounds, each of which asks a hundred thousand. */
static double time_of(void (*ask)(const struct asked *a), const struct asked *a)
{
    const size_t times = 100000 / a->many;
    double least = INFINITY;

    for (size_t r = 0; r < ROUNDS; r++) {
        const double start = hx_report_clock();

        for (size_t i = 0; i < times; i++) {
            ask(a);
            __asm__ volatile("" ::: "memory"); /* each time anew */
        }
        least = fmin(least, (hx_report_clock() - start) * 1e9 / (double)(times * a->many));
    }
    return least;
}

static double apart(const struct asked *a)
{
    double most = 0;

    for (size_t b = 0; b < a->many; b++)
        for (size_t i = 0; i < a->t->n; i++)
            most = fmax(most, fabs(a->one_by_one[b * a->t->n + i] - a->together[i * a->many + b]));
    return most;
}

static json_t *of_size(struct asked *a, uint64_t key, double ns[2])
{
    const size_t n = a->t->n;

    for (size_t b = 0; b < a->many; b++)
        for (size_t i = 0; i < n; i++)
            a->rows[b * n + i] = a->columns[i * a->many + b] = a->t->q[i] + .3 * hx_normal_at(key, b * n + i);
    ns[0] = time_of(ask_one_by_one, a);
    ns[1] = time_of(ask_together, a);
    return json_pack("{s:f, s:f, s:f, s:f}", "one_by_one_ns", ns[0], "together_ns", ns[1], "speedup", ns[0] / ns[1], "apart", apart(a));
}

static int draw(const struct run *r, double (*ns)[2])
{
    static const char *const names[] = {"one by one", "together"};
    double at[2][SIZES][2];
    struct hx_plot_line line[2];
    const struct hx_plot plot = {.title = "Corrections", .x = "questions", .y = "ns of each", .log_x = 1, .log_y = 1, .line = line, .n = 2};

    for (size_t k = 0; k < 2; k++) {
        for (size_t s = 0; s < SIZES; s++) {
            at[k][s][0] = (double)sizes[s];
            at[k][s][1] = ns[s][k];
        }
        line[k] = (struct hx_plot_line){names[k], at[k], SIZES};
    }
    return hx_plot_draw(r->p.s.cmd, r->plot, &plot);
}

static int answer(struct run *r, struct asked *a)
{
    double ns[SIZES][2];
    const struct hx_dsp_sizes all = {sizes, SIZES};
    json_t *j = hx_space_json(&r->p), *dsp = NULL;
    char name[32];
    int rc;

    for (size_t s = 0; s < SIZES; s++) {
        a->many = sizes[s];
        snprintf(name, sizeof(name), "batch_%zu", sizes[s]);
        json_object_set_new(j, name, of_size(a, hx_space_key(&r->p, HX_SPACE_KEY_OWN), ns[s]));
    }
    rc = r->plot ? draw(r, ns) : HX_EXIT_OK;
    if (!rc && r->dsp.profile)
        rc = hx_dsp_resonance(&r->p, &r->how, &r->dsp, &all, &dsp);
    if (dsp)
        json_object_set_new(j, "dsp", dsp);
    if (!rc)
        return hx_space_answer(&r->p, "batch_jacobi", j);
    json_decref(j);
    return rc;
}

static int measure(struct run *r)
{
    const size_t room = MOST * r->p.axes;
    double *x = calloc(4 * room, sizeof(*x));
    struct hx_trajectory t;
    struct asked a = {&t, 0, x, x + room, x + 2 * room, x + 3 * room};
    struct hx_error err = {""};
    int rc = x ? hx_space_metric(&r->p, &r->p.cloud) : hx_cmd_fail(r->p.s.cmd, "out of memory");

    if (!rc && hx_trajectory_of(&r->p.cloud, &r->how, 0, &t, &err))
        rc = hx_cmd_fail(r->p.s.cmd, "%s", err.text);
    if (!rc)
        rc = answer(r, &a);
    free(x);
    return rc;
}

int hx_geometry_cmd_resonance(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.p = hx_space_of("geometry resonance", 1024), .how = {.05, 16}, .dsp = {NULL, 0, 64}};
    int rc = hx_opt_parse(r.p.s.cmd, &argp, argc, argv, &r);

    if (!rc && r.dsp.packets && !r.dsp.profile)
        rc = hx_cmd_usage(r.p.s.cmd, "--packets needs --profile");
    if (!rc && r.dsp.profile && r.dsp.records > r.p.points)
        rc = hx_cmd_usage(r.p.s.cmd, "--records %zu of --points %zu", r.dsp.records, r.p.points);
    if (!rc)
        rc = hx_space_open(&r.p);
    if (!rc)
        rc = measure(&r);
    hx_space_close(&r.p);
    return rc;
}
