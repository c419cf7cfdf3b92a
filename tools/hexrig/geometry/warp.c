/* hexrig geometry warp: whether bending the metric around a state draws trajectories there. */
#include "warp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_geometry.h"
#include "methods/geometry/head.h"
#include "methods/geometry/nearest.h"

enum { OPT_DEPTH = HX_MADE_OPT_FREE, OPT_REACH, OPT_QUESTIONS };

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    HX_MADE_OPTIONS,
    {"depth", OPT_DEPTH, "D", 0, "share of the metric that is taken away at the target (0.5)", 0},
    {"reach", OPT_REACH, "R", 0, "how far that reaches, in whitened coordinates (1)", 0},
    {"questions", OPT_QUESTIONS, "N", 0, "trajectories, from the points nearest to the target, up to 64 (32)", 0},
    {0},
};

static const char doc[] =
    "Injects a target, a state of the text that is scored, into the metric of a cloud: around it distances become shorter. "
    "Trajectories from the points nearest to it are made again with the same velocities.  shift: how far that moves their ends, "
    "as a share of the way; towards: mean cosine between that and the way to the target; turned: of how many ends the model then "
    "says the target's token, and did not before.  With -o also CASE_curvature_warp.json."
    "\vExample: hexrig geometry warp --depth 0.9";

struct run {
    struct hx_space p; /* first */
    struct hx_made how;
    double depth, reach;
    size_t questions;
};

