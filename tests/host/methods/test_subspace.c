/* Protects bases of gated matrices (host/methods/gsi/subspace.h): orthonormal while they grow; nothing that is no new direction joins; what
 * lies outside is told right, and falls with the rank. */
#include <math.h>
#include <stdlib.h>

#include "hxt.h"
#include "methods/gsi/subspace.h"

static void test_a_basis_stays_orthonormal_through_1000_additions(void **state)
{
    enum { COLS = 1100, ADDED = 1000 };
    struct hxt_rng rng;
    struct hx_subspace s;
    float *x = malloc(COLS * sizeof(*x));
    double defect;

    (void)state;
    hxt_rng_init(&rng, 1);
    assert_int_equal(hx_subspace_open(&s, COLS, ADDED), 0);
    for (size_t n = 0; s.k < ADDED; n++) {
        hxt_fill_f32(&rng, x, COLS, HXT_NORMAL);
        if (n % 2 && s.k) /* nearly within: a thousandth of it is new */
            for (size_t i = 0; i < COLS; i++)
                x[i] = s.v[(s.k - 1) * COLS + i] + 3e-5f * x[i];
        assert_int_equal(hx_subspace_add(&s, x), 1);
    }
    defect = hx_subspace_defect(&s);
    print_message("after %zu additions: %.3g\n", s.k, defect);
    assert_true(defect < 1e-5);
    assert_int_equal(hx_subspace_add(&s, x), 0); /* there is no room */
    hx_subspace_free(&s);
    free(x);
}

static void test_what_lies_within_a_basis_or_is_no_number_is_not_added(void **state)
{
    struct hx_subspace s;
    const float a[4] = {3, 4, 0, 0}, b[4] = {0, 1, 0, 0}, within[4] = {7, -2, 0, 0}, none[4] = {NAN, 0, 1, 0};

    (void)state;
    assert_int_equal(hx_subspace_open(&s, 4, 4), 0);
    assert_int_equal(hx_subspace_add(&s, a), 1);
    assert_int_equal(hx_subspace_add(&s, a), 0);
    assert_int_equal(hx_subspace_add(&s, b), 1);
    assert_int_equal(hx_subspace_add(&s, within), 0);
    assert_int_equal(hx_subspace_add(&s, none), 0);
    assert_int_equal(s.k, 2);
    hx_subspace_free(&s);
}

/* What lies outside never becomes more with a direction more, and is the sum of the squares that are left. */
static void test_what_lies_outside_falls_with_the_rank(void **state)
{
    enum { COLS = 64 };
    struct hxt_rng rng;
    struct hx_subspace s;
    float x[COLS], v[COLS], z[COLS] = {0};
    double x2, last;

    (void)state;
    hxt_rng_init(&rng, 2);
    hxt_fill_f32(&rng, x, COLS, HXT_NORMAL);
    last = x2 = hx_norm2(x, COLS);
    assert_int_equal(hx_subspace_open(&s, COLS, COLS), 0);
    while (s.k < COLS) {
        double rest, want = 0;

        hxt_fill_f32(&rng, v, COLS, HXT_NORMAL);
        assert_int_equal(hx_subspace_add(&s, v), 1);
        hx_subspace_project(&s, x, 1, 0, s.k, z);
        for (size_t i = 0; i < COLS; i++) {
            double left = x[i];

            for (size_t j = 0; j < s.k; j++)
                left -= (double)z[j] * s.v[j * COLS + i];
            want += left * left;
        }
        rest = hx_subspace_rest2(&s, x, x2, z);
        if (!(rest <= last * (1 + 1e-6) && fabs(rest - want) <= 1e-5 * x2))
            fail_msg("%zu directions: %g is left, %g is right, %g before", s.k, rest, want, last);
        last = rest;
    }
    assert_true(last < 1e-10 * x2);
    hx_subspace_free(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_basis_stays_orthonormal_through_1000_additions),
    cmocka_unit_test(test_what_lies_within_a_basis_or_is_no_number_is_not_added),
    cmocka_unit_test(test_what_lies_outside_falls_with_the_rank),
};

int main(void)
{
    return HXT_RUN(tests);
}
