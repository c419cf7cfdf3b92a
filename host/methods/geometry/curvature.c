/* Curvature of a metric field, and the field of a cloud, see curvature.h. */
#include "curvature.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"

enum { MOST = HX_CURVED_MOST, NEIGHBOURS = 8 };

static const double step_g = 1e-2, step_symbols = 5e-3; /* of the differences */
static const double floor_g = 1e-3, roof_g = 1e3, reach = .6;

/* --- symbols: of k, i, j at [k][i][j] */

typedef double symbols[MOST][MOST][MOST];

/* d_l g_ij at [l][i][j]. */
static int slopes(const struct hx_metric *m, const double *x, symbols out, struct hx_error *err)
{
    double at[MOST], more[MOST * MOST], less[MOST * MOST], unused[MOST * MOST];
    int rc = 0;

    memcpy(at, x, m->n * sizeof(*at));
    for (size_t l = 0; l < m->n && !rc; l++) {
        at[l] = x[l] + step_g;
        rc = m->at(m->arg, at, more, unused, err);
        at[l] = x[l] - step_g;
        if (!rc)
            rc = m->at(m->arg, at, less, unused, err);
        at[l] = x[l];
        for (size_t i = 0; i < m->n; i++)
            for (size_t j = 0; j < m->n; j++)
                out[l][i][j] = (more[i * m->n + j] - less[i * m->n + j]) / (2 * step_g);
    }
    return rc;
}

static int symbols_at(const struct hx_metric *m, const double *x, symbols out, struct hx_error *err)
{
    double g[MOST * MOST], inverse[MOST * MOST];
    symbols d;
    int rc = m->at(m->arg, x, g, inverse, err);

    if (!rc)
        rc = slopes(m, x, d, err);
    for (size_t k = 0; k < m->n && !rc; k++)
        for (size_t i = 0; i < m->n; i++)
            for (size_t j = 0; j < m->n; j++) {
                double sum = 0;

                for (size_t l = 0; l < m->n; l++)
                    sum += inverse[k * m->n + l] * (d[i][j][l] + d[j][i][l] - d[l][i][j]);
                out[k][i][j] = .5 * sum;
            }
    return rc;
}

/* --- curvature */

/* Ricci_lj = R^k_lkj, out of the symbols c and their slopes: d[i] is what d_i makes of them. */
static double ricci(size_t n, symbols c, symbols *d, size_t l, size_t j)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++) {
        sum += d[k][k][j][l] - d[j][k][k][l];
        for (size_t p = 0; p < n; p++)
            sum += c[k][k][p] * c[p][j][l] - c[k][j][p] * c[p][k][l];
    }
    return sum;
}

static int symbol_slopes(const struct hx_metric *m, const double *x, symbols *out, struct hx_error *err)
{
    double at[MOST];
    symbols less;
    int rc = 0;

    memcpy(at, x, m->n * sizeof(*at));
    for (size_t i = 0; i < m->n && !rc; i++) {
        at[i] = x[i] + step_symbols;
        rc = symbols_at(m, at, out[i], err);
        at[i] = x[i] - step_symbols;
        if (!rc)
            rc = symbols_at(m, at, less, err);
        at[i] = x[i];
        for (size_t k = 0; k < m->n; k++)
            for (size_t a = 0; a < m->n; a++)
                for (size_t b = 0; b < m->n; b++)
                    out[i][k][a][b] = (out[i][k][a][b] - less[k][a][b]) / (2 * step_symbols);
    }
    return rc;
}

int hx_curved_at(const struct hx_metric *m, const double *x, struct hx_curved *out, struct hx_error *err)
{
    double g[MOST * MOST], inverse[MOST * MOST], squares = 0;
    symbols c, d[MOST];
    int rc = m->at(m->arg, x, g, inverse, err);

    if (!rc)
        rc = symbols_at(m, x, c, err);
    if (!rc)
        rc = symbol_slopes(m, x, d, err);
    *out = (struct hx_curved){0, 0};
    for (size_t l = 0; l < m->n && !rc; l++)
        for (size_t j = 0; j < m->n; j++) {
            out->scalar += inverse[l * m->n + j] * ricci(m->n, c, d, l, j);
            for (size_t k = 0; k < m->n; k++)
                squares += c[k][l][j] * c[k][l][j];
        }
    out->christoffel = sqrt(squares);
    return rc;
}