static int option(struct run *r, int key, char *arg)
{
    const char *cmd = r->p.s.cmd;
    int rc;

    switch (key) {
    case OPT_DEPTH:
        return hx_opt_real(cmd, "depth", arg, 0, .999, &r->depth);
    case OPT_REACH:
        return hx_opt_real(cmd, "reach", arg, 1e-3, 1e3, &r->reach);
    case OPT_QUESTIONS:
        return hx_opt_size(cmd, "questions", arg, 1, HX_NEAREST_MOST, &r->questions);
    default:
        rc = hx_made_option(cmd, &r->how, key, arg);
        return rc == HX_OPT_UNKNOWN ? hx_space_option(&r->p, key, arg) : rc;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- the metric */

/* The factor at x, and by how much of it each coordinate changes it. */
static double factor(const struct hx_warp *w, const double *x, double *slope)
{
    double d2 = 0, dip;

    for (size_t i = 0; i < w->of.n; i++)
        d2 += (x[i] - w->at[i]) * (x[i] - w->at[i]);
    dip = w->depth * exp(-d2 / (2 * w->reach * w->reach));
    for (size_t i = 0; i < w->of.n && slope; i++)
        slope[i] = dip * (x[i] - w->at[i]) / (w->reach * w->reach);
    return 1 - dip;
}

static int warped_at(const void *arg, const double *x, double *g, double *inverse, struct hx_error *err)
{
    const struct hx_warp *w = arg;
    const double f = factor(w, x, NULL);
    int rc = w->of.at(w->of.arg, x, g, inverse, err);

    for (size_t i = 0; i < w->of.n * w->of.n; i++) {
        g[i] *= f;
        inverse[i] /= f;
    }
    return rc;
}

static int warped_slopes(const void *arg, const double *x, struct hx_metric_at *out, struct hx_error *err)
{
    const struct hx_warp *w = arg;
    const size_t n = w->of.n;
    double slope[HX_METRIC_MOST];
    const double f = factor(w, x, slope);
    int rc = w->of.slopes(w->of.arg, x, out, err);

    for (size_t l = 0; l < n && !rc; l++)
        for (size_t i = 0; i < n * n; i++)
            out->slope[l][i] = f * out->slope[l][i] + slope[l] * out->g[i];
    for (size_t i = 0; i < n * n && !rc; i++) {
        out->g[i] *= f;
        out->inverse[i] /= f;
    }
    return rc;
}

struct hx_metric hx_warp_metric(const struct hx_warp *w)
{
    return (struct hx_metric){.n = w->of.n, .at = warped_at, .arg = w, .slopes = w->of.slopes ? warped_slopes : NULL};
}

/* --- measuring */

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* What the model says of point i's aim, moved by what [n] says. */
static int says(struct hx_space *p, struct hx_head *head, size_t i, const double *by, float *room, uint32_t *id, struct hx_error *err)
{
    const size_t width = p->s.m->width;
    const float *logits;

    memcpy(room, p->fits.rows + (2 * i + 1) * width, width * sizeof(*room));
    hx_whitening_move(&p->w, by, room);
    logits = hx_head_logits(head, room, err);
    if (logits)
        *id = hx_head_first(logits, p->s.m->vocab);
    return logits ? 0 : -EDOM;
}

struct asking {
    struct hx_space *p;
    const struct hx_made *how;
    struct hx_head *head;
    float *room;
    const double *target;
    uint32_t token; /* the target's */
};

/* One trajectory in both metrics. */
static int one(const struct asking *a, const struct hx_warp *w, size_t i, struct hx_warped *out, struct hx_error *err)
{
    const struct hx_cloud *c = &a->p->cloud;
    const struct hx_metric warped = hx_warp_metric(w);
    const size_t n = c->n;
    struct hx_geodesic plain = {.carried = 0}, bent;
    double zero[HX_METRIC_MOST] = {0}, by[HX_METRIC_MOST], way[HX_METRIC_MOST], to[HX_METRIC_MOST];
    uint32_t before = 0, after = 0;
    int rc;

    memcpy(plain.x, c->x + i * n, n * sizeof(double));
    rc = hx_geodesic_aim(&w->of, plain.x, c->x_next + i * n, a->how->step * (double)a->how->steps, plain.v, err);
    bent = plain;
    if (!rc)
        rc = hx_geodesic_run(&w->of, &plain, a->how->step, a->how->steps, NULL, NULL, err);
    if (!rc)
        rc = hx_geodesic_run(&warped, &bent, a->how->step, a->how->steps, NULL, NULL, err);
    for (size_t k = 0; k < n && !rc; k++) {
        by[k] = bent.x[k] - plain.x[k];
        way[k] = plain.x[k] - c->x[i * n + k];
        to[k] = a->target[k] - plain.x[k];
    }
    if (!rc)
        rc = says(a->p, a->head, i, zero, a->room, &before, err);
    if (!rc)
        rc = says(a->p, a->head, i, by, a->room, &after, err);
    if (rc)
        return rc == -EDOM ? 0 : rc; /* it leaves the numbers: no answer */
    out->asked++;
    out->shift += sqrt(dot(by, by, n) / dot(way, way, n));
    out->towards += dot(by, to, n) / sqrt(fmax(dot(by, by, n) * dot(to, to, n), 1e-300));
    out->turned += before != a->token && after == a->token;
    return 0;
}

static int ask_all(struct asking *a, struct hx_warp *w, size_t most, struct hx_warped *out, struct hx_error *err)
{
    const struct hx_cloud *c = &a->p->cloud;
    struct hx_neighbour near[HX_NEAREST_MOST];
    const size_t n = hx_nearest_scan(c->x, c->points, c->n, a->target, most, SIZE_MAX, near);
    const float *logits = hx_head_logits(a->head, a->p->scores.rows, err);
    int rc = logits ? 0 : -EDOM;

    a->token = logits ? hx_head_first(logits, a->p->s.m->vocab) : 0;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = one(a, w, near[i].at, out, err);
        hx_watch_step(&a->p->watch, "trajectories", i + 1, n);
    }
    out->shift /= out->asked ? (double)out->asked : 1;
    out->towards /= out->asked ? (double)out->asked : 1;
    return rc;
}

int hx_warp_measure(struct hx_space *p, const struct hx_made *how, double depth, double reach, size_t most, struct hx_warped *out,
                    struct hx_error *err)
{
    struct hx_warp w = {.of = hx_cloud_metric_field(&p->cloud.metric), .depth = depth, .reach = reach};
    struct asking a = {.p = p, .how = how, .room = malloc(p->s.m->width * sizeof(float)), .target = p->cloud.y};
    int rc = a.room ? hx_head_open(&a.head, p->s.m, err) : hx_error_set(err, -ENOMEM, "out of memory");

    *out = (struct hx_warped){0};
    memcpy(w.at, p->cloud.y, p->cloud.n * sizeof(*w.at));
    if (!rc)
        rc = ask_all(&a, &w, most, out, err);
    hx_head_close(a.head);
    free(a.room);
    return rc;
}

/* --- answers */

static int measure(struct run *r)
{
    struct hx_warped got;
    struct hx_error err = {""};
    json_t *j;
    int rc = hx_space_metric(&r->p, &r->p.cloud);

    if (!rc && hx_warp_measure(&r->p, &r->how, r->depth, r->reach, r->questions, &got, &err))
        rc = hx_cmd_fail(r->p.s.cmd, "%s", err.text);
    if (rc)
        return rc;
    j = hx_space_json(&r->p);
    json_object_set_new(j, "depth", json_real(r->depth));
    json_object_set_new(j, "reach", json_real(r->reach));
    json_object_set_new(j, "trajectories", json_integer((json_int_t)got.asked));
    json_object_set_new(j, "shift", json_real(got.shift));
    json_object_set_new(j, "towards", json_real(got.towards));
    json_object_set_new(j, "turned", json_integer((json_int_t)got.turned));
    return hx_space_answer(&r->p, "curvature_warp", j);
}

int hx_geometry_cmd_warp(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.p = hx_space_of("geometry warp", 1024), .how = {.05, 16}, .depth = .5, .reach = 1, .questions = 32};
    int rc = hx_opt_parse(r.p.s.cmd, &argp, argc, argv, &r);

    if (!rc)
        rc = hx_space_open(&r.p);
    if (!rc)
        rc = measure(&r);
    hx_space_close(&r.p);
    return rc;
}
