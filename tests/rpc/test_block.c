/* Protects the 63-byte block as docs/block.md describes it: sizes and offsets, checksums, the place of every bit, and one
 * whole block made by an independent implementation (exact rationals for the magnitudes).  The reference codec only;
 * check_spinor.c compares the HVX one with it, test_block_formats.c has the other head dimensions, bases and codes. */
#include <math.h>

#include "hx_f16.h"
#include "hx_vht2.h"
#include "hxt.h"
#include "spinor/spinor.h"

/* Every second squarefree index; W[r][j] = ((3r + 5j) mod 17 - 8) / 64. */
static struct hx_block_table golden_table(void)
{
    struct hx_block_table t = {.skeleton = {0, 2, 5, 9, 12, 14, 18, 21, 25, 29, 32, 34, 37, 40}};

    for (int r = 0; r < HX_BLOCK_RES; r++)
        for (int j = 0; j < HX_BLOCK_SKEL; j++)
            t.w[r][j] = hx_f16_from_f32((float)((3 * r + 5 * j) % 17 - 8) / 64);
    return t;
}

static void golden_vector(float x[HX_BLOCK_DH])
{
    for (int i = 0; i < HX_BLOCK_DH; i++)
        x[i] = (float)(i * 37 % 64 - 32 + i * i % 7) / 16;
}

static const uint8_t golden_block[HX_BLOCK_SLOT] = {
    0x95, 0x3c, 0x48, 0xb1, 0xb7, 0xb9, 0xa4, 0xbc, 0x9a, 0xb5, 0xdc, 0x17, 0xac, 0xb1, 0x7a, 0x21,
    0x83, 0x36, 0x1e, 0x99, 0x8b, 0xbd, 0x70, 0xb6, 0x76, 0x34, 0x45, 0xbb, 0x02, 0x92, 0x27, 0x49,
    0x03, 0x24, 0x40, 0x86, 0x00, 0x4a, 0x82, 0x20, 0x11, 0x10, 0x04, 0x08, 0xa0, 0x04, 0x00, 0x10,
    0x31, 0x00, 0x00, 0xb8, 0x4d, 0x08, 0x89, 0x03, 0x50, 0xf0, 0x00, 0xab, 0x9c, 0xc3, 0x40, 0x61,
};

static void test_checksums_have_their_published_values(void **state)
{
    (void)state;
    assert_int_equal(hx_crc8("123456789", 9), 0xF4);
    assert_int_equal(hx_crc8("", 0), 0);
    assert_int_equal(hx_crc32(0, "123456789", 9), 0xCBF43926u);
    assert_int_equal(hx_crc32(hx_crc32(0, "1234", 4), "56789", 5), 0xCBF43926u);
}

/* Long pieces are added up by tables, short ones bit by bit. */
static void test_a_checksum_does_not_depend_on_the_pieces(void **state)
{
    static uint8_t bytes[10007];
    uint32_t crc = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * i >> 3);
    for (size_t at = 0; at < sizeof(bytes); at += 1000)
        crc = hx_crc32(crc, bytes + at, sizeof(bytes) - at < 1000 ? sizeof(bytes) - at : 1000);
    assert_int_equal(hx_crc32(0, bytes, sizeof(bytes)), crc);
    assert_int_equal(hx_crc32(hx_crc32(0, bytes, 5001), bytes + 5001, sizeof(bytes) - 5001), crc);
}

static void test_there_are_94_squarefree_and_60_residual_indices(void **state)
{
    uint16_t rows[HX_BLOCK_RES];
    size_t n = 0;

    (void)state;
    assert_int_equal(hx_vht2_pad(HX_BLOCK_DH), HX_BLOCK_PAD);
    hx_block_residual_rows(hx_block_shape(HX_BLOCK_DH), rows);
    for (size_t i = 0; i < HX_BLOCK_PAD; i++)
        if (!hx_squarefree_index(i))
            assert_int_equal(rows[n++], i);
    assert_int_equal(n, HX_BLOCK_RES);
    assert_int_equal(rows[0], 3);    /* 4 = 2^2 */
    assert_int_equal(rows[59], 152); /* 153 = 3^2 * 17 */
}

