/* hexrig geometry star: whether geodesics from the middle of a cloud tell where all of it is, ray by ray. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "closed_forms.h"
#include "cmd_geometry.h"
#include "methods/geometry/nearest.h"
#include "rays.h"
#include "trajectories.h"

enum { OPT_RAYS = HX_SPACE_OPT_FREE, OPT_WITHIN, OPT_STEP, OPT_STEPS };

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    {"rays", OPT_RAYS, "N", 0, "directions (16)", 0},
    {"within", OPT_WITHIN, "E", 0, "the region: what lies within E of a point, in whitened coordinates (3)", 0},
    {"step", OPT_STEP, "H", 0, "of a ray, in lengths of the metric (0.1)", 0},
    {"steps", OPT_STEPS, "N", 0, "of a ray (300)", 0},
    {0},
};

static const char doc[] =
    "Geodesics start at the point of the cloud that is nearest to its mean, in --rays directions.  A ray passes when it leaves the "
    "region near the cloud's points and stays outside (left); of others it is counted that they never left it (inside), came back "
    "(returns), met a conjugate point in it, or that their speed drifts by 1 % or numbers end (lost).  star_shaped: all of them "
    "pass; that is the certificate, of these directions.  The same of noise, and of regions where the answer is known: a "
    "flat ball and a spherical cap of radius 3 are, a "
    "flat ring and a cap that has the antipode in it are not.  With -o also CASE_star_certificate.json."
    "\vExample: hexrig geometry star --neighbours 32 --within 1.5";

struct run {
    struct hx_space p; /* first */
    size_t rays, steps;
    double within, step;
};

static int option(struct run *r, int key, char *arg)
{
    const char *cmd = r->p.s.cmd;

    switch (key) {
    case OPT_RAYS:
        return hx_opt_size(cmd, "rays", arg, 1, 65536, &r->rays);
    case OPT_WITHIN:
        return hx_opt_real(cmd, "within", arg, 1e-3, 1000, &r->within);
    case OPT_STEP:
        return hx_opt_real(cmd, "step", arg, 1e-6, 1, &r->step);
    case OPT_STEPS:
        return hx_opt_size(cmd, "steps", arg, 1, 65536, &r->steps);
    default:
        return hx_space_option(&r->p, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- rays */

struct near_points {
    struct hx_nearest *tree;
    double within;
};

static int is_near(const void *arg, const double *x)
{
    const struct near_points *p = arg;
    struct hx_neighbour n;

    return hx_nearest_find(p->tree, x, 1, SIZE_MAX, &n) && n.d2 <= p->within * p->within;
}

struct job {
    const struct hx_cloud *c;
    struct hx_star_region region;
    double step;
    size_t steps;
    uint64_t key;
    const double *from;
    struct hx_star_ray *ray;
};

static int one_ray(void *arg, size_t i, struct hx_error *err)
{
    const struct job *j = arg;
    const struct hx_metric m = hx_cloud_metric_field(&j->c->metric);
    double v[HX_METRIC_MOST];

    hx_direction(hx_keyed(j->key, i), m.n, v);
    return hx_star_follow(&m, &j->region, j->from, v, j->step, j->steps, &j->ray[i], err);
}

static int by_length(const void *a, const void *b)
{
    const double x = ((const struct hx_star_ray *)a)->length, y = ((const struct hx_star_ray *)b)->length;

    return (x > y) - (x < y);
}

int hx_rays_of(const struct hx_subject *s, const struct hx_cloud *c, double within, size_t n, double step, size_t steps, uint64_t key,
               struct hx_rays *out, struct hx_error *err)
{
    const double mean[HX_METRIC_MOST] = {0};
    struct near_points near = {NULL, within};
    struct job job = {.c = c, .region = {is_near, &near}, .step = step, .steps = steps, .key = key};
    struct hx_neighbour middle;
    int rc = hx_nearest_open(&near.tree, c->x, c->points, c->n, err);

    *out = (struct hx_rays){.n = n};
    job.ray = calloc(n, sizeof(*job.ray));
    if (!rc && !job.ray)
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    if (!rc) {
        hx_nearest_find(near.tree, mean, 1, SIZE_MAX, &middle);
        job.from = c->x + middle.at * c->n;
        rc = hx_subject_each(s, n, one_ray, &job, err);
    }
    for (size_t i = 0; i < n && !rc; i++)
        out->of[job.ray[i].verdict]++;
    if (!rc) {
        qsort(job.ray, n, sizeof(*job.ray), by_length);
        out->median_length = job.ray[n / 2].length;
    }
    hx_nearest_close(near.tree);
    free(job.ray);
    return rc;
}

/* --- answers */

static json_t *rays_json(const struct hx_rays *r)
{
    json_t *j = json_pack("{s:f, s:b, s:f}", "share", (double)r->of[HX_STAR_LEFT] / (double)r->n, "star_shaped",
                          r->of[HX_STAR_LEFT] == r->n, "length_median", r->median_length);

    for (size_t v = 0; v < HX_STAR_VERDICTS; v++)
        json_object_set_new(j, hx_star_names[v], json_integer((json_int_t)r->of[v]));
    return j;
}

static int of_cloud(struct run *r, struct hx_cloud *c, struct hx_rays *out)
{
    struct hx_error err = {""};
    int rc = hx_space_metric(&r->p, c);

    if (!rc && hx_rays_of(&r->p.s, c, r->within, r->rays, r->step, r->steps, hx_space_key(&r->p, HX_SPACE_KEY_OWN), out, &err))
        rc = hx_cmd_fail(r->p.s.cmd, "%s", err.text);
    return rc;
}

static int measure(struct run *r)
{
    struct hx_closed_forms forms;
    struct hx_rays own, noise;
    struct hx_error err = {""};
    json_t *j;
    int rc = of_cloud(r, &r->p.cloud, &own);

    if (!rc)
        rc = of_cloud(r, &r->p.noise, &noise);
    if (!rc && hx_closed_forms(&forms, &err))
        rc = hx_cmd_fail(r->p.s.cmd, "%s", err.text);
    if (rc)
        return rc;
    j = hx_space_json(&r->p);
    json_object_set_new(j, "rays", json_integer((json_int_t)r->rays));
    json_object_set_new(j, "within", json_real(r->within));
    json_object_set_new(j, "dl", json_real(r->step));
    json_object_set_new(j, "steps", json_integer((json_int_t)r->steps));
    json_object_set_new(j, "states", rays_json(&own));
    json_object_set_new(j, "noise", rays_json(&noise));
    json_object_set_new(j, "known", json_pack("{s:f, s:f, s:f, s:f}", "flat_ball", forms.star.ball, "flat_ring", forms.star.ring,
                                              "cap", forms.star.cap, "beyond_the_antipode", forms.star.beyond));
    return hx_space_answer(&r->p, "star_certificate", j);
}

int hx_geometry_cmd_star(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.p = hx_space_of("geometry star", 1024), .rays = 16, .steps = 300, .within = 3, .step = .1};
    int rc = hx_opt_parse(r.p.s.cmd, &argp, argc, argv, &r);

    if (!rc)
        rc = hx_space_open(&r.p);
    if (!rc)
        rc = measure(&r);
    hx_space_close(&r.p);
    return rc;
}
