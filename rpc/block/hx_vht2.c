/* VHT2 in fp64, see hx_vht2.h.  The formula as it stands: O(n * sum of primes). */
#include "hx_vht2.h"

#include <errno.h>
#include <math.h>

static const unsigned char primes[] = {2, 3, 5, 7, 11};
#define N_PRIMES (sizeof(primes) / sizeof(primes[0]))
#define LARGEST_PRIME 11
#define LARGEST_LENGTH 2310

static int is_length(size_t n)
{
    for (size_t i = 0; i < N_PRIMES; i++)
        if (n % primes[i] == 0)
            n /= primes[i];
    return n == 1;
}

size_t hx_vht2_pad(size_t dh)
{
    if (dh == 0 || dh > LARGEST_LENGTH)
        return 0;
    while (!is_length(dh))
        dh++;
    return dh;
}

/* One group: p elements of x that lie `stride` apart. */
static void transform_group(double *x, size_t stride, unsigned p, const double *cas)
{
    double y[LARGEST_PRIME];

    for (unsigned k = 0; k < p; k++) {
        y[k] = 0;
        for (unsigned j = 0; j < p; j++)
            y[k] += cas[k * j % p] * x[j * stride];
    }
    for (unsigned k = 0; k < p; k++)
        x[k * stride] = y[k];
}

int hx_vht2_f64(double *x, size_t n)
{
    if (n == 0 || !is_length(n))
        return -EINVAL;

    size_t stride = 1;
    for (size_t i = 0; i < N_PRIMES; i++) {
        unsigned p = primes[i];
        double cas[LARGEST_PRIME];

        if (n % p)
            continue;
        for (unsigned k = 0; k < p; k++) {
            double angle = 2 * M_PI * k / p;
            cas[k] = (cos(angle) + sin(angle)) / sqrt(p);
        }
        for (size_t block = 0; block < n; block += stride * p)
            for (size_t off = 0; off < stride; off++)
                transform_group(x + block + off, stride, p, cas);
        stride *= p;
    }
    return 0;
}

int hx_wht_f64(double *x, size_t n)
{
    if (n == 0 || n & (n - 1))
        return -EINVAL;
    for (size_t half = 1; half < n; half *= 2)
        for (size_t i = 0; i < n; i++) {
            const double a = x[i], b = x[i ^ half];

            if (i & half)
                continue;
            x[i] = (a + b) * M_SQRT1_2;
            x[i + half] = (a - b) * M_SQRT1_2;
        }
    return 0;
}

int hx_squarefree_index(size_t i)
{
    size_t m = i + 1;

    for (size_t d = 2; d * d <= m; d++)
        if (m % (d * d) == 0)
            return 0;
    return 1;
}
