/* Orthogonal Procrustes, see procrustes.h. */
#include "procrustes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/blas.h"

/* Column-major d x d matrices; of row-major states, whose columns LAPACK sees as states: m = sum x y^T in its terms. */
static int solve(double *r, double *m, double *u, double *vt, double *s, size_t d, const struct hx_blas *blas, struct hx_error *err)
{
    const int n = (int)d;
    const double one = 1, zero = 0;

    for (size_t i = 0; i < d * d; i++)
        if (!isfinite(m[i]))
            return hx_error_set(err, -EDOM, "procrustes: a state is not finite");
    if (blas->dgesdd(HX_BLAS_COLUMNS, 'S', n, n, m, n, s, u, n, vt, n))
        return hx_error_set(err, -EDOM, "procrustes: the decomposition did not converge");
    blas->dgemm("N", "N", &n, &n, &n, &one, u, &n, vt, &n, &zero, r, &n);
    return 0;
}

static double residual_of(const double *r, const double *x, const double *y, size_t n, size_t d)
{
    double off = 0, all = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < d; a++) {
            double sum = -y[i * d + a];

            for (size_t b = 0; b < d; b++)
                sum += r[a * d + b] * x[i * d + b];
            off += sum * sum;
            all += y[i * d + a] * y[i * d + a];
        }
    return all > 0 ? sqrt(off / all) : 0;
}

int hx_procrustes(double *r, const double *x, const double *y, size_t n, size_t d, double *residual, struct hx_error *err)
{
    const struct hx_blas *blas = hx_blas(err);
    const int rows = (int)n, cols = (int)d;
    const double one = 1, zero = 0;
    double *all = malloc((3 * d * d + d) * sizeof(*all));
    int rc = !blas ? -ELIBACC : all ? 0 : hx_error_set(err, -ENOMEM, "procrustes: no memory for maps of %zu", d);

    if (!rc) {
        /* sum x y^T column-major is sum y x^T row-major, and so is R */
        blas->dgemm("N", "T", &cols, &cols, &rows, &one, x, &cols, y, &cols, &zero, all, &cols);
        rc = solve(r, all, all + d * d, all + 2 * d * d, all + 3 * d * d, d, blas, err);
    }
    if (!rc)
        *residual = residual_of(r, x, y, n, d);
    free(all);
    return rc;
}
