/* Protects: what `hexrig report timing --identify` says of parameters: on problems whose answers textbooks give, the errors of
 * parameters, their correlation, the error of a row that is left out, and one step of a fit are those answers. */
#include "report/estimate.h"

#include <math.h>

#include "hxt.h"

enum { ROWS = 6, N = 2 };

/* A straight line in logarithms: row i has slope 1 by the first parameter and x[i] by the second. */
static const double x[ROWS] = {-5, -3, -1, 1, 3, 5};
/* orthogonal to both columns, so that the parameters are where a fit would leave them */
static const double at_rest[ROWS] = {0.010, -0.002, -0.008, -0.008, -0.002, 0.010};

struct line {
    double slopes[ROWS * N], residual[ROWS];
    size_t source[ROWS];
    struct hx_estimate_param param[N];
    struct hx_estimate_problem problem;
};

static double sum_of_squares(const double *v)
{
    double s = 0;

    for (int i = 0; i < ROWS; i++)
        s += v[i] * v[i];
    return s;
}

/* residual: rows' residuals before the parameters are moved off by a and b, in logarithms.  Of the parameters next to
 * nothing is known before. */
static void make_line(struct line *l, const double *residual, double a, double b)
{
    const struct hx_estimate_param any = {.value = 1, .low = 1e-9, .high = 1e9, .fitted = 1};

    for (size_t i = 0; i < ROWS; i++) {
        l->slopes[i * N] = 1;
        l->slopes[i * N + 1] = x[i];
        l->residual[i] = residual[i] + a + b * x[i];
        l->source[i] = i;
    }
    l->param[0] = l->param[1] = any;
    l->problem = (struct hx_estimate_problem){ROWS, N, l->slopes, l->residual, l->source, l->param};
}

static void solve(struct hx_estimate *e, const struct line *l)
{
    struct hx_error err = {""};

    if (hx_estimate(e, &l->problem, &err))
        fail_msg("%s", err.text);
}

static void near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.12g is not %.12g", got, want);
}

static void test_errors_of_a_straight_line_are_those_of_textbooks(void **state)
{
    const double scatter = sqrt(sum_of_squares(at_rest) / (ROWS - N));
    const double figure[N] = {1, 2};
    struct hx_estimate e;
    struct line l;

    (void)state;
    make_line(&l, at_rest, 0, 0);
    solve(&e, &l);
    near(e.scatter, scatter, 1e-3);
    near(sqrt(e.covariance[0]), scatter / sqrt(ROWS), 1e-3);
    near(sqrt(e.covariance[3]), scatter / sqrt(sum_of_squares(x)), 1e-3);
    assert_true(fabs(e.covariance[1]) < 1e-9);
    near(hx_estimate_sd(&e, N, figure), scatter * sqrt(1.0 / ROWS + 4 / sum_of_squares(x)), 1e-3);
    assert_int_equal(e.n_fitted, 2);
    near(e.singular[0], sqrt(sum_of_squares(x)), 1e-9);
    near(e.singular[1], sqrt(ROWS), 1e-9);
    near(fabs(e.direction[1]), 1, 1e-9); /* the larger one is the second parameter alone */
    near(e.next[0], 1, 1e-6);
    near(e.next[1], 1, 1e-6);
    hx_estimate_free(&e);
}

/* residual / (1 - leverage), where the leverage of a point is 1/n + x^2 / sum of x^2 */
static void test_a_row_left_out_is_off_by_its_residual_and_its_leverage(void **state)
{
    struct hx_estimate e;
    struct line l;

    (void)state;
    make_line(&l, at_rest, 0, 0);
    solve(&e, &l);
    for (int i = 0; i < ROWS; i++) {
        const double leverage = 1.0 / ROWS + x[i] * x[i] / sum_of_squares(x);

        near(e.without[i], fabs(exp(at_rest[i] / (1 - leverage)) - 1), 1e-3);
    }
    hx_estimate_free(&e);
}

static void test_rows_of_one_source_leave_together(void **state)
{
    struct hx_estimate apart, together;
    struct line l;

    (void)state;
    make_line(&l, at_rest, 0, 0);
    solve(&apart, &l);
    l.source[1] = 0;
    solve(&together, &l);
    assert_true(together.without[0] > 1.2 * apart.without[0]);
    near(together.without[5], apart.without[5], 1e-9);
    hx_estimate_free(&apart);
    hx_estimate_free(&together);
}

static void test_one_step_undoes_what_moved_the_parameters(void **state)
{
    struct hx_estimate e;
    struct line l;

    (void)state;
    make_line(&l, at_rest, 0.1, -0.004);
    solve(&e, &l);
    near(e.next[0], exp(-0.1), 0.002);
    near(e.next[1], exp(0.004), 0.0005);
    hx_estimate_free(&e);
    l.param[0].low = 0.99; /* not further than that */
    l.param[0].high = 1.2;
    solve(&e, &l);
    near(e.next[0], 0.99, 1e-9);
    hx_estimate_free(&e);
}

/* A parameter that no row knows keeps the error it had; one that is not fitted stays where it is, and adds its error to that of the
 * other. */
static void test_what_no_row_tells_stays_unknown(void **state)
{
    struct hx_estimate e;
    struct line l;

    (void)state;
    make_line(&l, at_rest, 0, 0);
    for (int i = 0; i < ROWS; i++)
        l.slopes[i * N + 1] = 0;
    l.param[1] = (struct hx_estimate_param){2, 1, 4, 1};
    solve(&e, &l);
    near(sqrt(e.covariance[3]), hx_estimate_sd_before(&l.param[1]), 1e-9);
    near(hx_estimate_sd_before(&l.param[1]), log(4) / 2 / HX_ESTIMATE_90, 1e-9);
    near(e.next[1], 2, 1e-9); /* the middle of its range */
    assert_true(e.singular[1] == 0);
    hx_estimate_free(&e);

    for (int i = 0; i < ROWS; i++)
        l.slopes[i * N + 1] = 1; /* rows see the product of both */
    l.param[1].fitted = 0;
    solve(&e, &l);
    near(e.next[1], 2, 1e-12);
    near(sqrt(e.covariance[0]), sqrt(e.covariance[3]), 0.01);
    near(e.covariance[1] / e.covariance[0], -1, 0.01);
    hx_estimate_free(&e);
}

static void test_an_outlier_does_not_drag_the_parameters_along(void **state)
{
    double residual[ROWS];
    struct hx_estimate e;
    struct line l;

    (void)state;
    for (int i = 0; i < ROWS; i++)
        residual[i] = at_rest[i];
    residual[3] = 0.6;
    make_line(&l, residual, 0, 0);
    solve(&e, &l);
    assert_true(fabs(log(e.next[0])) < 0.02); /* least squares would move it by 0.1 */
    assert_true(e.without[3] > 0.7);
    hx_estimate_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_of_a_straight_line_are_those_of_textbooks),
        cmocka_unit_test(test_a_row_left_out_is_off_by_its_residual_and_its_leverage),
        cmocka_unit_test(test_rows_of_one_source_leave_together),
        cmocka_unit_test(test_one_step_undoes_what_moved_the_parameters),
        cmocka_unit_test(test_what_no_row_tells_stays_unknown),
        cmocka_unit_test(test_an_outlier_does_not_drag_the_parameters_along),
    };

    return HXT_RUN(tests);
}
