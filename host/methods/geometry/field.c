/* The metric of a cloud, see field.h. */
#include "field.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"
#include "nearest.h"

enum { MOST = HX_METRIC_MOST, ROW = HX_FIELD_ROW, LANES = 8, VECTORS = ROW / LANES };

static const double floor_g = 1e-3, roof_g = 1e3, reach = .6, least_weight = 1e-11;

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));
typedef long long choice __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));

/* --- symmetric matrices */

static void pack(const double *a, size_t n, double *row)
{
    memset(row, 0, ROW * sizeof(*row));
    for (size_t i = 0, at = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            row[at++] = a[i * n + j];
}

static void unpack(const double *row, size_t n, double *a)
{
    for (size_t i = 0, at = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            a[i * n + j] = a[j * n + i] = row[at++];
}

/* to = sum over eigenvectors v [n][n] of f(value) v v^T. */
static void compose(const double *v, const double *values, size_t n, double (*f)(double), double *to)
{
    double scaled[MOST * MOST];

    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++)
            scaled[k * n + i] = f(values[k]) * v[k * n + i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            double sum = 0;

            for (size_t k = 0; k < n; k++)
                sum += scaled[k * n + i] * v[k * n + j];
            to[i * n + j] = to[j * n + i] = sum;
        }
}

static double exp_of_minus(double v)
{
    return exp(-v);
}

static double limited_inverse(double v)
{
    return fmin(fmax(1 / v, floor_g), roof_g);
}

/* Logarithm of the metric's eigenvalue where the covariance has v. */
static double log_of_inverse(double v)
{
    return log(limited_inverse(v));
}

/* --- the points' own */

static void covariance(const struct hx_cloud_metric *c, const struct hx_neighbour *of, double *to)
{
    double mean[MOST] = {0};

    for (size_t p = 0; p < c->neighbours; p++)
        for (size_t i = 0; i < c->n; i++)
            mean[i] += c->x[of[p].at * c->n + i] / (double)c->neighbours;
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < c->n; j++) {
            double sum = i == j ? floor_g : 0;

            for (size_t p = 0; p < c->neighbours; p++)
                sum += (c->x[of[p].at * c->n + i] - mean[i]) * (c->x[of[p].at * c->n + j] - mean[j]) / (double)c->neighbours;
            to[i * c->n + j] = sum;
        }
}

static int one_point(struct hx_cloud_metric *c, const struct hx_nearest *t, size_t i, struct hx_error *err)
{
    double local[MOST * MOST], values[MOST], log_g[MOST * MOST];
    struct hx_neighbour of[HX_FIELD_NEIGHBOURS_MOST];
    int rc;

    hx_nearest_find(t, c->x + i * c->n, c->neighbours, i, of);
    covariance(c, of, local);
    rc = hx_eigen_symmetric(local, c->n, values, err);
    if (rc)
        return rc;
    compose(local, values, c->n, log_of_inverse, log_g);
    pack(log_g, c->n, c->logs + i * ROW);
    c->least = fmin(c->least, limited_inverse(values[0])); /* values fall */
    c->most = fmax(c->most, limited_inverse(values[c->n - 1]));
    return 0;
}

/* Lanes behind the last point are infinitely far. */
static void put_beside(struct hx_cloud_metric *c)
{
    for (size_t i = 0; i < (c->points + LANES - 1) / LANES * LANES; i++)
        for (size_t l = 0; l < c->n; l++)
            c->lanes[(i / LANES * c->n + l) * LANES + i % LANES] = i < c->points ? c->x[i * c->n + l] : INFINITY;
}

int hx_cloud_metric_open(struct hx_cloud_metric *c, struct hx_error *err)
{
    struct hx_nearest *t = NULL;
    int rc;

    c->logs = c->lanes = NULL;
    c->least = INFINITY;
    c->most = 0;
    c->neighbours = c->neighbours ? c->neighbours : HX_FIELD_NEIGHBOURS;
    if (c->points <= c->neighbours)
        return hx_error_set(err, -EINVAL, "a cloud of %zu points; a metric of %zu neighbours needs more", c->points, c->neighbours);
    c->logs = malloc(c->points * ROW * sizeof(*c->logs));
    c->lanes = malloc((c->points + LANES - 1) / LANES * c->n * LANES * sizeof(*c->lanes));
    if (c->lanes)
        put_beside(c);
    rc = c->logs && c->lanes ? hx_nearest_open(&t, c->x, c->points, c->n, err) : hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < c->points && !rc; i++)
        rc = one_point(c, t, i, err);
    hx_nearest_close(t);
    return rc;
}

void hx_cloud_metric_free(struct hx_cloud_metric *c)
{
    free(c->logs);
    free(c->lanes);
    c->logs = c->lanes = NULL;
}

double hx_cloud_metric_log_size(const struct hx_cloud_metric *c, size_t i)
{
    double trace = 0;

    for (size_t k = 0, at = 0; k < c->n; at += c->n - k++)
        trace += c->logs[i * ROW + at];
    return trace / (double)c->n;
}

int hx_cloud_metric_own(const struct hx_cloud_metric *c, size_t i, double *g, struct hx_error *err)
{
    double a[MOST * MOST], values[MOST];
    int rc;

    unpack(c->logs + i * ROW, c->n, a);
    rc = hx_eigen_symmetric(a, c->n, values, err);
    if (!rc)
        compose(a, values, c->n, exp, g);
    return rc;
}

/* --- the field */

/* Sums over the points: of weights w, of w (x_i - x), of w log g_i, and of w (x_i - x)_l log g_i. */
struct sums {
    double w, off[MOST];
    lanes log[VECTORS], log_off[MOST][VECTORS];
};

