/* Protects blocks with other numbers of lanes than the published ones: where their parts lie, that they round-trip, that the same
 * numbers give the same shape, and the limits. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hx_block_codec.h"
#include "hx_f16.h"
#include "hx_vht2.h"
#include "hxt.h"

static void test_bytes_follow_from_the_lanes(void **state)
{
    static const uint16_t want[][8] = {
        /* dh, skeleton, residual, magnitudes at, phases at, amax at, payload, slot */
        {128, 14, 60, 28, 51, 59, 63, 64},  {128, 10, 40, 20, 35, 40, 44, 64},   {128, 13, 60, 26, 49, 57, 61, 64},
        {128, 15, 60, 30, 53, 61, 65, 128}, {128, 32, 1, 64, 65, 66, 70, 128},   {128, 1, 1, 2, 3, 4, 8, 64},
        {64, 20, 25, 40, 50, 54, 58, 64},   {256, 32, 127, 64, 112, 128, 132, 192}, {512, 18, 300, 36, 149, 187, 191, 192},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(want); i++) {
        const struct hx_block_shape *s = hx_block_shape_of(want[i][0], want[i][1], want[i][2]);

        assert_non_null(s);
        assert_int_equal(s->dh, want[i][0]);
        assert_int_equal(s->pad, hx_block_shape(want[i][0])->pad);
        assert_int_equal(s->n_skel, want[i][1]);
        assert_int_equal(s->n_res, want[i][2]);
        assert_int_equal(s->off_mag, want[i][3]);
        assert_int_equal(s->off_phase, want[i][4]);
        assert_int_equal(s->off_amax, want[i][5]);
        assert_int_equal(s->payload, want[i][6]);
        assert_int_equal(s->slot, want[i][7]);
        assert_ptr_equal(hx_block_shape_of(want[i][0], want[i][1], want[i][2]), s);
        assert_int_equal(hx_block_is_published(s), i == 0);
    }
    assert_ptr_equal(hx_block_shape_of(128, 0, 0), hx_block_shape(128));
    assert_ptr_equal(hx_block_shape_of(128, 14, 0), hx_block_shape(128));
    assert_int_equal(hx_block_shape_of(128, 10, 0)->n_res, 60);
    assert_int_equal(hx_block_shape_of(128, 0, 10)->n_skel, 14);
}

static void test_limits(void **state)
{
    static const size_t bad[][3] = {{128, 33, 60}, {128, 14, 61}, {64, 14, 26}, {512, 19, 300},
                                    {96, 14, 40},  {0, 0, 0},     {128, SIZE_MAX, 1}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_null(hx_block_shape_of(bad[i][0], bad[i][1], bad[i][2]));
}

/* klt: the Hadamard matrix' first rows; the others: the first squarefree indices, small predictors. */
static void make_table(const struct hx_codec_format *f, struct hxt_rng *rng, uint16_t *t)
{
    const size_t dh = f->shape->dh, n_skel = f->shape->n_skel, n_res = f->shape->n_res;
    const size_t n = hx_block_table_bytes(f->shape, f->basis) / sizeof(*t);
    size_t used = 0;

    memset(t, 0, n * sizeof(*t));
    if (f->basis == HX_BASIS_KLT) {
        for (size_t i = 0; i < n_res; i++)
            t[dh + i] = hx_f16_from_f32(1);
        for (size_t i = 0; i < (n_skel + n_res) * dh; i++)
            t[dh + n_res + i] = hx_f16_from_f32((float)(__builtin_parityll(i / dh & i % dh) ? -1 : 1) / sqrtf((float)dh));
        return;
    }
    for (size_t i = 0; used < n_skel; i++)
        if (hx_squarefree_index(i))
            t[used++] = (uint16_t)i;
    for (used += 2; used < n; used++)
        t[used] = hx_f16_from_f32((float)hxt_normal(rng) / 16);
}

static void check_round_trip(const struct hx_codec_format *f, struct hxt_rng *rng)
{
    const struct hx_block_shape *s = f->shape;
    const size_t table = hx_block_table_bytes(s, f->basis), bytes = hx_codec_bytes(f, 1);
    uint16_t *t = hxt_guard_alloc(table, 2);
    uint8_t *block = hxt_guard_alloc(s->slot, 1), again[HX_BLOCK_MAX_SLOT];
    float x[HX_BLOCK_MAX_DH], y[HX_BLOCK_MAX_DH], z[HX_BLOCK_MAX_DH];
    double error = 0, size = 0;
    struct hx_codec *c;

    make_table(f, rng, t);
    assert_int_equal(hx_codec_check_table(f, t), 0);
    c = hx_codec_init(hxt_guard_alloc(bytes, 16), f, t, 1);
    hxt_fill_f32(rng, x, s->dh, HXT_NORMAL);
    assert_int_equal(hx_codec_encode(c, 0, x, block), 0);
    hxt_guard_intact(c), hxt_guard_intact(block);
    assert_int_equal(hx_block_fault(s, block), HX_BLOCK_GOOD);
    assert_int_equal(hx_codec_decode(c, 0, block, y), 0);
    if (f->basis == HX_BASIS_KLT) { /* what a block holds it gives back: y lies in its span */
        assert_int_equal(hx_codec_encode(c, 0, y, again), 0);
        assert_int_equal(hx_codec_decode(c, 0, again, z), 0);
        for (size_t i = 0; i < s->dh; i++) {
            error += pow((double)z[i] - (double)y[i], 2);
            size += pow((double)y[i], 2);
        }
        if (!(error <= 0.01 * size))
            fail_msg("dh %u, %u and %u lanes: error %g of %g", s->dh, s->n_skel, s->n_res, error, size);
    }
    block[s->off_amax] ^= 1;
    assert_int_equal(hx_codec_decode(c, 0, block, y), -EBADMSG);
    hxt_guard_free(c), hxt_guard_free(block), hxt_guard_free(t);
}

static void test_blocks_of_any_lanes_round_trip(void **state)
{
    static const size_t lanes[][3] = {{64, 3, 25}, {64, 32, 7}, {128, 1, 1}, {128, 10, 40}, {128, 20, 60}, {256, 32, 100}, {512, 18, 300}};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < HXT_LEN(lanes); i++)
        for (uint32_t n = 0; n < HX_BASES * HX_CODES; n++) {
            struct hx_codec_format f;

            assert_int_equal(hx_codec_format_lanes(&f, lanes[i][0], lanes[i][1], lanes[i][2], n / HX_CODES, n % HX_CODES), 0);
            check_round_trip(&f, &rng);
        }
}

/* The last test: what it makes stays. */
static void test_a_process_makes_so_many_shapes(void **state)
{
    size_t made = 0;

    (void)state;
    for (size_t n_res = 1; n_res <= 60; n_res++)
        for (size_t n_skel = 1; n_skel <= 4; n_skel++)
            made += hx_block_shape_of(128, n_skel, n_res) != NULL;
    assert_true(made >= HX_BLOCK_CONFIGURED - 24 && made <= HX_BLOCK_CONFIGURED);
    assert_non_null(hx_block_shape_of(128, 1, 1)); /* of those that are there */
    assert_non_null(hx_block_shape_of(128, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_follow_from_the_lanes),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_blocks_of_any_lanes_round_trip),
        cmocka_unit_test(test_a_process_makes_so_many_shapes),
    };

    return HXT_RUN(tests);
}
