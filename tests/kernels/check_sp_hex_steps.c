/* The steps of sp_hex that stand alone, HVX against plain C: bands back to floats, residual planes back to floats, predictions,
 * argmax with forced ties, and the Moebius order. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "silicon/band_quantize.h"
#include "spinor/band_dequantize.h"
#include "hexrig_hvx_count.h"
#include "hx_compress.h"
#include "hx_f16.h"
#include "hxt.h"
#include "silicon/elementwise.h"
#include "silicon/mobius.h"
#include "spinor/spinor.h"
#include "spinor_rig.h"

static void random_bands(struct hxt_rng *rng, struct hx_bands *b)
{
    b->bands = 1 + (int)hxt_below(rng, HX_BANDS_MAX);
    b->n = b->bands + (int)hxt_below(rng, 520);
    for (int i = 0; i < b->bands; i++)
        b->bits[i] = (uint8_t)(2 + hxt_below(rng, 7));
}

static void test_bands_become_the_floats_of_the_reference(void **state)
{
    float *got = hxt_guard_alloc(HX_BAND_MAX_N * sizeof(float), 128), want[HX_BAND_MAX_N];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t round = 0; round < 2000; round++) {
        struct hx_bands b;

        random_bands(&rng, &b);
        const int n_bands = round % 2 ? b.bands : (int)hxt_below(&rng, (uint64_t)b.bands + 1);
        uint8_t *codes = hxt_guard_alloc((size_t)hx_bands_bytes(&b), 1); /* reads past it are seen */

        hxt_fill_bytes(&rng, codes, (size_t)hx_bands_bytes(&b)); /* scales of all kinds, NaN too */
        hxt_guard_poison(got);
        hx_hvx_reset();
        assert_int_equal(hx_bands_decode(&b, n_bands, codes, want), AEE_SUCCESS);
        assert_int_equal(hx_band_dequantize_hvx(&b, n_bands, codes, got), AEE_SUCCESS);
        for (int i = 0; i < b.n; i++)
            if (got[i] != want[i]) /* -0 is 0 */
                fail_msg("round %zu: value %d of %d is %g, reference %g", round, i, b.n,
                         (double)got[i], (double)want[i]);
        hxt_untouched(got + b.n, (HX_BAND_MAX_N - (size_t)b.n) * sizeof(float));
        hxt_guard_free(codes);
    }
    assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
    hxt_guard_free(got);
}

static void test_bands_and_back_stay_within_half_a_step(void **state)
{
    float *x = hxt_guard_alloc(512 * sizeof(float), 128), *y = hxt_guard_alloc(512 * sizeof(float), 128);
    struct hxt_rng rng;
    uint8_t codes[400];

    (void)state;
    hxt_rng_init(&rng, 2);
    for (int n = 64; n <= 512; n *= 2) {
        const struct hx_bands b = hx_bands_k(n);

        hxt_fill_f32(&rng, x, (size_t)n, HXT_NORMAL);
        assert_int_equal(hx_band_quantize_hvx(&b, x, codes), AEE_SUCCESS);
        assert_int_equal(hx_band_dequantize_hvx(&b, b.bands, codes, y), AEE_SUCCESS);
        for (int i = 0; i < n; i++) {
            const int band = i / (n / 4), top = (1 << (b.bits[band] - 1)) - 1;
            float amax = 0;

            for (int k = band * (n / 4); k < (band + 1) * (n / 4); k++)
                amax = fmaxf(amax, fabsf(x[k]));
            assert_true(fabsf(x[i] - y[i]) <= amax / (float)top * 0.502f);
        }
    }
    hxt_guard_free(x);
    hxt_guard_free(y);
}

static void test_wrong_bands_are_refused(void **state)
{
    static const struct hx_bands bad[] = {{64, 0, {3}}, {64, 9, {3}}, {64, 1, {1}}, {64, 1, {9}},
                                          {2, 3, {3, 3, 3}}, {1025, 1, {3}}};
    const struct hx_bands good = {64, 1, {3}};
    float *x = hxt_guard_alloc(2000 * sizeof(float), 128);
    uint8_t codes[2000] = {0};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        assert_int_equal(hx_bands_decode(&bad[i], 0, codes, x), -EINVAL);
        assert_int_equal(hx_band_dequantize_hvx(&bad[i], 0, codes, x), AEE_EBADPARM);
    }
    assert_int_equal(hx_band_dequantize_hvx(&good, 2, codes, x), AEE_EBADPARM);
    assert_int_equal(hx_band_dequantize_hvx(&good, -1, codes, x), AEE_EBADPARM);
    assert_int_equal(hx_band_dequantize_hvx(&good, 1, codes, x + 1), AEE_EBADPARM);
    hxt_untouched(x, 2000 * sizeof(float));
    hxt_guard_free(x);
}

static void check_planes(size_t dh)
{
    struct hx_codec_format f;
    struct hx_spinor k;
    float *got, level[8];
    uint8_t block[HX_BLOCK_MAX_SLOT] = {0};
    struct hxt_rng rng;

    hxt_rng_init(&rng, dh);
    hx_codec_format(&f, dh, HX_BASIS_VHT2, HX_CODE_SIGN);
    hx_spinor_lay_out(&k, &f, 0);
    got = hxt_guard_alloc(32u * k.res_vectors * sizeof(float), 128);
    for (int round = 0; round < 200; round++) {
        const float amax = (float)ldexp(hxt_unit(&rng), (int)hxt_below(&rng, 250) - 140);

        hxt_fill_bytes(&rng, block, f.shape->slot);
        memcpy(block + f.shape->off_amax, &amax, sizeof(amax));
        hx_codec_levels(HX_CODE_SIGN, amax, level);
        assert_int_equal(hx_spinor_residual_hvx(&k, block, got), AEE_SUCCESS);
        for (size_t i = 0; i < 32u * k.res_vectors; i++) {
            float want = 0;

            if (i < f.shape->n_res)
                want = level[hx_block_magnitude(f.shape, block, i)] *
                       (hx_block_phase(f.shape, block, i) ? -1 : 1);
            if (got[i] != want)
                fail_msg("dh %zu lane %zu: %g, not %g", dh, i, (double)got[i], (double)want);
        }
    }
    memcpy(block + f.shape->off_amax, &(float){NAN}, sizeof(float));
    assert_int_equal(hx_spinor_residual_hvx(&k, block, got), AEE_EBADITEM);
    assert_int_equal(hx_spinor_residual_hvx(&k, block, got + 1), AEE_EBADPARM);
    hxt_guard_free(got);
}