/* Of the points of a block. */
static lanes distances2(const struct hx_cloud_metric *c, size_t block, const double *x)
{
    lanes sum = {0};

    for (size_t l = 0; l < c->n; l++) {
        lanes off;

        memcpy(&off, c->lanes + (block * c->n + l) * LANES, sizeof(off));
        off -= x[l];
        sum += off * off;
    }
    return sum;
}

static double nearest2(const struct hx_cloud_metric *c, const double *x)
{
    lanes all = {0};
    double least = INFINITY;

    all += INFINITY;
    for (size_t i = 0; i < (c->points + LANES - 1) / LANES; i++) {
        const lanes d2 = distances2(c, i, x);
        const choice nearer = d2 < all;

        all = (lanes)((nearer & (choice)d2) | (~nearer & (choice)all));
    }
    for (size_t k = 0; k < LANES; k++)
        least = fmin(least, all[k]);
    return least;
}

static void add_logs(lanes *to, const double *row, double w)
{
    for (size_t v = 0; v < VECTORS; v++) {
        lanes l;

        memcpy(&l, row + v * LANES, sizeof(l));
        to[v] += w * l;
    }
}

static void add_point(const struct hx_cloud_metric *c, size_t i, const double *x, double w, int slopes, struct sums *s)
{
    const double *at = c->x + i * c->n, *logs = c->logs + i * ROW;

    s->w += w;
    add_logs(s->log, logs, w);
    for (size_t l = 0; l < c->n && slopes; l++) {
        s->off[l] += w * (at[l] - x[l]);
        add_logs(s->log_off[l], logs, w * (at[l] - x[l]));
    }
}

/* slopes 0: off and log_off are not wanted. */
static void sum_up(const struct hx_cloud_metric *c, const double *x, int slopes, struct sums *s)
{
    const double scale = -1 / (2 * reach * reach), least = nearest2(c, x), farthest = least + log(least_weight) / scale;

    memset(s, 0, sizeof(*s));
    for (size_t i = 0; i < c->points; i += LANES) {
        const lanes d2 = distances2(c, i / LANES, x);

        for (size_t k = 0; k < LANES; k++)
            if (d2[k] <= farthest)
                add_point(c, i + k, x, exp((d2[k] - least) * scale), slopes, s);
    }
}

/* The mean of logarithms by its eigenvectors. */
struct mean_log {
    double v[MOST * MOST], values[MOST];
};

static int mean_of(const struct sums *s, size_t n, struct mean_log *m, struct hx_error *err)
{
    double row[ROW];

    for (size_t v = 0; v < VECTORS; v++) {
        const lanes mean = s->log[v] / s->w;

        memcpy(row + v * LANES, &mean, sizeof(mean));
    }
    unpack(row, n, m->v);
    return hx_eigen_symmetric(m->v, n, m->values, err);
}

static int field_at(const void *arg, const double *x, double *g, double *inverse, struct hx_error *err)
{
    const struct hx_cloud_metric *c = arg;
    struct mean_log m;
    struct sums s;
    int rc;

    sum_up(c, x, 0, &s);
    rc = mean_of(&s, c->n, &m, err);
    if (rc)
        return rc;
    compose(m.v, m.values, c->n, exp, g);
    compose(m.v, m.values, c->n, exp_of_minus, inverse);
    return 0;
}

/* (exp a - exp b) / (a - b) */
static double divided(double a, double b)
{
    const double half = (a - b) / 2;

    return exp((a + b) / 2) * (fabs(half) > 1e-4 ? sinh(half) / half : 1 + half * half / 6);
}

/* to = a m a^T, or a^T m a where turned. */
static void conjugate(const double *a, const double *m, size_t n, int turned, double *to)
{
    double half[MOST * MOST];

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;

            for (size_t k = 0; k < n; k++)
                sum += (turned ? a[k * n + i] : a[i * n + k]) * m[k * n + j];
            half[i * n + j] = sum;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;

            for (size_t k = 0; k < n; k++)
                sum += half[i * n + k] * (turned ? a[k * n + j] : a[j * n + k]);
            to[i * n + j] = sum;
        }
}

/* d_l of the mean of logarithms. */
static void slope_of_mean(const struct sums *s, size_t n, size_t l, double *to)
{
    double row[ROW];

    for (size_t v = 0; v < VECTORS; v++) {
        const lanes d = (s->log_off[l][v] - s->log[v] * (s->off[l] / s->w)) / (s->w * reach * reach);

        memcpy(row + v * LANES, &d, sizeof(d));
    }
    unpack(row, n, to);
}

static int field_slopes(const void *arg, const double *x, struct hx_metric_at *out, struct hx_error *err)
{
    const struct hx_cloud_metric *c = arg;
    const size_t n = c->n;
    double by[MOST * MOST], d[MOST * MOST], within[MOST * MOST];
    struct mean_log m;
    struct sums s;
    int rc;

    sum_up(c, x, 1, &s);
    rc = mean_of(&s, n, &m, err);
    if (rc)
        return rc;
    compose(m.v, m.values, n, exp, out->g);
    compose(m.v, m.values, n, exp_of_minus, out->inverse);
    for (size_t i = 0; i < n * n; i++)
        by[i] = divided(m.values[i / n], m.values[i % n]);
    for (size_t l = 0; l < n; l++) {
        slope_of_mean(&s, n, l, d);
        conjugate(m.v, d, n, 0, within);
        for (size_t i = 0; i < n * n; i++)
            within[i] *= by[i];
        conjugate(m.v, within, n, 1, out->slope[l]);
    }
    return 0;
}

struct hx_metric hx_cloud_metric_field(const struct hx_cloud_metric *c)
{
    return (struct hx_metric){.n = c->n, .at = field_at, .arg = c, .slopes = field_slopes};
}
