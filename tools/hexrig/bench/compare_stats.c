/* The statistics of `hexrig bench compare`: means, the bootstrap and Student's t.  Tests by ranks are in compare_ranks.c. */
#include "compare_stats.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

double hx_mean(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

static double variance(const double *x, size_t n)
{
    const double mean = hx_mean(x, n);
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (double)(n - 1);
}

double hx_standard_deviation(const double *x, size_t n)
{
    return sqrt(variance(x, n));
}

double hx_percentile(const double *sorted, size_t n, double share)
{
    const double at = share * (double)(n - 1);
    const size_t i = (size_t)at;

    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* --- ratio and bootstrap ----------------------------------------------------------------------------------------- */

/* Of the values that the two lists of n indices choose. */
static double ratio_of(const double *a, const size_t *in_a, const double *b, const size_t *in_b, size_t n, int paired)
{
    double of_pairs = 0, sum_a = 0, sum_b = 0;

    for (size_t i = 0; i < n; i++) {
        const double x = a[in_a[i]], y = b[in_b[i]];

        of_pairs += y / x;
        sum_a += x;
        sum_b += y;
    }
    return paired ? of_pairs / (double)n : sum_b / sum_a;
}

double hx_mean_ratio(const double *a, const double *b, size_t n, int paired)
{
    size_t all[HX_COMPARE_MAX];

    for (size_t i = 0; i < n; i++)
        all[i] = i;
    return ratio_of(a, all, b, all, n, paired);
}

/* splitmix64: the same numbers on every machine */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void draw(size_t *index, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        index[i] = (size_t)((next(state) >> 32) * n >> 32);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int hx_bootstrap_ratio(const double *a, const double *b, size_t n, int paired, size_t draws, uint64_t seed, double confidence,
                       struct hx_interval *out)
{
    double *ratio = calloc(draws, sizeof(*ratio));
    size_t in_a[HX_COMPARE_MAX], in_b[HX_COMPARE_MAX];

    if (!ratio)
        return -ENOMEM;
    for (size_t i = 0; i < draws; i++) {
        draw(in_a, n, &seed);
        if (!paired)
            draw(in_b, n, &seed);
        ratio[i] = ratio_of(a, in_a, b, paired ? in_a : in_b, n, paired);
    }
    qsort(ratio, draws, sizeof(*ratio), by_value);
    out->low = hx_percentile(ratio, draws, (1 - confidence) / 2);
    out->high = hx_percentile(ratio, draws, (1 + confidence) / 2);
    free(ratio);
    return 0;
}

/* --- Student's t ------------------------------------------------------------------------------------------------- */

/* Lentz's way through the continued fraction of the incomplete beta function: Abramowitz and Stegun 26.5.8. */
static double beta_fraction(double a, double b, double x)
{
    enum { MAX_TERMS = 1000 };
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;

    for (int m = 1; m < MAX_TERMS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        step = c * d;
        h *= step;
        if (fabs(step - 1) < 4 * DBL_EPSILON)
            break;
    }
    return h;
}

/* The regularised incomplete beta function I_x(a, b), 0 <= x <= 1. */
static double incomplete_beta(double a, double b, double x)
{
    double front;

    if (x <= 0 || x >= 1)
        return x > 0;
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    /* the fraction converges fast on one side of the mean only */
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double hx_student_p(double t, double df)
{
    return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

/* Of a mean difference with this standard error. */
static struct hx_student student(double difference, double error, double df)
{
    struct hx_student s = {.t = NAN, .df = df, .p = difference == 0};

    if (error > 0) {
        s.t = difference / error;
        s.p = hx_student_p(s.t, df);
    }
    return s;
}

struct hx_student hx_student_paired(const double *a, const double *b, size_t n)
{
    double d[HX_COMPARE_MAX] = {0};

    for (size_t i = 0; i < n; i++)
        d[i] = b[i] - a[i];
    return student(hx_mean(d, n), sqrt(variance(d, n) / (double)n), (double)(n - 1));
}

struct hx_student hx_student_welch(const double *a, const double *b, size_t n)
{
    const double va = variance(a, n) / (double)n, vb = variance(b, n) / (double)n, v = va + vb;
    const double df = v > 0 ? v * v * (double)(n - 1) / (va * va + vb * vb) : (double)(2 * n - 2);

    return student(hx_mean(b, n) - hx_mean(a, n), sqrt(v), df);
}
