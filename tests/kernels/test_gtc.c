/* Protects the kernels of trajectories on the DSP (kernels/gtc): the nearest start is the reference's, corrections are as near to it as the
 * header says, one by one and together; look-ups in two stages have the reference's bits.  Through a rig: test_gtc_rig.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* --- two stages */

struct library {
    struct hx_gtc_library l;
    float *starts, *records, *metrics, *room;
    uint32_t *numbers;
};

/* spread: of the starts; small ones lie so near each other that qf32 cannot tell them apart.  Every third start is the one before, too. */
static struct library make_library(struct hxt_rng *rng, uint32_t n, double spread)
{
    const uint32_t blocks = (uint32_t)hx_trajectory_blocks(n);
    struct library m = {.starts = row(blocks * AXES * LANES), .records = random_row(rng, n * HX_TRAJECTORY_FLOATS),
                        .metrics = row(n * HX_TRAJECTORY_METRIC), .room = row(blocks * LANES),
                        .numbers = hxt_guard_alloc(blocks * LANES * sizeof(uint32_t), ALIGN)};

    for (uint32_t i = 0; i < blocks * LANES; i++)
        for (uint32_t k = 0; k < AXES; k++) {
            float *at = &m.starts[(i / LANES * AXES + k) * LANES + i % LANES];

            *at = i >= n ? HX_TRAJECTORY_FAR : (float)(1 + spread * hxt_normal(rng));
            if (i && i < n && i % 3 == 0)
                *at = m.starts[((i - 1) / LANES * AXES + k) * LANES + (i - 1) % LANES];
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < HX_TRAJECTORY_METRIC; k++)
            m.metrics[i * HX_TRAJECTORY_METRIC + k] = (float)((k % 9 == 0 ? 2 : 0) + .1 * hxt_normal(rng));
    m.l = (struct hx_gtc_library){m.starts, m.records, m.metrics, n, blocks};
    return m;
}

static void free_library(struct library *m)
{
    hxt_guard_intact(m->room);
    hxt_guard_intact(m->numbers);
    hxt_guard_free(m->starts);
    hxt_guard_free(m->records);
    hxt_guard_free(m->metrics);
    hxt_guard_free(m->room);
    hxt_guard_free(m->numbers);
}

static void same_answer(const struct library *m, const float *x)
{
    float got_y[AXES], want_y[AXES];
    const struct hx_gtc_found want = hx_gtc_look_up_ref(&m->l, x, want_y);

    hx_hvx_reset();
    const struct hx_gtc_found got = hx_gtc_look_up_hvx(&m->l, x, m->room, m->numbers, got_y);

    assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
    if (got.which != want.which || memcmp(&got.d2, &want.d2, sizeof(got.d2)) != 0 || memcmp(&got.g2, &want.g2, sizeof(got.g2)) != 0)
        fail_msg("%u records: %u at %.9g, %.9g, not %u at %.9g, %.9g", m->l.n, got.which, (double)got.d2, (double)got.g2, want.which,
                 (double)want.d2, (double)want.g2);
    hxt_same_bytes(got_y, want_y, sizeof(want_y));
}

static void test_look_ups_in_two_stages_have_the_references_bits(void **state)
{
    static const uint32_t records[] = {1, 5, 8, 9, 32, 33, 64, 1000};
    static const double spreads[] = {1, 1e-3, 1e-6};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 7);
    for (size_t t = 0; t < HXT_LEN(records); t++)
        for (size_t s = 0; s < HXT_LEN(spreads); s++) {
            struct library m = make_library(&rng, records[t], spreads[s]);

            for (int k = 0; k < 20; k++) {
                float x[AXES];

                for (size_t l = 0; l < AXES; l++)
                    x[l] = (float)(1 + spreads[s] * hxt_normal(&rng));
                same_answer(&m, x);
            }
            free_library(&m);
        }
}

/* By metric another start may be the nearest, but only one of the eight that are nearest in coordinates. */
static void test_the_metric_chooses_among_eight(void **state)
{
    struct hxt_rng rng;
    struct library m;
    float x[AXES] = {0}, y[AXES];

    (void)state;
    hxt_rng_init(&rng, 8);
    m = make_library(&rng, 40, 1);
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t k = 0; k < AXES; k++) {
            m.starts[(i / LANES * AXES + k) * LANES + i % LANES] = k ? 0 : (float)(1 + i);
            for (uint32_t j = 0; j < AXES; j++)
                m.metrics[i * HX_TRAJECTORY_METRIC + k * AXES + j] = k == j ? 1 : 0;
        }
    assert_int_equal(hx_gtc_look_up_hvx(&m.l, x, m.room, m.numbers, y).which, 0);
    m.metrics[7 * HX_TRAJECTORY_METRIC] = 1e-3f; /* the eighth */
    m.metrics[8 * HX_TRAJECTORY_METRIC] = 1e-6f; /* the ninth is not asked */
    assert_int_equal(hx_gtc_look_up_hvx(&m.l, x, m.room, m.numbers, y).which, 7);
    assert_int_equal(hx_gtc_look_up_ref(&m.l, x, y).which, 7);
    x[3] = NAN;
    assert_int_equal(hx_gtc_look_up_hvx(&m.l, x, m.room, m.numbers, y).which, 0);
    assert_true(hx_gtc_look_up_hvx(&m.l, x, m.room, m.numbers, y).d2 == HX_GTC_NOWHERE);
    assert_true(hx_gtc_look_up_ref(&m.l, x, y).d2 == HX_GTC_NOWHERE);
    free_library(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_start_is_the_references),
        cmocka_unit_test(test_lower_number_of_equals),
        cmocka_unit_test(test_corrections_are_near_the_reference),
        cmocka_unit_test(test_look_ups_in_two_stages_have_the_references_bits),
        cmocka_unit_test(test_the_metric_chooses_among_eight),
    };

    return HXT_RUN(tests);
}
