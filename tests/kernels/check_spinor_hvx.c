/* The HVX spinor codec in every head dimension and basis against the fp64 codec, on random tables: planes by the rule of
 * docs/block.md, packing bit for bit, decoded values, every corrupt bit found, batches of any length and place. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <hvx_hexagon_protos.h>

#include "hexrig_hvx_count.h"
#include "hx_block_dsp.h"
#include "hx_f16.h"
#include "hx_qf32.h"
#include "hx_vht2.h"
#include "hxt.h"
#include "hxt_each.h"
#include "spinor/spinor.h"
#include "spinor_rig.h"

enum { SLOTS = 3, POSITIONS = 15, VECTORS = SLOTS * POSITIONS };

#define HALF_WINDOW 0x1p-10
#define NOISE_SHARE 0x1p-17
#define DECODE_SHARE 0x1p-12

struct rig {
    struct spinor_rig t;
    float *x, *y;    /* [VECTORS][dh], guarded */
    uint8_t *blocks; /* [VECTORS][slot], guarded */
};

static void open_rig(struct rig *r, size_t dh, uint32_t basis, uint32_t code, uint64_t stream)
{
    struct hxt_rng rng;

    open_spinor_rig_of(&r->t, dh, basis, code, SLOTS, stream);
    hxt_rng_init(&rng, stream);
    r->x = hxt_guard_alloc(VECTORS * dh * sizeof(float), 128);
    r->y = hxt_guard_alloc(VECTORS * dh * sizeof(float), 128);
    r->blocks = hxt_guard_alloc((size_t)VECTORS * r->t.f.shape->slot, 64);
    hxt_fill_f32(&rng, r->x, VECTORS * dh, HXT_NORMAL);
}

static void close_rig(struct rig *r)
{
    hxt_guard_free(r->x);
    hxt_guard_free(r->y);
    hxt_guard_free(r->blocks);
    close_spinor_rig(&r->t);
}

/* Runs a check for every head dimension, basis and code that has an HVX version. */
static void each_format(void (*check)(struct rig *))
{
    for (size_t d = 0; d < HX_BLOCK_SHAPES; d++) {
        for (uint32_t i = 0; i < HX_BASES * HX_CODES; i++) {
            const uint32_t basis = i % HX_BASES, code = i / HX_BASES;
            struct hx_codec_format f;
            struct rig r;

            hx_codec_format(&f, hx_block_shapes[d].dh, basis, code);
            if (!hx_spinor_has_hvx(&f))
                continue;
            open_rig(&r, hx_block_shapes[d].dh, basis, code, 10 * d + i);
            check(&r);
            close_rig(&r);
        }
    }
}

static int encode_all(struct rig *r)
{
    struct hx_spinor_faults faults;

    return hx_spinor_encode_batch_hvx(r->t.k, 0, SLOTS, POSITIONS, r->x, r->blocks, &faults);
}

/* --- encode */

struct tally {
    size_t lanes, off_by_one, ties;
};

static void compare_planes(const struct rig *r, size_t slot, const double *coef,
                           const uint8_t *block, struct tally *t)
{
    const struct hx_block_shape *s = r->t.f.shape;
    struct hx_codec_residual res;
    uint16_t skeleton[HX_BLOCK_SKEL];
    double amax = (double)hx_block_amax(s, block);

    memcpy(skeleton, block, sizeof(skeleton));
    hx_codec_residual(r->t.codec, slot, coef, skeleton, &res);
    if (fabs(amax - (double)res.amax) > 0x1p-14 * (double)res.amax)
        fail_msg("dh %d: amax %.9g, reference %.9g", s->dh, amax, (double)res.amax);
    for (size_t i = 0; i < s->n_res; i++) {
        const double share = (double)res.r[i] / (double)res.amax;
        const int sheet = r->t.f.code == HX_CODE_SHEET;
        const double exact = sheet ? fmin(3.5 * (share + 1), 7) : 7 * fabs(share);
        const int want = (int)floor(exact + 0.5), got = (int)hx_block_magnitude(s, block, i);

        t->lanes++;
        t->off_by_one += got != want;
        if (got != want && (abs(got - want) != 1 || fabs(exact - floor(exact) - 0.5) > HALF_WINDOW))
            fail_msg("dh %d lane %zu: magnitude %d, 7|r|/amax = %.9g", s->dh, i, got, exact);
        if (got && want)
            assert_int_equal(hx_block_phase(s, block, i), !sheet && res.r[i] < 0);
    }
}

