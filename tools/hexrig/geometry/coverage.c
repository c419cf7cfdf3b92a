/* hexrig geometry coverage: how many states lie within eps of a few that are kept, by two metrics, beside noise. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "cli/line_plot.h"
#include "cmd_geometry.h"
#include "coverage.h"
#include "subspace/activations.h"

enum { OPT_EPS = HX_SPACE_OPT_FREE, OPT_REPEATS, OPT_PLOT };
enum { KEPT = 4, MOST_REPEATS = 1024 };

static const size_t of_64[KEPT] = {6, 16, 32, 48};

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    {"eps", OPT_EPS, "E", 0, "how near is near (3)", 0},
    {"repeats", OPT_REPEATS, "N", 0, "choices of what is kept (16)", 0},
    {"plot", OPT_PLOT, "FILE", 0, "also a picture, FILE.svg or FILE.png, by gnuplot", 0},
    {0},
};

static const char doc[] =
    "Of a cloud some points are kept, 6, 16, 32 and 48 of 64, and of larger clouds as many in proportion; the share of the "
    "others that lie within --eps of the nearest kept one, in percent, mean of --repeats choices.  global: by distance in "
    "whitened coordinates (Mahalanobis); local: by the kept point's own metric, of its 8 neighbours.  held_out: of the states of "
    "the text that is scored.  Beside each stands what normal noise of the same shape gives; where the two differ by less than 4 "
    "points the verdict is `no evidence`.  With -o also CASE_coverage.json."
    "\vExample: hexrig geometry coverage --plot coverage.svg";

struct run {
    struct hx_space p; /* first */
    double eps;
    size_t repeats;
    const char *plot;
};