static void test_the_transform_is_orthonormal_and_its_own_inverse(void **state)
{
    double x[HX_BLOCK_PAD], y[HX_BLOCK_PAD], norm_x = 0, norm_y = 0;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 0);
    for (size_t i = 0; i < HX_BLOCK_PAD; i++) {
        x[i] = y[i] = hxt_normal(&rng);
        norm_x += x[i] * x[i];
    }
    assert_int_equal(hx_vht2_f64(y, HX_BLOCK_PAD), 0);
    for (size_t i = 0; i < HX_BLOCK_PAD; i++)
        norm_y += y[i] * y[i];
    assert_true(fabs(norm_x - norm_y) < 1e-10 * norm_x);
    assert_int_equal(hx_vht2_f64(y, HX_BLOCK_PAD), 0);
    for (size_t i = 0; i < HX_BLOCK_PAD; i++)
        assert_true(fabs(x[i] - y[i]) < 1e-12);
}

static void test_golden_vector_encodes_to_the_golden_block(void **state)
{
    struct hx_block_table t = golden_table();
    float x[HX_BLOCK_DH];
    struct hx_block b;

    (void)state;
    golden_vector(x);
    memset(&b, HXT_POISON, sizeof(b));
    assert_int_equal(hx_spinor_encode_ref(&t, x, &b), AEE_SUCCESS);
    hxt_same_bytes(&b, golden_block, sizeof(b));
    memset(&b, 0, sizeof(b));
    assert_int_equal(hx_spinor_encode_ref(&t, x, &b), AEE_SUCCESS); /* and again */
    hxt_same_bytes(&b, golden_block, sizeof(b));
}

static void test_golden_block_decodes_to_known_values(void **state)
{
    static const struct {
        size_t i;
        float x;
    } known[] = {{0, -2.03427268f}, {1, 1.58271924f}, {63, -0.040696279f}, {127, -0.133468299f}};
    struct hx_block_table t = golden_table();
    float x[HX_BLOCK_DH];
    struct hx_block b;
    double sum = 0;

    (void)state;
    memcpy(&b, golden_block, sizeof(b));
    assert_int_equal(hx_spinor_decode_ref(&t, &b, x), AEE_SUCCESS);
    for (size_t i = 0; i < HXT_LEN(known); i++)
        hxt_near_f32(&x[known[i].i], &known[i].x, 1, 4);
    for (size_t i = 0; i < HX_BLOCK_DH; i++)
        sum += x[i];
    assert_true(fabs(sum - 11.86144586995586) < 1e-5);
}

static void test_every_lane_has_its_own_bits(void **state)
{
    (void)state;
    for (size_t lane = 0; lane < HX_BLOCK_RES; lane++) {
        for (unsigned m = 0; m < 8; m++) {
            struct hx_block got = {.amax = {0}}, want = {.amax = {0}};
            float r[HX_BLOCK_RES] = {0}, amax = 7;

            r[lane] = -(float)m; /* 7 |r| / amax = m */
            for (size_t bit = 0; bit < 3; bit++) {
                size_t at = 8 * HX_BLOCK_OFF_MAG + 3 * lane + bit;
                ((uint8_t *)&want)[at / 8] |= (uint8_t)((m >> bit & 1) << at % 8);
            }
            size_t at = 8 * HX_BLOCK_OFF_PHASE + lane;
            ((uint8_t *)&want)[at / 8] |= (uint8_t)((m > 0) << at % 8);
            memcpy((uint8_t *)&want + HX_BLOCK_OFF_AMAX, &amax, sizeof(amax));
            ((uint8_t *)&want)[HX_BLOCK_OFF_CRC] = hx_crc8(&want, HX_BLOCK_PAYLOAD);
            hx_spinor_pack_ref(r, amax, &got);
            hxt_same_bytes(&got, &want, sizeof(want));
        }
    }
}

static void test_halves_round_away_from_zero(void **state)
{
    static const struct {
        float r;
        unsigned magnitude;
    } cases[] = {{0, 0}, {0.49999997f, 0}, {0.5f, 1}, {1.4999999f, 1}, {1.5f, 2}, {-2.5f, 3},
                 {6.4999995f, 6}, {6.5f, 7}, {7, 7}, {-0.0f, 0}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        float r[HX_BLOCK_RES] = {cases[i].r};
        struct hx_block b = {.amax = {0}};

        hx_spinor_pack_ref(r, 7, &b);
        assert_int_equal(b.magnitude[0] & 7, cases[i].magnitude);
        assert_int_equal(b.phase[0] & 1, cases[i].r < 0 && cases[i].magnitude);
    }
}

