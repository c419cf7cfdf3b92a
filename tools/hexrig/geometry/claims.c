/* The claims' numbers, see claims.h. */
#include "claims.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "coverage.h"
#include "methods/geometry/curvature.h"
#include "methods/geometry/store.h"
#include "rays.h"
#include "simulate.h"
#include "warp.h"

enum { SMALL = 64, LOOKS = 8, WARPED = 32, MANY = 1000, RAYS = 8 };

static const double ladder[] = {.0125, .025, .05, .1, .2, .4, .8, 1.6, 3.2, 5};
static const struct hx_near near_as_published = {3, .4, 0};

static const char *const holds = "holds", *const reproduced = "reproduced", *const not_reproduced = "not reproduced";

static const char *gate(int ok)
{
    return ok ? holds : "fails";
}

static const char *again(int ok)
{
    return ok ? reproduced : not_reproduced;
}

/* --- what claims share */

static int open_space(struct hx_claims *c, struct hx_space *p, size_t points, int *is_open, struct hx_error *err)
{
    int rc;

    if (*is_open)
        return 0;
    *p = c->of;
    p->points = points;
    *is_open = 1;
    rc = hx_space_open(p);
    if (!rc)
        rc = hx_space_metric(p, &p->cloud);
    return rc ? hx_error_set(err, -ECANCELED, "a cloud of %zu points cannot be made", points) : 0;
}

static int small(struct hx_claims *c, struct hx_error *err)
{
    return open_space(c, &c->small, SMALL, &c->small_open, err);
}

static int dense(struct hx_claims *c, struct hx_error *err)
{
    return open_space(c, &c->dense, c->of.points, &c->dense_open, err);
}

static int forms(struct hx_claims *c, struct hx_error *err)
{
    int rc = c->forms_known ? 0 : hx_closed_forms(&c->forms, err);

    c->forms_known = !rc;
    return rc;
}

static int make_one(void *arg, size_t i, struct hx_error *err)
{
    struct hx_claims *c = arg;
    const int rc = hx_trajectory_of(&c->dense.cloud, &c->how, i, &c->trajectory[i], err);

    c->straight[i] = rc == -EDOM;
    return rc == -EDOM ? 0 : rc;
}

static int trajectories(struct hx_claims *c, struct hx_error *err)
{
    int rc = c->made ? 0 : dense(c, err);

    if (!rc && !c->made)
        rc = hx_subject_each(&c->dense.s, HX_CLAIM_TRAJECTORIES, make_one, c, err);
    c->made = !rc;
    return rc;
}

