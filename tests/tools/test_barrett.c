/* Protects what `hexrig bench exact` and `make bench` say of Barrett's method: both ways of reducing give the residue that they are
 * compared for, transforms by either are the engine's, and the interval is that of the figure.  No time is looked at. */
#include "bench/barrett.h"
#include "bench/mul60.h"
#include "hxt.h"

static const uint64_t q = HX_NTT60_Q;

static void check_product(uint64_t a, uint64_t b)
{
    const uint64_t want = (uint64_t)((unsigned __int128)a * b % q);

    assert_int_equal(hx_mul60(a, b, 0), want);
    assert_int_equal(hx_mul60(a, b, 1), want);
    assert_int_equal(hx_ntt60_mul(a, b), want);
}

static void test_both_ways_give_the_residue(void **state)
{
    const uint64_t edges[] = {0, 1, 2, q / 2, q - 2, q - 1};
    uint64_t a = 1, b = 1;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(edges); i++)
        for (size_t j = 0; j < HXT_LEN(edges); j++)
            check_product(edges[i], edges[j]);
    for (int i = 0; i < 100000; i++) {
        a = a * 6364136223846793005u + 1442695040888963407u;
        b = b * 2862933555777941757u + 3037000493u;
        check_product(a % q, b % q);
    }
}

static void test_transforms_by_either_are_the_engines(void **state)
{
    static uint64_t w[HX_POLY_N_MAX], v[3][HX_POLY_N_MAX];

    (void)state;
    for (size_t n = HX_POLY_N_MIN; n <= HX_POLY_N_MAX; n *= 2) {
        hx_weights60(w, n);
        for (size_t i = 0; i < n; i++)
            v[0][i] = v[1][i] = v[2][i] = (i + 1) * 0x9e3779b97f4a7c15u % q;
        hx_forward60(v[0], w, n, 0);
        hx_forward60(v[1], w, n, 1);
        hx_ntt60_variants[0]->forward(hx_ntt60_get(n), v[2]);
        assert_memory_equal(v[0], v[2], n * sizeof(*w));
        assert_memory_equal(v[1], v[2], n * sizeof(*w));
    }
}

static void test_a_measurement_is_of_pairs(void **state)
{
    static const char *const names[HX_BARRETT_ROWS] = {"chain", "pointwise", "transform"};
    struct hx_barrett_row rows[HX_BARRETT_ROWS];
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_barrett_measure(rows, 5, &err), 0);
    for (size_t i = 0; i < HX_BARRETT_ROWS; i++) {
        assert_string_equal(rows[i].name, names[i]);
        assert_true(rows[i].percent_ns > 0 && rows[i].barrett_ns > 0);
        assert_true(rows[i].interval.low > 0 && rows[i].interval.low <= rows[i].interval.high);
        assert_true(rows[i].speedup >= rows[i].interval.low * 0.999 && rows[i].speedup <= rows[i].interval.high * 1.001);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_both_ways_give_the_residue),
    cmocka_unit_test(test_transforms_by_either_are_the_engines),
    cmocka_unit_test(test_a_measurement_is_of_pairs),
};

int main(void)
{
    return HXT_RUN(tests);
}
