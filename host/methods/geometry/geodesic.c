/* Geodesics, see geodesic.h. */
#include "geodesic.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Derivatives of a state, in its own shape. */
static int slope(const struct hx_metric *m, const struct hx_geodesic *s, struct hx_geodesic *d, struct hx_error *err)
{
    hx_symbols c;
    int rc = hx_metric_symbols(m, s->x, c, err);

    if (rc)
        return rc;
    memcpy(d->x, s->v, sizeof(d->x));
    hx_symbols_apply(c, m->n, s->v, s->v, d->v);
    for (size_t i = 0; i < m->n; i++)
        d->v[i] = -d->v[i];
    for (size_t k = 0; k < s->carried; k++) {
        hx_symbols_apply(c, m->n, s->v, s->frame[k], d->frame[k]);
        for (size_t i = 0; i < m->n; i++)
            d->frame[k][i] = -d->frame[k][i];
    }
    return 0;
}

/* to = s + h d */
static void go(struct hx_geodesic *to, const struct hx_geodesic *s, const struct hx_geodesic *d, double h, size_t n)
{
    *to = *s;
    for (size_t i = 0; i < n; i++) {
        to->x[i] += h * d->x[i];
        to->v[i] += h * d->v[i];
        for (size_t k = 0; k < s->carried; k++)
            to->frame[k][i] += h * d->frame[k][i];
    }
}

int hx_geodesic_step(const struct hx_metric *m, struct hx_geodesic *s, double step, struct hx_error *err)
{
    static const double until[] = {.5, .5, 1}, share[] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    struct hx_geodesic at = *s, d, end = *s;
    int rc = 0;

    for (size_t i = 0; i < 4 && !rc; i++) {
        rc = slope(m, &at, &d, err);
        if (rc)
            break;
        go(&end, &end, &d, step * share[i], m->n);
        if (i < 3)
            go(&at, s, &d, step * until[i], m->n);
    }
    if (!rc)
        *s = end;
    return rc;
}

int hx_geodesic_run(const struct hx_metric *m, struct hx_geodesic *s, double step, size_t steps, double *path, double *drift,
                    struct hx_error *err)
{
    double first = 0, now = 0;
    int rc = drift ? hx_metric_product(m, s->x, s->v, s->v, &first, err) : 0;

    if (drift)
        *drift = 0;
    if (path)
        memcpy(path, s->x, m->n * sizeof(*path));
    for (size_t i = 0; i < steps && !rc; i++) {
        rc = hx_geodesic_step(m, s, step, err);
        if (!rc && drift)
            rc = hx_metric_product(m, s->x, s->v, s->v, &now, err);
        if (!rc && drift && first > 0)
            *drift = fmax(*drift, fabs(now / first - 1));
        if (!rc && path)
            memcpy(path + (i + 1) * m->n, s->x, m->n * sizeof(*path));
    }
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

int hx_geodesic_frame(const struct hx_metric *m, struct hx_geodesic *s, struct hx_error *err)
{
    double g[HX_METRIC_MOST * HX_METRIC_MOST], inverse[HX_METRIC_MOST * HX_METRIC_MOST];
    int rc = m->at(m->arg, s->x, g, inverse, err);

    s->carried = m->n;
    for (size_t k = 0; k < m->n && !rc; k++) {
        double *e = s->frame[k], length;

        memset(e, 0, sizeof(s->frame[k]));
        e[k] = 1;
        for (size_t j = 0; j < k; j++) {
            const double along = product(g, m->n, e, s->frame[j]);

            for (size_t i = 0; i < m->n; i++)
                e[i] -= along * s->frame[j][i];
        }
        length = product(g, m->n, e, e);
        if (!(length > 0))
            return hx_error_set(err, -EDOM, "a metric is not positive definite");
        for (size_t i = 0; i < m->n; i++)
            e[i] /= sqrt(length);
    }
    return rc;
}

int hx_geodesic_aim(const struct hx_metric *m, const double *x, const double *to, double length, double *v, struct hx_error *err)
{
    double turn[HX_METRIC_MOST];
    hx_symbols c;
    int rc = hx_metric_symbols(m, x, c, err);

    for (size_t i = 0; i < m->n; i++)
        v[i] = (to[i] - x[i]) / length;
    if (rc)
        return rc;
    hx_symbols_apply(c, m->n, v, v, turn);
    for (size_t i = 0; i < m->n; i++)
        v[i] += length / 2 * turn[i]; /* x(length) = x + length v - length^2 / 2 Gamma(v, v) */
    return 0;
}
