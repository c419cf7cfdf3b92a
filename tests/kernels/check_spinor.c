/* The HVX spinor codec against its fp64 reference: real K and V vectors, random and edge ones; packing bit for bit;
 * batch equal to single; and work that does not depend on the data. */
#include <math.h>
#include <stdlib.h>

#include "hexrig_hvx_count.h"
#include "hx_f16.h"
#include "hx_vht2.h"
#include "hxt.h"
#include "spinor/spinor.h"

enum { LAYERS = 6, SLOTS = LAYERS * 2, POSITIONS = 160, RANDOM_VECTORS = 64 };

#define HALF_WINDOW 0x1p-10  /* docs/block.md: a magnitude may differ only this near to a half */
#define MIN_SHARE 0x1p-6     /* smallest amax / largest coefficient that spinor.h promises it for */
#define NOISE_SHARE 0x1p-17  /* of the largest coefficient: error of any one coefficient */
#define DECODE_SHARE 0x1p-12 /* of the largest coefficient, or of 2^-14 */
#define QF32_FLOOR 0x1p-118  /* smaller sums vanish in qf32, whose exponents end at 2^-127 */

static float *kv;                        /* [SLOTS][POSITIONS][128]: the golden K and V vectors */
static struct hx_block_table table[SLOTS]; /* calibrated on them */
static struct hx_spinor *hvx;
static float *x_in, *x_out;                /* [SLOTS * POSITIONS][128], guarded */
static struct hx_block *blocks;            /* [SLOTS * POSITIONS], guarded */

/* --- calibration: skeleton by variance, ridge by elimination */

static void choose_skeleton(struct hx_block_table *t, double (*c)[HX_BLOCK_PAD])
{
    double variance[HX_BLOCK_PAD] = {0};
    uint8_t taken[HX_BLOCK_PAD] = {0};
    size_t n = 0;

    for (size_t i = 0; i < HX_BLOCK_PAD; i++) {
        double mean = 0;

        for (size_t p = 0; p < POSITIONS; p++)
            mean += c[p][i] / POSITIONS;
        for (size_t p = 0; p < POSITIONS; p++)
            variance[i] += (c[p][i] - mean) * (c[p][i] - mean);
    }
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        size_t best = HX_BLOCK_PAD;

        for (size_t i = 0; i < HX_BLOCK_PAD; i++)
            if (hx_squarefree_index(i) && !taken[i] &&
                (best == HX_BLOCK_PAD || variance[i] > variance[best]))
                best = i;
        taken[best] = 1;
    }
    for (size_t i = 0; i < HX_BLOCK_PAD; i++)
        if (taken[i])
            t->skeleton[n++] = (uint16_t)i;
}

/* Solves a[14][14] z = b for the 60 right-hand sides in place; a is symmetric positive definite. */
static void solve(double a[HX_BLOCK_SKEL][HX_BLOCK_SKEL], double b[HX_BLOCK_SKEL][HX_BLOCK_RES])
{
    for (size_t p = 0; p < HX_BLOCK_SKEL; p++) {
        for (size_t i = 0; i < HX_BLOCK_SKEL; i++) {
            double f = a[i][p] / a[p][p];

            if (i == p)
                continue;
            for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
                a[i][j] -= f * a[p][j];
            for (size_t r = 0; r < HX_BLOCK_RES; r++)
                b[i][r] -= f * b[p][r];
        }
    }
    for (size_t p = 0; p < HX_BLOCK_SKEL; p++)
        for (size_t r = 0; r < HX_BLOCK_RES; r++)
            b[p][r] /= a[p][p];
}