static void check_encode(struct rig *r)
{
    const struct hx_block_shape *s = r->t.f.shape;
    double coef[HX_BLOCK_MAX_PAD];
    struct tally t = {0};

    hx_hvx_reset();
    assert_int_equal(encode_all(r), AEE_SUCCESS);
    assert_true(hx_hvx_ops(&hx_hvx_counts) > (uint64_t)VECTORS * s->dh * 4);
    for (size_t i = 0; i < VECTORS; i++) {
        const uint8_t *block = r->blocks + i * s->slot;
        const uint16_t *at = hx_codec_skeleton_at(r->t.codec, i % SLOTS);
        double largest = 0;

        assert_int_equal(hx_block_fault(s, block), HX_BLOCK_GOOD);
        hx_codec_coefficients(r->t.codec, i % SLOTS, r->x + i * s->dh, coef);
        for (size_t c = 0; c < hx_codec_n_coefficients(&r->t.f); c++)
            largest = fmax(largest, fabs(coef[c]));
        for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
            const double got = (double)hx_f32_from_f16(hx_block_skeleton(block, j));
            const double near = (double)hx_f32_from_f16(hx_f16_from_f32((float)coef[at[j]]));

            t.ties += got != near;
            if (fabs(got - coef[at[j]]) > fabs(near - coef[at[j]]) + largest * NOISE_SHARE)
                fail_msg("dh %d: skeleton lane %zu %g, exact %.9g", s->dh, j, got, coef[at[j]]);
        }
        compare_planes(r, i % SLOTS, coef, block, &t);
    }
    hxt_guard_intact(r->blocks);
    printf("dh=%d basis=%s code=%s lanes=%zu off_by_one=%zu fp16_ties=%zu\n", s->dh,
           hx_block_basis_names[r->t.f.basis], hx_block_code_names[r->t.f.code], t.lanes, t.off_by_one, t.ties);
}

static void test_encode_follows_the_codec_in_every_format(void **state)
{
    (void)state;
    each_format(check_encode);
}

static void check_pack(struct rig *r)
{
    const size_t lanes = 32u * r->t.k->res_vectors;
    float *res = hxt_guard_alloc(lanes * sizeof(float), 128);
    uint8_t want[HX_BLOCK_MAX_SLOT], *got = hxt_guard_alloc(r->t.f.shape->slot, 64);
    struct hxt_rng rng;

    hxt_rng_init(&rng, 77);
    for (size_t i = 0; i < 200; i++) {
        struct hx_codec_residual exact = {0};

        hxt_fill_f32(&rng, res, lanes, (enum hxt_fill)(i % HXT_FINITE));
        memset(got, (int)i, r->t.f.shape->slot);
        memcpy(want, got, r->t.f.shape->slot);
        for (size_t l = 0; l < r->t.f.shape->n_res; l++) {
            exact.r[l] = res[l];
            exact.amax = fmaxf(exact.amax, fabsf(res[l]));
        }
        hx_codec_pack(&r->t.f, &exact, want);
        assert_int_equal(hx_spinor_pack_hvx(r->t.k, res, exact.amax, got), AEE_SUCCESS);
        hxt_same_bytes(got, want, r->t.f.shape->slot);
    }
    assert_int_equal(hx_spinor_pack_hvx(r->t.k, res + 1, 1, got), AEE_EBADPARM);
    hxt_guard_free(res);
    hxt_guard_free(got);
}

static void test_equal_residuals_pack_to_equal_bytes_in_every_format(void **state)
{
    (void)state;
    each_format(check_pack);
}

/* --- decode */

static double off_by(const struct rig *r, size_t slot, const uint8_t *block, const float *got)
{
    const size_t dh = r->t.f.shape->dh;
    double coef[HX_BLOCK_MAX_PAD], largest = 0x1p-14, miss = 0;
    float want[HX_BLOCK_MAX_DH];

    assert_int_equal(hx_codec_decode(r->t.codec, slot, block, want), 0);
    hx_codec_coefficients(r->t.codec, slot, want, coef);
    for (size_t c = 0; c < hx_codec_n_coefficients(&r->t.f); c++)
        largest = fmax(largest, fabs(coef[c]));
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        largest = fmax(largest, fabs((double)hx_f32_from_f16(hx_block_skeleton(block, j))));
    for (size_t i = 0; i < dh && r->t.f.basis == HX_BASIS_KLT; i++)
        largest = fmax(largest, 4 * fabs(half_of(r->t.tables + slot * r->t.table_bytes, i)));
    for (size_t i = 0; i < dh; i++)
        miss = fmax(miss, fabs((double)got[i] - (double)want[i]));
    return miss / largest;
}

