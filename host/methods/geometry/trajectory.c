/* Geodesics that are kept, see trajectory.h. */
#include "trajectory.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/eigen.h"

enum { MOST = HX_METRIC_MOST, PARTS = HX_TRAJECTORY_POINTS - 1, LANES = 8, VECTORS = 2 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));

static int all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

static int note_way(const struct hx_metric *m, struct hx_trajectory *t, double step, size_t steps, struct hx_error *err)
{
    struct hx_geodesic g = {.carried = 0};
    int rc = 0;

    memcpy(g.x, t->q, sizeof(g.x));
    memcpy(g.v, t->v, sizeof(g.v));
    memcpy(t->way[0], t->q, sizeof(t->q));
    for (size_t i = 1; i <= PARTS && !rc; i++) {
        rc = hx_geodesic_run(m, &g, step, steps / PARTS, NULL, NULL, err);
        memcpy(t->way[i], g.x, sizeof(g.x));
    }
    memcpy(t->end, g.x, sizeof(g.x));
    return rc;
}

int hx_trajectory_make(const struct hx_metric *m, const double *x, const double *v, double step, size_t steps, struct hx_trajectory *t,
                       struct hx_error *err)
{
    double inverse[MOST * MOST];
    struct hx_jacobi j;
    int rc;

    memset(t, 0, sizeof(*t));
    t->n = m->n;
    memcpy(t->q, x, m->n * sizeof(*x));
    memcpy(t->v, v, m->n * sizeof(*v));
    rc = m->at(m->arg, x, t->g, inverse, err);
    if (!rc)
        rc = note_way(m, t, step, steps, err);
    if (!rc)
        rc = hx_jacobi_run(m, x, v, step, steps, &j, err);
    if (!rc)
        rc = hx_jacobi_of_start(m, &j, t->correct, err);
    if (rc)
        return rc;
    t->drift = j.drift;
    t->reach = hx_jacobi_reach(&j);
    if (!all_finite(t->end, m->n) || !all_finite(t->correct, m->n * m->n))
        return hx_error_set(err, -EDOM, "a geodesic leaves what numbers can say");
    return 0;
}

void hx_trajectory_correct(const struct hx_trajectory *t, const double *x, double *to)
{
    double off[MOST];

    for (size_t l = 0; l < t->n; l++)
        off[l] = x[l] - t->q[l];
    for (size_t i = 0; i < t->n; i++) {
        double sum = t->end[i];

        for (size_t l = 0; l < t->n; l++)
            sum += t->correct[i * t->n + l] * off[l];
        to[i] = sum;
    }
}

/* Eight questions in any number of axes. */
static void eight_of_any(const struct hx_trajectory *t, const double *x, size_t many, double *to)
{
    lanes off[MOST];

    for (size_t l = 0; l < t->n; l++) {
        memcpy(&off[l], x + l * many, sizeof(off[l]));
        off[l] -= t->q[l];
    }
    for (size_t i = 0; i < t->n; i++) {
        lanes sum = {0};

        sum += t->end[i];
        for (size_t l = 0; l < t->n; l++)
            sum += t->correct[i * t->n + l] * off[l];
        memcpy(to + i * many, &sum, sizeof(sum));
    }
}

/* `vectors` times eight questions in 8 axes.  Unrolled, so that displacements and sums stay in registers and each number of M is read once
 * for all of them; sums are made in the order of hx_trajectory_correct(). */
static inline __attribute__((always_inline)) void some(const struct hx_trajectory *t, size_t vectors, const double *x, size_t many,
                                                       double *to)
{
    lanes off[MOST][VECTORS];

#pragma GCC unroll 8
    for (size_t l = 0; l < MOST; l++)
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++) {
            memcpy(&off[l][v], x + l * many + v * LANES, sizeof(off[l][v]));
            off[l][v] -= t->q[l];
        }
    for (size_t i = 0; i < MOST; i++) {
        lanes sum[VECTORS] = {{0}};

#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++)
            sum[v] += t->end[i];
#pragma GCC unroll 8
        for (size_t l = 0; l < MOST; l++)
#pragma GCC unroll 2
            for (size_t v = 0; v < vectors; v++)
                sum[v] += t->correct[i * MOST + l] * off[l][v];
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++)
            memcpy(to + i * many + v * LANES, &sum[v], sizeof(sum[v]));
    }
}