static void calibrate(struct hx_block_table *t, const float *x)
{
    static double c[POSITIONS][HX_BLOCK_PAD];
    double a[HX_BLOCK_SKEL][HX_BLOCK_SKEL] = {0}, b[HX_BLOCK_SKEL][HX_BLOCK_RES] = {0};
    uint16_t rows[HX_BLOCK_RES];

    memset(t, 0, sizeof(*t));
    hx_block_residual_rows(hx_block_shape(HX_BLOCK_DH), rows);
    for (size_t p = 0; p < POSITIONS; p++)
        hx_spinor_coefficients_ref(x + p * HX_BLOCK_DH, c[p]);
    choose_skeleton(t, c);
    for (size_t p = 0; p < POSITIONS; p++) {
        for (size_t i = 0; i < HX_BLOCK_SKEL; i++) {
            for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
                a[i][j] += c[p][t->skeleton[i]] * c[p][t->skeleton[j]];
            for (size_t r = 0; r < HX_BLOCK_RES; r++)
                b[i][r] += c[p][t->skeleton[i]] * c[p][rows[r]];
        }
    }
    for (size_t i = 0; i < HX_BLOCK_SKEL; i++)
        a[i][i] += 1e-4 * POSITIONS;
    solve(a, b);
    for (size_t r = 0; r < HX_BLOCK_RES; r++)
        for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
            t->w[r][j] = hx_f16_from_f32((float)b[j][r]);
}

/* One vector. */
static int encode_hvx(size_t slot, const float *x, void *block)
{
    struct hx_spinor_faults faults;

    return hx_spinor_encode_batch_hvx(hvx, slot, 1, 1, x, block, &faults);
}

static int decode_hvx(size_t slot, const void *block, float *x)
{
    struct hx_spinor_faults faults;

    return hx_spinor_decode_batch_hvx(hvx, slot, 1, 1, block, x, &faults);
}

static int setup(void **state)
{
    size_t n, want = sizeof(float) * SLOTS * POSITIONS * HX_BLOCK_DH;
    struct hx_codec_format f;
    size_t bytes;

    (void)state;
    kv = hxt_read_file(HXT_SRC "/tests/data/golden/kv-f16.f32", &n);
    if (!kv || n != want)
        return -1;
    for (size_t s = 0; s < SLOTS; s++)
        calibrate(&table[s], kv + s * POSITIONS * HX_BLOCK_DH);
    hx_codec_format(&f, HX_BLOCK_DH, HX_BASIS_VHT2, HX_CODE_SIGN);
    bytes = hx_spinor_bytes(&f, SLOTS);
    hvx = hxt_guard_alloc(bytes, 128);
    x_in = hxt_guard_alloc(want, 128);
    x_out = hxt_guard_alloc(want, 128);
    blocks = hxt_guard_alloc(sizeof(*blocks) * SLOTS * POSITIONS, 64);
    return hx_spinor_init(hvx, bytes, &f, table, SLOTS);
}

static int teardown(void **state)
{
    (void)state;
    hxt_guard_free(hvx);
    hxt_guard_free(x_in);
    hxt_guard_free(x_out);
    hxt_guard_free(blocks);
    free(kv);
    return 0;
}

/* --- comparison of one encode */

struct tally {
    size_t vectors, magnitudes, off_by_one, signs, skeleton_ties;
    double worst_amax; /* relative difference */
};

static unsigned magnitude_of(const struct hx_block *b, size_t i)
{
    unsigned bits = b->magnitude[3 * i / 8];

    if (3 * i / 8 + 1 < sizeof(b->magnitude))
        bits |= (unsigned)b->magnitude[3 * i / 8 + 1] << 8;
    return bits >> 3 * i % 8 & 7;
}

static unsigned phase_of(const struct hx_block *b, size_t i)
{
    return b->phase[i / 8] >> i % 8 & 1;
}

static float amax_of(const struct hx_block *b)
{
    float amax;

    memcpy(&amax, b->amax, sizeof(amax));
    return amax;
}

/* A stored half may be the neighbour of the reference's where the coefficient lies about midway. */
static void compare_skeleton(const struct hx_block *got, const struct hx_block *want,
                             const double *c, const struct hx_block_table *t, double scale,
                             struct tally *n)
{
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        double g = hx_f32_from_f16(got->skeleton[j]), w = hx_f32_from_f16(want->skeleton[j]);
        double exact = c[t->skeleton[j]];

        if (g == w)
            continue;
        n->skeleton_ties++;
        if (fabs(fabs(g - exact) - fabs(w - exact)) > scale * NOISE_SHARE + QF32_FLOOR)
            fail_msg("skeleton lane %zu: got %g, reference %g, exact %.9g", j, g, w, exact);
    }
}

