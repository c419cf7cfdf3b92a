/* Protects the reference codec in every head dimension, basis and code: sizes, planes, corruption, vectors that are zero,
 * denormal or no numbers, table validation, and that a decode gives back what the encode coded. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hx_block_codec.h"
#include "hx_f16.h"
#include "hx_vht2.h"
#include "hxt.h"

enum { FORMATS = HX_BLOCK_SHAPES * HX_BASES * HX_CODES, VALUES_MAX = 314 * 512 + 812 };

static struct hx_codec_format format(size_t n)
{
    struct hx_codec_format f;

    assert_int_equal(hx_codec_format(&f, hx_block_shapes[n / (HX_BASES * HX_CODES)].dh,
                                     n / HX_CODES % HX_BASES, n % HX_CODES), 0);
    return f;
}

static size_t values(const struct hx_codec_format *f)
{
    return hx_block_table_bytes(f->shape, f->basis) / sizeof(uint16_t);
}

/* klt: an orthonormal basis, the Hadamard matrix' first rows, and no mean; the others: random predictor. */
static void make_table(const struct hx_codec_format *f, struct hxt_rng *rng, uint16_t *t)
{
    const size_t dh = f->shape->dh, n_res = f->shape->n_res;
    const uint16_t *end = t + values(f);

    if (f->basis == HX_BASIS_KLT) {
        for (size_t i = 0; i < dh; i++)
            *t++ = 0;
        for (size_t i = 0; i < n_res; i++)
            *t++ = hx_f16_from_f32(i % 2 ? 0.5f : 2);
        for (size_t i = 0; i < (HX_BLOCK_SKEL + n_res) * dh; i++)
            *t++ = hx_f16_from_f32((float)(__builtin_parityll(i / dh & i % dh) ? -1 : 1) /
                                   sqrtf((float)dh));
    } else {
        for (size_t i = 0, n = 0; n < HX_BLOCK_SKEL; i++)
            if (hx_squarefree_index(i) && ++n)
                *t++ = (uint16_t)i;
        *t++ = 0;
        *t++ = 0;
        while (t < end)
            *t++ = hx_f16_from_f32((float)hxt_normal(rng) / 8);
    }
    assert_ptr_equal(t, end);
}

static struct hx_codec *open_codec(const struct hx_codec_format *f, struct hxt_rng *rng)
{
    uint16_t *t = malloc(VALUES_MAX * sizeof(*t));
    size_t bytes = hx_codec_bytes(f, 1);
    struct hx_codec *c;

    make_table(f, rng, t);
    assert_int_equal(hx_codec_check_table(f, t), 0);
    c = hx_codec_init(hxt_guard_alloc(bytes, 16), f, t, 1);
    hxt_guard_intact(c);
    free(t);
    return c;
}

static void test_sizes_follow_from_the_head_dimension(void **state)
{
    static const uint16_t want[][6] = {
        /* dh, pad, residual lanes, payload, slot, klt table bytes / 2 */
        {64, 66, 25, 46, 64, 64 + 25 + 39 * 64},
        {128, 154, 60, 63, 64, 128 + 60 + 74 * 128},
        {256, 330, 127, 96, 128, 256 + 127 + 141 * 256},
        {512, 770, 300, 183, 192, 0},
    };

    (void)state;
    for (size_t i = 0; i < HX_BLOCK_SHAPES; i++) {
        const struct hx_block_shape *s = &hx_block_shapes[i];
        size_t n_res = 0;

        for (size_t r = 0; r < s->pad; r++)
            n_res += !hx_squarefree_index(r);
        assert_ptr_equal(hx_block_shape(s->dh), s);
        assert_int_equal(s->dh, want[i][0]);
        assert_int_equal(s->pad, want[i][1]);
        assert_int_equal(s->pad, hx_vht2_pad(s->dh));
        assert_int_equal(s->n_res, want[i][2]);
        assert_int_equal(s->n_res, n_res);
        assert_int_equal(s->off_mag, 2 * HX_BLOCK_SKEL);
        assert_int_equal(s->off_phase - s->off_mag, (3 * n_res + 7) / 8);
        assert_int_equal(s->off_amax - s->off_phase, (n_res + 7) / 8);
        assert_int_equal(s->payload - s->off_amax, 4);
        assert_int_equal(s->payload, want[i][3]);
        assert_int_equal(s->slot, want[i][4]);
        assert_int_equal(s->slot, (s->payload + 1 + 63) / 64 * 64);
        assert_int_equal(hx_block_table_bytes(s, HX_BASIS_VHT2), 2 * (16 + 14 * n_res));
        assert_int_equal(hx_block_table_bytes(s, HX_BASIS_VHT2W), 2 * (16 + 14 * (s->pad - 14)));
        if (want[i][5])
            assert_int_equal(hx_block_table_bytes(s, HX_BASIS_KLT), 2 * want[i][5]);
        assert_int_equal(hx_block_table_bytes(s, HX_BASES), 0);
    }
    assert_null(hx_block_shape(96));
    assert_null(hx_block_shape(0));
}

