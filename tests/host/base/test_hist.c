/* Protects: the percentiles that measurements report. */
#include "base/hist.h"
#include "hxt.h"

static void test_percentiles_of_known_samples(void **state)
{
    struct hx_hist h = {0};

    (void)state;
    assert_int_equal(hx_hist_percentile(&h, 500), 0);
    for (uint64_t v = 1; v <= 10; v++)
        hx_hist_add(&h, v);
    assert_int_equal(hx_hist_percentile(&h, 500), 5); /* nearest rank: small values are exact */
    assert_int_equal(hx_hist_percentile(&h, 501), 6);
    assert_int_equal(hx_hist_percentile(&h, 990), 10);
    assert_int_equal(hx_hist_percentile(&h, 1), 1);
    assert_int_equal(h.sum, 55);

    h = (struct hx_hist){0};
    for (uint64_t v = 1000; v >= 1; v--)
        hx_hist_add(&h, v);
    assert_int_equal(hx_hist_percentile(&h, 500), 511); /* 496..511 share a bucket */
    assert_int_equal(hx_hist_percentile(&h, 990), 991); /* 960..991 */
    assert_int_equal(hx_hist_percentile(&h, 1000), 1000);

    h = (struct hx_hist){0};
    for (int i = 0; i < 98; i++)
        hx_hist_add(&h, 100);
    hx_hist_add(&h, 5000000);
    hx_hist_add(&h, UINT64_MAX);
    assert_in_range(hx_hist_percentile(&h, 980), 100, 106);
    assert_in_range(hx_hist_percentile(&h, 990), 5000000, 5312500);
    assert_int_equal(hx_hist_percentile(&h, 1000), UINT64_MAX);
}

static void test_a_percentile_is_at_most_a_sixteenth_too_high(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (int i = 0; i < 10000; i++) {
        uint64_t v = hxt_u64(&rng) >> hxt_below(&rng, 64), got;
        struct hx_hist h = {0};

        hx_hist_add(&h, v);
        hx_hist_add(&h, UINT64_MAX);
        got = hx_hist_percentile(&h, 500);
        if (got < v || got - v > v / 16)
            fail_msg("%llu became %llu", (unsigned long long)v, (unsigned long long)got);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_percentiles_of_known_samples),
    cmocka_unit_test(test_a_percentile_is_at_most_a_sixteenth_too_high),
};

int main(void)
{
    return HXT_RUN(tests);
}
