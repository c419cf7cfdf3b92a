/* Protects: the integers that ring attention makes of vectors: rounding, clamps, involution, and how far a score may be off. */
#include <math.h>
#include <stdlib.h>

#include "hxt.h"
#include "methods/ntt/ring/ntt.h"
#include "ntt_random.h"

enum { N_MAX = HX_POLY_N_MAX };

static const size_t sizes[] = {64, 128, 256, 512};

static void test_supported_n_is_the_smallest_that_fits(void **state)
{
    (void)state;
    assert_int_equal(hx_poly_n(1), 64);
    assert_int_equal(hx_poly_n(64), 64);
    assert_int_equal(hx_poly_n(65), 128);
    assert_int_equal(hx_poly_n(128), 128);
    assert_int_equal(hx_poly_n(256), 256);
    assert_int_equal(hx_poly_n(512), 512);
    assert_int_equal(hx_poly_n(513), 0);
}

static void test_encoder_rounds_half_away_and_clamps(void **state)
{
    const float v[] = {0.5f / 65536, -0.5f / 65536, nextafterf(0.5f, 0) / 65536, 1.5f / 65536,
                       -2.5f / 65536, 32768, -1e30f, INFINITY, NAN, 1.25f};
    const int32_t want[] = {1, -1, 0, 2, -3, INT32_MAX, -INT32_MAX, INT32_MAX, 0, 81920};
    int32_t got[64];

    (void)state;
    memset(got, HXT_POISON, sizeof(got));
    assert_int_equal(hx_poly_encode(got, 64, v, HXT_LEN(v), HX_POLY_DELTA_BITS), 4);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(got[i], i < HXT_LEN(want) ? want[i] : 0);
}

/* Values in groups, as the encoder takes most, and by themselves. */
static void test_encoder_does_the_same_to_a_value_wherever_it_is(void **state)
{
    float v[67];
    int32_t all[128], one;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 13);
    for (int i = 0; i < 200; i++) {
        for (size_t j = 0; j < HXT_LEN(v); j++)
            v[j] = (float)((double)((int)hxt_below(&rng, 4001) - 2000) / 2 / 65536);
        if (i % 2)
            v[hxt_below(&rng, HXT_LEN(v))] = 1e6f; /* clamped */
        assert_int_equal(hx_poly_encode(all, 128, v, HXT_LEN(v), 16), i % 2);
        for (size_t j = 0; j < HXT_LEN(v); j++) {
            hx_poly_encode(&one, 1, v + j, 1, 16);
            assert_int_equal(all[j], one);
            if (v[j] < 1e6f)
                assert_int_equal(one, (int32_t)lround(v[j] * 65536.0));
        }
    }
}

static void test_involution_makes_coefficient_0_the_inner_product(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t s = 0; s < HXT_LEN(sizes); s++) {
        const size_t n = sizes[s];
        int32_t q[N_MAX], k[N_MAX], back[N_MAX];
        int64_t c[N_MAX], plain[N_MAX];

        fill_coefficients(&rng, q, n, 1 << 20);
        fill_coefficients(&rng, k, n, 1 << 20);
        memcpy(back, k, sizeof(back));
        hx_poly_mul_ref(plain, q, k, n);
        hx_poly_involute(k, n);
        hx_poly_mul_ref(c, q, k, n);
        hx_poly_involute(k, n);
        assert_memory_equal(k, back, n * sizeof(*k));
        assert_true(c[0] == hx_poly_dot_ref(q, k, n));
        /* the paper stores K without it, and reads coefficient N-1 of the literal Q(x) K(1/x) */
        assert_true(plain[0] != c[0]);
        assert_true(c[n - 1] != c[0]);
        /* a plain reversal does put the inner product there */
        for (size_t i = 0; i < n; i++)
            back[i] = k[n - 1 - i];
        hx_poly_mul_ref(plain, q, back, n);
        assert_true(plain[n - 1] == c[0]);
    }
}

/* std(<q,k>) = sqrt((|q|^2 + |k|^2) / 12) / Delta.  The paper asks for Delta >= 2^10 and prints an error of 1.17e-4, which is that of
 * 2^16. */
static void test_error_of_a_score_follows_delta(void **state)
{
    enum { DH = 256, TIMES = 2000 };
    static const struct {
        unsigned bits;
        double want;
    } cases[] = {{10, 6.4e-3}, {16, 1.0e-4}};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 12);
    for (size_t c = 0; c < HXT_LEN(cases); c++) {
        double sum = 0;

        for (int i = 0; i < TIMES; i++) {
            float q[DH], k[DH];
            int32_t a[DH], b[DH];
            double exact = 0;

            for (size_t j = 0; j < DH; j++) {
                q[j] = (float)hxt_normal(&rng);
                k[j] = (float)hxt_normal(&rng);
                exact += (double)q[j] * k[j];
            }
            hx_poly_encode(a, DH, q, DH, cases[c].bits);
            hx_poly_encode(b, DH, k, DH, cases[c].bits);
            exact -= ldexp((double)hx_poly_dot_ref(a, b, DH), -2 * (int)cases[c].bits);
            sum += exact * exact;
        }
        assert_true(fabs(sqrt(sum / TIMES) / cases[c].want - 1) < 0.1);
    }
}

static void test_length_bounds_the_inner_product(void **state)
{
    struct hxt_rng rng;
    int32_t a[64];

    (void)state;
    hxt_rng_init(&rng, 2);
    for (int i = 0; i < 100; i++) {
        fill_coefficients(&rng, a, 64, 1u << 26);
        assert_true(hx_poly_length(a, 64) * hx_poly_length(a, 64) >=
                    (double)hx_poly_dot_ref(a, a, 64));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_supported_n_is_the_smallest_that_fits),
    cmocka_unit_test(test_encoder_rounds_half_away_and_clamps),
    cmocka_unit_test(test_encoder_does_the_same_to_a_value_wherever_it_is),
    cmocka_unit_test(test_involution_makes_coefficient_0_the_inner_product),
    cmocka_unit_test(test_error_of_a_score_follows_delta),
    cmocka_unit_test(test_length_bounds_the_inner_product),
};

int main(void)
{
    return HXT_RUN(tests);
}
