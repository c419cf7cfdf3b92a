/* Protects the kernels of trajectories on the DSP (kernels/gtc): the nearest start is the reference's, corrections are as near to it as the
 * header says, one by one and together.  Through a rig: test_gtc_rig.c. */
#include <math.h>
#include <stdlib.h>

#include "gtc/gtc_steps.h"
#include "hexrig_hvx_count.h"
#include "hxt.h"

enum { AXES = HX_TRAJECTORY_AXES, LANES = HX_TRAJECTORY_LANES, ALIGN = 128 };

#define UNIT 0x1p-18

static float *row(size_t n)
{
    return hxt_guard_alloc(n * sizeof(float), ALIGN);
}

static float *random_row(struct hxt_rng *rng, size_t n)
{
    float *x = row(n);

    for (size_t i = 0; i < n; i++)
        x[i] = (float)hxt_normal(rng);
    return x;
}

static void test_nearest_start_is_the_references(void **state)
{
    static const uint32_t records[] = {1, 31, 32, 33, 100, 1000};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 5);
    for (size_t t = 0; t < HXT_LEN(records); t++) {
        const uint32_t blocks = (uint32_t)hx_trajectory_blocks(records[t]);
        float *starts = random_row(&rng, blocks * AXES * LANES);

        for (uint32_t i = records[t]; i < blocks * LANES; i++)
            for (uint32_t l = 0; l < AXES; l++)
                starts[(i / LANES * AXES + l) * LANES + i % LANES] = HX_TRAJECTORY_FAR;
        for (int k = 0; k < 20; k++) {
            float *x = random_row(&rng, AXES);
            const struct hx_gtc_nearest want = hx_gtc_nearest_ref(starts, blocks, x);

            hx_hvx_reset();
            const struct hx_gtc_nearest got = hx_gtc_nearest_hvx(starts, blocks, x);

            assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
            assert_true(got.which < records[t]);
            if (got.which != want.which || !(fabs((double)got.d2 - want.d2) <= UNIT * want.d2))
                fail_msg("%u records: %u at %g, not %u at %g", records[t], got.which, (double)got.d2, want.which, (double)want.d2);
            hxt_guard_free(x);
        }
        hxt_guard_free(starts);
    }
}

/* Twice the same start: the first of them. */
static void test_lower_number_of_equals(void **state)
{
    float *starts = row(2 * AXES * LANES), *x = row(AXES);

    (void)state;
    for (size_t i = 0; i < 2 * AXES * LANES; i++)
        starts[i] = i % LANES == 7 || i % LANES == 9 ? 1 : 5;
    for (size_t l = 0; l < AXES; l++)
        x[l] = 1;
    assert_int_equal(hx_gtc_nearest_hvx(starts, 2, x).which, 7);
    assert_int_equal(hx_gtc_nearest_ref(starts, 2, x).which, 7);
    hxt_guard_free(starts);
    hxt_guard_free(x);
}

static void near(const float *record, const float *off, size_t i, float got, float want)
{
    double bound = fabs((double)record[hx_trajectory_end(i)]);

    for (size_t l = 0; l < AXES; l++)
        bound += fabs((double)record[i * AXES + l] * off[l]);
    if (!(fabs((double)got - want) <= UNIT * bound + 0x1p-126))
        fail_msg("row %zu: %.9g, not %.9g", i, (double)got, (double)want);
}

static void test_corrections_are_near_the_reference(void **state)
{
    enum { MOST = 96 };
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 6);
    for (uint32_t n = LANES; n <= MOST; n += LANES) {
        float *record = random_row(&rng, HX_TRAJECTORY_FLOATS), *q = random_row(&rng, AXES), *x = random_row(&rng, AXES * n);
        float *got = row(AXES * n), *want = row(AXES * n), one[AXES];

        for (size_t i = 64; i < HX_TRAJECTORY_FLOATS; i++) /* ends alone, as they lie in memory */
            record[i] = i % AXES ? 0 : record[i];
        hx_hvx_reset();
        hx_gtc_correct_hvx(record, q, x, n, got);
        assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
        hx_gtc_correct_ref(record, q, x, n, want);
        for (uint32_t b = 0; b < n; b++) {
            float off[AXES];

            for (uint32_t l = 0; l < AXES; l++)
                off[l] = x[l * n + b] - q[l];
            hx_gtc_correct_one_hvx(record, off, one);
            for (uint32_t i = 0; i < AXES; i++) {
                near(record, off, i, got[i * n + b], want[i * n + b]);
                near(record, off, i, one[i], want[i * n + b]);
            }
        }
        hxt_guard_intact(got);
        hxt_guard_free(record);
        hxt_guard_free(q);
        hxt_guard_free(x);
        hxt_guard_free(got);
        hxt_guard_free(want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_start_is_the_references),
        cmocka_unit_test(test_lower_number_of_equals),
        cmocka_unit_test(test_corrections_are_near_the_reference),
    };

    return HXT_RUN(tests);
}
