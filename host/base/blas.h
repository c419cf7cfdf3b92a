/* The functions of BLAS and LAPACK that hexrig uses (package liblapacke), loaded at the first call: OpenBLAS starts threads when it is
 * loaded, and only few commands need it.  Each runs on the calling thread alone, and any number of threads may call, so results do not
 * depend on how many CPUs there are.
 *
 * Matrices are column-major, as LAPACK has them: a row-major [m][n] is its n x m matrix with leading dimension n. */
#ifndef HX_BLAS_H
#define HX_BLAS_H

#include "error.h"

enum { HX_BLAS_COLUMNS = 102 }; /* LAPACK_COL_MAJOR */

struct hx_blas {
    /* Eigenvalues w [n], rising, of the symmetric a [n][n]; jobz 'V': a becomes the eigenvectors. */
    int (*dsyevd)(int layout, char jobz, char uplo, int n, double *a, int lda, double *w);
    /* QR of a (m x n, m >= n), and the m x n matrix Q out of what that has left. */
    int (*dgeqrf)(int layout, int m, int n, double *a, int lda, double *tau);
    int (*dorgqr)(int layout, int m, int n, int k, double *a, int lda, const double *tau);
    /* Singular values s [min(m, n)], falling, of a (m x n), which is lost; jobz 'S': with as many columns of u and rows of vt. */
    int (*dgesdd)(int layout, char jobz, int m, int n, double *a, int lda, double *s, double *u, int ldu, double *vt, int ldvt);
    /* b (n x m) becomes a^-1 b, a (n x n) is lost; pivots [n] for the call.  Above 0: a has no inverse. */
    int (*dgesv)(int layout, int n, int m, double *a, int lda, int *pivots, double *b, int ldb);
    /* c (m x n) = alpha op(a) op(b) + beta c, op by 'N' or 'T'; Fortran's, all by address. */
    void (*dgemm)(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *a,
                  const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc);
    /* The upper triangle of c (n x n) = alpha a a^T + beta c ('N', a n x k), or a^T a ('T', a k x n). */
    void (*dsyrk)(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha, const double *a,
                  const int *lda, const double *beta, double *c, const int *ldc);
};

/* NULL with a reason: there is no LAPACK (-ELIBACC), or it lacks one of them.  Valid until the process ends. */
const struct hx_blas *hx_blas(struct hx_error *err);

#endif