static void check_decode(struct rig *r)
{
    const struct hx_block_shape *s = r->t.f.shape;
    struct hx_spinor_faults faults;
    double worst = 0;

    assert_int_equal(encode_all(r), AEE_SUCCESS);
    hx_hvx_reset();
    assert_int_equal(hx_spinor_decode_batch_hvx(r->t.k, 0, SLOTS, POSITIONS, r->blocks, r->y, &faults),
                     AEE_SUCCESS);
    const uint64_t ops = hx_hvx_ops(&hx_hvx_counts) / VECTORS;
    assert_true(ops > s->dh);
    for (size_t i = 0; i < VECTORS; i++)
        worst = fmax(worst, off_by(r, i % SLOTS, r->blocks + i * s->slot, r->y + i * s->dh));
    hxt_guard_intact(r->y);
    printf("dh=%d basis=%s decode: worst/largest=%.1e ops_per_vector=%llu\n", s->dh,
           hx_block_basis_names[r->t.f.basis], worst, (unsigned long long)ops);
    if (worst > DECODE_SHARE)
        fail_msg("a decoded value is off by %g of the largest coefficient", worst);
}

static void test_decode_follows_the_codec_in_every_format(void **state)
{
    (void)state;
    each_format(check_decode);
}

/* Blocks that no vector gives: random skeletons of all exponents, random planes and amax. */
static void random_blocks(struct rig *r, uint64_t seed)
{
    const struct hx_block_shape *s = r->t.f.shape;
    struct hxt_rng rng;

    hxt_rng_init(&rng, seed);
    for (size_t i = 0; i < VECTORS; i++) {
        uint8_t *b = r->blocks + i * s->slot;
        const float amax = (float)ldexp(hxt_unit(&rng), (int)hxt_below(&rng, 20) - 10);

        hxt_fill_bytes(&rng, b, s->slot);
        for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
            b[2 * j + 1] &= 0xbb; /* exponent below 24 and not 31 */
        memcpy(b + s->off_amax, &amax, sizeof(amax));
        hx_block_seal(s, b);
    }
}

static void check_any_block(struct rig *r)
{
    const struct hx_block_shape *s = r->t.f.shape;
    struct hx_spinor_faults faults;
    double worst = 0;

    random_blocks(r, 78);
    assert_int_equal(hx_spinor_decode_batch_hvx(r->t.k, 0, SLOTS, POSITIONS, r->blocks, r->y, &faults),
                     AEE_SUCCESS);
    for (size_t i = 0; i < VECTORS; i++)
        worst = fmax(worst, off_by(r, i % SLOTS, r->blocks + i * s->slot, r->y + i * s->dh));
    if (worst > DECODE_SHARE)
        fail_msg("dh %d: a decoded value is off by %g of the largest coefficient", s->dh, worst);
}

static void test_any_legal_block_decodes(void **state)
{
    (void)state;
    each_format(check_any_block);
}

static void check_batches(struct rig *r)
{
    const struct hx_block_shape *s = r->t.f.shape;
    float *one = hxt_guard_alloc(s->dh * sizeof(float), 128);
    uint8_t *copy = hxt_guard_alloc(s->slot, 64);
    struct hx_spinor_faults faults;

    assert_int_equal(encode_all(r), AEE_SUCCESS);
    assert_int_equal(hx_spinor_decode_batch_hvx(r->t.k, 0, SLOTS, POSITIONS, r->blocks, r->y, &faults),
                     AEE_SUCCESS);
    for (size_t i = 0; i < VECTORS; i++) { /* alone, and at the end of what may be read */
        memcpy(copy, r->blocks + i * s->slot, s->slot);
        assert_int_equal(hx_spinor_decode_batch_hvx(r->t.k, i % SLOTS, 1, 1, copy, one, &faults), 0);
        hxt_same_bytes(one, r->y + i * s->dh, s->dh * sizeof(float));
        assert_int_equal(hx_spinor_encode_batch_hvx(r->t.k, i % SLOTS, 1, 1, r->x + i * s->dh, copy,
                                                    &faults), AEE_SUCCESS);
        hxt_same_bytes(copy, r->blocks + i * s->slot, s->slot);
    }
    hxt_guard_poison(r->y); /* fewer slots, a later first one */
    assert_int_equal(hx_spinor_decode_batch_hvx(r->t.k, 1, 2, 5, r->blocks, r->y, &faults), 0);
    hxt_untouched(r->y + 10 * s->dh, s->dh * sizeof(float));
    hxt_guard_free(one);
    hxt_guard_free(copy);
}

