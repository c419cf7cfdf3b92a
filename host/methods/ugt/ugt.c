/* Bases of final hidden states, see ugt.h. */
#include "ugt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/eigen.h"

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void take_mean(double *mean, const double *h, size_t n, size_t d)
{
    memset(mean, 0, d * sizeof(*mean));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            mean[k] += h[i * d + k] / (double)n;
}

/* The upper triangle of H^T H / n of centred states, as LAPACK reads it; what is below stays 0. */
static int covariance(double *c, const struct hx_ugt *u, const double *h, size_t n, struct hx_error *err)
{
    const struct hx_blas *blas = hx_blas(err);
    const int d = (int)u->d, rows = (int)n;
    const double each = 1 / (double)n, zero = 0;
    double *x = malloc(n * u->d * sizeof(*x));
    int rc = !blas ? -ELIBACC : x ? 0 : hx_error_set(err, -ENOMEM, "ugt: no memory for %zu states", n);

    for (size_t i = 0; i < n * u->d && !rc; i++) {
        x[i] = h[i] - u->mean[i % u->d];
        if (!isfinite(x[i]))
            rc = hx_error_set(err, -EDOM, "ugt: state %zu is not finite", i / u->d);
    }
    if (!rc)
        blas->dsyrk("U", "N", &d, &rows, &each, x, &d, &zero, c, &d);
    free(x);
    return rc;
}

static int check(size_t n, size_t d, size_t k, struct hx_error *err)
{
    const size_t most = n - 1 < d ? n - 1 : d;

    if (n < 2)
        return hx_error_set(err, -EINVAL, "ugt: %zu states; 2 are needed", n);
    if (!k || k > most)
        return hx_error_set(err, -EINVAL, "ugt: k = %zu; %zu states of %zu numbers have 1..%zu", k, n, d, most);
    return 0;
}

int hx_ugt_build(struct hx_ugt *u, const double *h, size_t n, size_t d, size_t k, struct hx_error *err)
{
    double *c = NULL, *values = NULL, all = 0;
    int rc = check(n, d, k, err);

    *u = (struct hx_ugt){.d = d, .k = k};
    if (rc)
        return rc;
    u->mean = malloc(d * sizeof(*u->mean));
    u->basis = malloc(k * d * sizeof(*u->basis));
    c = calloc(d * d, sizeof(*c));
    values = malloc(d * sizeof(*values));
    if (!u->mean || !u->basis || !c || !values)
        rc = hx_error_set(err, -ENOMEM, "ugt: no memory for a basis of %zu x %zu", d, k);
    if (!rc) {
        take_mean(u->mean, h, n, d);
        rc = covariance(c, u, h, n, err);
    }
    if (!rc)
        rc = hx_eigen_symmetric(c, d, values, err);
    for (size_t i = 0; i < d && !rc; i++) {
        all += fmax(values[i], 0);
        u->held += i < k ? fmax(values[i], 0) : 0;
    }
    if (!rc)
        memcpy(u->basis, c, k * d * sizeof(*c));
    u->held = all > 0 ? u->held / all : 0;
    free(c);
    free(values);
    return rc;
}

void hx_ugt_free(struct hx_ugt *u)
{
    free(u->mean);
    free(u->basis);
    *u = (struct hx_ugt){0};
}

void hx_ugt_coordinates(const struct hx_ugt *u, const double *h, size_t n, double *z)
{
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < u->k; a++) {
            const double *b = u->basis + a * u->d;
            double sum = 0;

            for (size_t x = 0; x < u->d; x++)
                sum += b[x] * (h[i * u->d + x] - u->mean[x]);
            z[i * u->k + a] = sum;
        }
}

double hx_ugt_held(const struct hx_ugt *u, const double *h, size_t n)
{
    double in = 0, all = 0;

    for (size_t x = 0; x < u->d; x++) {
        double sum = 0, square = 0;

        for (size_t i = 0; i < n; i++) {
            sum += h[i * u->d + x];
            square += h[i * u->d + x] * h[i * u->d + x];
        }
        all += square - sum * sum / (double)n;
    }
    for (size_t a = 0; a < u->k; a++) {
        double sum = 0, square = 0;

        for (size_t i = 0; i < n; i++) {
            const double z = dot(u->basis + a * u->d, h + i * u->d, u->d);

            sum += z;
            square += z * z;
        }
        in += square - sum * sum / (double)n;
    }
    return all > 0 ? in / all : 0;
}

double hx_ugt_overlap(const struct hx_ugt *a, const struct hx_ugt *b)
{
    double sum = 0;

    for (size_t i = 0; i < a->k; i++)
        for (size_t j = 0; j < b->k; j++) {
            const double x = dot(a->basis + i * a->d, b->basis + j * b->d, a->d);

            sum += x * x;
        }
    return sum / (double)a->k;
}

double hx_ugt_skew(const double *basis, size_t k, size_t d)
{
    double most = 0;

    for (size_t i = 0; i < k; i++)
        for (size_t j = i; j < k; j++)
            most = fmax(most, fabs(dot(basis + i * d, basis + j * d, d) - (i == j)));
    return most;
}

/* Rows are LAPACK's columns. */
int hx_ugt_orthonormal(double *rows, size_t k, size_t d, struct hx_error *err)
{
    const struct hx_blas *blas = hx_blas(err);
    double *tau = malloc(2 * k * sizeof(*tau));
    int rc = !blas ? -ELIBACC : tau ? 0 : hx_error_set(err, -ENOMEM, "ugt: out of memory");

    if (!rc && blas->dgeqrf(HX_BLAS_COLUMNS, (int)d, (int)k, rows, (int)d, tau))
        rc = hx_error_set(err, -EDOM, "ugt: a basis is not finite");
    for (size_t i = 0; i < k && !rc; i++)
        tau[k + i] = rows[i * d + i];
    if (!rc && blas->dorgqr(HX_BLAS_COLUMNS, (int)d, (int)k, (int)k, rows, (int)d, tau))
        rc = hx_error_set(err, -EDOM, "ugt: a basis is not finite");
    for (size_t i = 0; i < k * d && !rc; i++)
        if (tau[k + i / d] < 0)
            rows[i] = -rows[i];
    free(tau);
    return rc;
}