static void test_vht2w_predicts_each_coefficient_but_the_skeleton_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < HX_BLOCK_SHAPES; i++) {
        const struct hx_block_shape *s = &hx_block_shapes[i];
        const uint16_t skeleton[] = {1, 2, 4, 5, 6, 9, 10, 12, 13, 14, 16, 18, 20, 64};
        uint16_t rows[HX_BLOCK_MAX_PAD];
        uint8_t seen[HX_BLOCK_MAX_PAD] = {0};
        size_t n = hx_block_predicted(s, HX_BASIS_VHT2W, skeleton, rows);

        assert_int_equal(n, s->pad - HX_BLOCK_SKEL);
        for (size_t r = 0; r < n; r++) {
            assert_int_equal(seen[rows[r]]++, 0);
            assert_int_equal(hx_squarefree_index(rows[r]), r >= s->n_res);
            assert_true(r == 0 || r == s->n_res || rows[r] > rows[r - 1]);
        }
        for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
            assert_int_equal(seen[skeleton[j]], 0);
        assert_int_equal(hx_block_predicted(s, HX_BASIS_VHT2, skeleton, rows), s->n_res);
    }
}

/* Decoded coefficients lie within half a step of what was encoded, so both made the same prediction: on the coefficients
 * themselves, because leaving the padding out of x loses some. */
static void check_steps(const struct hx_codec *c, const float *x)
{
    const struct hx_codec_format *f = hx_codec_format_of(c);
    const uint16_t *skel_at = hx_codec_skeleton_at(c, 0), *lane_at = hx_codec_lanes_at(c, 0);
    uint8_t block[HX_BLOCK_MAX_SLOT];
    uint16_t skeleton[HX_BLOCK_SKEL];
    double coef[HX_BLOCK_MAX_PAD], again[HX_BLOCK_MAX_PAD];
    float back[HX_BLOCK_MAX_DH], level[8];
    const double half_step = f->code == HX_CODE_SHEET ? 1.0 / 7 : 0.5 / 7; /* of amax */
    struct hx_codec_residual r;

    assert_int_equal(hx_codec_encode(c, 0, x, block), 0);
    hx_codec_coefficients(c, 0, x, coef);
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        skeleton[j] = hx_block_skeleton(block, j);
        assert_int_equal(skeleton[j], hx_f16_from_f32((float)coef[skel_at[j]]));
    }
    hx_codec_residual(c, 0, coef, skeleton, &r);
    assert_true(r.amax == hx_block_amax(f->shape, block));
    hx_codec_levels(f->code, r.amax, level);
    for (size_t i = 0; i < f->shape->n_res; i++) {
        float v = level[hx_block_magnitude(f->shape, block, i)];

        if (f->code == HX_CODE_SIGN && hx_block_phase(f->shape, block, i))
            v = -v;
        if (f->code == HX_CODE_SHEET)
            assert_int_equal(hx_block_phase(f->shape, block, i), r.sheet[i]);
        if (!(fabs((double)v - (double)r.r[i]) <= (double)r.amax * half_step * 1.00001))
            fail_msg("lane %zu: %g coded as %g, amax %g", i, r.r[i], v, r.amax);
    }
    assert_int_equal(hx_codec_decode(c, 0, block, back), 0);
    if (f->basis != HX_BASIS_KLT)
        return;
    hx_codec_coefficients(c, 0, back, again); /* orthonormal: what was decoded comes back */
    for (size_t i = 0; i < f->shape->n_res; i++)
        if (!(fabs(again[lane_at[i]] - coef[lane_at[i]]) <= (double)r.amax * half_step * 1.04))
            fail_msg("klt lane %zu: %g came back as %g", i, coef[lane_at[i]], again[lane_at[i]]);
}