static void test_a_batch_gives_the_bits_of_single_calls_in_every_format(void **state)
{
    (void)state;
    each_format(check_batches);
}

/* --- the same numbers without HVX (hx_block_dsp.h) */

static void same_blocks(struct rig *r, const struct hx_block_dsp *d)
{
    const struct hx_block_shape *s = r->t.f.shape;
    uint8_t block[HX_BLOCK_MAX_SLOT];

    assert_int_equal(encode_all(r), AEE_SUCCESS);
    for (size_t i = 0; i < VECTORS; i++) {
        assert_int_equal(hx_block_dsp_encode(d, i % SLOTS, r->x + i * s->dh, block), 0);
        hxt_same_bytes(block, r->blocks + i * s->slot, s->slot);
    }
}

static void same_values(struct rig *r, const struct hx_block_dsp *d)
{
    const struct hx_block_shape *s = r->t.f.shape;
    struct hx_spinor_faults faults;
    float x[HX_BLOCK_MAX_DH];

    hx_spinor_decode_batch_hvx(r->t.k, 0, SLOTS, POSITIONS, r->blocks, r->y, &faults);
    assert_int_equal(faults.n, 0);
    for (size_t i = 0; i < VECTORS; i++) {
        assert_int_equal(hx_block_dsp_decode(d, i % SLOTS, r->blocks + i * s->slot, x), 0);
        hxt_same_bytes(x, r->y + i * s->dh, s->dh * sizeof(float));
    }
}

static void check_same_bits(struct rig *r)
{
    static const int exponents[] = {-140, -60, 0, 11};
    struct hx_block_dsp *d = hx_block_dsp_open(&r->t.f, r->t.tables, SLOTS);
    const struct hx_block_shape *s = r->t.f.shape;
    struct hxt_rng rng;

    assert_non_null(d);
    hxt_rng_init(&rng, 79);
    for (size_t e = 0; e < HXT_LEN(exponents); e += HXT_EACH) {
        for (size_t i = 0; i < VECTORS * s->dh; i++)
            r->x[i] = (float)ldexp(hxt_normal(&rng), exponents[e]);
        same_blocks(r, d);
        same_values(r, d);
    }
    random_blocks(r, 80);
    same_values(r, d);
    r->blocks[3] ^= 1;
    assert_int_equal(hx_block_dsp_decode(d, 0, r->blocks, r->y), -EBADMSG);
    r->x[1] = NAN;
    assert_int_equal(hx_block_dsp_encode(d, 0, r->x, r->blocks), -EDOM);
    hx_block_dsp_close(d);
}

static void test_without_hvx_the_same_bits_in_every_format(void **state)
{
    (void)state;
    each_format(check_same_bits);
}

static void test_qf32_without_hvx_has_the_bits_of_hvx(void **state)
{
    enum { N = HX_SPINOR_LANES };
    union {
        HVX_Vector v;
        hx_qf32 w[N / HX_QF32_LANES];
        uint32_t u[N];
    } a, b, want[6], got[6];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 81);
    for (size_t n = 0; n < 4000; n++) {
        hxt_fill_bytes(&rng, &a, sizeof(a));
        hxt_fill_bytes(&rng, &b, sizeof(b));
        for (size_t i = 0; i < N && n % 2; i++) /* near each other, so that sums cancel */
            b.u[i] = (b.u[i] & 0xc7ffff00) | ((a.u[i] + b.u[i] % 8 - 4) & 255) | (a.u[i] & 0x38000000);
        want[0].v = Q6_Vqf32_vmpy_VsfVsf(a.v, b.v);
        want[1].v = Q6_Vqf32_vmpy_Vqf32Vqf32(a.v, b.v);
        want[2].v = Q6_Vqf32_vadd_Vqf32Vqf32(a.v, b.v);
        want[3].v = Q6_Vqf32_vsub_Vqf32Vqf32(a.v, b.v);
        want[4].v = Q6_Vqf32_vsub_VsfVsf(a.v, b.v);
        want[5].v = Q6_Vsf_equals_Vqf32(a.v);
        for (size_t i = 0; i < N / HX_QF32_LANES; i++) {
            got[0].w[i] = hx_qf32_mul_floats(a.w[i], b.w[i]);
            got[1].w[i] = hx_qf32_mul(a.w[i], b.w[i]);
            got[2].w[i] = hx_qf32_add(a.w[i], b.w[i]);
            got[3].w[i] = hx_qf32_sub(a.w[i], b.w[i]);
            got[4].w[i] = hx_qf32_sub_floats(a.w[i], b.w[i]);
            got[5].w[i] = hx_qf32_to_float(a.w[i]);
        }
        hxt_same_bytes(got, want, sizeof(got));
    }
}