/* The rule of docs/block.md; the reference is made from the skeleton that the HVX version stored. */
static void compare_planes(const struct hx_block *got, const struct hx_block *want,
                           const float *residual, float amax, struct tally *n)
{
    for (size_t i = 0; i < HX_BLOCK_RES; i++) {
        int g = (int)magnitude_of(got, i), w = (int)magnitude_of(want, i);
        double exact = 7 * fabs((double)residual[i]) / amax;
        double to_half = fabs(exact - floor(exact) - 0.5);

        n->magnitudes++;
        if (g != w) {
            n->off_by_one++;
            if (abs(g - w) != 1 || to_half > HALF_WINDOW)
                fail_msg("lane %zu: magnitude %d, reference %d, 7|r|/amax = %.9g", i, g, w, exact);
        }
        if (g && w && phase_of(got, i) != phase_of(want, i)) {
            n->signs++;
            if (fabs((double)residual[i]) >= 0x1p-16 * amax)
                fail_msg("lane %zu: sign differs, r = %.9g, amax = %.9g", i, residual[i], amax);
        }
        if (!g)
            assert_int_equal(phase_of(got, i), 0);
    }
}

static double largest(const double c[HX_BLOCK_PAD])
{
    double m = 0;

    for (size_t i = 0; i < HX_BLOCK_PAD; i++)
        m = fmax(m, fabs(c[i]));
    return m;
}

static void compare_encode(size_t slot, const float *x, const struct hx_block *got, struct tally *n)
{
    const struct hx_block_table *t = &table[slot];
    struct hx_block want, from_stored;
    double c[HX_BLOCK_PAD], scale;
    float residual[HX_BLOCK_RES], amax;

    assert_int_equal(hx_spinor_check_block(got), AEE_SUCCESS);
    assert_int_equal(hx_spinor_encode_ref(t, x, &want), AEE_SUCCESS);
    hx_spinor_coefficients_ref(x, c);
    scale = largest(c);
    compare_skeleton(got, &want, c, t, scale, n);

    from_stored = *got;
    hx_spinor_residual_ref(t, c, got->skeleton, residual, &amax);
    hx_spinor_pack_ref(residual, amax, &from_stored);
    n->vectors++;
    if (amax < MIN_SHARE * scale || amax < 0x1p-90f) { /* rounding noise decides */
        if (fabs((double)amax_of(got) - amax) > scale * NOISE_SHARE + QF32_FLOOR)
            fail_msg("amax %g, reference %g, largest coefficient %g", amax_of(got), amax, scale);
        return;
    }
    double off = fabs((double)amax_of(got) - amax) / amax;
    n->worst_amax = fmax(n->worst_amax, off);
    if (off > 0x1p-14)
        fail_msg("amax %.9g, reference %.9g", amax_of(got), amax);
    compare_planes(got, &from_stored, residual, amax, n);
}

static void print_tally(const char *what, const struct tally *n)
{
    printf("%s: vectors=%zu magnitudes=%zu off_by_one=%zu signs=%zu fp16_ties=%zu "
           "amax_worst=%.1e\n", what, n->vectors, n->magnitudes, n->off_by_one, n->signs,
           n->skeleton_ties, n->worst_amax);
}

static void compare_decode(size_t slot, const struct hx_block *b, const float *got, double *worst)
{
    float want[HX_BLOCK_DH];
    double c[HX_BLOCK_PAD], scale, miss = 0;

    assert_int_equal(hx_spinor_decode_ref(&table[slot], b, want), AEE_SUCCESS);
    hx_spinor_coefficients_ref(want, c);
    scale = largest(c);
    for (size_t i = 0; i < HX_BLOCK_DH; i++)
        miss = fmax(miss, fabs((double)got[i] - want[i]));
    if (miss > DECODE_SHARE * fmax(scale, 0x1p-14))
        fail_msg("decoded value off by %g, largest coefficient %g", miss, scale);
    if (scale > 0x1p-14)
        *worst = fmax(*worst, miss / scale);
}

