/* Eigenvectors of symmetric matrices, see eigen.h. */
#include "eigen.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define LIBRARY "liblapacke.so.3"

enum { COLUMN_MAJOR = 102 };

/* lapacke.h, with 32-bit integers */
typedef int dsyevd_fn(int layout, char jobz, char uplo, int n, double *a, int lda, double *w);
typedef void threads_fn(int n);

static dsyevd_fn *load(struct hx_error *err)
{
    static void *library; /* stays: OpenBLAS' threads live in it */
    dsyevd_fn *solve = NULL;
    threads_fn *threads;

    if (!library)
        library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library)
        solve = (dsyevd_fn *)dlsym(library, "LAPACKE_dsyevd");
    if (!solve) {
        hx_error_set(err, -ELIBACC, "LAPACK is missing: %s; install the package liblapacke",
                     dlerror());
        return NULL;
    }
    threads = (threads_fn *)dlsym(library, "openblas_set_num_threads");
    if (threads) /* other LAPACKs have one thread anyway */
        threads(1);
    return solve;
}

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

int hx_eigen_symmetric(double *a, size_t n, double *values, struct hx_error *err)
{
    dsyevd_fn *solve = load(err);

    if (!solve)
        return -ELIBACC;
    for (size_t i = 0; i < n * n; i++)
        if (!isfinite(a[i]))
            return hx_error_set(err, -EDOM, "a covariance is not finite");
    /* columns of the result, so rows for us, by rising eigenvalue */
    if (solve(COLUMN_MAJOR, 'V', 'U', (int)n, a, (int)n, values))
        return hx_error_set(err, -EDOM, "the eigensolver did not converge");
    for (size_t i = 0; i < n / 2; i++) {
        swap_rows(a + i * n, a + (n - 1 - i) * n, n);
        swap_rows(values + i, values + n - 1 - i, 1);
    }
    for (size_t i = 0; i < n; i++)
        fix_sign(a + i * n, n);
    return 0;
}
