/* Protects: the number formats.  tests/data/quant has blocks and what ggml's own functions make of them: NAME.bin is
 * blocks of a type and then their weights as f32; rows.f32 and rows-NAME.bin are weights and the blocks of them. */
#include <math.h>
#include <stdlib.h>

#include "hx_f16.h"
#include "hxt.h"
#include "engine/linear.h"
#include "quant/quant.h"

#define DIR HXT_SRC "/tests/data/quant/"

static const uint32_t types[] = {
    HX_QUANT_F16,  HX_QUANT_BF16, HX_QUANT_Q4_0, HX_QUANT_Q4_1, HX_QUANT_Q5_0, HX_QUANT_Q5_1,
    HX_QUANT_Q8_0, HX_QUANT_Q2_K, HX_QUANT_Q3_K, HX_QUANT_Q4_K, HX_QUANT_Q5_K, HX_QUANT_Q6_K,
    HX_QUANT_IQ4_NL,
};

static void test_every_type_widens_to_ggmls_floats(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(types); i++) {
        const struct hx_quant_info *info = hx_quant_info(types[i]);
        size_t bytes, n;
        uint8_t *file = hxt_read_file(hxt_path(DIR "%s.bin", info->name), &bytes);

        assert_non_null(file);
        n = bytes / (info->bytes + info->weights * sizeof(float)) * info->weights;
        assert_true(n > 0 && n % info->weights == 0);
        float *got = hxt_guard_alloc(n * sizeof(*got), 4);

        info->widen(got, file, n);
        hxt_guard_intact(got);
        hxt_same_bytes(got, file + hx_quant_row_bytes(types[i], n), n * sizeof(*got));
        hxt_guard_free(got);
        free(file);
    }
}

/* Halves that a scale can be in a file, however odd: subnormals, infinities, NaN. */
static void test_f16_widens_all_halves(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h += 16) {
        uint16_t half[16];
        float got[16];

        for (uint32_t i = 0; i < 16; i++)
            half[i] = (uint16_t)(h + i);
        hx_quant_info(HX_QUANT_F16)->widen(got, half, 16);
        for (uint32_t i = 0; i < 16; i++) {
            const float want = hx_f32_from_f16(half[i]);

            if (isnan(want))
                assert_true(isnan(got[i]));
            else
                assert_memory_equal(&got[i], &want, sizeof(want));
        }
    }
}

static void test_rows_narrow_to_ggmls_blocks(void **state)
{
    static const uint32_t written[] = {HX_QUANT_F16, HX_QUANT_Q4_0, HX_QUANT_Q5_0, HX_QUANT_Q8_0, HX_QUANT_Q4_K,
                                       HX_QUANT_Q6_K};
    size_t n, bytes;
    float *x = hxt_read_file(DIR "rows.f32", &n);

    (void)state;
    assert_non_null(x);
    n /= sizeof(*x);
    for (size_t i = 0; i < HXT_LEN(written); i++) {
        const struct hx_quant_info *info = hx_quant_info(written[i]);
        uint8_t *want = hxt_read_file(hxt_path(DIR "rows-%s.bin", info->name), &bytes);
        uint8_t *got = hxt_guard_alloc(bytes, 2);

        assert_int_equal(bytes, hx_quant_row_bytes(written[i], n));
        info->narrow(got, x, n);
        hxt_guard_intact(got);
        hxt_same_bytes(got, want, bytes);
        hxt_guard_free(got);
        free(want);
    }
    free(x);
}

/* Over the sizes whose scales are normal halves. */
static void test_narrow_and_widen_stay_near(void **state)
{
    static const struct {
        uint32_t type;
        double step; /* largest error over the block's largest weight */
    } all[] = {{HX_QUANT_Q8_0, 0.6 / 127}, {HX_QUANT_Q4_0, 1.1 / 8}, {HX_QUANT_Q5_0, 1.1 / 16}, {HX_QUANT_Q6_K, 1.5 / 32},
               {HX_QUANT_Q4_K, 2.0 / 15}};
    enum { N = HX_QK_WEIGHTS };
    float x[N], back[N];
    uint8_t block[N * 4];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (int round = 0; round < 400; round++) {
        const double size = pow(10, 4 * hxt_unit(&rng) - 0.5);

        for (size_t i = 0; i < N; i++)
            x[i] = (float)(hxt_normal(&rng) * size);
        for (size_t t = 0; t < HXT_LEN(all); t++) {
            const struct hx_quant_info *info = hx_quant_info(all[t].type);
            float top = 0;

            info->narrow(block, x, N);
            info->widen(back, block, N);
            for (size_t i = 0; i < N; i++)
                top = fmaxf(top, fabsf(x[i]));
            for (size_t i = 0; i < N; i++)
                if (!(fabsf(back[i] - x[i]) <= (float)all[t].step * top))
                    fail_msg("%s: weight %zu: %g became %g, largest %g", info->name, i,
                             (double)x[i], (double)back[i], (double)top);
        }
    }
}