/* --- tests */

static void test_real_vectors_encode_as_the_reference_does(void **state)
{
    struct tally n = {0};

    (void)state;
    memcpy(x_in, kv, sizeof(float) * SLOTS * POSITIONS * HX_BLOCK_DH);
    hx_hvx_reset();
    for (size_t i = 0; i < SLOTS * POSITIONS; i++) {
        const float *x = x_in + i * HX_BLOCK_DH;

        assert_int_equal(encode_hvx(i / POSITIONS, x, &blocks[i]), AEE_SUCCESS);
        compare_encode(i / POSITIONS, x, &blocks[i], &n);
    }
    assert_true(hx_hvx_ops(&hx_hvx_counts) >= SLOTS * POSITIONS * 1000); /* it ran on HVX */
    assert_int_equal(n.magnitudes, SLOTS * POSITIONS * HX_BLOCK_RES);    /* and none was excused */
    hxt_guard_intact(blocks);
    hxt_guard_intact(hvx);
    print_tally("kv-f16", &n);
}

static void test_real_blocks_decode_as_the_reference_does(void **state)
{
    double worst = 0;

    (void)state;
    for (size_t i = 0; i < SLOTS * POSITIONS; i++) {
        float *x = x_out + i * HX_BLOCK_DH;

        assert_int_equal(hx_spinor_encode_ref(&table[i / POSITIONS], kv + i * HX_BLOCK_DH,
                                              &blocks[i]), AEE_SUCCESS);
        hx_hvx_reset();
        assert_int_equal(decode_hvx(i / POSITIONS, &blocks[i], x), AEE_SUCCESS);
        assert_true(hx_hvx_ops(&hx_hvx_counts) >= 184); /* a decode has that many vrmpy */
        compare_decode(i / POSITIONS, &blocks[i], x, &worst);
    }
    hxt_guard_intact(x_out);
    printf("kv-f16 decode: worst difference / largest coefficient = %.1e\n", worst);
}

static void test_random_and_edge_vectors_encode_as_the_reference_does(void **state)
{
    struct hxt_rng rng;
    double worst = 0;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (int kind = 0; kind < HXT_FILLS; kind++) {
        struct tally n = {0};
        size_t refused = 0;

        for (size_t i = 0; i < RANDOM_VECTORS; i++) {
            size_t slot = hxt_below(&rng, SLOTS);
            struct hx_block want;

            hxt_fill_f32(&rng, x_in, HX_BLOCK_DH, (enum hxt_fill)kind);
            for (size_t j = 0; kind == HXT_RANGE && j < HX_BLOCK_DH; j++)
                x_in[j] *= 0x1p-12f; /* to about 2^10, which the fp16 skeleton can hold */
            hxt_guard_poison(blocks);
            int rc = hx_spinor_encode_ref(&table[slot], x_in, &want);
            assert_int_equal(encode_hvx(slot, x_in, blocks), rc);
            if (rc) {
                hxt_untouched(blocks, sizeof(*blocks));
                refused++;
                continue;
            }
            compare_encode(slot, x_in, blocks, &n);
            assert_int_equal(decode_hvx(slot, blocks, x_out), AEE_SUCCESS);
            compare_decode(slot, blocks, x_out, &worst);
        }
        print_tally(hxt_fill_name((enum hxt_fill)kind), &n);
        if (kind >= HXT_FINITE || kind == HXT_HUGE) /* 1e20 does not fit the fp16 skeleton */
            assert_int_equal(refused, RANDOM_VECTORS);
        else
            assert_int_equal(refused, 0);
    }
    printf("random decode: worst difference / largest coefficient = %.1e\n", worst);
}

/* Residuals on, just below and just above each of the seven edges, for an amax of any size. */
static void edge_residuals(struct hxt_rng *rng, float amax, float *r)
{
    for (size_t i = 0; i < 64; i++) {
        int k = (int)hxt_below(rng, 7);
        float edge = (float)((2 * k + 1) * (double)amax / 14);

        for (int step = (int)hxt_below(rng, 5) - 2; step; step += step < 0 ? 1 : -1)
            edge = nextafterf(edge, step < 0 ? 0 : INFINITY);
        r[i] = fminf(edge, amax) * (hxt_below(rng, 2) ? -1 : 1);
    }
}

