/* Dimensions of a cloud, see dimension.h. */
#include "dimension.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/eigen.h"

static const double kept = .9; /* of the quotients */

static void centre(double *to, const double *x, size_t n, size_t d, double *mean)
{
    memset(mean, 0, d * sizeof(*mean));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            mean[k] += x[i * d + k] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            to[i * d + k] = x[i * d + k] - mean[k];
}

/* out [m][m] of x [n][d]: x^T x where d is the smaller, else x x^T. */
static int products(double *out, const double *x, size_t n, size_t d, struct hx_error *err)
{
    const struct hx_blas *blas = hx_blas(err);
    const int rows = (int)n, cols = (int)d, m = rows < cols ? rows : cols;
    const double one = 1, none = 0;

    if (!blas)
        return -ELIBACC;
    if (cols <= rows) /* column-major: x is d x n */
        blas->dsyrk("U", "N", &cols, &rows, &one, x, &cols, &none, out, &m);
    else
        blas->dsyrk("U", "T", &rows, &cols, &one, x, &cols, &none, out, &m);
    for (int i = 0; i < m; i++)
        for (int k = 0; k < i; k++)
            out[k * m + i] = out[i * m + k];
    return 0;
}

/* Eigenvectors [m] of x x^T to directions [m][d] of x. */
static void lift(double *axes, const double *vectors, const double *x, size_t n, size_t d)
{
    for (size_t v = 0; v < n; v++) {
        double *axis = axes + v * d, norm = 0;

        memset(axis, 0, d * sizeof(*axis));
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < d; k++)
                axis[k] += vectors[v * n + i] * x[i * d + k];
        for (size_t k = 0; k < d; k++)
            norm += axis[k] * axis[k];
        for (size_t k = 0; k < d && norm > 0; k++)
            axis[k] /= sqrt(norm);
    }
}

int hx_principal(const double *x, size_t n, size_t d, double *shares, double *axes, double *mean, struct hx_error *err)
{
    const size_t m = n < d ? n : d;
    double *c = malloc(m * m * sizeof(*c)), *centred = malloc((n + 1) * d * sizeof(*centred)), sum = 0;
    int rc = c && centred ? 0 : hx_error_set(err, -ENOMEM, "no memory for principal components of %zu x %zu", n, d);

    if (!rc) {
        centre(centred, x, n, d, mean ? mean : centred + n * d);
        rc = products(c, centred, n, d, err);
    }
    if (!rc)
        rc = axes ? hx_eigen_symmetric(c, m, shares, err) : hx_eigen_values(c, m, shares, err);
    for (size_t i = m; i-- > 0 && !rc;) {
        shares[i] = shares[i] > 0 ? shares[i] : 0;
        sum += shares[i];
    }
    for (size_t i = 0; i < m && !rc; i++)
        shares[i] /= sum > 0 ? sum : 1;
    if (!rc && axes && d <= n)
        memcpy(axes, c, m * d * sizeof(*axes));
    else if (!rc && axes)
        lift(axes, c, centred, n, d);
    free(c);
    free(centred);
    return rc;
}

size_t hx_fewest(const double *shares, size_t n, double share)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += shares[i];
        if (sum >= share)
            return i + 1;
    }
    return n;
}

double hx_variance_along(const double *x, size_t n, size_t d, const double *axis)
{
    double sum = 0, square = 0, all = 0;

    for (size_t i = 0; i < n; i++) {
        double dot = 0;

        for (size_t k = 0; k < d; k++)
            dot += x[i * d + k] * axis[k];
        sum += dot / (double)n;
        square += dot * dot / (double)n;
    }
    for (size_t k = 0; k < d; k++) {
        double mean = 0, of_squares = 0;

        for (size_t i = 0; i < n; i++) {
            mean += x[i * d + k] / (double)n;
            of_squares += x[i * d + k] * x[i * d + k] / (double)n;
        }
        all += of_squares - mean * mean;
    }
    return all > 0 ? (square - sum * sum) * (double)d / all : 0;
}

/* --- TwoNN */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Logarithm of the quotient of the two least distances that are not 0, of point i; -1: there are none. */
static double quotient(const double *x, size_t n, size_t d, size_t i)
{
    double first = INFINITY, second = INFINITY;

    for (size_t j = 0; j < n; j++) {
        double square = 0;

        for (size_t k = 0; k < d && square < second; k++)
            square += (x[i * d + k] - x[j * d + k]) * (x[i * d + k] - x[j * d + k]);
        if (!(square > 0) || square >= second)
            continue;
        second = square < first ? first : square;
        first = square < first ? square : first;
    }
    return isfinite(second) ? .5 * log(second / first) : -1;
}

static int seen_before(const double *x, size_t d, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (memcmp(x + i * d, x + j * d, d * sizeof(*x)) == 0)
            return 1;
    return 0;
}

double hx_two_nn(const double *x, size_t n, size_t d, struct hx_error *err)
{
    double *logs = malloc(n * sizeof(*logs)), product = 0, square = 0;
    size_t many = 0;

    if (!logs) {
        hx_error_set(err, -ENOMEM, "no memory for %zu distances", n);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        const double l = seen_before(x, d, i) ? -1 : quotient(x, n, d, i);

        if (l >= 0)
            logs[many++] = l;
    }
    qsort(logs, many, sizeof(*logs), by_size);
    for (size_t i = 0; i < (size_t)(kept * (double)many); i++) {
        product += logs[i] * -log(1 - (double)(i + 1) / (double)many);
        square += logs[i] * logs[i];
    }
    free(logs);
    return square > 0 ? product / square : 0;
}

size_t hx_depth_sink(const double *held, size_t n_layer)
{
    size_t sink = n_layer - 1;

    while (sink && fabs(held[sink - 1] - held[n_layer - 1]) <= 1e-3)
        sink--;
    return sink;
}
