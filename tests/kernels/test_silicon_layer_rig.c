/* Protects the methods of libsilicon_skel.so for a forward pass, called through the rig: row operations, attention, row sums and
 * staging give what they are defined as however they run, refuse what does not fit, and report their time.  How near results are:
 * test_silicon_layer.c. */
#include <math.h>
#include <stdlib.h>

#include "own_rig.h"
#include "remote.h"
#include "silicon.h"

static remote_handle64 skel;

static const silicon_how plain = {SILICON_RELEASE, SILICON_DDR, 1, 0};
static const silicon_how ways[] = {
    {SILICON_RELEASE, SILICON_DDR, 1, 0},  {SILICON_DEBUG, SILICON_DDR, 1, 0}, {SILICON_RELEASE, SILICON_VTCM, 1, 0},
    {SILICON_RELEASE, SILICON_DMA, 1, 0},  {SILICON_RELEASE, SILICON_DDR, 2, 0}, {SILICON_RELEASE, SILICON_VTCM, 2, 0},
};

static int open_skel(void **state)
{
    (void)state;
    return silicon_open(silicon_URI "&_dom=cdsp", &skel);
}

static int close_skel(void **state)
{
    (void)state;
    return silicon_close(skel);
}

/* --- rows: of 50 elements and 14 of padding, x 3 everywhere */

enum { ROWS = 3, N = 64, ALL = ROWS * N };

struct rows_case {
    const char *name;
    int operation, hvx, n, others;
    float want; /* of every element, other being 2 */
};

/* Position 0 is not turned; the others are looked at below. */
static const struct rows_case cases[] = {
    {"rmsnorm", SILICON_RMSNORM, 0, N, N, 2},   {"rmsnorm-hvx", SILICON_RMSNORM, 1, N, N, 2},
    {"softmax", SILICON_SOFTMAX, 0, 50, 0, 0.02f}, {"softmax-hvx", SILICON_SOFTMAX, 1, 50, 0, 0.02f},
    {"gelu", SILICON_GELU, 0, 50, ALL, 5.99272478f}, {"gelu-hvx", SILICON_GELU, 1, 50, ALL, 5.99272478f},
    {"silu", SILICON_SILU, 0, 50, ALL, 5.71544476f}, {"silu-hvx", SILICON_SILU, 1, 50, ALL, 5.71544476f},
    {"add", SILICON_ADD, 0, 50, ALL, 5},        {"add-hvx", SILICON_ADD, 1, 50, ALL, 5},
};

static void fill(float *x, int n, float value)
{
    for (int i = 0; i < n; i++)
        x[i] = value;
}

static void check_rows(const struct rows_case *c, const silicon_how *how)
{
    float x[ALL], other[ALL], y[ALL];
    silicon_cycles t;

    fill(x, ALL, 3);
    fill(other, ALL, 2);
    memset(y, HXT_POISON, sizeof(y));
    assert_int_equal(silicon_rows(skel, how, c->operation, c->hvx, c->n, x, ALL, other, c->others, y, ALL, &t), AEE_SUCCESS);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < c->n; i++)
            if (!(fabsf(y[r * N + i] - c->want) <= c->want * 0x1p-15f))
                fail_msg("%s: row %d: y[%d] = %.9g, not %.9g", c->name, r, i, y[r * N + i], c->want);
    assert_true(t.handler > 0 && t.total >= t.handler && (t.worker > 0) == (how->threads == 2));
    assert_true((t.copies > 0) == (how->placement != SILICON_DDR));
}

static void test_row_operations_are_right_however_they_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        for (size_t w = 0; w < HXT_LEN(ways); w++)
            check_rows(&cases[i], &ways[w]);
}

/* Row r is at position r, whichever context turns it; the first pair by one radian per position. */
static void test_rope_turns_each_row_by_its_position(void **state)
{
    float x[ALL] = {0}, turns[ALL], y[ALL];
    silicon_cycles t;

    (void)state;
    for (int r = 0; r < ROWS; r++) {
        x[r * N] = 1;
        fill(turns + r * N, N / 2, cosf((float)r));
        fill(turns + r * N + N / 2, N / 2, sinf((float)r));
    }
    for (size_t w = 0; w < HXT_LEN(ways); w++)
        for (int hvx = 0; hvx < 2; hvx++) {
            assert_int_equal(silicon_rows(skel, &ways[w], SILICON_ROPE, hvx, N, x, ALL, turns, hvx ? ALL : 0, y, ALL, &t),
                             AEE_SUCCESS);
            for (int r = 0; r < ROWS; r++) {
                assert_true(fabsf(y[r * N] - cosf((float)r)) < 1e-4f);
                assert_true(fabsf(y[r * N + N / 2] - sinf((float)r)) < 1e-4f);
            }
        }
}

static void test_hvx_rows_take_less_time_than_scalar_ones(void **state)
{
    enum { ELEMENTS = 4 * 1152 };
    static float x[ELEMENTS], other[ELEMENTS], y[ELEMENTS];

    (void)state;
    fill(x, ELEMENTS, 0.5f);
    fill(other, ELEMENTS, 0.5f);
    for (int op = SILICON_RMSNORM; op <= SILICON_ADD; op++) {
        silicon_cycles t[2];

        for (int hvx = 0; hvx < 2; hvx++) {
            const int none = op == SILICON_SOFTMAX || (op == SILICON_ROPE && !hvx);
            const int others = op == SILICON_RMSNORM ? 1152 : none ? 0 : ELEMENTS;

            assert_int_equal(silicon_rows(skel, &plain, op, hvx, 1152, x, ELEMENTS, other, others, y, ELEMENTS, &t[hvx]),
                             AEE_SUCCESS);
        }
        if (t[1].handler >= t[0].handler)
            fail_msg("operation %d: %llu pcycles on HVX, %llu scalar", op, (unsigned long long)t[1].handler,
                     (unsigned long long)t[0].handler);
    }
}