static void test_equal_residuals_pack_to_equal_bytes(void **state)
{
    static const float sizes[] = {1, 7, 14, 3.5f, 0x1p-149f, 0x7p-149f, 0x1p-126f, 0x1.fffffep-127f,
                                  1e-30f, 0.1f, 3.14159274f, 1e30f, 0x1.fffffep127f, 0};
    float *r = hxt_guard_alloc(64 * sizeof(float), 128);
    struct hx_block *got = hxt_guard_alloc(sizeof(*got), 64), want;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (size_t i = 0; i < 4000; i++) {
        float amax = sizes[i % HXT_LEN(sizes)];

        if (i % 3 == 0) {
            hxt_fill_f32(&rng, r, 64, (enum hxt_fill)(i % HXT_FINITE));
            amax = 0;
            for (size_t lane = 0; lane < HX_BLOCK_RES; lane++)
                amax = fmaxf(amax, fabsf(r[lane]));
        } else {
            edge_residuals(&rng, amax, r);
        }
        memset(got, 0xA5, sizeof(*got));
        memset(got->skeleton, (int)i, sizeof(got->skeleton));
        want = *got;
        assert_int_equal(hx_spinor_pack_hvx(hvx, r, amax, got), AEE_SUCCESS);
        hx_spinor_pack_ref(r, amax, &want);
        hxt_same_bytes(got, &want, sizeof(want));
    }
    hxt_guard_free(got);
    hxt_guard_free(r);
}

static void test_a_batch_gives_the_bits_of_single_calls(void **state)
{
    const size_t first = 3, n_slots = 5, n_pos = 7, n = n_slots * n_pos;
    struct hx_block *one = hxt_guard_alloc(sizeof(*one), 64);
    float *x_one = hxt_guard_alloc(HX_BLOCK_DH * sizeof(float), 128);
    struct hx_spinor_faults bad;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 3);
    hxt_fill_f32(&rng, x_in, n * HX_BLOCK_DH, HXT_NORMAL);
    hxt_guard_poison(blocks);
    hxt_guard_poison(x_out);
    int rc = hx_spinor_encode_batch_hvx(hvx, first, n_slots, n_pos, x_in, blocks, &bad);
    assert_int_equal(rc, AEE_SUCCESS);
    rc = hx_spinor_decode_batch_hvx(hvx, first, n_slots, n_pos, blocks, x_out, &bad);
    assert_int_equal(rc, AEE_SUCCESS);
    for (size_t i = 0; i < n; i++) {
        size_t slot = first + i % n_slots;

        assert_int_equal(encode_hvx(slot, x_in + i * HX_BLOCK_DH, one), 0);
        hxt_same_bytes(one, &blocks[i], sizeof(*one));
        assert_int_equal(decode_hvx(slot, &blocks[i], x_one), 0);
        hxt_same_bytes(x_one, x_out + i * HX_BLOCK_DH, HX_BLOCK_DH * sizeof(float));
    }
    hxt_untouched(&blocks[n], sizeof(*blocks));
    hxt_untouched(x_out + n * HX_BLOCK_DH, HX_BLOCK_DH * sizeof(float));
    hxt_guard_free(one);
    hxt_guard_free(x_one);
}

