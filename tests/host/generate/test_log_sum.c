/* Protects the denominator of log-probabilities (host/generate/log_sum.h): large logits do not overflow, NaN and -INFINITY add nothing, and
 * probabilities by it add up to 1. */
#include <math.h>

#include "generate/log_sum.h"
#include "hxt.h"

static void test_it_is_the_logarithm_of_the_sum(void **state)
{
    const float x[] = {1, NAN, 3, -INFINITY, 3, 2}, big[] = {1000, 1000, -1000};
    const double want = log(exp(1) + exp(3) + exp(3) + exp(2));
    struct hx_log_sum s = hx_log_sum(x, HXT_LEN(x));

    (void)state;
    assert_true(s.most == 3 && s.top == 2);
    assert_true(fabs(s.rest + 3 - want) < 1e-14);
    assert_true(fabs(hx_log_sum_nll(&s, 1) - (want - 1)) < 1e-14);
    s = hx_log_sum(big, HXT_LEN(big));
    assert_true(s.top == 0 && fabs(hx_log_sum_nll(&s, 1000) - log(2)) < 1e-12);
}

static void test_probabilities_add_up_to_one(void **state)
{
    enum { N = 2048 };
    static float x[N];
    struct hxt_rng rng;
    struct hx_log_sum s;
    double sum = 0;

    (void)state;
    hxt_rng_init(&rng, 1);
    hxt_fill_f32(&rng, x, N, HXT_NORMAL);
    for (size_t i = 0; i < N; i++)
        x[i] = 20 * x[i] + 500;
    s = hx_log_sum(x, N);
    for (size_t i = 0; i < N; i++)
        sum += exp(-hx_log_sum_nll(&s, x[i]));
    assert_true(fabs(sum - 1) < 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_the_logarithm_of_the_sum),
        cmocka_unit_test(test_probabilities_add_up_to_one),
    };

    return HXT_RUN(tests);
}