/* Fills of every kind, also those that are no numbers: a sanitizer build must find nothing to say. */
static void test_narrow_takes_any_floats(void **state)
{
    enum { N = 2 * HX_QK_WEIGHTS };
    float x[N], back[N];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (size_t t = 0; t < HX_QUANT_NAMES; t++) {
        const struct hx_quant_info *info = hx_quant_info((uint32_t)t);

        if (!info || !info->narrow)
            continue;
        uint8_t *block = hxt_guard_alloc(hx_quant_row_bytes((uint32_t)t, N), 1);

        for (int kind = 0; kind < HXT_FILLS; kind++) {
            hxt_fill_f32(&rng, x, N, (enum hxt_fill)kind);
            info->narrow(block, x, N);
            hxt_guard_intact(block);
            info->widen(back, block, N);
        }
        hxt_guard_free(block);
    }
}

static void test_the_reference_layer_takes_every_type(void **state)
{
    enum { ROWS = 3, COLS = 256, N = 2 };
    float x[N * COLS], y[N * ROWS], want[ROWS * COLS], row[COLS];
    float *out[] = {y};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 3);
    for (size_t i = 0; i < HXT_LEN(x); i++)
        x[i] = (float)hxt_normal(&rng);
    for (size_t t = 0; t < HXT_LEN(types); t++) {
        const size_t bytes = hx_quant_row_bytes(types[t], COLS);
        uint8_t *w = malloc(ROWS * bytes);
        const struct hx_linear l = {.ops = &hx_linear_ref, .w = w, .type = types[t], .rows = ROWS,
                                    .cols = COLS};
        const struct hx_linear *one = &l;

        for (size_t i = 0; i < ROWS * bytes; i++) /* no exponent of a half is that of NaN */
            w[i] = (uint8_t)(hxt_below(&rng, 256) & (i % 2 ? 0x3b : 0xff));
        hx_quant_info(types[t])->widen(want, w, ROWS * COLS);
        for (size_t r = 0; r < ROWS; r++) {
            hx_linear_row(&l, r, row);
            hxt_same_bytes(row, want + r * COLS, sizeof(row));
        }
        assert_int_equal(hx_linear_apply(&one, out, 1, x, N, row, NULL), 0);
        for (size_t i = 0; i < N * ROWS; i++) {
            double sum = 0, size = 0;

            for (size_t c = 0; c < COLS; c++) {
                sum += (double)want[i % ROWS * COLS + c] * (double)x[i / ROWS * COLS + c];
                size += fabs((double)want[i % ROWS * COLS + c] * (double)x[i / ROWS * COLS + c]);
            }
            if (!(fabs((double)y[i] - sum) <= 1e-5 * size))
                fail_msg("%s: y[%zu] is %g, %g is right", hx_quant_name(types[t]), i, (double)y[i],
                         sum);
        }
        free(w);
    }
}

static void test_names_and_sizes(void **state)
{
    (void)state;
    assert_string_equal(hx_quant_name(HX_QUANT_IQ4_NL), "IQ4_NL");
    assert_string_equal(hx_quant_name(HX_QUANT_BF16), "BF16");
    assert_string_equal(hx_quant_name(16), "IQ2_XXS");
    assert_string_equal(hx_quant_name(4), "?"); /* Q4_2, of 2023 */
    assert_string_equal(hx_quant_name(UINT32_MAX), "?");
    assert_null(hx_quant_info(16));
    assert_null(hx_quant_info(HX_QUANT_NAMES));
    assert_null(hx_quant_info(UINT32_MAX));
    assert_int_equal(hx_quant_row_bytes(HX_QUANT_Q6_K, 512), 420);
    assert_int_equal(hx_quant_row_bytes(HX_QUANT_F32, 5), 20);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_type_widens_to_ggmls_floats),
    cmocka_unit_test(test_f16_widens_all_halves),
    cmocka_unit_test(test_rows_narrow_to_ggmls_blocks),
    cmocka_unit_test(test_narrow_and_widen_stay_near),
    cmocka_unit_test(test_narrow_takes_any_floats),
    cmocka_unit_test(test_the_reference_layer_takes_every_type),
    cmocka_unit_test(test_names_and_sizes),
};

int main(void)
{
    return HXT_RUN(tests);
}