static void test_the_operation_count_does_not_depend_on_the_data(void **state)
{
    struct hx_hvx_counts encode = {0}, decode = {0};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 4);
    for (size_t i = 0; i < RANDOM_VECTORS; i++) {
        static const enum hxt_fill kinds[] = {HXT_NORMAL, HXT_ZERO, HXT_TINY, HXT_CONST, HXT_SPIKE};

        hxt_fill_f32(&rng, x_in, HX_BLOCK_DH, kinds[i % HXT_LEN(kinds)]);
        hx_hvx_reset();
        assert_int_equal(encode_hvx(i % SLOTS, x_in, blocks), AEE_SUCCESS);
        if (i == 0)
            encode = hx_hvx_counts;
        assert_memory_equal(&encode, &hx_hvx_counts, sizeof(encode));
        hx_hvx_reset();
        assert_int_equal(decode_hvx(i % SLOTS, blocks, x_out), AEE_SUCCESS);
        if (i == 0)
            decode = hx_hvx_counts;
        assert_memory_equal(&decode, &hx_hvx_counts, sizeof(decode));
    }
    assert_true(hx_hvx_ops(&encode) > 0 && hx_hvx_ops(&decode) > 0);
    printf("hvx_ops encode=%llu decode=%llu\n", (unsigned long long)hx_hvx_ops(&encode),
           (unsigned long long)hx_hvx_ops(&decode));
}

static void test_wrong_arguments_are_refused_and_write_nothing(void **state)
{
    struct hx_spinor_faults bad;

    (void)state;
    memcpy(x_in, kv, sizeof(float) * HX_BLOCK_DH);
    hxt_guard_poison(x_out);
    hxt_guard_poison(blocks);
    assert_int_equal(encode_hvx(SLOTS, x_in, blocks), AEE_EBADPARM);
    assert_int_equal(encode_hvx(0, x_in + 1, blocks), AEE_EBADPARM);
    assert_int_equal(encode_hvx(0, x_in, (char *)blocks + 1),
                     AEE_EBADPARM);
    assert_int_equal(hx_spinor_encode_batch_hvx(hvx, 1, SLOTS, 1, x_in, blocks, &bad),
                     AEE_EBADPARM);
    assert_int_equal(hx_spinor_encode_batch_hvx(hvx, SIZE_MAX, 2, 1, x_in, blocks, &bad),
                     AEE_EBADPARM);
    hxt_untouched(blocks, sizeof(*blocks) * 2);
    assert_int_equal(encode_hvx(0, x_in, blocks), AEE_SUCCESS);
    assert_int_equal(decode_hvx(SLOTS, blocks, x_out), AEE_EBADPARM);
    assert_int_equal(decode_hvx(0, blocks, x_out + 1), AEE_EBADPARM);
    hxt_untouched(x_out, 2 * HX_BLOCK_DH * sizeof(float));
}

static void test_a_batch_names_the_vector_that_failed(void **state)
{
    struct hx_spinor_faults bad;

    (void)state;
    memcpy(x_in, kv, sizeof(float) * HX_BLOCK_DH * 6);
    assert_int_equal(hx_spinor_encode_batch_hvx(hvx, 0, 2, 3, x_in, blocks, &bad), AEE_SUCCESS);
    blocks[3].phase[2] ^= 1;
    hxt_guard_poison(x_out);
    assert_int_equal(hx_spinor_decode_batch_hvx(hvx, 0, 2, 3, blocks, x_out, &bad), AEE_EBADITEM);
    assert_int_equal(bad.n, 1);
    assert_int_equal(bad.at[0], 3);
    hxt_untouched(x_out + 3 * HX_BLOCK_DH, HX_BLOCK_DH * sizeof(float));
    x_in[4 * HX_BLOCK_DH + 100] = NAN;
    assert_int_equal(hx_spinor_encode_batch_hvx(hvx, 0, 2, 3, x_in, blocks, &bad), AEE_EBADPARM);
    assert_int_equal(bad.n, 1);
    assert_int_equal(bad.at[0], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_vectors_encode_as_the_reference_does),
        cmocka_unit_test(test_real_blocks_decode_as_the_reference_does),
        cmocka_unit_test(test_random_and_edge_vectors_encode_as_the_reference_does),
        cmocka_unit_test(test_equal_residuals_pack_to_equal_bytes),
        cmocka_unit_test(test_a_batch_gives_the_bits_of_single_calls),
        cmocka_unit_test(test_the_operation_count_does_not_depend_on_the_data),
        cmocka_unit_test(test_wrong_arguments_are_refused_and_write_nothing),
        cmocka_unit_test(test_a_batch_names_the_vector_that_failed),
    };

    return HXT_RUN_FIXTURE(tests, setup, teardown);
}