/* --- corruption */

static void check_corruption(struct rig *r)
{
    const struct hx_block_shape *s = r->t.f.shape;
    struct hx_spinor_faults faults;

    assert_int_equal(encode_all(r), AEE_SUCCESS);
    for (size_t bit = 0; bit < 8u * s->slot; bit += 2 * HXT_EACH - 1) {
        const size_t at = bit % VECTORS;
        uint8_t *b = r->blocks + at * s->slot;

        b[bit / 8] ^= (uint8_t)(1u << bit % 8);
        int rc = hx_spinor_decode_batch_hvx(r->t.k, 0, SLOTS, POSITIONS, r->blocks, r->y, &faults);
        b[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (rc != AEE_EBADITEM || faults.n != 1 || faults.at[0] != at)
            fail_msg("dh %d: bit %zu flipped in block %zu: %d, %zu faults", s->dh, bit, at, rc,
                     faults.n);
    }
    for (size_t i = 0; i < VECTORS; i++) { /* good CRC, but no number */
        uint8_t *b = r->blocks + i * s->slot;

        if (i % 2)
            memcpy(b + s->off_amax, &(float){i % 4 == 1 ? INFINITY : -1.0f}, sizeof(float));
        else if (i % 3 == 0)
            memcpy(b + 2 * (i % HX_BLOCK_SKEL), &(uint16_t){0x7c00}, 2);
        hx_block_seal(s, b);
        if (i % 5 == 0 && s->payload < s->slot - 1) { /* or with something in the fill */
            b[s->slot - 2] = 1;
            b[s->slot - 1] = hx_crc8(b, s->slot - 1u);
        }
    }
    hxt_guard_poison(r->y);
    assert_int_equal(hx_spinor_decode_batch_hvx(r->t.k, 0, SLOTS, POSITIONS, r->blocks, r->y, &faults),
                     AEE_EBADITEM);
    size_t n = 0;
    for (size_t i = 0; i < VECTORS; i++) {
        if (!hx_block_fault(s, r->blocks + i * s->slot))
            continue;
        hxt_untouched(r->y + i * s->dh, s->dh * sizeof(float));
        if (n < HX_SPINOR_FAULTS)
            assert_int_equal(faults.at[n], i);
        n++;
    }
    assert_int_equal(faults.n, n);
}

static void test_every_corrupt_bit_is_found(void **state)
{
    (void)state;
    each_format(check_corruption);
}

static void test_sheet_with_a_prediction_has_no_hvx_version(void **state)
{
    struct hx_codec_format f;

    (void)state;
    hx_codec_format(&f, 128, HX_BASIS_VHT2W, HX_CODE_SHEET);
    assert_int_equal(hx_spinor_has_hvx(&f), 0);
    assert_int_equal(hx_spinor_bytes(&f, 1), 0);
    hx_codec_format(&f, 128, HX_BASIS_KLT, HX_CODE_SIGN);
    assert_int_equal(hx_spinor_bytes(&f, SIZE_MAX / 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode_follows_the_codec_in_every_format),
        cmocka_unit_test(test_equal_residuals_pack_to_equal_bytes_in_every_format),
        cmocka_unit_test(test_decode_follows_the_codec_in_every_format),
        cmocka_unit_test(test_any_legal_block_decodes),
        cmocka_unit_test(test_a_batch_gives_the_bits_of_single_calls_in_every_format),
        cmocka_unit_test(test_without_hvx_the_same_bits_in_every_format),
        cmocka_unit_test(test_qf32_without_hvx_has_the_bits_of_hvx),
        cmocka_unit_test(test_every_corrupt_bit_is_found),
        cmocka_unit_test(test_sheet_with_a_prediction_has_no_hvx_version),
    };

    return HXT_RUN(tests);
}