void hx_claims_free(struct hx_claims *c)
{
    if (c->small_open)
        hx_space_close(&c->small);
    if (c->dense_open)
        hx_space_close(&c->dense);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* --- one by one */

static int definite(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    int rc = small(c, err);

    if (rc)
        return rc;
    r->number = c->small.cloud.metric.least;
    r->status = gate(r->number > 0);
    snprintf(r->note, sizeof(r->note), "largest %.6g", c->small.cloud.metric.most);
    return 0;
}

static int symmetric(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    struct hx_metric m;
    hx_symbols s;
    int rc = small(c, err);

    if (!rc)
        m = hx_cloud_metric_field(&c->small.cloud.metric);
    for (size_t p = 0; p < LOOKS && !rc; p++) {
        rc = hx_metric_symbols(&m, c->small.cloud.x + p * m.n, s, err);
        for (size_t k = 0; k < m.n && !rc; k++)
            for (size_t a = 0; a < m.n * m.n; a++)
                r->number = fmax(r->number, fabs(s[k][a / m.n][a % m.n] - s[k][a % m.n][a / m.n]));
    }
    r->status = gate(r->number <= 1e-9);
    return rc;
}

static int great_circles(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    int rc = forms(c, err);

    r->number = c->forms.great_circle;
    r->status = gate(r->number < 1e-5 && c->forms.drift < 1e-4);
    snprintf(r->note, sizeof(r->note), "squared speed drifts by %.2g", c->forms.drift);
    return rc;
}

static int sphere_curvature(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    int rc = forms(c, err);

    r->number = c->forms.curvature;
    r->status = gate(r->number < .02);
    return rc;
}

static int flat_exact(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    int rc = forms(c, err);

    r->number = c->forms.flat;
    r->status = gate(r->number <= 1e-15);
    return rc;
}

static int linear(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    int rc = forms(c, err);

    r->number = c->forms.linearity;
    r->status = gate(r->number <= 1e-12);
    snprintf(r->note, sizeof(r->note), "J on the sphere is within %.2g of cos", c->forms.sphere_field);
    return rc;
}

static int sphere_table(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    int rc = forms(c, err);

    r->number = c->forms.ratio[0];
    r->status = gate(r->number >= 3.2 && r->number <= 4.8 && c->forms.ratio[1] >= 3.2 && c->forms.ratio[1] <= 4.8);
    snprintf(r->note, sizeof(r->note), "relative error %.2g %.2g %.2g at eps .05 .1 .2", c->forms.error[0], c->forms.error[1],
             c->forms.error[2]);
    return rc;
}

/* Median radius of 5 % of some trajectories. */
struct radii {
    struct hx_claims *c;
    double rho[HX_CLAIM_TRAJECTORIES];
};

static int one_radius(void *arg, size_t i, struct hx_error *err)
{
    struct radii *r = arg;
    const struct hx_metric m = hx_cloud_metric_field(&r->c->dense.cloud.metric);
    const uint64_t key = hx_keyed(hx_space_key(&r->c->dense, HX_SPACE_KEY_OWN), i);
    int rc;

    if (r->c->straight[i])
        return 0;
    rc = hx_radius_of(&m, &r->c->trajectory[i], &r->c->how, ladder, sizeof(ladder) / sizeof(ladder[0]), .05, 4, key, &r->rho[i], err);
    return rc == -EDOM ? 0 : rc;
}

static int validity(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    struct radii all = {.c = c};
    int rc = trajectories(c, err);

    if (!rc)
        rc = hx_subject_each(&c->dense.s, HX_CLAIM_TRAJECTORIES, one_radius, &all, err);
    qsort(all.rho, HX_CLAIM_TRAJECTORIES, sizeof(all.rho[0]), by_size);
    r->number = all.rho[HX_CLAIM_TRAJECTORIES / 2];
    r->status = again(r->number >= 5);
    snprintf(r->note, sizeof(r->note), "from %.4g to %.4g, %d trajectories, %zu points", all.rho[0], all.rho[HX_CLAIM_TRAJECTORIES - 1],
             HX_CLAIM_TRAJECTORIES, c->of.points);
    return rc;
}

static int coverage(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    const uint64_t key = hx_space_key(&c->of, HX_SPACE_KEY_OWN);
    struct hx_covered own = {{0}, {0}}, noise = {{0}, {0}};
    int rc = small(c, err);

    if (!rc && !c->small.noise.metric.logs)
        rc = hx_space_metric(&c->small, &c->small.noise) ? -ECANCELED : 0;
    if (!rc)
        rc = hx_coverage(&c->small.cloud, 16, 3, 16, key, &own, err);
    if (!rc)
        rc = hx_coverage(&c->small.noise, 16, 3, 16, key, &noise, err);
    r->number = own.rest[0];
    r->status = hx_coverage_verdict(own.rest[0], noise.rest[0]);
    snprintf(r->note, sizeof(r->note), "noise %.1f; local metric %.1f, noise %.1f", noise.rest[0], own.rest[1], noise.rest[1]);
    return rc;
}

static int resonance(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    static double x[HX_METRIC_MOST * MANY], all[HX_METRIC_MOST * MANY];
    double one[HX_METRIC_MOST] = {0}, got[HX_METRIC_MOST];
    int rc = trajectories(c, err);
    const struct hx_trajectory *t = &c->trajectory[0];

    if (rc)
        return rc;
    for (size_t i = 0; i < t->n * MANY; i++)
        x[i] = t->q[i / MANY] + .3 * sin((double)i);
    hx_trajectory_correct_all(t, x, MANY, all);
    for (size_t b = 0; b < MANY; b++) {
        for (size_t l = 0; l < t->n; l++)
            one[l] = x[l * MANY + b];
        hx_trajectory_correct(t, one, got);
        for (size_t i = 0; i < t->n; i++)
            r->number = fmax(r->number, fabs(got[i] - all[i * MANY + b]));
    }
    r->status = gate(r->number <= 1e-15);
    snprintf(r->note, sizeof(r->note), "times are of the machine: see the command");
    return 0;
}

static int record(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    struct hx_store_frame f = {.candidates = HX_STORE_BEST};
    int rc = dense(c, err);

    if (rc)
        return rc;
    f.w = c->dense.w; /* its shape is asked for */
    r->number = (double)hx_store_record_bytes(&f);
    r->status = gate(r->number < 50 * 1024);
    snprintf(r->note, sizeof(r->note), "%d way points, the whole propagator, %d candidates, the state aimed at", HX_TRAJECTORY_POINTS,
             HX_STORE_BEST);
    return 0;
}

static int rank_five(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    double change = 0, m, d;
    size_t n = 0;
    int rc = trajectories(c, err);

    for (size_t i = 0; i < HX_CLAIM_TRAJECTORIES && !rc; i++) {
        if (c->straight[i])
            continue;
        rc = hx_trajectory_rank_error(&c->trajectory[i], 5, &m, &d, err);
        r->number += m;
        change += d;
        n++;
    }
    r->number /= n ? (double)n : 1;
    r->status = again(r->number < 5e-4);
    snprintf(r->note, sizeof(r->note), "of the propagator less 1: %.3g", change / (n ? (double)n : 1));
    return rc;
}

static int lookup(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    const struct hx_cloud *cloud = &c->dense.cloud;
    struct hx_library *l = NULL;
    size_t same = 0;
    int rc = dense(c, err);

    if (!rc)
        rc = hx_questions_library(&l, cloud, &near_as_published, err);
    for (size_t i = 0; i < cloud->held && !rc; i++)
        same += hx_library_ask(l, cloud->y + i * cloud->n).which == hx_library_scan(l, cloud->y + i * cloud->n, 0).which;
    hx_library_close(l);
    r->number = rc ? 0 : (double)same / (double)cloud->held;
    r->status = gate(r->number == 1);
    snprintf(r->note, sizeof(r->note), "%zu records; times are of the machine: see the command", c->of.points);
    return rc;
}

static double share(size_t part, const struct hx_substituted *s)
{
    return s->asked ? (double)part / (double)s->asked : 0;
}

static int substitution(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    struct hx_substituted s = {0};
    int rc = small(c, err);

    if (!rc)
        rc = hx_substitute_shares(&c->small.cloud, &near_as_published, SIZE_MAX, &s, err);
    r->number = share(s.corrects, &s);
    r->status = again(r->number < .02 && share(s.misses, &s) < .1);
    snprintf(r->note, sizeof(r->note), "hits %.3g, misses %.3g", share(s.hits, &s), share(s.misses, &s));
    return rc;
}

/* Of the dense cloud, once for two claims. */
static int substitute_dense(struct hx_claims *c, struct hx_substituted *s, struct hx_error *err)
{
    int rc = c->substituted_known ? 0 : dense(c, err);

    if (!rc && !c->substituted_known)
        rc = hx_substitute(&c->dense, &c->how, &near_as_published, c->questions, &c->substituted, err);
    c->substituted_known = !rc;
    *s = c->substituted;
    return rc;
}

static int dense_substitution(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    struct hx_substituted s = {0};
    int rc = substitute_dense(c, &s, err);

    r->number = s.corrects ? s.error_median[0] : s.error_median[1];
    r->status = again(s.corrects && r->number < 1e-5);
    snprintf(r->note, sizeof(r->note), "%zu points: correctable %.3g, of hits %.3g; errors up to 5 %%: %.3g; same token %.3g", c->of.points,
             share(s.corrects, &s), s.error_median[1], s.good, s.top1_corrected);
    return rc;
}

static int block_end(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    struct hx_substituted s = {0};
    int rc = substitute_dense(c, &s, err);

    r->number = s.anchor_median;
    r->status = again(s.anchor_median < s.blend_median / 2);
    snprintf(r->note, sizeof(r->note), "a blend of four %.3g", s.blend_median);
    return rc;
}

static int hit_rate(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    const struct hx_mixture m = HX_MIXTURE_INIT;
    struct hx_simulated own = {0}, control = {0};
    int rc = hx_simulate(&m, 3, 1, c->of.seed, &own, err);

    if (!rc)
        rc = hx_simulate(&m, 3, 0, c->of.seed, &control, err);
    r->number = (double)own.hits / (double)m.queries;
    r->status = again(r->number >= .9 && (double)own.kept <= .1 * (double)m.queries);
    snprintf(r->note, sizeof(r->note), "keeping %.3g; without clusters %.3g hits", (double)own.kept / (double)m.queries,
             (double)control.hits / (double)m.queries);
    return rc;
}

static int warped(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    struct hx_warped w = {0};
    int rc = dense(c, err);

    if (!rc)
        rc = hx_warp_measure(&c->dense, &c->how, .5, 1, WARPED, &w, err);
    r->number = (double)w.turned;
    r->status = again(w.turned == 0);
    snprintf(r->note, sizeof(r->note), "of %zu; ends move by %.3g of the way, mean", w.asked, w.shift);
    return rc;
}

static int rays_of(struct hx_claims *c, struct hx_cloud *cloud, struct hx_rays *out, struct hx_error *err)
{
    if (!cloud->metric.logs && hx_space_metric(&c->dense, cloud))
        return -ECANCELED;
    return hx_rays_of(&c->dense.s, cloud, near_as_published.eps, RAYS, .4, 200, hx_space_key(&c->of, HX_SPACE_KEY_OWN), out, err);
}

static int star(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    struct hx_rays own = {0}, noise = {0};
    int rc = dense(c, err);

    if (!rc)
        rc = forms(c, err);
    if (!rc)
        rc = rays_of(c, &c->dense.cloud, &own, err);
    if (!rc)
        rc = rays_of(c, &c->dense.noise, &noise, err);
    r->number = (double)own.of[HX_STAR_LEFT] / RAYS;
    r->status = again(r->number == 1);
    snprintf(r->note, sizeof(r->note), "conjugate %zu, lost %zu; noise %.3g; flat ball %.3g, ring %.3g; cap %.3g, with antipode %.3g",
             own.of[HX_STAR_CONJUGATE], own.of[HX_STAR_LOST], (double)noise.of[HX_STAR_LEFT] / RAYS, c->forms.star.ball,
             c->forms.star.ring, c->forms.star.cap, c->forms.star.beyond);
    return rc;
}

/* The error falls as t does, and its part of the second order faster. */
static int heat_kernel(struct hx_claims *c, struct hx_claim_result *r, struct hx_error *err)
{
    int rc = forms(c, err);
    const double ratio = rc ? 0 : c->forms.heat.sphere[0] / c->forms.heat.sphere[1];

    r->number = c->forms.heat.sphere[0];
    r->status = gate(ratio > 1.8 && r->number < .02 && c->forms.heat.circle < 1e-9);
    snprintf(r->note, sizeof(r->note), "%.3g times that of half the t; flat circle %.2g", ratio, c->forms.heat.circle);
    return rc;
}

const struct hx_claim hx_claims[HX_CLAIMS] = {
    {"metric_definite", "positive definite", "least eigenvalue of the 64 points' metrics", "metric", definite},
    {"symbols_symmetric", "symmetric in i, j", "largest |Gamma^k_ij - Gamma^k_ji|", "metric", symmetric},
    {"geodesics", "great circles to 1e-5", "unit sphere, 24 steps of .05: distance from the great circle", "geodesic", great_circles},
    {"curvature", "1 within 2 % on the unit sphere", "|K - 1|, out of the Riemann tensor", "metric", sphere_curvature},
    {"flat_exact", "5.6e-17", "largest error of Phi in flat space", "validity", flat_exact},
    {"linearity", "7.3e-13, superposition 1.6e-17", "|Phi(2a+b) - 2 Phi a - Phi b|, relative", "validity", linear},
    {"sphere_table", "5 10 20 % at eps .05 .1 .2: linear", "absolute error of eps .1 over that of .05: 4 is right", "validity",
     sphere_table},
    {"validity_radius", "below .1 % up to eps 5", "largest eps with errors up to 5 %, median", "validity", validity},
    {"coverage", "91.0 % at 16 of 64", "percent within 3, whitened coordinates", "coverage", coverage},
    {"batch_resonance", "1e-16 apart; 97.9, 27, 44, 60 times", "largest difference, 1000 at once and one by one", "resonance", resonance},
    {"record_bytes", "5.96 KB", "bytes of a record", "store", record},
    {"rank_5", "0.0", "what a propagator loses at rank 5, relative", "store", rank_five},
    {"lookup", "30.9 us", "recall@1 against a scan", "lookup", lookup},
    {"substitution", "64 points: all hits, 0 % correctable", "correctable share", "substitute", substitution},
    {"dense_substitution", "error 1.43e-7, 158 times", "relative error of corrections, median", "substitute", dense_substitution},
    {"block_end", "1.29 % by one anchor, 11.4 % by a blend", "median error by the nearest trajectory", "substitute", block_end},
    {"hit_rate", "92 % hits, keeping 7.8 %", "share of hits, made-up clusters", "simulate", hit_rate},
    {"curvature_warp", "2.24 %, 0 of 32", "trajectories that turned to the target's token", "warp", warped},
    {"star_shaped", "certificate of rays, left open", "share of 8 rays from the middle that pass, within 3 of a point", "star", star},
    {"heat_kernel", "d^2 = -4t log G_t, conditional", "relative error of d^2 on the unit sphere, t .02", "claims", heat_kernel},
};