static void test_a_decode_undoes_the_encode(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t n = 0; n < FORMATS; n++) {
        const struct hx_codec_format f = format(n);
        struct hx_codec *c = open_codec(&f, &rng);
        float x[HX_BLOCK_MAX_DH];

        for (size_t round = 0; round < 4; round++) {
            hxt_fill_f32(&rng, x, f.shape->dh, HXT_NORMAL);
            check_steps(c, x);
        }
        hxt_guard_free(c);
    }
}

/* With w = 0 and no residual code left (amax 0), vht2w decodes like vht2; with w it decodes the prediction. */
static void test_the_extended_predictor_fills_what_vht2_drops(void **state)
{
    struct hx_codec_format f;
    uint16_t t[16 + 14 * 52] = {0};
    uint8_t block[64] = {0};
    const uint16_t one = 0x3c00;
    float x[64];
    double c[66] = {0};
    struct hx_codec *codec;

    (void)state;
    assert_int_equal(hx_codec_format(&f, 64, HX_BASIS_VHT2W, HX_CODE_SIGN), 0);
    for (size_t i = 0, n = 0; n < HX_BLOCK_SKEL; i++)
        if (hx_squarefree_index(i))
            t[n++] = (uint16_t)i;
    t[16 + 14 * 30] = 0x3800; /* row 30 is predicted as half of skeleton value 0 */
    memcpy(block, &one, 2);
    hx_block_seal(f.shape, block);
    codec = hx_codec_init(hxt_guard_alloc(hx_codec_bytes(&f, 1), 16), &f, t, 1);
    assert_int_equal(hx_codec_decode(codec, 0, block, x), 0);
    uint16_t rows[66];
    hx_block_predicted(f.shape, f.basis, t, rows);
    c[t[0]] = 1;
    c[rows[30]] = 0.5;
    assert_int_equal(hx_vht2_f64(c, 66), 0);
    for (size_t i = 0; i < 64; i++)
        assert_true(fabs((double)x[i] - c[i]) < 1e-6);
    hxt_guard_free(codec);
}

static void test_sheet_decodes_the_negated_prediction_where_the_phase_says_so(void **state)
{
    struct hx_codec_format f;
    uint16_t t[16 + 14 * 25] = {0};
    uint8_t block[64] = {0};
    const uint16_t one = 0x3c00;
    double c[66] = {0};
    float x[64];
    struct hx_codec *codec;

    (void)state;
    assert_int_equal(hx_codec_format(&f, 64, HX_BASIS_VHT2, HX_CODE_SHEET), 0);
    for (size_t i = 0, n = 0; n < HX_BLOCK_SKEL; i++)
        if (hx_squarefree_index(i))
            t[n++] = (uint16_t)i;
    t[16] = t[16 + 14] = 0x3800; /* lanes 0 and 1 (indices 3 and 7) are predicted as 0.5 */
    memcpy(block, &one, 2);
    block[f.shape->off_phase] = 2;
    hx_block_seal(f.shape, block);
    codec = hx_codec_init(hxt_guard_alloc(hx_codec_bytes(&f, 1), 16), &f, t, 1);
    assert_int_equal(hx_codec_decode(codec, 0, block, x), 0);
    c[t[0]] = 1;
    c[3] = 0.5;
    c[7] = -0.5;
    assert_int_equal(hx_vht2_f64(c, 66), 0);
    for (size_t i = 0; i < 64; i++)
        assert_true(fabs((double)x[i] - c[i]) < 1e-6);
    hxt_guard_free(codec);
}

