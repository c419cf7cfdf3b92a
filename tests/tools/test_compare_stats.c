/* Protects: the statistics of `hexrig bench compare`: textbook data give the textbooks' values, p values are those of a count of all
 * arrangements and of a numerical integral, and the bootstrap's samples depend on its seed alone. */
#include "bench/compare_stats.h"

#include <math.h>
#include <stdlib.h>

#include "hxt.h"

enum { SLEEPERS = 10, PATIENTS = 9 };

/* Extra hours of sleep by two drugs: Student, "The probable error of a mean", Biometrika 1908. */
static const double drug_1[SLEEPERS] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double drug_2[SLEEPERS] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

/* Hamilton depression scale at two visits: Hollander and Wolfe, "Nonparametric statistical methods", table 3.1. */
static const double visit_1[PATIENTS] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
static const double visit_2[PATIENTS] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};

static void near(double got, double want, double by)
{
    if (!(fabs(got - want) <= by))
        fail_msg("%.12g is not %.12g, by more than %g", got, want, by);
}

static void test_student_has_the_papers_values(void **state)
{
    const struct hx_student paired = hx_student_paired(drug_1, drug_2, SLEEPERS), welch = hx_student_welch(drug_1, drug_2, SLEEPERS);

    (void)state;
    near(paired.t, 4.0621, 5e-5);
    near(paired.df, 9, 0);
    near(paired.p, 0.002833, 5e-7);
    near(welch.t, 1.8608, 5e-5);
    near(welch.df, 17.776, 5e-4);
    near(welch.p, 0.07939, 5e-6);
}

/* With x = sqrt(df) tan(angle) the density of t is that of cos(angle)^(df - 1): no beta function. */
static double integral(double df, double to)
{
    enum { STEPS = 20000 }; /* Simpson's */
    double sum = 0;

    for (int i = 0; i <= STEPS; i++)
        sum += (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * pow(cos(to * i / STEPS), df - 1);
    return sum * to / STEPS / 3;
}

static void test_the_p_of_t_is_the_integral_of_its_density(void **state)
{
    static const double df[] = {3, 4, 7, 7.5, 17.776, 40.25, 400}, t[] = {0.01, 0.3, 1, 2, 2.5, 5};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(df); i++)
        for (size_t j = 0; j < HXT_LEN(t); j++)
            near(hx_student_p(t[j], df[i]), 1 - integral(df[i], atan(t[j] / sqrt(df[i]))) / integral(df[i], M_PI_2), 1e-10);
    near(hx_student_p(1, 1), 0.5, 1e-14);                      /* Cauchy: 1 - 2 atan(t) / pi */
    near(hx_student_p(-3, 2), 1 - 3 / sqrt(11), 1e-14);        /* 1 - t / sqrt(2 + t^2) */
    near(hx_student_p(2.262157, 9), 0.05, 1e-7);               /* tables */
    near(hx_student_p(1.959964, 1e7), 0.05, 1e-6);             /* the normal curve */
    near(hx_student_p(0, 5), 1, 1e-14);
}

static void test_signed_rank_has_the_books_value(void **state)
{
    struct hx_wilcoxon w;

    (void)state;
    assert_int_equal(hx_signed_rank(visit_2, visit_1, PATIENTS, &w), 0);
    near(w.w, 40, 0);
    near(w.p, 2 * 10.0 / 512, 1e-12); /* the book: one-sided 0.019 */
    assert_int_equal(w.exact, 1);
    assert_int_equal(w.n, PATIENTS);
}

/* Ranks with ties by counting smaller and equal values, not by sorting. */
static double rank_of(const double *x, size_t n, size_t at)
{
    double below = 0, same = 0;

    for (size_t i = 0; i < n; i++) {
        below += x[i] < x[at];
        same += x[i] == x[at];
    }
    return below + (same + 1) / 2;
}

/* p of the sum of the ranks of `chosen` among all choices: with `fixed` those of as many values, else all. */
static double count_all(const double *x, size_t n, unsigned chosen, int fixed)
{
    double total = 0, w = 0, all = 0, far = 0, rank[20];

    for (size_t i = 0; i < n; i++) {
        rank[i] = rank_of(x, n, i);
        total += rank[i];
        w += chosen >> i & 1 ? rank[i] : 0;
    }
    for (unsigned m = 0; m < 1u << n; m++) {
        double s = 0;

        if (fixed && __builtin_popcount(m) != __builtin_popcount(chosen))
            continue;
        for (size_t i = 0; i < n; i++)
            s += m >> i & 1 ? rank[i] : 0;
        all++;
        far += fabs(s - total / 2) >= fabs(w - total / 2);
    }
    return far / all;
}

