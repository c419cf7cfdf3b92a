/* Curvature of a metric field, see curvature.h. */
#include "curvature.h"

#include <math.h>
#include <string.h>

static const double step = 5e-3; /* of the differences */

/* The symbols at a point, and their slopes: d[i] is what d_i makes of them. */
struct around {
    double g[HX_METRIC_MOST * HX_METRIC_MOST], inverse[HX_METRIC_MOST * HX_METRIC_MOST];
    hx_symbols c, d[HX_METRIC_MOST];
};

static int look_around(const struct hx_metric *m, const double *x, struct around *a, struct hx_error *err)
{
    double at[HX_METRIC_MOST];
    hx_symbols less;
    int rc = m->at(m->arg, x, a->g, a->inverse, err);

    if (!rc)
        rc = hx_metric_symbols(m, x, a->c, err);
    memcpy(at, x, m->n * sizeof(*at));
    for (size_t i = 0; i < m->n && !rc; i++) {
        at[i] = x[i] + step;
        rc = hx_metric_symbols(m, at, a->d[i], err);
        at[i] = x[i] - step;
        if (!rc)
            rc = hx_metric_symbols(m, at, less, err);
        at[i] = x[i];
        for (size_t k = 0; k < m->n && !rc; k++)
            for (size_t p = 0; p < m->n; p++)
                for (size_t q = 0; q < m->n; q++)
                    a->d[i][k][p][q] = (a->d[i][k][p][q] - less[k][p][q]) / (2 * step);
    }
    return rc;
}

/* R^k_lij */
static double riemann(const struct around *a, size_t n, size_t k, size_t l, size_t i, size_t j)
{
    double sum = a->d[i][k][j][l] - a->d[j][k][i][l];

    for (size_t p = 0; p < n; p++)
        sum += a->c[k][i][p] * a->c[p][j][l] - a->c[k][j][p] * a->c[p][i][l];
    return sum;
}

int hx_curved_at(const struct hx_metric *m, const double *x, struct hx_curved *out, struct hx_error *err)
{
    struct around a;
    double squares = 0;
    int rc = look_around(m, x, &a, err);

    *out = (struct hx_curved){0, 0};
    for (size_t l = 0; l < m->n && !rc; l++)
        for (size_t j = 0; j < m->n; j++)
            for (size_t k = 0; k < m->n; k++) {
                out->scalar += a.inverse[l * m->n + j] * riemann(&a, m->n, k, l, k, j);
                squares += a.c[k][l][j] * a.c[k][l][j];
            }
    out->christoffel = sqrt(squares);
    return rc;
}

static void along(const struct around *a, size_t n, const double *v, double *to)
{
    for (size_t k = 0; k < n; k++)
        for (size_t b = 0; b < n; b++) {
            double sum = 0;

            for (size_t c = 0; c < n; c++)
                for (size_t d = 0; d < n; d++)
                    sum += riemann(a, n, k, c, b, d) * v[c] * v[d];
            to[k * n + b] = sum;
        }
}

int hx_curved_along(const struct hx_metric *m, const double *x, const double *v, double *to, struct hx_error *err)
{
    struct around a;
    int rc = look_around(m, x, &a, err);

    if (!rc)
        along(&a, m->n, v, to);
    return rc;
}

static double product(const double *g, size_t n, const double *u, const double *w)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sum += g[i * n + j] * u[i] * w[j];
    return sum;
}

int hx_curved_section(const struct hx_metric *m, const double *x, const double *u, const double *w, double *out, struct hx_error *err)
{
    const size_t n = m->n;
    double k[HX_METRIC_MOST * HX_METRIC_MOST], turned[HX_METRIC_MOST], area;
    struct around a;
    int rc = look_around(m, x, &a, err);

    *out = 0;
    if (rc)
        return rc;
    along(&a, n, w, k);
    for (size_t i = 0; i < n; i++) {
        turned[i] = 0;
        for (size_t j = 0; j < n; j++)
            turned[i] += k[i * n + j] * u[j];
    }
    area = product(a.g, n, u, u) * product(a.g, n, w, w) - pow(product(a.g, n, u, w), 2);
    if (area > 1e-12 * product(a.g, n, u, u) * product(a.g, n, w, w))
        *out = product(a.g, n, turned, u) / area;
    return 0;
}
