/* hexrig geometry metric: the metric of a cloud of states, how definite, how curved, beside noise. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"
#include "base/keyed.h"
#include "cli/gnuplot.h"
#include "cmd_geometry.h"
#include "methods/geometry/curvature.h"
#include "space.h"
#include "subspace/activations.h"

enum { OPT_SAMPLES = HX_SPACE_OPT_FREE, OPT_PLOT };
enum { MOST_SAMPLES = 65536 };

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    {"samples", OPT_SAMPLES, "N", 0, "points of the cloud that are looked at (64)", 0},
    {"plot", OPT_PLOT, "FILE", 0, "also a picture of the curvature over the cloud, FILE.svg or FILE.png, by gnuplot", 0},
    {0},
};

static const char doc[] =
    "The metric of a cloud: at a point the inverse of its 8 nearest neighbours' covariance, in between the mean of logarithms.  "
    "At --samples points of the cloud: the least and the largest eigenvalue (all above 0: it is positive definite), scalar "
    "curvature out of the Riemann tensor (mean, median, the share that is negative), and how far the Christoffel symbols are "
    "from symmetric; the same of noise.  With -o also CASE_metric.json."
    "\vExample: hexrig geometry metric --points 64 --plot curvature.svg";

struct look {
    struct hx_space p; /* first */
    size_t samples;
    const char *plot;
};

/* Of a sample. */
struct seen {
    size_t at;
    double least, most, asymmetry;
    struct hx_curved curved;
};

static int option(struct look *l, int key, char *arg)
{
    switch (key) {
    case OPT_SAMPLES:
        return hx_opt_size(l->p.s.cmd, "samples", arg, 1, MOST_SAMPLES, &l->samples);
    case OPT_PLOT:
        l->plot = arg;
        return hx_gnuplot_check(l->p.s.cmd, arg);
    default:
        return hx_space_option(&l->p, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

struct job {
    const struct hx_cloud *c;
    struct seen *seen;
};

static int look_at(void *arg, size_t i, struct hx_error *err)
{
    const struct job *j = arg;
    const struct hx_metric m = hx_cloud_metric_field(&j->c->metric);
    struct seen *s = &j->seen[i];
    const double *x = j->c->x + s->at * m.n;
    double g[HX_METRIC_MOST * HX_METRIC_MOST], inverse[HX_METRIC_MOST * HX_METRIC_MOST], values[HX_METRIC_MOST];
    hx_symbols c;
    int rc = m.at(m.arg, x, g, inverse, err);

    if (!rc)
        rc = hx_eigen_values(g, m.n, values, err);
    if (!rc)
        rc = hx_metric_symbols(&m, x, c, err);
    if (!rc)
        rc = hx_curved_at(&m, x, &s->curved, err);
    for (size_t k = 0; k < m.n && !rc; k++)
        for (size_t a = 0; a < m.n * m.n; a++)
            s->asymmetry = fmax(s->asymmetry, fabs(c[k][a / m.n][a % m.n] - c[k][a % m.n][a / m.n]));
    s->least = rc ? 0 : values[m.n - 1];
    s->most = rc ? 0 : values[0];
    return rc;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static json_t *sum_up(const struct seen *s, size_t n, double *room)
{
    double least = INFINITY, most = 0, asymmetry = 0, mean = 0, symbols = 0;
    size_t negative = 0;

    for (size_t i = 0; i < n; i++) {
        least = fmin(least, s[i].least);
        most = fmax(most, s[i].most);
        asymmetry = fmax(asymmetry, s[i].asymmetry);
        mean += s[i].curved.scalar / (double)n;
        symbols += s[i].curved.christoffel / (double)n;
        negative += s[i].curved.scalar < 0;
        room[i] = s[i].curved.scalar;
    }
    qsort(room, n, sizeof(*room), by_size);
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "min_eig", least, "max_eig", most, "christoffel_norm", symbols,
                     "christoffel_asymmetry", asymmetry, "scalar_curvature", mean, "scalar_curvature_median", room[n / 2],
                     "negative_curvature", (double)negative / (double)n);
}

static int draw(const struct look *l, const struct hx_cloud *c, const struct seen *s)
{
    struct hx_gnuplot g = {l->p.s.cmd, l->plot, NULL};
    int rc = hx_gnuplot_begin(&g, "Scalar curvature over the cloud");

    if (rc)
        return rc;
    fputs("set xlabel 'coordinate 1'\nset ylabel 'coordinate 2'\nset palette defined (-1 'blue', 0 'grey', 1 'red')\n"
          "plot '-' using 1:2:3 with points pointtype 7 palette notitle\n",
          g.script);
    for (size_t i = 0; i < l->samples; i++)
        fprintf(g.script, "%.9g %.9g %.9g\n", c->x[s[i].at * c->n], c->x[s[i].at * c->n + 1],
                copysign(log10(1 + fabs(s[i].curved.scalar)), s[i].curved.scalar));
    fputs("e\n", g.script);
    return hx_gnuplot_draw(&g);
}

/* One cloud's figures; drawn: its picture is wanted. */
static int of_cloud(struct look *l, struct hx_cloud *c, int drawn, json_t **out)
{
    struct seen *s = calloc(l->samples, sizeof(*s));
    double *room = malloc(l->samples * sizeof(*room));
    size_t *at = malloc(l->samples * sizeof(*at));
    struct job job = {c, s};
    struct hx_error err = {""};
    int rc = s && room && at ? hx_space_metric(&l->p, c) : hx_cmd_fail(l->p.s.cmd, "out of memory");

    if (!rc && hx_choose(at, l->samples, c->points, hx_space_key(&l->p, HX_SPACE_KEY_OWN)))
        rc = hx_cmd_fail(l->p.s.cmd, "out of memory");
    for (size_t i = 0; i < l->samples && !rc; i++)
        s[i].at = at[i];
    if (!rc && hx_subject_each(&l->p.s, l->samples, look_at, &job, &err))
        rc = hx_cmd_fail(l->p.s.cmd, "%s", err.text);
    if (!rc)
        *out = sum_up(s, l->samples, room);
    if (!rc && drawn)
        rc = draw(l, c, s);
    free(s);
    free(room);
    free(at);
    return rc;
}

static int answer(struct look *l)
{
    json_t *own = NULL, *noise = NULL, *j;
    int rc = of_cloud(l, &l->p.cloud, l->plot != NULL, &own);

    if (!rc)
        rc = of_cloud(l, &l->p.noise, 0, &noise);
    if (rc) {
        json_decref(own);
        return rc;
    }
    j = hx_space_json(&l->p);
    json_object_set_new(j, "samples", json_integer((json_int_t)l->samples));
    json_object_set_new(j, "states", own);
    json_object_set_new(j, "noise", noise);
    return hx_space_answer(&l->p, "metric", j);
}

int hx_geometry_cmd_metric(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct look l = {.p = hx_space_of("geometry metric", 64), .samples = 64};
    int rc = hx_opt_parse(l.p.s.cmd, &argp, argc, argv, &l);

    if (!rc && l.samples > l.p.points)
        rc = hx_cmd_usage(l.p.s.cmd, "--samples %zu of --points %zu", l.samples, l.p.points);
    if (!rc)
        rc = hx_space_open(&l.p);
    if (!rc)
        rc = answer(&l);
    hx_space_close(&l.p);
    return rc;
}
