/* Jacobi propagators, see jacobi.h. */
#include "jacobi.h"

#include <math.h>
#include <string.h>

#include "base/eigen.h"
#include "curvature.h"

enum { MOST = HX_METRIC_MOST, MOST2 = HX_JACOBI_MOST };

static const double pi = 3.14159265358979323846;

/* a becomes b a, both [m][m]. */
static void multiply_onto(double *a, const double *b, size_t m)
{
    double to[MOST2 * MOST2];

    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double sum = 0;

            for (size_t k = 0; k < m; k++)
                sum += b[i * m + k] * a[k * m + j];
            to[i * m + j] = sum;
        }
    memcpy(a, to, m * m * sizeof(*a));
}

static void identity(double *a, size_t m)
{
    for (size_t i = 0; i < m * m; i++)
        a[i] = i % (m + 1) ? 0 : 1;
}

/* E of a step; k [n][n] in the frame. */
static void step_matrix(const double *k, size_t n, double h, double *e)
{
    static const double share[] = {1, .5, 1. / 3}; /* of h, to the one before */
    const size_t m = 2 * n;
    double a[MOST2 * MOST2] = {0}, power[MOST2 * MOST2];

    for (size_t i = 0; i < n; i++) {
        a[i * m + n + i] = 1;
        for (size_t j = 0; j < n; j++)
            a[(n + i) * m + j] = -k[i * n + j];
    }
    identity(e, m);
    identity(power, m);
    for (size_t p = 0; p < 3; p++) {
        multiply_onto(power, a, m);
        for (size_t i = 0; i < m * m; i++) {
            power[i] *= h * share[p];
            e[i] += power[i];
        }
    }
}

/* K in the carried frame e, which is orthonormal: g(e_a, K e_b); symmetric but for rounding, and made so. */
static void in_frame(const struct hx_geodesic *s, const double *g, const double *k, size_t n, double *to)
{
    double raw[MOST * MOST];

    for (size_t b = 0; b < n; b++) {
        double turned[MOST];

        for (size_t i = 0; i < n; i++) {
            turned[i] = 0;
            for (size_t j = 0; j < n; j++)
                turned[i] += k[i * n + j] * s->frame[b][j];
        }
        for (size_t a = 0; a < n; a++) {
            double sum = 0;

            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    sum += g[i * n + j] * s->frame[a][i] * turned[j];
            raw[a * n + b] = sum;
        }
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            to[a * n + b] = (raw[a * n + b] + raw[b * n + a]) / 2;
}

/* At the middle of a step. */
static int curvature(const struct hx_metric *m, const struct hx_geodesic *s, struct hx_jacobi *out, double *k, struct hx_error *err)
{
    double g[MOST * MOST], inverse[MOST * MOST], raw[MOST * MOST], values[MOST], v2 = 0;
    int rc = m->at(m->arg, s->x, g, inverse, err);

    if (!rc)
        rc = hx_curved_along(m, s->x, s->v, raw, err);
    if (rc)
        return rc;
    in_frame(s, g, raw, m->n, k);
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++)
            v2 += g[i * m->n + j] * s->v[i] * s->v[j];
    memcpy(raw, k, m->n * m->n * sizeof(*raw));
    rc = hx_eigen_values(raw, m->n, values, err);
    if (!rc && v2 > 0)
        out->most_k = fmax(out->most_k, values[0] / v2);
    return rc;
}

int hx_jacobi_start(const struct hx_metric *m, const double *x, const double *v, struct hx_jacobi *out, struct hx_error *err)
{
    int rc;

    memset(out, 0, sizeof(*out));
    out->n = m->n;
    memcpy(out->start.x, x, m->n * sizeof(*x));
    memcpy(out->start.v, v, m->n * sizeof(*v));
    identity(out->phi, 2 * m->n);
    rc = hx_geodesic_frame(m, &out->start, err);
    if (!rc)
        rc = hx_metric_product(m, x, v, v, &out->speed2, err);
    out->end = out->start;
    return rc;
}

int hx_jacobi_step(const struct hx_metric *m, double step, struct hx_jacobi *j, struct hx_error *err)
{
    double k[MOST * MOST], e[MOST2 * MOST2], now = 0;
    int rc = hx_geodesic_step(m, &j->end, step / 2, err);

    if (!rc)
        rc = curvature(m, &j->end, j, k, err);
    if (!rc)
        rc = hx_geodesic_step(m, &j->end, step / 2, err);
    if (!rc)
        rc = hx_metric_product(m, j->end.x, j->end.v, j->end.v, &now, err);
    if (rc)
        return rc;
    j->drift = fmax(j->drift, j->speed2 > 0 ? fabs(now / j->speed2 - 1) : 0);
    step_matrix(k, m->n, step, e);
    multiply_onto(j->phi, e, 2 * m->n);
    return 0;
}

int hx_jacobi_run(const struct hx_metric *m, const double *x, const double *v, double step, size_t steps, struct hx_jacobi *out,
                  struct hx_error *err)
{
    int rc = hx_jacobi_start(m, x, v, out, err);

    for (size_t i = 0; i < steps && !rc; i++)
        rc = hx_jacobi_step(m, step, out, err);
    return rc;
}

/* Where the start moves by d and the velocity keeps its coordinates, the velocity's covariant change is Gamma(v, d). */
int hx_jacobi_of_start(const struct hx_metric *m, const struct hx_jacobi *j, double *to, struct hx_error *err)
{
    const size_t n = j->n;
    double g[MOST * MOST], inverse[MOST * MOST];
    hx_symbols c;
    int rc = m->at(m->arg, j->start.x, g, inverse, err);

    if (!rc)
        rc = hx_metric_symbols(m, j->start.x, c, err);
    for (size_t d = 0; d < n && !rc; d++) {
        double unit[MOST] = {0}, turn[MOST], first[MOST2] = {0}, last[MOST] = {0};

        unit[d] = 1;
        hx_symbols_apply(c, n, j->start.v, unit, turn);
        for (size_t a = 0; a < n; a++)
            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < n; k++) {
                    first[a] += g[i * n + k] * j->start.frame[a][i] * unit[k];
                    first[n + a] += g[i * n + k] * j->start.frame[a][i] * turn[k];
                }
        for (size_t a = 0; a < n; a++)
            for (size_t k = 0; k < 2 * n; k++)
                last[a] += j->phi[a * 2 * n + k] * first[k];
        for (size_t i = 0; i < n; i++) {
            to[i * n + d] = 0;
            for (size_t a = 0; a < n; a++)
                to[i * n + d] += last[a] * j->end.frame[a][i];
        }
    }
    return rc;
}

double hx_jacobi_reach(const struct hx_jacobi *j)
{
    return j->most_k > 0 ? pi / sqrt(j->most_k) : INFINITY;
}