static void test_sheet_codes_eight_levels_around_the_nearer_prediction(void **state)
{
    static const struct {
        float r;
        unsigned magnitude;
    } cases[] = {{-7, 0}, {-6.0000005f, 0}, {-6, 1}, {-0.0000001f, 3}, {0, 4}, {-0.0f, 4},
                 {1.9999999f, 4}, {2, 5}, {5.9999995f, 6}, {6, 7}, {7, 7}};
    struct hx_codec_format f;
    float level[8];

    (void)state;
    assert_int_equal(hx_codec_format(&f, 256, HX_BASIS_VHT2, HX_CODE_SHEET), 0);
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_codec_residual r = {.amax = 7};
        uint8_t block[128] = {0};

        r.r[126] = cases[i].r;
        r.sheet[126] = 1;
        hx_codec_pack(&f, &r, block);
        assert_int_equal(hx_block_magnitude(f.shape, block, 126), cases[i].magnitude);
        assert_int_equal(hx_block_phase(f.shape, block, 126), 1);
        assert_int_equal(hx_block_phase(f.shape, block, 125), 0);
        assert_int_equal(hx_block_fault(f.shape, block), HX_BLOCK_GOOD);
    }
    hx_codec_levels(HX_CODE_SHEET, 7, level);
    for (int m = 0; m < 8; m++)
        assert_true(level[m] == (float)(2 * m - 7));
}

static void test_every_lane_of_every_shape_has_its_own_bits(void **state)
{
    (void)state;
    for (size_t n = 0; n < HX_BLOCK_SHAPES; n++) {
        const struct hx_block_shape *s = &hx_block_shapes[n];

        for (size_t lane = 0; lane < s->n_res; lane++) {
            uint8_t mag[HX_BLOCK_MAX_RES] = {0}, phase[HX_BLOCK_MAX_RES] = {0};
            uint8_t got[HX_BLOCK_MAX_SLOT] = {0}, want[HX_BLOCK_MAX_SLOT] = {0};

            mag[lane] = 5;
            phase[lane] = 1;
            for (size_t bit = 0; bit < 3; bit += 2) {
                size_t at = 8 * (size_t)s->off_mag + 3 * lane + bit;
                want[at / 8] |= (uint8_t)(1u << at % 8);
            }
            size_t at = 8 * (size_t)s->off_phase + lane;
            want[at / 8] |= (uint8_t)(1u << at % 8);
            hx_block_set_planes(s, got, mag, phase);
            hxt_same_bytes(got, want, sizeof(want));
            assert_int_equal(hx_block_magnitude(s, got, lane), 5);
            assert_int_equal(hx_block_phase(s, got, lane), 1);
        }
    }
}

