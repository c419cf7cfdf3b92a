/* Christoffel symbols, see metric.h. */
#include "metric.h"

#include <string.h>

static const double step = 1e-2; /* of the differences */

static int differences(const struct hx_metric *m, const double *x, struct hx_metric_at *out, struct hx_error *err)
{
    const size_t n = m->n;
    double at[HX_METRIC_MOST], more[HX_METRIC_MOST * HX_METRIC_MOST], less[HX_METRIC_MOST * HX_METRIC_MOST];
    double unused[HX_METRIC_MOST * HX_METRIC_MOST];
    int rc = m->at(m->arg, x, out->g, out->inverse, err);

    memcpy(at, x, n * sizeof(*at));
    for (size_t l = 0; l < n && !rc; l++) {
        at[l] = x[l] + step;
        rc = m->at(m->arg, at, more, unused, err);
        at[l] = x[l] - step;
        if (!rc)
            rc = m->at(m->arg, at, less, unused, err);
        at[l] = x[l];
        for (size_t i = 0; i < n * n && !rc; i++)
            out->slope[l][i] = (more[i] - less[i]) / (2 * step);
    }
    return rc;
}

int hx_metric_slopes(const struct hx_metric *m, const double *x, struct hx_metric_at *out, struct hx_error *err)
{
    return m->slopes ? m->slopes(m->arg, x, out, err) : differences(m, x, out, err);
}

/* Of one pair i, j: all k. */
static void one_pair(const struct hx_metric_at *a, size_t n, size_t i, size_t j, hx_symbols out)
{
    double lower[HX_METRIC_MOST];

    for (size_t l = 0; l < n; l++)
        lower[l] = .5 * (a->slope[i][j * n + l] + a->slope[j][i * n + l] - a->slope[l][i * n + j]);
    for (size_t k = 0; k < n; k++) {
        double sum = 0;

        for (size_t l = 0; l < n; l++)
            sum += a->inverse[k * n + l] * lower[l];
        out[k][i][j] = out[k][j][i] = sum;
    }
}

int hx_metric_symbols(const struct hx_metric *m, const double *x, hx_symbols out, struct hx_error *err)
{
    struct hx_metric_at a;
    int rc = hx_metric_slopes(m, x, &a, err);

    for (size_t i = 0; i < m->n && !rc; i++)
        for (size_t j = 0; j <= i; j++)
            one_pair(&a, m->n, i, j, out);
    return rc;
}

void hx_symbols_apply(const hx_symbols c, size_t n, const double *u, const double *w, double *to)
{
    for (size_t k = 0; k < n; k++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                sum += c[k][i][j] * u[i] * w[j];
        to[k] = sum;
    }
}

int hx_metric_product(const struct hx_metric *m, const double *x, const double *u, const double *w, double *out, struct hx_error *err)
{
    double g[HX_METRIC_MOST * HX_METRIC_MOST], inverse[HX_METRIC_MOST * HX_METRIC_MOST];
    int rc = m->at(m->arg, x, g, inverse, err);

    *out = 0;
    for (size_t i = 0; i < m->n && !rc; i++)
        for (size_t j = 0; j < m->n; j++)
            *out += g[i * m->n + j] * u[i] * w[j];
    return rc;
}