static void test_a_zero_vector_is_a_zero_block(void **state)
{
    static const struct hx_block zero;
    struct hx_block_table t = golden_table();
    float x[HX_BLOCK_DH] = {0};
    struct hx_block b;

    (void)state;
    assert_int_equal(hx_spinor_encode_ref(&t, x, &b), AEE_SUCCESS);
    hxt_same_bytes(&b, &zero, sizeof(b));
    assert_int_equal(hx_spinor_decode_ref(&t, &b, x), AEE_SUCCESS);
    for (size_t i = 0; i < HX_BLOCK_DH; i++)
        assert_true(x[i] == 0);
}

static void test_any_one_wrong_byte_is_found(void **state)
{
    struct hx_block_table t = golden_table();
    float x[HX_BLOCK_DH];

    (void)state;
    memset(x, HXT_POISON, sizeof(x));
    for (size_t at = 0; at < HX_BLOCK_SLOT; at++) {
        for (unsigned flip = 1; flip < 256; flip++) {
            uint8_t bytes[HX_BLOCK_SLOT];
            struct hx_block b;

            memcpy(bytes, golden_block, sizeof(bytes));
            bytes[at] ^= (uint8_t)flip;
            memcpy(&b, bytes, sizeof(b));
            assert_int_equal(hx_spinor_decode_ref(&t, &b, x), AEE_EBADITEM);
        }
    }
    hxt_untouched(x, sizeof(x));
}

static void test_an_intact_block_with_non_finite_fields_is_refused(void **state)
{
    static const uint32_t amax[] = {0x7f800000, 0x7fc00000, 0x80000000, 0xbf800000, 0xffffffff};
    struct hx_block b = {.amax = {0}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(amax); i++) {
        memcpy(b.amax, &amax[i], sizeof(b.amax));
        b.crc = hx_crc8(&b, HX_BLOCK_PAYLOAD);
        assert_int_equal(hx_spinor_check_block(&b), AEE_EBADITEM);
    }
    memset(&b, 0, sizeof(b));
    b.skeleton[13] = 0xfc00;
    b.crc = hx_crc8(&b, HX_BLOCK_PAYLOAD);
    assert_int_equal(hx_spinor_check_block(&b), AEE_EBADITEM);
}

static void test_values_that_no_block_can_hold_are_refused(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 0x1.8p100f, 1e6f};
    struct hx_block_table t = golden_table();
    struct hx_block b;

    (void)state;
    memset(&b, HXT_POISON, sizeof(b));
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        float x[HX_BLOCK_DH] = {[77] = bad[i]};

        assert_int_equal(hx_spinor_encode_ref(&t, x, &b), AEE_EBADPARM);
        hxt_untouched(&b, sizeof(b));
    }
}

static void test_tables_are_validated(void **state)
{
    struct hx_block_table t = golden_table();

    (void)state;
    assert_int_equal(hx_spinor_check_table(&t), AEE_SUCCESS);
    t.skeleton[1] = 3; /* 4 is not squarefree */
    assert_int_equal(hx_spinor_check_table(&t), AEE_EBADPARM);
    t = golden_table();
    t.skeleton[13] = 154; /* 155 is squarefree, but past the end */
    assert_int_equal(hx_spinor_check_table(&t), AEE_EBADPARM);
    t = golden_table();
    t.skeleton[5] = t.skeleton[4];
    assert_int_equal(hx_spinor_check_table(&t), AEE_EBADPARM);
    t = golden_table();
    t.w[59][13] = 0x7c00;
    assert_int_equal(hx_spinor_check_table(&t), AEE_EBADPARM);
    t = golden_table();
    t.reserved[1] = 1;
    assert_int_equal(hx_spinor_check_table(&t), AEE_EBADPARM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checksums_have_their_published_values),
    cmocka_unit_test(test_a_checksum_does_not_depend_on_the_pieces),
        cmocka_unit_test(test_there_are_94_squarefree_and_60_residual_indices),
        cmocka_unit_test(test_the_transform_is_orthonormal_and_its_own_inverse),
        cmocka_unit_test(test_golden_vector_encodes_to_the_golden_block),
        cmocka_unit_test(test_golden_block_decodes_to_known_values),
        cmocka_unit_test(test_every_lane_has_its_own_bits),
        cmocka_unit_test(test_halves_round_away_from_zero),
        cmocka_unit_test(test_a_zero_vector_is_a_zero_block),
        cmocka_unit_test(test_any_one_wrong_byte_is_found),
        cmocka_unit_test(test_an_intact_block_with_non_finite_fields_is_refused),
        cmocka_unit_test(test_values_that_no_block_can_hold_are_refused),
        cmocka_unit_test(test_tables_are_validated),
    };

    return HXT_RUN(tests);
}