static void test_planes_become_the_residuals_they_mean(void **state)
{
    (void)state;
    for (size_t d = 0; d < HX_BLOCK_SHAPES; d++)
        check_planes(hx_block_shapes[d].dh);
}

static void check_prediction(size_t dh, uint32_t basis)
{
    uint16_t skeleton[HX_BLOCK_SKEL];
    float want[HX_BLOCK_MAX_RES], *got;
    struct spinor_rig r;
    struct hxt_rng rng;
    double sum = 0;

    open_spinor_rig(&r, dh, basis, 2, 5);
    hxt_rng_init(&rng, 6);
    got = hxt_guard_alloc(32u * r.k->res_vectors * sizeof(float), 128);
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        skeleton[j] = hx_f16_from_f32((float)hxt_normal(&rng));
        sum += fabs((double)hx_f32_from_f16(skeleton[j]));
    }
    assert_int_equal(hx_spinor_predict_hvx(r.k, 1, skeleton, got), AEE_SUCCESS);
    hx_spinor_predict_ref(r.codec, 1, skeleton, want);
    for (size_t i = 0; i < 32u * r.k->res_vectors; i++) {
        const double w = i < r.f.shape->n_res ? (double)want[i] : 0;

        if (fabs((double)got[i] - w) > 0x1p-20 * sum)
            fail_msg("dh %zu lane %zu: %g, reference %g", dh, i, (double)got[i], w);
    }
    assert_true(basis == HX_BASIS_KLT ? want[0] == 0 : want[0] != 0);
    assert_int_equal(hx_spinor_predict_hvx(r.k, 2, skeleton, got), AEE_EBADPARM);
    hxt_guard_free(got);
    close_spinor_rig(&r);
}

static void test_predictions_are_those_of_the_codec(void **state)
{
    (void)state;
    for (size_t d = 0; d < HX_BLOCK_SHAPES; d++)
        for (uint32_t basis = 0; basis < HX_BASES; basis++)
            check_prediction(hx_block_shapes[d].dh, basis);
}

/* The host's: a plain loop over a row of its own making. */
static void test_argmax_is_the_first_of_equals(void **state)
{
    enum { ROWS = 10000, LONGEST = 1500, VOCABULARY = 151936 };
    uint16_t *row = malloc(VOCABULARY * sizeof(*row));
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 7);
    for (size_t i = 0; i < ROWS + 8; i++) {
        const size_t n = i < ROWS ? 1 + hxt_below(&rng, LONGEST) : VOCABULARY;
        const size_t from = i < ROWS ? hxt_below(&rng, 70) % n : i % 3; /* any even address */
        uint16_t *x = row + from, top = 0;
        const size_t len = n - from;

        hxt_fill_bytes(&rng, x, len * sizeof(*x));
        for (size_t j = 0; j < len; j++)
            top = x[j] > top ? x[j] : top;
        for (size_t tie = 0; tie < i % 5; tie++) /* forced */
            x[hxt_below(&rng, len)] = i % 2 ? top : UINT16_MAX;
        size_t want = 0;
        for (size_t j = 1; j < len; j++)
            want = x[j] > x[want] ? j : want;
        assert_int_equal(hx_argmax_hvx(x, (int)len), want);
        assert_int_equal(hx_argmax_ref(x, (int)len), want);
    }
    free(row);
}

static void test_the_moebius_order_is_the_published_one(void **state)
{
    uint16_t order[HX_MOBIUS_MAX], seen[HX_MOBIUS_MAX] = {0};
    float x[128], y[128], z[128];

    (void)state;
    assert_int_equal(hx_mobius_order(128, HX_MOBIUS_SHIP, order), 78);
    for (int i = 0; i < 128; i++) {
        seen[order[i]]++;
        x[i] = (float)i;
        if (i && i != 78)
            assert_true(order[i] > order[i - 1]);
    }
    for (int i = 0; i < 128; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(order[0], 1); /* 1 2 3 5 6 7 10 ...: 78 of them, then 0 4 8 9 12 ... */
    assert_int_equal(order[3], 5);
    assert_int_equal(order[77], 127);
    assert_int_equal(order[78], 0);
    assert_int_equal(order[79], 4);
    hx_mobius_scatter(order, 128, x, y);
    assert_true(y[3] == 5);
    hx_mobius_gather(order, 128, y, z);
    assert_memory_equal(x, z, sizeof(x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bands_become_the_floats_of_the_reference),
        cmocka_unit_test(test_bands_and_back_stay_within_half_a_step),
        cmocka_unit_test(test_wrong_bands_are_refused),
        cmocka_unit_test(test_planes_become_the_residuals_they_mean),
        cmocka_unit_test(test_predictions_are_those_of_the_codec),
        cmocka_unit_test(test_argmax_is_the_first_of_equals),
        cmocka_unit_test(test_the_moebius_order_is_the_published_one),
    };

    return HXT_RUN(tests);
}
