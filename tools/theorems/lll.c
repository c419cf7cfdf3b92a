/* LLL reduction.  Gram-Schmidt is computed anew where rows change: n is small, and nothing drifts. */
#include "lll.h"

#include <math.h>

#define DELTA 0.75

struct gs {
    double mu[HX_LLL_MAX][HX_LLL_MAX], norm[HX_LLL_MAX]; /* norm: squared */
};

static double dot(const int64_t *a, const int64_t *b, size_t dim)
{
    double sum = 0;

    for (size_t i = 0; i < dim; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* From inner products alone: |b*_i|^2 = b_i.b_i - sum mu^2 |b*_j|^2. */
static int orthogonalise(struct gs *g, const int64_t *b, size_t n, size_t dim)
{
    for (size_t i = 0; i < n; i++) {
        g->norm[i] = dot(b + i * dim, b + i * dim, dim);
        for (size_t j = 0; j < i; j++) {
            double r = dot(b + i * dim, b + j * dim, dim);

            for (size_t k = 0; k < j; k++)
                r -= g->mu[i][k] * g->mu[j][k] * g->norm[k];
            g->mu[i][j] = r / g->norm[j];
            g->norm[i] -= g->mu[i][j] * r;
        }
        if (!(g->norm[i] > 0.5)) /* of integer vectors */
            return -1;
    }
    return 0;
}

static int size_reduce(struct gs *g, int64_t *b, size_t k, size_t n, size_t dim)
{
    for (size_t j = k; j-- > 0;) {
        const int64_t q = llround(g->mu[k][j]);

        for (size_t i = 0; q && i < dim; i++)
            b[k * dim + i] -= q * b[j * dim + i];
        if (q && orthogonalise(g, b, n, dim))
            return -1;
    }
    return 0;
}

long hx_lll(int64_t *b, size_t n, size_t dim)
{
    struct gs g;
    long swaps = 0;
    size_t k = 1;

    if (orthogonalise(&g, b, n, dim))
        return -1;
    while (k < n) {
        if (size_reduce(&g, b, k, n, dim))
            return -1;
        if (g.norm[k] >= (DELTA - g.mu[k][k - 1] * g.mu[k][k - 1]) * g.norm[k - 1]) {
            k++;
            continue;
        }
        for (size_t i = 0; i < dim; i++) {
            const int64_t kept = b[k * dim + i];

            b[k * dim + i] = b[(k - 1) * dim + i];
            b[(k - 1) * dim + i] = kept;
        }
        swaps++;
        if (orthogonalise(&g, b, n, dim))
            return -1;
        k = k > 1 ? k - 1 : 1;
    }
    return swaps;
}