static void test_any_one_wrong_byte_is_found_in_every_shape(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (size_t n = 0; n < FORMATS; n += HX_CODES) {
        const struct hx_codec_format f = format(n);
        struct hx_codec *c = open_codec(&f, &rng);
        float x[HX_BLOCK_MAX_DH], back[HX_BLOCK_MAX_DH];
        uint8_t odd[HX_BLOCK_MAX_SLOT + 1], *block = odd + 1; /* any alignment */

        hxt_fill_f32(&rng, x, f.shape->dh, HXT_NORMAL);
        assert_int_equal(hx_codec_encode(c, 0, x, block), 0);
        memset(back, HXT_POISON, sizeof(back));
        for (size_t at = 0; at < f.shape->slot; at++) {
            uint8_t flip = (uint8_t)(1 + hxt_below(&rng, 255));

            block[at] ^= flip;
            assert_int_equal(hx_block_fault(f.shape, block), HX_BLOCK_BAD_CRC);
            assert_int_equal(hx_codec_decode(c, 0, block, back), -EBADMSG);
            block[at] ^= flip;
        }
        hxt_untouched(back, sizeof(back));
        if (f.shape->slot - f.shape->payload > 1) { /* an intact CRC does not excuse fill bytes */
            block[f.shape->payload] = 1;
            block[f.shape->slot - 1] = hx_crc8(block, f.shape->slot - 1u);
            assert_int_equal(hx_block_fault(f.shape, block), HX_BLOCK_BAD_FILL);
            assert_int_equal(hx_codec_decode(c, 0, block, back), -EBADMSG);
            assert_int_equal(hx_codec_decode_payload(c, 0, block, back), 0);
        }
        hxt_guard_free(c);
    }
}

static void test_vectors_that_are_no_numbers_or_too_large_are_refused(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 0x1.8p100f, 1e7f};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 3);
    for (size_t n = 0; n < FORMATS; n++) {
        const struct hx_codec_format f = format(n);
        struct hx_codec *c = open_codec(&f, &rng);

        for (size_t i = 0; i < HXT_LEN(bad); i++) {
            float x[HX_BLOCK_MAX_DH] = {[33] = bad[i]};
            uint8_t block[HX_BLOCK_MAX_SLOT];

            memset(block, HXT_POISON, sizeof(block));
            assert_int_equal(hx_codec_encode(c, 0, x, block), -EDOM);
            hxt_untouched(block, sizeof(block));
        }
        hxt_guard_free(c);
    }
}

static void test_a_residual_beyond_f32_is_refused(void **state)
{
    struct hx_codec_format f;
    float x[64] = {0x1p100f};
    uint8_t block[64];
    struct hx_codec *c;

    (void)state;
    assert_int_equal(hx_codec_format(&f, 64, HX_BASIS_KLT, HX_CODE_SIGN), 0);
    uint16_t *t = calloc(values(&f), sizeof(*t));
    for (size_t i = 0; i < 25; i++)
        t[64 + i] = 0x0400; /* 2^-14 */
    t[64 + 25 + 14 * 64] = 0x7bff; /* lane 0 takes 65504 x[0]; the skeleton takes nothing */
    assert_int_equal(hx_codec_check_table(&f, t), 0);
    c = hx_codec_init(hxt_guard_alloc(hx_codec_bytes(&f, 1), 16), &f, t, 1);
    memset(block, HXT_POISON, sizeof(block));
    assert_int_equal(hx_codec_encode(c, 0, x, block), -EDOM);
    hxt_untouched(block, sizeof(block));
    x[0] = 0x1p90f;
    assert_int_equal(hx_codec_encode(c, 0, x, block), 0);
    hxt_guard_free(c);
    free(t);
}

static void test_zero_and_denormal_vectors_are_vectors(void **state)
{
    static const uint8_t zero[HX_BLOCK_MAX_SLOT];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 4);
    for (size_t n = 0; n < FORMATS; n++) {
        const struct hx_codec_format f = format(n);
        struct hx_codec *c = open_codec(&f, &rng);
        float x[HX_BLOCK_MAX_DH] = {0}, back[HX_BLOCK_MAX_DH];
        uint8_t block[HX_BLOCK_MAX_SLOT];

        x[1] = -0.0f; /* the mean of this klt table is 0, so 0 is in the middle of its world, too */
        assert_int_equal(hx_codec_encode(c, 0, x, block), 0);
        hxt_same_bytes(block, zero, f.shape->slot);
        assert_int_equal(hx_codec_decode(c, 0, block, back), 0);
        for (size_t i = 0; i < f.shape->dh; i++)
            assert_true(back[i] == 0);
        x[5] = 0x1p-140f;
        assert_int_equal(hx_codec_encode(c, 0, x, block), 0);
        assert_int_equal(hx_block_skeleton(block, 3) & 0x7fff, 0);
        assert_true(hx_block_amax(f.shape, block) > 0);
        assert_true(hx_block_amax(f.shape, block) < 0x1p-126f);
        assert_int_equal(hx_codec_decode(c, 0, block, back), 0);
        for (size_t i = 0; i < f.shape->dh; i++)
            assert_true(fabsf(back[i]) < 0x1p-126f);
        hxt_guard_free(c);
    }
}

