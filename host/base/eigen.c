/* Eigenvectors of symmetric matrices, see eigen.h. */
#include "eigen.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"

enum { SPARE = 16 }; /* vectors beside the wanted ones */

static void swap_rows(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double t = a[i];

        a[i] = b[i];
        b[i] = t;
    }
}

static void fix_sign(double *row, size_t n)
{
    size_t i = 0;

    while (i < n && fabs(row[i]) <= 1e-12)
        i++;
    if (i < n && row[i] < 0)
        for (i = 0; i < n; i++)
            row[i] = -row[i];
}

/* jobz as LAPACK has it; values fall. */
static int solve(double *a, size_t n, double *values, char jobz, struct hx_error *err)
{
    const struct hx_blas *blas = hx_blas(err);

    if (!blas)
        return -ELIBACC;
    for (size_t i = 0; i < n * n; i++)
        if (!isfinite(a[i]))
            return hx_error_set(err, -EDOM, "a covariance is not finite");
    /* columns of the result, so rows for us, by rising eigenvalue */
    if (blas->dsyevd(HX_BLAS_COLUMNS, jobz, 'U', (int)n, a, (int)n, values))
        return hx_error_set(err, -EDOM, "the eigensolver did not converge");
    for (size_t i = 0; i < n / 2; i++)
        swap_rows(values + i, values + n - 1 - i, 1);
    return 0;
}

int hx_eigen_symmetric(double *a, size_t n, double *values, struct hx_error *err)
{
    int rc = solve(a, n, values, 'V', err);

    for (size_t i = 0; i < n / 2 && !rc; i++)
        swap_rows(a + i * n, a + (n - 1 - i) * n, n);
    for (size_t i = 0; i < n && !rc; i++)
        fix_sign(a + i * n, n);
    return rc;
}

int hx_eigen_values(double *a, size_t n, double *values, struct hx_error *err)
{
    return solve(a, n, values, 'N', err);
}

/* --- subspace iteration */

/* SplitMix64, as numbers between -1 and 1.  Source: Steele, Lea, Flood 2014. */
static void fill(double *x, size_t n)
{
    uint64_t seed = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;

        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        x[i] = (double)(int64_t)(z ^ z >> 31) * 0x1p-63;
    }
}

/* The space: q vectors. */
struct space {
    const struct hx_blas *blas;
    size_t n, q;
    double *v, *av; /* [q][n] and A times them */
    double *small;  /* [q][q]; and tau [q] */
    double *values; /* [q] */
};

static int orthonormalise(struct space *s, struct hx_error *err)
{
    const int n = (int)s->n, q = (int)s->q;

    if (s->blas->dgeqrf(HX_BLAS_COLUMNS, n, q, s->v, n, s->small) || s->blas->dorgqr(HX_BLAS_COLUMNS, n, q, q, s->v, n, s->small))
        return hx_error_set(err, -EDOM, "vectors of a subspace are not finite");
    return 0;
}

/* The space's own eigenvectors: av = those of v^T A v, as combinations of v. */
static int rayleigh_ritz(struct space *s, struct hx_error *err)
{
    const int n = (int)s->n, q = (int)s->q;
    const double one = 1, zero = 0;
    int rc;

    s->blas->dgemm("T", "N", &q, &q, &n, &one, s->v, &n, s->av, &n, &zero, s->small, &q);
    rc = hx_eigen_symmetric(s->small, s->q, s->values, err);
    if (!rc)
        s->blas->dgemm("N", "N", &n, &q, &q, &one, s->v, &n, s->small, &q, &zero, s->av, &n);
    return rc;
}

static int iterate(struct space *s, const struct hx_eigen_op *op, size_t steps, struct hx_error *err)
{
    int rc;

    fill(s->v, s->q * s->n);
    rc = orthonormalise(s, err);
    for (size_t i = 0; i < steps && !rc; i++) {
        op->apply(op->arg, s->v, s->av, s->q);
        memcpy(s->v, s->av, s->q * s->n * sizeof(*s->v));
        rc = orthonormalise(s, err);
    }
    if (rc)
        return rc;
    op->apply(op->arg, s->v, s->av, s->q);
    return rayleigh_ritz(s, err);
}

int hx_eigen_top(const struct hx_eigen_op *op, size_t k, size_t steps, double *vectors, double *values, struct hx_error *err)
{
    struct space s = {.blas = hx_blas(err), .n = op->n, .q = k + SPARE < op->n ? k + SPARE : op->n};
    int rc;

    if (!s.blas)
        return -ELIBACC;
    s.v = malloc(s.q * s.n * sizeof(*s.v));
    s.av = malloc(s.q * s.n * sizeof(*s.av));
    s.small = malloc(s.q * s.q * sizeof(*s.small));
    s.values = malloc(s.q * sizeof(*s.values));
    rc = s.v && s.av && s.small && s.values ? iterate(&s, op, steps, err) : hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < k && !rc; i++) {
        memcpy(vectors + i * s.n, s.av + i * s.n, s.n * sizeof(*vectors));
        fix_sign(vectors + i * s.n, s.n);
        values[i] = s.values[i];
    }
    free(s.v);
    free(s.av);
    free(s.small);
    free(s.values);
    return rc;
}
