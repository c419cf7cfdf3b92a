/* Whether two series of measurements differ, and by how much: ratio, bootstrap interval, t tests, Wilcoxon's tests.
 *
 * Both series have n values; in a paired comparison a[i] and b[i] were measured next to each other.  Arrays are borrowed for the
 * call.  p values are two-sided. */
#ifndef HX_COMPARE_STATS_H
#define HX_COMPARE_STATS_H

#include <stddef.h>
#include <stdint.h>

enum { HX_COMPARE_MAX = 1000 }; /* values of a series */

double hx_mean(const double *x, size_t n);                    /* n >= 1 */
double hx_standard_deviation(const double *x, size_t n);      /* of a sample: divides by n - 1; n >= 2 */
double hx_percentile(const double *sorted, size_t n, double share); /* between neighbours by proportion; share 0 to 1 */

/* How many times b is as much as a: the mean of b[i] / a[i] when paired, else the ratio of the means.  a[i] > 0. */
double hx_mean_ratio(const double *a, const double *b, size_t n, int paired);

struct hx_interval {
    double low, high;
};

/* The percentile bootstrap of hx_mean_ratio(): `draws` samples with replacement, of pairs or of each series by itself; the middle
 * `confidence` (0 to 1) of their ratios.  The same seed draws the same samples.  0, or -ENOMEM. */
int hx_bootstrap_ratio(const double *a, const double *b, size_t n, int paired, size_t draws, uint64_t seed, double confidence,
                       struct hx_interval *out);

struct hx_student {
    double t; /* > 0: b is more; NaN where nothing varies */
    double df;
    double p; /* where nothing varies: 1 when the means are the same, else 0 */
};

/* Student's t of the differences b[i] - a[i], or without pairs Welch's, which allows each series its own variance.  n >= 2. */
struct hx_student hx_student_paired(const double *a, const double *b, size_t n);
struct hx_student hx_student_welch(const double *a, const double *b, size_t n);

/* Probability of a |t| at least so large with df degrees of freedom. */
double hx_student_p(double t, double df);

struct hx_wilcoxon {
    double w; /* signed rank: sum of the ranks of b[i] > a[i]; rank sum: Mann and Whitney's U, the pairs (i, j) with
               * b[j] > a[i], and half of those with b[j] = a[i] */
    size_t n; /* signed rank: differences other than 0, of which alone the test speaks; rank sum: of one series */
    double p;
    int exact; /* 1: p is counted over all arrangements of the ranks, ties included; 0: the normal curve, with continuity */
};

/* Most values of which all arrangements are counted. */
enum { HX_SIGNED_RANK_EXACT = 50, HX_RANK_SUM_EXACT = 25 };

/* Wilcoxon's signed rank test of pairs, and without pairs his rank sum test.  n <= HX_COMPARE_MAX.  0, or -ENOMEM. */
int hx_signed_rank(const double *a, const double *b, size_t n, struct hx_wilcoxon *out);
int hx_rank_sum(const double *a, const double *b, size_t n, struct hx_wilcoxon *out);

#endif