/* --- a cloud */

/* to = sum over eigenvectors of f(value) v v^T, of the symmetric a, which is lost. */
static int function_of(double *a, size_t n, double (*f)(double), double *to, double *other, double (*f_other)(double),
                       struct hx_error *err)
{
    double values[MOST];
    const int rc = hx_eigen_symmetric(a, n, values, err);

    for (size_t i = 0; i < n && !rc; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0, sum_other = 0;

            for (size_t v = 0; v < n; v++) {
                sum += f(values[v]) * a[v * n + i] * a[v * n + j];
                sum_other += other ? f_other(values[v]) * a[v * n + i] * a[v * n + j] : 0;
            }
            to[i * n + j] = sum;
            if (other)
                other[i * n + j] = sum_other;
        }
    return rc;
}

/* Logarithm of the metric's eigenvalue where the covariance has v. */
static double log_of_inverse(double v)
{
    return log(fmin(fmax(1 / v, floor_g), roof_g));
}

static double exp_of_minus(double v)
{
    return exp(-v);
}

static double distance2(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* The points nearest to point i, itself left out. */
static void nearest(const struct hx_cloud_metric *c, size_t i, size_t out[NEIGHBOURS])
{
    double far[NEIGHBOURS];
    size_t n = 0;

    for (size_t j = 0; j < c->points; j++) {
        const double d2 = distance2(c->x + i * c->n, c->x + j * c->n, c->n);
        size_t at;

        if (j == i || (n == NEIGHBOURS && d2 >= far[n - 1]))
            continue;
        n += n < NEIGHBOURS;
        for (at = n - 1; at > 0 && far[at - 1] > d2; at--) {
            far[at] = far[at - 1];
            out[at] = out[at - 1];
        }
        far[at] = d2;
        out[at] = j;
    }
}

static void covariance(const struct hx_cloud_metric *c, const size_t of[NEIGHBOURS], double *to)
{
    double mean[MOST] = {0};

    for (size_t p = 0; p < NEIGHBOURS; p++)
        for (size_t i = 0; i < c->n; i++)
            mean[i] += c->x[of[p] * c->n + i] / NEIGHBOURS;
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < c->n; j++) {
            double sum = i == j ? floor_g : 0;

            for (size_t p = 0; p < NEIGHBOURS; p++)
                sum += (c->x[of[p] * c->n + i] - mean[i]) * (c->x[of[p] * c->n + j] - mean[j]) / NEIGHBOURS;
            to[i * c->n + j] = sum;
        }
}

int hx_cloud_metric_open(struct hx_cloud_metric *c, struct hx_error *err)
{
    int rc = 0;

    c->logs = malloc(c->points * c->n * c->n * sizeof(*c->logs));
    if (!c->logs)
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < c->points && !rc; i++) {
        double local[MOST * MOST];
        size_t of[NEIGHBOURS];

        nearest(c, i, of);
        covariance(c, of, local);
        rc = function_of(local, c->n, log_of_inverse, c->logs + i * c->n * c->n, NULL, NULL, err);
    }
    return rc;
}

void hx_cloud_metric_free(struct hx_cloud_metric *c)
{
    free(c->logs);
    c->logs = NULL;
}

static int field_at(const void *arg, const double *x, double *g, double *inverse, struct hx_error *err)
{
    const struct hx_cloud_metric *c = arg;
    double mean[MOST * MOST] = {0}, least = INFINITY, all = 0;

    for (size_t i = 0; i < c->points; i++)
        least = fmin(least, distance2(x, c->x + i * c->n, c->n));
    for (size_t i = 0; i < c->points; i++) {
        const double weight = exp((least - distance2(x, c->x + i * c->n, c->n)) / (2 * reach * reach));

        all += weight;
        for (size_t k = 0; k < c->n * c->n; k++)
            mean[k] += weight * c->logs[i * c->n * c->n + k];
    }
    for (size_t k = 0; k < c->n * c->n; k++)
        mean[k] /= all;
    return function_of(mean, c->n, exp, g, inverse, exp_of_minus, err);
}

struct hx_metric hx_cloud_metric_field(const struct hx_cloud_metric *c)
{
    return (struct hx_metric){c->n, field_at, c};
}
