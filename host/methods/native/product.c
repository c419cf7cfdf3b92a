/* Products of row-major matrices, see product.h. */
#include "product.h"

#include <math.h>

/* Row-major [m][n] is column-major n x m: c^T = op(b)^T op(a)^T. */
void hx_product(const char *how, size_t m, size_t n, size_t k, const double *a, const double *b, double *c)
{
    static const double one = 1, zero = 0;
    const int M = (int)m, N = (int)n, K = (int)k;

    if (m && n)
        hx_blas(NULL)->dgemm(how + 1, how, &N, &M, &K, &one, b, how[1] == 'N' ? &N : &K, a, how[0] == 'N' ? &K : &M, &zero, c, &N);
}

double hx_product_inner(const double *a, const double *b, size_t n)
{
    double sum[4] = {0};

    for (size_t i = 0; i < n; i++)
        sum[i % 4] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Source: splitmix64 (Steele, Lea, Flood 2014). */
static double uniform(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return ((double)((x ^ x >> 31) >> 11) + 0.5) * 0x1p-53;
}

double hx_product_normal(uint64_t key, size_t i)
{
    const uint64_t at = key * 0x9e3779b97f4a7c15u + 2 * (uint64_t)i;

    return sqrt(-2 * log(uniform(at))) * cos(2 * M_PI * uniform(at + 1));
}