static void check_refused(const struct hx_codec_format *f, uint16_t *t, size_t at, uint16_t value)
{
    const uint16_t was = t[at];

    t[at] = value;
    assert_int_equal(hx_codec_check_table(f, t), -EINVAL);
    t[at] = was;
}

static void test_tables_are_validated(void **state)
{
    uint16_t *t = malloc(VALUES_MAX * sizeof(*t));
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 5);
    for (size_t n = 0; n < FORMATS; n += HX_CODES) {
        const struct hx_codec_format f = format(n);

        make_table(&f, &rng, t);
        assert_int_equal(hx_codec_check_table(&f, t), 0);
        check_refused(&f, t, values(&f) - 1, 0x7c00);
        check_refused(&f, t, values(&f) - 1, 0xfe00);
        if (f.basis == HX_BASIS_KLT) {
            check_refused(&f, t, 0, 0x7e00);
            check_refused(&f, t, f.shape->dh, 0);                         /* scales: zero, ... */
            check_refused(&f, t, f.shape->dh + f.shape->n_res - 1u, 0x03ff); /* below 2^-14, */
            check_refused(&f, t, f.shape->dh + 1u, 0xbc00);               /* negative */
        } else {
            check_refused(&f, t, 13, f.shape->pad);
            check_refused(&f, t, 1, 3); /* 4 is not squarefree */
            check_refused(&f, t, 2, t[1]);
            check_refused(&f, t, 15, 1);
            check_refused(&f, t, 16, 0x7c00);
        }
    }
    free(t);
}

static void test_unknown_formats_have_no_codec(void **state)
{
    struct hx_codec_format f;

    (void)state;
    assert_int_equal(hx_codec_format(&f, 96, HX_BASIS_KLT, HX_CODE_SIGN), -EINVAL);
    assert_int_equal(hx_codec_format(&f, 128, HX_BASES, HX_CODE_SIGN), -EINVAL);
    assert_int_equal(hx_codec_format(&f, 128, HX_BASIS_KLT, HX_CODES), -EINVAL);
    assert_int_equal(hx_codec_format(&f, 512, HX_BASIS_KLT, HX_CODE_SIGN), 0);
    assert_int_equal(hx_codec_bytes(&f, 0), 0);
    assert_int_equal(hx_codec_bytes(&f, SIZE_MAX / 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_follow_from_the_head_dimension),
        cmocka_unit_test(test_vht2w_predicts_each_coefficient_but_the_skeleton_once),
        cmocka_unit_test(test_a_decode_undoes_the_encode),
        cmocka_unit_test(test_the_extended_predictor_fills_what_vht2_drops),
        cmocka_unit_test(test_sheet_decodes_the_negated_prediction_where_the_phase_says_so),
        cmocka_unit_test(test_sheet_codes_eight_levels_around_the_nearer_prediction),
        cmocka_unit_test(test_every_lane_of_every_shape_has_its_own_bits),
        cmocka_unit_test(test_any_one_wrong_byte_is_found_in_every_shape),
        cmocka_unit_test(test_vectors_that_are_no_numbers_or_too_large_are_refused),
        cmocka_unit_test(test_a_residual_beyond_f32_is_refused),
        cmocka_unit_test(test_zero_and_denormal_vectors_are_vectors),
        cmocka_unit_test(test_tables_are_validated),
        cmocka_unit_test(test_unknown_formats_have_no_codec),
    };

    return HXT_RUN(tests);
}