static void test_signed_rank_counts_all_signs_with_ties_and_without_zeros(void **state)
{
    static const double d[] = {1, -1, 2, 2, 0, -3, 2, 4, 0, 5, 6, 1}, size[] = {1, 1, 2, 2, 3, 2, 4, 5, 6, 1};
    static const double zero[HXT_LEN(d)] = {0};
    struct hx_wilcoxon w;

    (void)state;
    assert_int_equal(hx_signed_rank(zero, d, HXT_LEN(d), &w), 0);
    assert_int_equal(w.n, HXT_LEN(size));
    near(w.p, count_all(size, HXT_LEN(size), 0x3ed, 0), 1e-12);
    near(w.w, 55 - 2 - 7, 0); /* -1 shares the ranks 1 to 3, -3 has the seventh */
}

static void test_rank_sum_counts_all_choices_with_ties(void **state)
{
    static const double a[] = {1, 2, 2, 3, 5}, b[] = {2, 4, 5, 6, 6}, all[] = {1, 2, 2, 3, 5, 2, 4, 5, 6, 6};
    static const double low[] = {1, 2, 3, 4, 7}, high[] = {5, 6, 8, 9, 10};
    struct hx_wilcoxon w;

    (void)state;
    assert_int_equal(hx_rank_sum(a, b, 5, &w), 0);
    near(w.p, count_all(all, 10, 0x3e0, 1), 1e-12);
    assert_int_equal(hx_rank_sum(low, high, 5, &w), 0);
    near(w.w, 23, 0); /* of 25 pairs (5, 7) and (6, 7) are the other way */
    near(w.p, 2 * 4.0 / 252, 1e-12); /* tables: U = 2 is significant at 0.05 */
    assert_int_equal(w.exact, 1);
}

/* Two-sided, with the correction for continuity. */
static double normal_p(double w, double mean, double variance)
{
    return erfc((fabs(w - mean) - 0.5) / sqrt(variance) * M_SQRT1_2);
}

/* Above the limits there are the textbooks' formulas; (t^3 - t) for each group of t values that tie. */
static void test_large_samples_have_the_normal_curve(void **state)
{
    enum { N = HX_SIGNED_RANK_EXACT + 1, M = HX_RANK_SUM_EXACT + 1 };
    const double n = N, m = M;
    double a[N], b[N], ties;
    struct hx_wilcoxon w;

    (void)state;
    for (int i = 0; i < N; i++) {
        a[i] = 64 * i;
        b[i] = a[i] + (i % 3 ? 1 + i : -1 - i);
    }
    assert_int_equal(hx_signed_rank(a, b, N - 1, &w), 0);
    assert_int_equal(w.exact, 1);
    near(w.p, normal_p(w.w, (n - 1) * n / 4, (n - 1) * n * (2 * n - 1) / 24), 1e-3);
    assert_int_equal(hx_signed_rank(a, b, N, &w), 0);
    assert_int_equal(w.exact, 0);
    near(w.p, normal_p(w.w, n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24), 1e-12);
    for (int i = 0; i < N; i++)
        b[i] = a[i] + (i < 30 ? 1 : i < 40 ? -2 : 3);
    ties = 30 * (30 * 30 - 1) + 10 * (10 * 10 - 1) + 11 * (11 * 11 - 1);
    assert_int_equal(hx_signed_rank(a, b, N, &w), 0);
    near(w.p, normal_p(w.w, n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24 - ties / 48), 1e-12);
    for (int i = 0; i < M; i++)
        b[i] = a[i] + 100;
    assert_int_equal(hx_rank_sum(a, b, M - 1, &w), 0);
    assert_int_equal(w.exact, 1);
    near(w.p, normal_p(w.w, (m - 1) * (m - 1) / 2, (m - 1) * (m - 1) * (2 * m - 1) / 12), 1e-2);
    assert_int_equal(hx_rank_sum(a, b, M, &w), 0);
    assert_int_equal(w.exact, 0);
    near(w.p, normal_p(w.w, m * m / 2, m * m * (2 * m + 1) / 12), 1e-12);
}

