/* hexrig geometry geodesic: how well geodesics of a cloud's metric keep their speed, by the step they are made with. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "cmd_geometry.h"
#include "methods/geometry/geodesic.h"
#include "space.h"
#include "subspace/activations.h"

enum { OPT_SAMPLES = HX_SPACE_OPT_FREE, OPT_DRIFT };
enum { STEPS = 6, FIRST = 16, MOST_SAMPLES = 4096 };

static const double first_step = .05;

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    {"samples", OPT_SAMPLES, "N", 0, "geodesics (32)", 0},
    {"drift", OPT_DRIFT, "D", 0, "of the squared speed that is borne (1e-4)", 0},
    {0},
};

static const char doc[] =
    "Geodesics from states towards the next token's, of length .8 in time: 16 steps of .05, 32 of half that, down to a 32nd.  An "
    "exact one keeps its speed g(v, v); by step: how much it changed, at the median and at most, and how far the end is from the "
    "finest step's.  The metric of nearest neighbours is rough, so the chosen step is the largest at which the median changes by "
    "no more than --drift.  aim: how far the end is from the next state, as a share of the way.  With -o also CASE_geodesic.json."
    "\vExample: hexrig geometry geodesic --points 4096";

struct run {
    struct hx_space p; /* first */
    size_t samples;
    double drift;
    size_t *at;              /* [samples] points */
    double (*drifts)[STEPS]; /* [samples] */
    double (*ends)[STEPS][HX_METRIC_MOST];
    size_t done;
};

static int option(struct run *r, int key, char *arg)
{
    switch (key) {
    case OPT_SAMPLES:
        return hx_opt_size(r->p.s.cmd, "samples", arg, 1, MOST_SAMPLES, &r->samples);
    case OPT_DRIFT:
        return hx_opt_real(r->p.s.cmd, "drift", arg, 1e-12, 1, &r->drift);
    default:
        return hx_space_option(&r->p, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static int one(void *arg, size_t i, struct hx_error *err)
{
    struct run *r = arg;
    const struct hx_cloud *c = &r->p.cloud;
    const struct hx_metric m = hx_cloud_metric_field(&c->metric);
    const double *x = c->x + r->at[i] * c->n, *to = c->x_next + r->at[i] * c->n;
    int rc = 0;

    for (size_t s = 0; s < STEPS && !rc; s++) {
        struct hx_geodesic g = {.carried = 0};

        memcpy(g.x, x, c->n * sizeof(*x));
        rc = hx_geodesic_aim(&m, x, to, first_step * FIRST, g.v, err);
        if (!rc)
            rc = hx_geodesic_run(&m, &g, first_step / (double)(1 << s), (size_t)FIRST << s, NULL, &r->drifts[i][s], err);
        memcpy(r->ends[i][s], g.x, sizeof(g.x));
    }
    return rc;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double distance(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static json_t *of_step(const struct run *r, size_t s, double *room, double *median)
{
    const size_t n = r->p.cloud.n;
    double off = 0, most;

    for (size_t i = 0; i < r->samples; i++)
        room[i] = r->drifts[i][s];
    qsort(room, r->samples, sizeof(*room), by_size);
    *median = room[r->samples / 2];
    most = room[r->samples - 1];
    for (size_t i = 0; i < r->samples; i++)
        room[i] = distance(r->ends[i][s], r->ends[i][STEPS - 1], n);
    qsort(room, r->samples, sizeof(*room), by_size);
    off = room[r->samples / 2];
    return json_pack("{s:f, s:f, s:f}", "drift_median", *median, "drift_most", most, "end_off_median", off);
}

/* Median distance of the finest end to the next state, over that of the start. */
static double aim(const struct run *r, double *room)
{
    const struct hx_cloud *c = &r->p.cloud;

    for (size_t i = 0; i < r->samples; i++) {
        const double *x = c->x + r->at[i] * c->n, *to = c->x_next + r->at[i] * c->n;

        room[i] = distance(r->ends[i][STEPS - 1], to, c->n) / distance(x, to, c->n);
    }
    qsort(room, r->samples, sizeof(*room), by_size);
    return room[r->samples / 2];
}

static int answer(struct run *r, double *room)
{
    json_t *j = hx_space_json(&r->p);
    double median, chosen = 0;
    char name[32];

    json_object_set_new(j, "samples", json_integer((json_int_t)r->samples));
    for (size_t s = 0; s < STEPS; s++) {
        snprintf(name, sizeof(name), "steps_%d", FIRST << s);
        json_object_set_new(j, name, of_step(r, s, room, &median));
        if (chosen == 0 && median <= r->drift)
            chosen = first_step / (double)(1 << s);
    }
    json_object_set_new(j, "drift", json_real(r->drift));
    json_object_set_new(j, "chosen_step", chosen > 0 ? json_real(chosen) : json_string("none of these"));
    json_object_set_new(j, "aim", json_real(aim(r, room)));
    return hx_space_answer(&r->p, "geodesic", j);
}

static int measure(struct run *r)
{
    double *room = malloc(r->samples * sizeof(*room));
    struct hx_error err = {""};
    int rc;

    r->at = malloc(r->samples * sizeof(*r->at));
    r->drifts = calloc(r->samples, sizeof(*r->drifts));
    r->ends = calloc(r->samples, sizeof(*r->ends));
    rc = room && r->at && r->drifts && r->ends && !hx_choose(r->at, r->samples, r->p.points, hx_space_key(&r->p, HX_SPACE_KEY_OWN))
             ? hx_space_metric(&r->p, &r->p.cloud)
             : hx_cmd_fail(r->p.s.cmd, "out of memory");
    if (!rc && hx_subject_each(&r->p.s, r->samples, one, r, &err))
        rc = hx_cmd_fail(r->p.s.cmd, "%s", err.text);
    if (!rc)
        rc = answer(r, room);
    free(room);
    free(r->at);
    free(r->drifts);
    free(r->ends);
    return rc;
}

int hx_geometry_cmd_geodesic(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.p = hx_space_of("geometry geodesic", 64), .samples = 32, .drift = 1e-4};
    int rc = hx_opt_parse(r.p.s.cmd, &argp, argc, argv, &r);

    if (!rc && r.samples > r.p.points)
        rc = hx_cmd_usage(r.p.s.cmd, "--samples %zu of --points %zu", r.samples, r.p.points);
    if (!rc)
        rc = hx_space_open(&r.p);
    if (!rc)
        rc = measure(&r);
    hx_space_close(&r.p);
    return rc;
}
