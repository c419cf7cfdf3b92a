/* hexrig geometry validity: how far from its start a trajectory's correction is worth something. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/keyed.h"
#include "cli/gnuplot.h"
#include "cli/line_plot.h"
#include "cmd_geometry.h"
#include "subspace/activations.h"
#include "trajectories.h"

enum { OPT_SEEDS = HX_MADE_OPT_FREE, OPT_PERTURB, OPT_PLOT };
enum { LADDER = 12, MOST = 1024 };

static const double ladder[LADDER] = {.0125, .025, .05, .1, .2, .4, .8, 1.2, 1.6, 2.4, 3.2, 5}, taus[] = {.05, .1, .2};
static const char *const tau_names[] = {"radius_5", "radius_10", "radius_20"};
static const char *const median_names[] = {"median_radius_5", "median_radius_10", "median_radius_20"};

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    HX_MADE_OPTIONS,
    {"n-seeds", OPT_SEEDS, "N", 0, "trajectories (12)", 0},
    {"n-perturb", OPT_PERTURB, "N", 0, "directions around each (12)", 0},
    {"plot", OPT_PLOT, "FILE", 0, "also a picture, FILE.svg or FILE.png, by gnuplot", 0},
    {0},
};

static const char doc[] =
    "Geodesics start at states of the cloud; beside each, eps away in whitened coordinates, others start with the same velocity. "
    "What the first one's Jacobi propagator says of their ends is held against where they end: error, as a share of how far that "
    "is from the first one's end (mean over all; of some the geodesic has left what numbers can say: diverged).  radius_5, "
    "radius_10, radius_20: the largest eps up to which it is at most 5, 10, 20 %.  ratio: of the absolute error at the median to "
    "that of half eps; 4 where the propagator is right to first order.  The same of noise.  With -o also "
    "CASE_validity_radius.json."
    "\vExample: hexrig geometry validity --points 4096 --n-seeds 4";

struct run {
    struct hx_space p; /* first */
    struct hx_made how;
    size_t seeds, turns;
    const char *plot;
};

/* Of one seed and direction. */
struct wrong {
    double relative[LADDER], absolute[LADDER]; /* INFINITY: diverged */
};

