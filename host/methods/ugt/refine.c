/* Refinement of a basis, see refine.h. */
#include "refine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double beta1 = .9, beta2 = .999, tiny = 1e-8, none = 1e-9; /* none: ||B^T B - I||_F that is rounding, without direction */

struct hx_ugt_refine hx_ugt_refine_usual(void)
{
    return (struct hx_ugt_refine){.steps = 200, .rate = .01, .lambda = 1, .decay = .01};
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Coordinate a of centroid c. */
static double place(const struct hx_ugt *u, const double *c, size_t a)
{
    const double *b = u->basis + a * u->d;
    double sum = 0;

    for (size_t x = 0; x < u->d; x++)
        sum += b[x] * (c[x] - u->mean[x]);
    return sum;
}

/* z [zones][k] and their lengths. */
static void places(const struct hx_ugt *u, const double *centroids, size_t zones, double *z, double *length)
{
    for (size_t i = 0; i < zones; i++) {
        for (size_t a = 0; a < u->k; a++)
            z[i * u->k + a] = place(u, centroids + i * u->d, a);
        length[i] = sqrt(dot(z + i * u->k, z + i * u->k, u->k));
    }
}

/* Adds g (x) (c - mean). */
static void add_outer(const struct hx_ugt *u, const double *g, const double *c, double *gradient)
{
    for (size_t a = 0; a < u->k; a++)
        for (size_t x = 0; x < u->d; x++)
            gradient[a * u->d + x] += g[a] * (c[x] - u->mean[x]);
}

/* lambda ||B^T B - I||_F, and its gradient is added. */
static double stray(const struct hx_ugt *u, double lambda, double *gradient)
{
    double square = 0, norm;

    for (size_t a = 0; a < u->k; a++)
        for (size_t b = 0; b < u->k; b++) {
            const double e = dot(u->basis + a * u->d, u->basis + b * u->d, u->d) - (a == b);

            square += e * e;
        }
    norm = sqrt(square);
    for (size_t a = 0; a < u->k && gradient && norm > none; a++)
        for (size_t b = 0; b < u->k; b++) {
            const double e = dot(u->basis + a * u->d, u->basis + b * u->d, u->d) - (a == b);

            for (size_t x = 0; x < u->d; x++)
                gradient[a * u->d + x] += lambda * 2 * e / norm * u->basis[b * u->d + x];
        }
    return lambda * norm;
}

/* Sum of cosines; g [zones][k] becomes its derivative by coordinates. */
static double cosines(const double *z, const double *length, size_t zones, size_t k, double *g)
{
    double sum = 0;

    memset(g, 0, zones * k * sizeof(*g));
    for (size_t i = 0; i < zones; i++)
        for (size_t j = 0; j < zones; j++) {
            const double both = length[i] * length[j];
            const double c = i != j && both > 0 ? dot(z + i * k, z + j * k, k) / both : 0;

            sum += i < j ? c : 0;
            for (size_t a = 0; a < k && i != j && both > 0; a++)
                g[i * k + a] += z[j * k + a] / both - c * z[i * k + a] / (length[i] * length[i]);
        }
    return sum;
}

static double mean_cosine(const struct hx_ugt *u, const double *centroids, size_t zones, double *z, double *length, double *g)
{
    places(u, centroids, zones, z, length);
    return cosines(z, length, zones, u->k, g) / ((double)zones * (double)(zones - 1) / 2);
}

/* scratch: [zones * (2 k + 1)] */
static double loss_at(const struct hx_ugt *u, const double *centroids, size_t zones, double lambda, double *gradient, double *scratch)
{
    double *z = scratch, *g = z + zones * u->k, *length = g + zones * u->k, loss;

    places(u, centroids, zones, z, length);
    loss = cosines(z, length, zones, u->k, g);
    if (gradient)
        memset(gradient, 0, u->k * u->d * sizeof(*gradient));
    for (size_t i = 0; i < zones && gradient; i++)
        add_outer(u, g + i * u->k, centroids + i * u->d, gradient);
    return loss + stray(u, lambda, gradient);
}

double hx_ugt_loss(const struct hx_ugt *u, const double *centroids, size_t zones, double lambda, double *gradient)
{
    double *scratch = malloc(zones * (2 * u->k + 1) * sizeof(*scratch)), loss = NAN;

    if (scratch)
        loss = loss_at(u, centroids, zones, lambda, gradient, scratch);
    free(scratch);
    return loss;
}

struct work {
    double *gradient, *m, *v, *best; /* [k][d] */
    double *scratch;
};

/* The part of the gradient that moves the span: G - (G B^T) B. */
static void to_tangent(const struct hx_ugt *u, double *gradient, double *row)
{
    for (size_t a = 0; a < u->k; a++) {
        double *g = gradient + a * u->d;

        for (size_t b = 0; b < u->k; b++)
            row[b] = dot(g, u->basis + b * u->d, u->d);
        for (size_t b = 0; b < u->k; b++)
            for (size_t x = 0; x < u->d; x++)
                g[x] -= row[b] * u->basis[b * u->d + x];
    }
}

static void adamw(struct hx_ugt *u, struct work *w, const struct hx_ugt_refine *how, size_t step)
{
    const double by1 = 1 - pow(beta1, (double)step), by2 = 1 - pow(beta2, (double)step);

    for (size_t i = 0; i < u->k * u->d; i++) {
        w->m[i] = beta1 * w->m[i] + (1 - beta1) * w->gradient[i];
        w->v[i] = beta2 * w->v[i] + (1 - beta2) * w->gradient[i] * w->gradient[i];
        u->basis[i] -= how->rate * (w->m[i] / by1 / (sqrt(w->v[i] / by2) + tiny) + how->decay * u->basis[i]);
    }
}

static int run(struct hx_ugt *u, const double *c, size_t zones, const struct hx_ugt_refine *how, struct work *w,
               struct hx_ugt_refined *out, struct hx_error *err)
{
    const size_t bytes = u->k * u->d * sizeof(double);
    double loss = loss_at(u, c, zones, how->lambda, w->gradient, w->scratch);
    int rc = 0;

