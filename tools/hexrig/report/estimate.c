/* Parameters from rows, see estimate.h: the normal equations by their eigenvectors, of which there are some thirty. */
#include "estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"

enum { SCATTER_ROUNDS = 20 };

/* Makes `a`, symmetric and positive, its inverse. */
static int invert(double *a, size_t n, struct hx_error *err)
{
    double *v = malloc((n * n + n + 1) * sizeof(*v)), *values = v ? v + n * n : NULL;
    int rc;

    if (!v)
        return hx_error_set(err, -ENOMEM, "out of memory");
    memcpy(v, a, n * n * sizeof(*v));
    rc = hx_eigen_symmetric(v, n, values, err);
    for (size_t i = 0; !rc && i < n; i++)
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] = 0;
            for (size_t k = 0; k < n; k++)
                a[i * n + j] += v[k * n + i] * v[k * n + j] / values[k];
        }
    free(v);
    return rc;
}

double hx_estimate_sd_before(const struct hx_estimate_param *p)
{
    return log(p->high / p->low) / (2 * HX_ESTIMATE_90);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Huber's weight of each row.  What is usual is told by the median, which outliers do not move. */
static void weigh(const struct hx_estimate_problem *p, double *weight)
{
    double limit;

    for (size_t i = 0; i < p->n_rows; i++)
        weight[i] = fabs(p->residual[i]);
    qsort(weight, p->n_rows, sizeof(*weight), by_size);
    limit = HX_ESTIMATE_TRUST * 1.4826 * weight[p->n_rows / 2];
    for (size_t i = 0; i < p->n_rows; i++)
        weight[i] = fabs(p->residual[i]) > limit ? limit / fabs(p->residual[i]) : 1;
}

/* a = sum of weighted slopes' products over the rows but those of `without`, divided by scatter^2, plus what was known before; of the
 * parameters that `fitted_only` leaves.  The others get 1 on the diagonal, so that they do not take part. */
static void normal_matrix(const struct hx_estimate_problem *p, const double *weight, double scatter, size_t without,
                          int fitted_only, double *a)
{
    const size_t n = p->n;

    memset(a, 0, n * n * sizeof(*a));
    for (size_t k = 0; k < n; k++) {
        const double sd = hx_estimate_sd_before(&p->param[k]);

        a[k * n + k] = 1 / (sd * sd);
    }
    for (size_t i = 0; i < p->n_rows; i++)
        for (size_t k = 0; p->source[i] != without && k < n; k++)
            for (size_t l = 0; l < n; l++)
                if (!fitted_only || (p->param[k].fitted && p->param[l].fitted))
                    a[k * n + l] += weight[i] * p->slopes[i * n + k] * p->slopes[i * n + l] / (scatter * scatter);
}

/* The right side for a step from here, of the fitted parameters. */
static void pull(const struct hx_estimate_problem *p, const double *weight, double scatter, size_t without, double *b)
{
    for (size_t k = 0; k < p->n; k++) {
        const struct hx_estimate_param *q = &p->param[k];
        const double sd = hx_estimate_sd_before(q);

        b[k] = q->fitted ? log(sqrt(q->low * q->high) / q->value) / (sd * sd) : 0;
        for (size_t i = 0; q->fitted && i < p->n_rows; i++)
            if (p->source[i] != without)
                b[k] -= weight[i] * p->slopes[i * p->n + k] * p->residual[i] / (scatter * scatter);
    }
}

/* One Gauss-Newton step of ln(parameter), kept within low..high. */
static int step(const struct hx_estimate_problem *p, const double *weight, double scatter, size_t without, double *by,
                struct hx_error *err)
{
    const size_t n = p->n;
    double *a = malloc((n * n + n + 1) * sizeof(*a)), *b = a ? a + n * n : NULL;
    int rc;

    if (!a)
        return hx_error_set(err, -ENOMEM, "out of memory");
    normal_matrix(p, weight, scatter, without, 1, a);
    pull(p, weight, scatter, without, b);
    rc = invert(a, n, err);
    for (size_t k = 0; !rc && k < n; k++) {
        const struct hx_estimate_param *q = &p->param[k];

        by[k] = 0;
        for (size_t l = 0; l < n; l++)
            by[k] += a[k * n + l] * b[l];
        by[k] = fmin(fmax(by[k], log(q->low / q->value)), log(q->high / q->value));
    }
    free(a);
    return rc;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

double hx_estimate_sd(const struct hx_estimate *e, size_t n, const double *slopes)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++)
        sum += slopes[k] * dot(e->covariance + k * n, slopes, n);
    return sqrt(fmax(sum, 0));
}