static void eight(const struct hx_trajectory *t, const double *x, size_t many, double *to)
{
    if (t->n == MOST)
        some(t, 1, x, many, to);
    else
        eight_of_any(t, x, many, to);
}

static void sixteen(const struct hx_trajectory *t, const double *x, size_t many, double *to)
{
    some(t, VECTORS, x, many, to);
}

static void one(const struct hx_trajectory *t, const double *x, size_t many, double *to)
{
    double off[MOST] = {0}, end[MOST];

    for (size_t l = 0; l < t->n; l++)
        off[l] = x[l * many];
    hx_trajectory_correct(t, off, end);
    for (size_t i = 0; i < t->n; i++)
        to[i * many] = end[i];
}

/* The last vector may have some questions that another one had, too: the same answers once more. */
void hx_trajectory_correct_all(const struct hx_trajectory *t, const double *x, size_t many, double *to)
{
    size_t b = 0;

    for (; t->n == MOST && b + VECTORS * LANES <= many; b += VECTORS * LANES)
        sixteen(t, x + b, many, to + b);
    for (; b + LANES <= many; b += LANES)
        eight(t, x + b, many, to + b);
    if (b < many && many >= LANES)
        eight(t, x + many - LANES, many, to + many - LANES);
    for (; b < many && many < LANES; b++)
        one(t, x + b, many, to + b);
}

static double distance(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

int hx_trajectory_error(const struct hx_metric *m, const struct hx_trajectory *t, double step, size_t steps, const double *direction,
                        double eps, double *relative, double *absolute, struct hx_error *err)
{
    struct hx_geodesic g = {.carried = 0};
    double corrected[MOST], moved, off;
    int rc;

    memcpy(g.v, t->v, sizeof(g.v));
    for (size_t i = 0; i < t->n; i++)
        g.x[i] = t->q[i] + eps * direction[i];
    hx_trajectory_correct(t, g.x, corrected);
    rc = hx_geodesic_run(m, &g, step, steps, NULL, NULL, err);
    if (rc)
        return rc;
    off = distance(corrected, g.x, t->n);
    moved = distance(g.x, t->end, t->n);
    *relative = off > 0 ? off / moved : 0;
    if (absolute)
        *absolute = off;
    return 0;
}

/* Share of a [n][n] that the best rank cannot hold: the root of the least squared singular values over all. */
static int lost(const double *a, size_t n, size_t rank, double *out, struct hx_error *err)
{
    double squares[MOST * MOST] = {0}, values[MOST], all = 0, rest = 0;
    int rc;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < n; k++)
                squares[i * n + j] += a[k * n + i] * a[k * n + j];
    rc = hx_eigen_values(squares, n, values, err);
    for (size_t i = 0; i < n && !rc; i++) {
        all += fmax(values[i], 0);
        rest += i < rank ? 0 : fmax(values[i], 0);
    }
    *out = all > 0 ? sqrt(rest / all) : 0;
    return rc;
}

int hx_trajectory_rank_error(const struct hx_trajectory *t, size_t rank, double *of_m, double *of_change, struct hx_error *err)
{
    double change[MOST * MOST];
    int rc = lost(t->correct, t->n, rank, of_m, err);

    for (size_t i = 0; i < t->n * t->n; i++)
        change[i] = t->correct[i] - (i % (t->n + 1) ? 0 : 1);
    return rc ? rc : lost(change, t->n, rank, of_change, err);
}