    out->loss_before = out->loss_after = loss;
    memcpy(w->best, u->basis, bytes);
    for (size_t step = 1; step <= how->steps && !rc; step++) {
        to_tangent(u, w->gradient, w->scratch);
        adamw(u, w, how, step);
        rc = hx_ugt_orthonormal(u->basis, u->k, u->d, err);
        loss = rc ? out->loss_after : loss_at(u, c, zones, how->lambda, w->gradient, w->scratch);
        if (loss < out->loss_after) {
            out->loss_after = loss;
            out->best_step = step;
            memcpy(w->best, u->basis, bytes);
        }
    }
    memcpy(u->basis, w->best, bytes);
    return rc;
}

static int check_zones(const struct hx_ugt *u, const double *c, size_t zones, double *scratch, struct hx_error *err)
{
    double *length = scratch + zones * u->k;

    places(u, c, zones, scratch, length);
    for (size_t i = 0; i < zones; i++)
        if (!(length[i] > 0))
            return hx_error_set(err, -EINVAL, "ugt: the centroid of zone %zu has no direction in the basis", i);
    return 0;
}

int hx_ugt_refine(struct hx_ugt *u, const double *centroids, size_t zones, const struct hx_ugt_refine *how, struct hx_ugt_refined *out,
                  struct hx_error *err)
{
    const size_t n = u->k * u->d;
    struct work w = {0};
    double *all, *length;
    int rc;

    *out = (struct hx_ugt_refined){0};
    if (zones < 2)
        return hx_error_set(err, -EINVAL, "ugt: %zu zones; 2 are needed", zones);
    all = calloc(4 * n + zones * (2 * u->k + 1) + u->k, sizeof(*all));
    if (!all)
        return hx_error_set(err, -ENOMEM, "ugt: out of memory");
    w = (struct work){all, all + n, all + 2 * n, all + 3 * n, all + 4 * n};
    length = w.scratch + 2 * zones * u->k;
    rc = check_zones(u, centroids, zones, w.scratch, err);
    if (!rc) {
        out->cosine_before = mean_cosine(u, centroids, zones, w.scratch, length, w.scratch + zones * u->k);
        rc = run(u, centroids, zones, how, &w, out, err);
        out->cosine_after = mean_cosine(u, centroids, zones, w.scratch, length, w.scratch + zones * u->k);
    }
    free(all);
    return rc;
}