/* How many parameters' worth of freedom the rows spend: the trace of the matrix that turns measured into fitted. */
static double spent(const struct hx_estimate_problem *p, const struct hx_estimate *e)
{
    double trace = 0;

    for (size_t i = 0; i < p->n_rows; i++) {
        const double sd = hx_estimate_sd(e, p->n, p->slopes + i * p->n);

        trace += sd * sd / (e->scatter * e->scatter);
    }
    return trace;
}

/* Scatter and covariance need each other. */
static int spread(const struct hx_estimate_problem *p, const double *weight, struct hx_estimate *e, struct hx_error *err)
{
    double squares = 0;
    int rc = 0;

    for (size_t i = 0; i < p->n_rows; i++)
        squares += weight[i] * p->residual[i] * p->residual[i];
    e->scatter = fmax(sqrt(squares / (double)p->n_rows), 1e-6);
    for (int i = 0; !rc && i < SCATTER_ROUNDS; i++) {
        normal_matrix(p, weight, e->scatter, (size_t)-1, 0, e->covariance);
        rc = invert(e->covariance, p->n, err);
        if (!rc)
            e->scatter = fmax(sqrt(squares / fmax((double)p->n_rows - spent(p, e), 1)), 1e-6);
    }
    return rc;
}

static int leave_out(const struct hx_estimate_problem *p, const double *weight, struct hx_estimate *e, struct hx_error *err)
{
    double *by = malloc((p->n + 1) * sizeof(*by));
    int rc = by ? step(p, weight, e->scatter, (size_t)-1, by, err) : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t k = 0; !rc && k < p->n; k++)
        e->next[k] = p->param[k].value * exp(by[k]);
    for (size_t i = 0; !rc && i < p->n_rows; i++) {
        rc = step(p, weight, e->scatter, p->source[i], by, err);
        if (!rc)
            e->without[i] = fabs(exp(p->residual[i] + dot(p->slopes + i * p->n, by, p->n)) - 1);
    }
    free(by);
    return rc;
}

/* Singular values of the slopes of the fitted parameters: roots of the eigenvalues of their products' sum. */
static int directions(const struct hx_estimate_problem *p, struct hx_estimate *e, struct hx_error *err)
{
    const size_t n = p->n;
    double *v = calloc(n * n + n + 1, sizeof(*v)), *values = v ? v + n * n : NULL;
    int rc = v ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; !rc && i < p->n_rows; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < n; l++)
                if (p->param[k].fitted && p->param[l].fitted)
                    v[k * n + l] += p->slopes[i * n + k] * p->slopes[i * n + l];
    /* the others' directions come last */
    for (size_t k = 0; !rc && k < n; k++)
        if (!p->param[k].fitted)
            v[k * n + k] = -1;
    if (!rc)
        rc = hx_eigen_symmetric(v, n, values, err);
    for (size_t i = 0; !rc && i < e->n_fitted; i++)
        e->singular[i] = sqrt(fmax(values[i], 0));
    if (!rc)
        memcpy(e->direction, v, e->n_fitted * n * sizeof(*v));
    free(v);
    return rc;
}

int hx_estimate(struct hx_estimate *e, const struct hx_estimate_problem *p, struct hx_error *err)
{
    const size_t n = p->n;
    double *weight = malloc((p->n_rows + 1) * sizeof(*weight));
    int rc = 0;

    memset(e, 0, sizeof(*e));
    for (size_t k = 0; k < n; k++)
        e->n_fitted += p->param[k].fitted != 0;
    e->covariance = calloc(n * n + 1, sizeof(double));
    e->next = calloc(n + 1, sizeof(double));
    e->without = calloc(p->n_rows + 1, sizeof(double));
    e->singular = calloc(n + 1, sizeof(double));
    e->direction = calloc(n * n + 1, sizeof(double));
    if (!weight || !e->covariance || !e->next || !e->without || !e->singular || !e->direction)
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    if (!rc)
        weigh(p, weight);
    if (!rc)
        rc = spread(p, weight, e, err);
    if (!rc)
        rc = leave_out(p, weight, e, err);
    if (!rc)
        rc = directions(p, e, err);
    free(weight);
    return rc;
}

void hx_estimate_free(struct hx_estimate *e)
{
    free(e->covariance);
    free(e->next);
    free(e->without);
    free(e->singular);
    free(e->direction);
    memset(e, 0, sizeof(*e));
}