static void test_rows_that_do_not_fit_are_refused(void **state)
{
    float x[ALL] = {0}, other[ALL] = {0}, y[ALL];
    silicon_cycles t;
    const int bad[][6] = { /* operation, hvx, n, x, other, y */
        {-1, 0, N, ALL, ALL, ALL}, {SILICON_ADD + 1, 0, N, ALL, ALL, ALL}, {SILICON_ADD, 2, N, ALL, ALL, ALL},
        {SILICON_ADD, 0, 0, ALL, ALL, ALL}, {SILICON_ADD, 0, N, ALL - 1, ALL, ALL}, {SILICON_ADD, 0, N, ALL, N, ALL},
        {SILICON_ADD, 0, N, ALL, ALL, ALL - 1}, {SILICON_RMSNORM, 0, N, ALL, ALL, ALL}, {SILICON_RMSNORM, 1, 50, ALL, N, ALL},
        {SILICON_ROPE, 1, 32, ALL, ALL, ALL},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(silicon_rows(skel, &plain, bad[i][0], bad[i][1], bad[i][2], x, bad[i][3], other, bad[i][4], y,
                                      bad[i][5], &t), AEE_DSP(AEE_EBADPARM));
}

/* --- attention: with keys of 0 it gives the mean of the values so far */

static void test_attention_to_equal_keys_is_the_mean_so_far(void **state)
{
    enum { TOKENS = 5, HEADS = 3, DH = 32, KV = TOKENS * DH };
    float q[KV * HEADS], k[KV] = {0}, v[KV], y[KV * HEADS];
    silicon_cycles t;

    (void)state;
    fill(q, KV * HEADS, 1);
    for (int i = 0; i < KV; i++)
        v[i] = (float)(i / DH * 2 + i % DH);
    for (size_t w = 0; w < HXT_LEN(ways); w++) {
        assert_int_equal(silicon_attend(skel, &ways[w], HEADS, DH, q, KV * HEADS, k, KV, v, KV, y, KV * HEADS, &t), AEE_SUCCESS);
        for (int i = 0; i < KV * HEADS; i++)
            assert_true(fabsf(y[i] - (float)(i / DH / HEADS + i % DH)) < 1e-4f);
        assert_true(t.handler > 0);
    }
    assert_int_equal(silicon_attend(skel, &plain, 2, DH, q, KV * HEADS, k, KV, v, KV, y, KV * HEADS, &t),
                     AEE_DSP(AEE_EBADPARM));
    assert_int_equal(silicon_attend(skel, &plain, HEADS, DH, q, KV * HEADS, k, KV, v, DH, y, KV * HEADS, &t),
                     AEE_DSP(AEE_EBADPARM));
}

/* --- row sums and staging */

static void test_row_sums_are_exact(void **state)
{
    enum { STRIDE = 256, COUNT = 7 };
    uint8_t w[COUNT * STRIDE];
    int sums[COUNT];
    silicon_cycles t;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 5);
    hxt_fill_bytes(&rng, w, sizeof(w));
    for (size_t i = 0; i < HXT_LEN(ways); i++) {
        assert_int_equal(silicon_row_sums(skel, &ways[i], STRIDE, w, sizeof(w), sums, COUNT, &t), AEE_SUCCESS);
        for (int r = 0; r < COUNT; r++) {
            int want = 0;

            for (int j = 0; j < STRIDE; j++)
                want += (int8_t)w[r * STRIDE + j];
            assert_int_equal(sums[r], want);
        }
    }
    assert_int_equal(silicon_row_sums(skel, &plain, 128, w, sizeof(w), sums, COUNT, &t), AEE_DSP(AEE_EBADPARM));
}

static void test_staging_costs_its_request_and_every_copy(void **state)
{
    enum { BYTES = 1 << 16 };
    const silicon_how by_dma = {SILICON_RELEASE, SILICON_DMA, 1, 0};
    static uint8_t data[BYTES], back[BYTES];
    silicon_cycles one, three, dma;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 6);
    hxt_fill_bytes(&rng, data, sizeof(data));
    assert_int_equal(silicon_stage(skel, &plain, 1, data, BYTES, back, BYTES, &one), AEE_SUCCESS);
    assert_int_equal(silicon_stage(skel, &plain, 3, data, BYTES, back, BYTES, &three), AEE_SUCCESS);
    hxt_same_bytes(back, data, BYTES);
    memset(back, 0, BYTES);
    assert_int_equal(silicon_stage(skel, &by_dma, 3, data, BYTES, back, BYTES, &dma), AEE_SUCCESS);
    hxt_same_bytes(back, data, BYTES);
    assert_true(one.once > 0 && one.copies > 0 && one.total >= one.once + one.copies);
    assert_true(three.once == one.once && three.copies > one.copies && three.total >= three.once + three.copies);
    assert_true(dma.copies > 0);
    assert_int_equal(silicon_stage(skel, &plain, 0, data, BYTES, back, BYTES, &one), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(silicon_stage(skel, &plain, 200, data, BYTES, back, BYTES, &one), AEE_DSP(AEE_ENOMEMORY));
    assert_int_equal(silicon_stage(skel, &plain, 3, data, BYTES, back, BYTES, &three), AEE_SUCCESS); /* nothing was kept */
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_row_operations_are_right_however_they_run, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_rope_turns_each_row_by_its_position, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_hvx_rows_take_less_time_than_scalar_ones, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_rows_that_do_not_fit_are_refused, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_attention_to_equal_keys_is_the_mean_so_far, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_row_sums_are_exact, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_staging_costs_its_request_and_every_copy, open_skel, close_skel),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