static int option(struct run *r, int key, char *arg)
{
    int rc;

    switch (key) {
    case OPT_SEEDS:
        return hx_opt_size(r->p.s.cmd, "n-seeds", arg, 1, MOST, &r->seeds);
    case OPT_PERTURB:
        return hx_opt_size(r->p.s.cmd, "n-perturb", arg, 1, MOST, &r->turns);
    case OPT_PLOT:
        r->plot = arg;
        return hx_gnuplot_check(r->p.s.cmd, arg);
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

struct job {
    struct run *r;
    const struct hx_cloud *c;
    const size_t *at;
    struct wrong *wrong; /* [seeds][turns] */
};

/* A geodesic that leaves the numbers is a result, not a failure. */
static int bear(int rc, double *relative, double *absolute)
{
    if (!rc && isfinite(*relative) && isfinite(*absolute))
        return 0;
    *relative = *absolute = INFINITY;
    return rc == -EDOM ? 0 : rc;
}

static int one_seed(void *arg, size_t i, struct hx_error *err)
{
    const struct job *j = arg;
    const struct run *r = j->r;
    const struct hx_metric m = hx_cloud_metric_field(&j->c->metric);
    const uint64_t key = hx_keyed(hx_space_key(&r->p, HX_SPACE_KEY_OWN), i);
    double direction[HX_METRIC_MOST], relative, absolute;
    struct hx_trajectory t;
    const int made = hx_trajectory_of(j->c, &r->how, j->at[i], &t, err);
    int rc = made == -EDOM ? 0 : made;

    for (size_t k = 0; k < r->turns && !rc; k++) {
        struct wrong *w = &j->wrong[i * r->turns + k];

        hx_direction(hx_keyed(key, k), m.n, direction);
        for (size_t e = 0; e < LADDER && !rc; e++) {
            rc = made ? made : hx_trajectory_error(&m, &t, r->how.step, r->how.steps, direction, ladder[e], &relative, &absolute, err);
            rc = bear(rc, &relative, &absolute);
            w->relative[e] = relative;
            w->absolute[e] = absolute;
        }
    }
    return rc;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Means, medians and how many diverged, by eps. */
struct level {
    double mean, median, absolute;
    size_t diverged;
};

static void sum_up(const struct wrong *w, size_t n, struct level out[LADDER], double *room)
{
    for (size_t e = 0; e < LADDER; e++) {
        size_t good = 0;

        out[e] = (struct level){0};
        for (size_t i = 0; i < n; i++) {
            room[i] = w[i].relative[e];
            good += isfinite(room[i]);
            out[e].mean += isfinite(room[i]) ? room[i] : 0;
        }
        out[e].diverged = n - good;
        out[e].mean /= good ? (double)good : 1;
        qsort(room, n, sizeof(*room), by_size);
        out[e].median = room[n / 2];
        for (size_t i = 0; i < n; i++)
            room[i] = w[i].absolute[e];
        qsort(room, n, sizeof(*room), by_size);
        out[e].absolute = room[n / 2];
    }
}

static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *levels_json(const struct level *l)
{
    json_t *j = json_object(), *by_eps = json_array(), *error = json_array(), *median = json_array(), *ratio = json_array();
    json_t *diverged = json_array();

    for (size_t t = 0; t < sizeof(taus) / sizeof(taus[0]); t++) {
        double radius = 0, of_medians = 0;

        for (size_t e = 0; e < LADDER && l[e].mean <= taus[t] && !l[e].diverged; e++)
            radius = ladder[e];
        for (size_t e = 0; e < LADDER && l[e].median <= taus[t]; e++)
            of_medians = ladder[e];
        json_object_set_new(j, tau_names[t], json_real(radius));
        json_object_set_new(j, median_names[t], json_real(of_medians));
    }
    for (size_t e = 0; e < LADDER; e++) {
        json_array_append_new(by_eps, json_real(ladder[e]));
        json_array_append_new(error, real(l[e].mean));
        json_array_append_new(median, real(l[e].median));
        json_array_append_new(diverged, json_integer((json_int_t)l[e].diverged));
    }
    for (size_t e = 1; e <= 6; e++) /* of eps that double */
        json_array_append_new(ratio, real(l[e].absolute / l[e - 1].absolute));
    json_object_set_new(j, "eps", by_eps);
    json_object_set_new(j, "error", error);
    json_object_set_new(j, "error_median", median);
    json_object_set_new(j, "diverged", diverged);
    json_object_set_new(j, "ratio", ratio);
    return j;
}

static int of_cloud(struct run *r, struct hx_cloud *c, struct level out[LADDER])
{
    const size_t n = r->seeds * r->turns;
    size_t *at = malloc(r->seeds * sizeof(*at));
    struct wrong *wrong = calloc(n, sizeof(*wrong));
    double *room = malloc(n * sizeof(*room));
    struct job job = {r, c, at, wrong};
    struct hx_error err = {""};
    int rc = at && wrong && room && !hx_choose(at, r->seeds, c->points, hx_space_key(&r->p, HX_SPACE_KEY_OWN))
                 ? hx_space_metric(&r->p, c)
                 : hx_cmd_fail(r->p.s.cmd, "out of memory");

    if (!rc && hx_subject_each(&r->p.s, r->seeds, one_seed, &job, &err))
        rc = hx_cmd_fail(r->p.s.cmd, "%s", err.text);
    if (!rc)
        sum_up(wrong, n, out, room);
    free(at);
    free(wrong);
    free(room);
    return rc;
}

/* --- answers */

static int draw(const struct run *r, struct level (*l)[LADDER])
{
    static const char *const names[] = {"states", "noise"};
    double at[2][LADDER][2];
    struct hx_plot_line line[2];
    const struct hx_plot plot = {.title = "Corrections away from a trajectory's start", .x = "eps", .y = "median relative error",
                                 .log_x = 1, .log_y = 1, .line = line, .n = 2};

    for (size_t k = 0; k < 2; k++) {
        size_t n = 0;

        for (size_t e = 0; e < LADDER; e++)
            if (isfinite(l[k][e].median) && l[k][e].median > 0) {
                at[k][n][0] = ladder[e];
                at[k][n++][1] = l[k][e].median;
            }
        line[k] = (struct hx_plot_line){names[k], at[k], n};
    }
    return hx_plot_draw(r->p.s.cmd, r->plot, &plot);
}

static int measure(struct run *r)
{
    struct level l[2][LADDER];
    json_t *j;
    int rc = of_cloud(r, &r->p.cloud, l[0]);

    if (!rc)
        rc = of_cloud(r, &r->p.noise, l[1]);
    if (!rc && r->plot)
        rc = draw(r, l);
    if (rc)
        return rc;
    j = hx_space_json(&r->p);
    json_object_set_new(j, "steps", json_integer((json_int_t)r->how.steps));
    json_object_set_new(j, "dl", json_real(r->how.step));
    json_object_set_new(j, "n_seeds", json_integer((json_int_t)r->seeds));
    json_object_set_new(j, "n_perturb", json_integer((json_int_t)r->turns));
    json_object_set_new(j, "states", levels_json(l[0]));
    json_object_set_new(j, "noise", levels_json(l[1]));
    return hx_space_answer(&r->p, "validity_radius", j);
}

int hx_geometry_cmd_validity(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.p = hx_space_of("geometry validity", 1024), .how = {.05, 16}, .seeds = 12, .turns = 12};
    int rc = hx_opt_parse(r.p.s.cmd, &argp, argc, argv, &r);

    if (!rc && r.seeds > r.p.points)
        rc = hx_cmd_usage(r.p.s.cmd, "--n-seeds %zu of --points %zu", r.seeds, r.p.points);
    if (!rc)
        rc = hx_space_open(&r.p);
    if (!rc)
        rc = measure(&r);
    hx_space_close(&r.p);
    return rc;
}
