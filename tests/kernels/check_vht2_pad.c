/* Padded transforms on HVX against fp64: every length that there is, its own inverse, and nothing written behind the slack that
 * the header names. */
#include <math.h>

#include "AEEStdErr.h"
#include "hexrig_hvx_count.h"
#include "hx_vht2.h"
#include "hxt.h"
#include "spinor/vht2_pad.h"

static double largest(const float *x, int n)
{
    double top = 0;

    for (int i = 0; i < n; i++)
        top = fmax(top, fabs((double)x[i]));
    return top;
}

/* How many sums and products lie between an input and an output: each rounds to 2^-23 at worst (qf32), all the same way for equal
 * inputs. */
static int roundings(int n)
{
    int sum = 0;

    for (int p = 2; n > 1; p++)
        for (; n % p == 0; n /= p)
            sum += p;
    return sum;
}

static void check_length(struct hxt_rng *rng, int n, enum hxt_fill kind)
{
    float *x = hxt_guard_alloc(((size_t)n + HX_VHT2_PAD_SLACK) * sizeof(*x), 4);
    float first[HX_VHT2_PAD_MAX];
    double want[HX_VHT2_PAD_MAX], bound;

    hxt_fill_f32(rng, x, (size_t)n, kind);
    bound = fmax(roundings(n) * 0x1p-23 * sqrt(n) * largest(x, n), 0x1p-120);
    for (int i = 0; i < n; i++)
        want[i] = (double)(first[i] = x[i]);
    assert_int_equal(hx_vht2_f64(want, (size_t)n), 0);
    assert_int_equal(hx_vht2_pad_hvx(x, n), AEE_SUCCESS);
    for (int i = 0; i < n; i++)
        if (!(fabs((double)x[i] - want[i]) <= bound))
            fail_msg("n %d fill %s: element %d is %g, not %g", n, hxt_fill_name(kind), i, (double)x[i], want[i]);
    assert_int_equal(hx_vht2_pad_hvx(x, n), AEE_SUCCESS);
    for (int i = 0; i < n; i++)
        if (!(fabs((double)x[i] - (double)first[i]) <= 2 * bound))
            fail_msg("n %d fill %s: element %d comes back as %g, not %g", n, hxt_fill_name(kind), i,
                     (double)x[i], (double)first[i]);
    hxt_guard_free(x);
}

static void test_every_length_is_near_the_fp64_transform_and_its_own_inverse(void **state)
{
    static const enum hxt_fill fills[] = {HXT_NORMAL, HXT_ZERO, HXT_SPIKE, HXT_CONST, HXT_RANGE};
    struct hxt_rng rng;
    int lengths = 0;

    (void)state;
    hxt_rng_init(&rng, 1);
    hx_hvx_reset();
    for (int n = 2; n <= HX_VHT2_PAD_MAX; n++) {
        if (hx_vht2_padded(n) != n)
            continue;
        lengths++;
        for (size_t f = 0; f < HXT_LEN(fills); f++)
            check_length(&rng, n, fills[f]);
    }
    assert_int_equal(lengths, 29); /* of 31 products of the five primes: 1155 and 2310 are too long */
    assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
}

static void test_other_lengths_are_refused(void **state)
{
    static const int bad[] = {-154, 0, 1, 4, 12, 13, 128, 155, 771, 1155, 2310};
    float *x = hxt_guard_alloc(4096 * sizeof(*x), 128);

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(hx_vht2_pad_hvx(x, bad[i]), AEE_EBADPARM);
    hxt_untouched(x, 4096 * sizeof(*x));
    hxt_guard_free(x);
}

static void test_vectors_are_padded_to_the_next_length_with_their_mean(void **state)
{
    static const int want[][2] = {{-1, 0}, {0, 0}, {1, 0}, {2, 2}, {64, 66}, {80, 105}, {96, 105}, {112, 154}, {128, 154},
                                  {192, 210}, {256, 330}, {512, 770}, {770, 770}, {771, 0}, {3000, 0}};
    float x[105];
    double sum = 0;
    struct hxt_rng rng;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(want); i++)
        assert_int_equal(hx_vht2_padded(want[i][0]), want[i][1]);
    hxt_rng_init(&rng, 2);
    hxt_fill_f32(&rng, x, 80, HXT_UNIFORM);
    for (int i = 0; i < 80; i++)
        sum += (double)x[i];
    hx_vht2_pad_fill(x, 80, 105);
    for (int i = 80; i < 105; i++)
        assert_true(fabs((double)x[i] - sum / 80) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_length_is_near_the_fp64_transform_and_its_own_inverse),
        cmocka_unit_test(test_other_lengths_are_refused),
        cmocka_unit_test(test_vectors_are_padded_to_the_next_length_with_their_mean),
    };

    return HXT_RUN(tests);
}
