/* Wilcoxon's tests, exact for small samples.
 *
 * Values that tie share the mean of their ranks, which is a multiple of a half; so ranks are kept doubled, and a sum of ranks is an
 * integer by which arrangements can be counted. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "compare_stats.h"

struct ranked {
    double value; /* by which it is ranked */
    int counts;   /* 1: its rank is part of the statistic */
    unsigned rank; /* doubled */
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return (x->value > y->value) - (x->value < y->value);
}

/* Sorts r[n] and fills in the ranks.  Returns the sum of those that count. */
static unsigned rank(struct ranked *r, size_t n)
{
    unsigned sum = 0;

    qsort(r, n, sizeof(*r), by_value);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && r[end].value == r[first].value; end++)
            ;
        for (size_t i = first; i < end; i++) {
            r[i].rank = (unsigned)(first + end + 1); /* first + 1 and end, the ranks of both ends */
            sum += r[i].counts ? r[i].rank : 0;
        }
    }
    return sum;
}

/* Share of the arrangements whose sum is at least as far from the middle of 0..total as w is; ways[s] have the sum s. */
static double tails(const double *ways, unsigned total, unsigned w)
{
    const long far = labs(2 * (long)w - (long)total);
    double all = 0, out = 0;

    for (unsigned s = 0; s <= total; s++) {
        all += ways[s];
        if (labs(2 * (long)s - (long)total) >= far)
            out += ways[s];
    }
    return out / all;
}

/* The same by a normal curve.  Doubled ranks have two steps of a sum in one of a plain rank's, so half a step is 1. */
static double normal_tails(double w, double mean, double variance)
{
    const double off = fabs(w - mean) - 1;

    return variance > 0 && off > 0 ? erfc(off / sqrt(2 * variance)) : 1;
}

static double sum_of_squares(const struct ranked *r, size_t n, double around)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (r[i].rank - around) * (r[i].rank - around);
    return sum;
}

/* --- signed ranks: each difference is above or below 0, as a coin falls ------------------------------------------- */

static int signed_rank_exact(const struct ranked *r, size_t n, unsigned total, unsigned w, double *p)
{
    double *ways = calloc(total + 1u, sizeof(*ways));

    if (!ways)
        return -ENOMEM;
    ways[0] = 1;
    for (size_t i = 0; i < n; i++)
        for (unsigned s = total + 1; s-- > r[i].rank;)
            ways[s] += ways[s - r[i].rank];
    *p = tails(ways, total, w);
    free(ways);
    return 0;
}

int hx_signed_rank(const double *a, const double *b, size_t n, struct hx_wilcoxon *out)
{
    struct ranked r[HX_COMPARE_MAX];
    size_t m = 0;
    unsigned w, total;

    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            r[m++] = (struct ranked){.value = fabs(b[i] - a[i]), .counts = b[i] > a[i]};
    w = rank(r, m);
    total = (unsigned)(m * (m + 1));
    *out = (struct hx_wilcoxon){.w = w / 2.0, .n = m, .exact = m <= HX_SIGNED_RANK_EXACT};
    if (out->exact)
        return signed_rank_exact(r, m, total, w, &out->p);
    out->p = normal_tails(w, total / 2.0, sum_of_squares(r, m, 0) / 4);
    return 0;
}

/* --- rank sum: any n of the 2n values are b's --------------------------------------------------------------------- */

static int rank_sum_exact(const struct ranked *r, size_t n, unsigned total, unsigned w, double *p)
{
    const size_t row = total + 1u;
    double *ways = calloc((n + 1) * row, sizeof(*ways)); /* [values chosen][sum] */

    if (!ways)
        return -ENOMEM;
    ways[0] = 1;
    for (size_t i = 0; i < 2 * n; i++)
        for (size_t k = n; k >= 1; k--)
            for (unsigned s = r[i].rank; s <= total; s++)
                ways[k * row + s] += ways[(k - 1) * row + s - r[i].rank];
    *p = tails(ways + n * row, total, w);
    free(ways);
    return 0;
}

int hx_rank_sum(const double *a, const double *b, size_t n, struct hx_wilcoxon *out)
{
    struct ranked r[2 * HX_COMPARE_MAX];
    const double least = (double)(n * (n + 1)) / 2, mean = (double)(2 * n + 1);
    const unsigned total = (unsigned)(2 * n * (2 * n + 1));
    unsigned w;

    for (size_t i = 0; i < n; i++) {
        r[i] = (struct ranked){.value = a[i]};
        r[n + i] = (struct ranked){.value = b[i], .counts = 1};
    }
    w = rank(r, 2 * n);
    *out = (struct hx_wilcoxon){.w = w / 2.0 - least, .n = n, .exact = n <= HX_RANK_SUM_EXACT};
    if (out->exact)
        return rank_sum_exact(r, n, total, w, &out->p);
    out->p = normal_tails(w, total / 2.0, sum_of_squares(r, 2 * n, mean) * (double)n / (double)(4 * n - 2));
    return 0;
}
