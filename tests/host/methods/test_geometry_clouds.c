/* Protects what host/methods/geometry makes of a cloud of states: its tree, whitened coordinates, and the field, whose slopes are exact. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hxt.h"
#include "methods/geometry/field.h"
#include "methods/geometry/nearest.h"
#include "methods/geometry/whitening.h"

enum { MOST = HX_METRIC_MOST };

static const double somewhere[MOST] = {.3, -.2, .1, .25, -.1, .2, .05, -.15};

static void near(double got, double want, double within, const char *what)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%s: %.17g, %.17g within %g expected", what, got, want, within);
}

enum { POINTS = 300 };

static double *cloud(size_t n, unsigned seed)
{
    double *x = malloc(POINTS * n * sizeof(*x));
    struct hxt_rng rng;

    hxt_rng_init(&rng, seed);
    for (size_t i = 0; i < POINTS * n; i++) {
        float v;

        hxt_fill_f32(&rng, &v, 1, HXT_NORMAL);
        x[i] = v;
    }
    return x;
}

static void test_tree_finds_what_a_scan_finds(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 8; n++) {
        double *x = cloud(n, 7);
        struct hx_neighbour a[9], b[9];
        struct hx_nearest *t = NULL;
        struct hx_error err = {""};

        for (size_t i = 0; i < 40 * n; i++) /* some stand twice, or are equally far */
            x[i] = i < 20 * n ? 0 : round(x[i]);
        assert_int_equal(hx_nearest_open(&t, x, POINTS, n, &err), 0);
        for (size_t i = 0; i < POINTS; i++) {
            const size_t but = i % 2 ? i : SIZE_MAX;

            assert_int_equal(hx_nearest_find(t, x + i * n, 9, but, a), 9);
            assert_int_equal(hx_nearest_scan(x, POINTS, n, x + i * n, 9, but, b), 9);
            assert_memory_equal(a, b, sizeof(a));
        }
        hx_nearest_close(t);
        x[5] = NAN;
        assert_int_equal(hx_nearest_open(&t, x, POINTS, n, &err), -EINVAL);
        free(x);
    }
}

static void test_slopes_of_a_clouds_field_are_those_of_its_differences(void **state)
{
    for (size_t n = 2; n <= 8; n += 3) {
        double *x = cloud(n, 3);
        struct hx_cloud_metric c = {.n = n, .points = POINTS, .x = x};
        struct hx_error err = {""};
        struct hx_metric_at at;
        struct hx_metric m;

        assert_int_equal(hx_cloud_metric_open(&c, &err), 0);
        assert_true(c.least >= 1e-3 && c.least < c.most && c.most <= 1e3);
        m = hx_cloud_metric_field(&c);
        assert_int_equal(m.slopes(m.arg, somewhere, &at, &err), 0);
        for (size_t l = 0; l < n; l++) {
            double more[64], less[64], inverse[64], to[MOST];
            const double h = 1e-5;

            memcpy(to, somewhere, sizeof(to));
            to[l] = somewhere[l] + h;
            assert_int_equal(m.at(m.arg, to, more, inverse, &err), 0);
            to[l] = somewhere[l] - h;
            assert_int_equal(m.at(m.arg, to, less, inverse, &err), 0);
            for (size_t i = 0; i < n * n; i++)
                near(at.slope[l][i], (more[i] - less[i]) / (2 * h), 1e-6 * (1 + fabs(at.slope[l][i])), "a slope");
        }
        hx_cloud_metric_free(&c);
        free(x);
    }
    (void)state;
}

static void test_field_at_a_lonely_point_is_the_points_own(void **state)
{
    double *x = cloud(3, 5), own[9], there[9], inverse[9];
    struct hx_cloud_metric c = {.n = 3, .points = POINTS, .x = x};
    struct hx_error err = {""};
    struct hx_metric m;

    (void)state;
    x[0] = x[1] = x[2] = 100; /* others have no weight there */
    assert_int_equal(hx_cloud_metric_open(&c, &err), 0);
    m = hx_cloud_metric_field(&c);
    assert_int_equal(hx_cloud_metric_own(&c, 0, own, &err), 0);
    assert_int_equal(m.at(m.arg, x, there, inverse, &err), 0);
    for (size_t i = 0; i < 9; i++)
        near(there[i], own[i], 1e-12 * own[0], "an entry of g");
    hx_cloud_metric_free(&c);
    c.points = 8;
    assert_int_equal(hx_cloud_metric_open(&c, &err), -EINVAL);
    assert_non_null(strstr(err.text, "a cloud of 8 points"));
    hx_cloud_metric_free(&c);
    free(x);
}

enum { WIDE = 12 };

/* States of 5 dimensions in WIDE, off the middle. */
static float *states_of_5(void)
{
    double *x = cloud(5, 11);
    float *s = calloc(POINTS * WIDE, sizeof(*s));

    for (size_t i = 0; i < POINTS; i++)
        for (size_t k = 0; k < WIDE; k++) {
            s[i * WIDE + k] = 3;
            for (size_t a = 0; a < 5; a++)
                s[i * WIDE + k] += (float)(x[i * 5 + a] * (double)(a + 1) * cos((double)((a + 1) * k) * .7 + (double)a));
        }
    free(x);
    return s;
}

static void test_whitened_clouds_have_covariance_one_and_lead_back(void **state)
{
    float *s = states_of_5(), moved[WIDE];
    double *x = malloc(POINTS * 5 * sizeof(*x)), step[5];
    struct hx_whitening w;
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(hx_whitening_fit(&w, s, POINTS, WIDE, 5, &err), 0);
    near(w.held, 1, 1e-9, "the share of 5 axes");
    hx_whitening_place(&w, s, POINTS, x);
    for (size_t a = 0; a < 5; a++)
        for (size_t b = 0; b < 5; b++) {
            double sum = 0;

            for (size_t i = 0; i < POINTS; i++)
                sum += x[i * 5 + a] * x[i * 5 + b] / POINTS;
            near(sum, a == b, 1e-5, "a covariance");
        }
    for (size_t a = 0; a < 5; a++)
        step[a] = x[5 + a] - x[a];
    memcpy(moved, s, sizeof(moved));
    hx_whitening_move(&w, step, moved); /* from the first state to the second */
    for (size_t k = 0; k < WIDE; k++)
        near(moved[k], s[WIDE + k], 1e-4, "a state");
    hx_whitening_free(&w);
    assert_int_equal(hx_whitening_fit(&w, s, POINTS, WIDE, 6, &err), -EINVAL);
    assert_string_equal(err.text, "6 axes; these 300 states have 5 dimensions");
    hx_whitening_free(&w);
    free(x);
    free(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_finds_what_a_scan_finds),
        cmocka_unit_test(test_slopes_of_a_clouds_field_are_those_of_its_differences),
        cmocka_unit_test(test_whitened_clouds_have_covariance_one_and_lead_back),
        cmocka_unit_test(test_field_at_a_lonely_point_is_the_points_own),
    };

    return HXT_RUN(tests);
}