static void test_equal_series_differ_in_nothing(void **state)
{
    static const double x[] = {1, 1, 1, 1}, y[] = {2, 2, 2, 2};
    struct hx_wilcoxon w;
    struct hx_student t = hx_student_paired(x, x, 4);

    (void)state;
    assert_true(isnan(t.t));
    near(t.p, 1, 0);
    near(hx_student_paired(x, y, 4).p, 0, 0);
    near(hx_student_welch(x, x, 4).p, 1, 0);
    assert_int_equal(hx_signed_rank(x, x, 4, &w), 0);
    near(w.p, 1, 0);
    assert_int_equal(w.n, 0);
    assert_int_equal(hx_rank_sum(x, x, 4, &w), 0);
    near(w.p, 1, 0);
    near(w.w, 8, 0);
}

static void test_ratio_is_of_pairs_or_of_means(void **state)
{
    static const double a[] = {1, 2, 4}, b[] = {2, 2, 2};

    (void)state;
    near(hx_mean_ratio(a, b, 3, 1), (2 + 1 + 0.5) / 3, 1e-15);
    near(hx_mean_ratio(a, b, 3, 0), 6.0 / 7, 1e-15);
}

static void test_bootstrap_depends_on_its_seed_alone(void **state)
{
    static const double one[2] = {1, 1}, b[2] = {3, 5};
    struct hx_interval x, y, z;

    (void)state;
    assert_int_equal(hx_bootstrap_ratio(drug_2 + 5, drug_2 + 5, 5, 0, 500, 7, 0.95, &x), 0);
    assert_int_equal(hx_bootstrap_ratio(drug_2 + 5, drug_2 + 5, 5, 0, 500, 7, 0.95, &y), 0);
    assert_int_equal(hx_bootstrap_ratio(drug_2 + 5, drug_2 + 5, 5, 0, 500, 8, 0.95, &z), 0);
    assert_memory_equal(&x, &y, sizeof(x));
    assert_true(x.low != z.low || x.high != z.high);
    assert_true(x.low < 1 && x.high > 1);
    /* a series with itself, pair by pair: 1 whichever pairs are drawn */
    assert_int_equal(hx_bootstrap_ratio(drug_2 + 5, drug_2 + 5, 5, 1, 500, 7, 0.95, &x), 0);
    near(x.low, 1, 0);
    near(x.high, 1, 0);
    /* of two pairs one sample in four is the first one twice, one the second one twice */
    assert_int_equal(hx_bootstrap_ratio(one, b, 2, 1, 2000, 1, 0.95, &x), 0);
    near(x.low, 3, 0);
    near(x.high, 5, 0);
}

/* Of many pairs the mean is normal, and its interval 1.96 standard errors wide on each side. */
static void test_bootstrap_of_many_pairs_is_the_normal_interval(void **state)
{
    enum { N = 400 };
    double one[N], b[N];
    struct hx_interval x;
    double error;

    (void)state;
    for (int i = 0; i < N; i++) {
        one[i] = 1;
        b[i] = 10 + i * 37 % N / 100.0;
    }
    error = 1.96 * hx_standard_deviation(b, N) / sqrt(N);
    assert_int_equal(hx_bootstrap_ratio(one, b, N, 1, 4000, 3, 0.95, &x), 0);
    near(x.low, hx_mean(b, N) - error, 0.1 * error);
    near(x.high, hx_mean(b, N) + error, 0.1 * error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student_has_the_papers_values),
        cmocka_unit_test(test_the_p_of_t_is_the_integral_of_its_density),
        cmocka_unit_test(test_signed_rank_has_the_books_value),
        cmocka_unit_test(test_signed_rank_counts_all_signs_with_ties_and_without_zeros),
        cmocka_unit_test(test_rank_sum_counts_all_choices_with_ties),
        cmocka_unit_test(test_large_samples_have_the_normal_curve),
        cmocka_unit_test(test_equal_series_differ_in_nothing),
        cmocka_unit_test(test_ratio_is_of_pairs_or_of_means),
        cmocka_unit_test(test_bootstrap_depends_on_its_seed_alone),
        cmocka_unit_test(test_bootstrap_of_many_pairs_is_the_normal_interval),
    };

    return HXT_RUN(tests);
}