static int option(struct run *r, int key, char *arg)
{
    switch (key) {
    case OPT_EPS:
        return hx_opt_real(r->p.s.cmd, "eps", arg, 0, 1e6, &r->eps);
    case OPT_REPEATS:
        return hx_opt_size(r->p.s.cmd, "repeats", arg, 1, MOST_REPEATS, &r->repeats);
    case OPT_PLOT:
        r->plot = arg;
        return hx_gnuplot_check(r->p.s.cmd, arg);
    default:
        return hx_space_option(&r->p, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- measuring */

static double squared(const double *g, const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sum += (g ? g[i * n + j] : i == j) * (a[i] - b[i]) * (a[j] - b[j]);
    return sum;
}

/* Of one question: whether a kept point is near by either metric. */
static void ask(const struct hx_cloud *c, const double *own, const size_t *kept, size_t n_kept, const double *x, double eps,
                double within[2])
{
    double least[2] = {INFINITY, INFINITY};

    for (size_t k = 0; k < n_kept; k++) {
        const double *at = c->x + kept[k] * c->n;

        least[0] = fmin(least[0], squared(NULL, x, at, c->n));
        least[1] = fmin(least[1], squared(own + kept[k] * c->n * c->n, x, at, c->n));
    }
    for (int m = 0; m < 2; m++)
        within[m] += least[m] <= eps * eps;
}

/* own [points][n][n]: each point's metric. */
static int one_choice(const struct hx_cloud *c, const double *own, size_t n_kept, double eps, uint64_t key, struct hx_covered *to)
{
    size_t *order = malloc(c->points * sizeof(*order));
    double rest[2] = {0}, held[2] = {0};

    if (!order || hx_choose(order, c->points, c->points, key)) {
        free(order);
        return -ENOMEM;
    }
    for (size_t i = n_kept; i < c->points; i++)
        ask(c, own, order, n_kept, c->x + order[i] * c->n, eps, rest);
    for (size_t i = 0; i < c->held; i++)
        ask(c, own, order, n_kept, c->y + i * c->n, eps, held);
    for (int m = 0; m < 2; m++) {
        to->rest[m] += n_kept < c->points ? 100 * rest[m] / (double)(c->points - n_kept) : 100;
        to->held[m] += 100 * held[m] / (double)c->held;
    }
    free(order);
    return 0;
}

int hx_coverage(const struct hx_cloud *c, size_t n_kept, double eps, size_t repeats, uint64_t key, struct hx_covered *out,
                struct hx_error *err)
{
    double *own = malloc(c->points * c->n * c->n * sizeof(*own));
    int rc = own ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    *out = (struct hx_covered){{0}, {0}};
    for (size_t i = 0; i < c->points && !rc; i++)
        rc = hx_cloud_metric_own(&c->metric, i, own + i * c->n * c->n, err);
    for (size_t r = 0; r < repeats && !rc; r++)
        if (one_choice(c, own, n_kept, eps, hx_keyed(key, r), out))
            rc = hx_error_set(err, -ENOMEM, "out of memory");
    for (int m = 0; m < 2; m++) {
        out->rest[m] /= (double)repeats;
        out->held[m] /= (double)repeats;
    }
    free(own);
    return rc;
}

const char *hx_coverage_verdict(double states, double noise)
{
    return fabs(states - noise) < 4 ? "no evidence" : states > noise ? "more than noise" : "less than noise";
}

/* --- answers */

static json_t *side(double states, double noise)
{
    return json_pack("{s:f, s:f, s:s}", "states", states, "noise", noise, "verdict", hx_coverage_verdict(states, noise));
}

static json_t *row(const struct hx_covered *own, const struct hx_covered *noise)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "global", side(own->rest[0], noise->rest[0]), "local", side(own->rest[1], noise->rest[1]),
                     "held_out_global", side(own->held[0], noise->held[0]), "held_out_local", side(own->held[1], noise->held[1]));
}

static int draw(const struct run *r, const size_t *kept, struct hx_covered (*all)[2])
{
    static const char *const names[] = {"states, global metric", "noise, global metric", "states, local metric", "noise, local metric"};
    double at[4][KEPT][2];
    struct hx_plot_line line[4];
    const struct hx_plot plot = {.title = "States near a kept one", .x = "points that are kept", .y = "percent within eps", .line = line,
                                 .n = 4};

    for (size_t l = 0; l < 4; l++) {
        for (size_t k = 0; k < KEPT; k++) {
            at[l][k][0] = (double)kept[k];
            at[l][k][1] = all[k][l % 2].rest[l / 2];
        }
        line[l] = (struct hx_plot_line){names[l], at[l], KEPT};
    }
    return hx_plot_draw(r->p.s.cmd, r->plot, &plot);
}

static int measure(struct run *r)
{
    const uint64_t key = hx_space_key(&r->p, HX_SPACE_KEY_OWN);
    struct hx_covered all[KEPT][2];
    struct hx_error err = {""};
    size_t kept[KEPT];
    json_t *j = NULL;
    char name[32];
    int rc = hx_space_metric(&r->p, &r->p.cloud);

    if (!rc)
        rc = hx_space_metric(&r->p, &r->p.noise);
    for (size_t k = 0; k < KEPT && !rc; k++) {
        kept[k] = r->p.points * of_64[k] / 64 ? r->p.points * of_64[k] / 64 : 1;
        if (hx_coverage(&r->p.cloud, kept[k], r->eps, r->repeats, key, &all[k][0], &err) ||
            hx_coverage(&r->p.noise, kept[k], r->eps, r->repeats, key, &all[k][1], &err))
            rc = hx_cmd_fail(r->p.s.cmd, "%s", err.text);
    }
    if (!rc && r->plot)
        rc = draw(r, kept, all);
    if (rc)
        return rc;
    j = hx_space_json(&r->p);
    json_object_set_new(j, "eps", json_real(r->eps));
    json_object_set_new(j, "repeats", json_integer((json_int_t)r->repeats));
    for (size_t k = 0; k < KEPT; k++) {
        snprintf(name, sizeof(name), "kept_%zu", kept[k]);
        json_object_set_new(j, name, row(&all[k][0], &all[k][1]));
    }
    return hx_space_answer(&r->p, "coverage", j);
}

int hx_geometry_cmd_coverage(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.p = hx_space_of("geometry coverage", 64), .eps = 3, .repeats = 16};
    int rc = hx_opt_parse(r.p.s.cmd, &argp, argc, argv, &r);

    if (!rc)
        rc = hx_space_open(&r.p);
    if (!rc)
        rc = measure(&r);
    hx_space_close(&r.p);
    return rc;
}
