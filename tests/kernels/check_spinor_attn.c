/* Attention over blocks on HVX against decoding each block with the fp64 codec: scores and outputs in every head dimension
 * and basis, several heads and queries, every number of positions around a group; corruption; what is refused. */
#include <math.h>
#include <stdlib.h>

#include "hexrig_hvx_count.h"
#include "hx_f16.h"
#include "hx_vht2.h"
#include "hxt.h"
#include "hxt_each.h"
#include "spinor/spinor_attn.h"
#include "spinor_rig.h"

enum { HEADS = 2, QUERIES = 3, MAX_POS = 70 };

#define SCORE_SHARE 0x1p-11
#define OUT_SHARE 0x1p-10

struct attn {
    struct spinor_rig r; /* slots: K heads, then V heads */
    uint8_t *k, *v;      /* [MAX_POS][HEADS][slot] */
    float *q, *own;      /* [HEADS][QUERIES][dh]; [2][HEADS][dh] */
    float *got, *want, *work;
};

static void open_attn(struct attn *t, size_t dh, uint32_t basis)
{
    const size_t floats = HEADS * QUERIES * (size_t)(dh > MAX_POS ? dh : MAX_POS) + 1;
    struct hxt_rng rng;

    open_spinor_rig(&t->r, dh, basis, 2 * HEADS, dh + basis);
    const struct hx_block_shape *s = t->r.f.shape;
    const size_t n = (size_t)MAX_POS * HEADS, work = hx_spinor_attn_bytes(t->r.k, QUERIES, MAX_POS);
    float *x = hxt_guard_alloc(n * dh * sizeof(float), 128);
    struct hx_spinor_faults faults;

    hxt_rng_init(&rng, 1000 + dh + basis);
    t->k = hxt_guard_alloc(n * s->slot, 64);
    t->v = hxt_guard_alloc(n * s->slot, 64);
    t->q = hxt_guard_alloc(HEADS * QUERIES * dh * sizeof(float), 128);
    t->own = hxt_guard_alloc(2 * HEADS * dh * sizeof(float), 128);
    t->got = hxt_guard_alloc(floats * sizeof(float), 128);
    t->want = hxt_guard_alloc(floats * sizeof(float), 128);
    t->work = hxt_guard_alloc(work, 128);
    hxt_fill_f32(&rng, t->q, HEADS * QUERIES * dh, HXT_NORMAL);
    hxt_fill_f32(&rng, t->own, 2 * HEADS * dh, HXT_NORMAL);
    for (size_t is_v = 0; is_v < 2; is_v++) {
        hxt_fill_f32(&rng, x, n * dh, HXT_NORMAL);
        assert_int_equal(hx_spinor_encode_batch_hvx(t->r.k, is_v * HEADS, HEADS, MAX_POS, x,
                                                    is_v ? t->v : t->k, &faults), AEE_SUCCESS);
    }
    hxt_guard_free(x);
}

static void close_attn(struct attn *t)
{
    hxt_guard_free(t->k);
    hxt_guard_free(t->v);
    hxt_guard_free(t->q);
    hxt_guard_free(t->own);
    hxt_guard_free(t->got);
    hxt_guard_free(t->want);
    hxt_guard_free(t->work);
    close_spinor_rig(&t->r);
}

static struct hx_spinor_attn call_of(const struct attn *t, size_t n_pos, int own, float *out)
{
    const size_t dh = t->r.f.shape->dh;

    return (struct hx_spinor_attn){.n_slots = HEADS, .n_q = QUERIES, .n_pos = n_pos, .k_first = 0,
                                   .v_first = HEADS, .k = t->k, .v = t->v, .q = t->q,
                                   .k_own = own ? t->own : NULL,
                                   .v_own = own ? t->own + HEADS * dh : NULL,
                                   .scale = 1 / sqrtf((float)dh), .out = out};
}

static void each_format(void (*check)(struct attn *))
{
    for (size_t d = 0; d < HX_BLOCK_SHAPES; d++) {
        for (uint32_t basis = 0; basis < HX_BASES; basis++) {
            struct attn t;

            open_attn(&t, hx_block_shapes[d].dh, basis);
            check(&t);
            close_attn(&t);
        }
    }
}

static double worst_of(const float *got, const float *want, size_t n)
{
    double worst = 0;

    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs((double)got[i] - (double)want[i]));
    return worst;
}

static void check_scores(struct attn *t)
{
    static const size_t positions[] = {1, 2, 31, 32, 33, MAX_POS};
    double worst = 0;

    for (size_t p = 0; p < HXT_LEN(positions); p += HXT_EACH) {
        const size_t n = HEADS * QUERIES * positions[p];
        struct hx_spinor_attn got = call_of(t, positions[p], 0, t->got);
        struct hx_spinor_attn want = call_of(t, positions[p], 0, t->want);
        struct hx_spinor_faults faults;

        hxt_guard_poison(t->got);
        hx_hvx_reset();
        assert_int_equal(hx_spinor_scores_hvx(t->r.k, &got, t->work, &faults), AEE_SUCCESS);
        assert_true(hx_hvx_ops(&hx_hvx_counts) > 1000);
        assert_int_equal(hx_spinor_scores_ref(t->r.codec, &want, &faults), AEE_SUCCESS);
        worst = fmax(worst, worst_of(t->got, t->want, n));
        hxt_untouched(t->got + n, sizeof(float));
        hxt_guard_intact(t->got);
        hxt_guard_intact(t->work);
    }
    /* N(0, 1): |q| sqrt(dh) scale is about sqrt(dh), coefficients are below 8 */
    printf("dh=%d basis=%s scores: worst=%.1e\n", t->r.f.shape->dh,
           hx_block_basis_names[t->r.f.basis], worst);
    assert_true(worst < 8 * SCORE_SHARE * sqrt(t->r.f.shape->dh));
    assert_true(worst < 3e-3); /* about three times what is found */
}

static void test_scores_are_those_of_decoded_blocks(void **state)
{
    (void)state;
    each_format(check_scores);
}

static void check_attend(struct attn *t)
{
    static const size_t positions[] = {0, 1, 31, 32, 33, MAX_POS};
    const size_t n = HEADS * QUERIES * (size_t)t->r.f.shape->dh;
    double worst = 0;

    for (size_t p = 0; p < 2 * HXT_LEN(positions); p += 2 * HXT_EACH - 1) {
        const size_t n_pos = positions[p / 2];
        struct hx_spinor_attn got = call_of(t, n_pos, p % 2, t->got);
        struct hx_spinor_attn want = call_of(t, n_pos, p % 2, t->want);
        struct hx_spinor_faults faults;
        int in_v, rc = hx_spinor_attend_ref(t->r.codec, &want, &faults, &in_v);

        hxt_guard_poison(t->got);
        assert_int_equal(hx_spinor_attend_hvx(t->r.k, &got, t->work, &faults, &in_v), rc);
        assert_int_equal(rc, n_pos || p % 2 ? AEE_SUCCESS : AEE_EBADPARM);
        if (rc == AEE_SUCCESS)
            worst = fmax(worst, worst_of(t->got, t->want, n));
        hxt_guard_intact(t->got);
        hxt_guard_intact(t->work);
    }
    printf("dh=%d basis=%s attend: worst=%.1e\n", t->r.f.shape->dh,
           hx_block_basis_names[t->r.f.basis], worst);
    assert_true(worst < 8 * OUT_SHARE);
    assert_true(worst < 3e-3);
}

static void test_outputs_are_those_of_decoded_blocks(void **state)
{
    (void)state;
    each_format(check_attend);
}

static void test_corrupt_blocks_are_listed(void **state)
{
    struct hx_spinor_faults faults;
    struct attn t;
    int in_v;

    (void)state;
    open_attn(&t, 128, HX_BASIS_KLT);
    struct hx_spinor_attn a = call_of(&t, MAX_POS, 1, t.got);
    t.v[(40 * HEADS + 1) * 64 + 5] ^= 4;
    assert_int_equal(hx_spinor_attend_hvx(t.r.k, &a, t.work, &faults, &in_v), AEE_EBADITEM);
    assert_int_equal(in_v, 1);
    assert_int_equal(faults.n, 1);
    assert_int_equal(faults.at[0], 40 * HEADS + 1);
    assert_int_equal(hx_spinor_attend_ref(t.r.codec, &a, &faults, &in_v), AEE_EBADITEM);
    assert_int_equal(in_v, 1);
    assert_int_equal(faults.at[0], 40 * HEADS + 1);
    assert_int_equal(hx_spinor_scores_hvx(t.r.k, &a, t.work, &faults), AEE_SUCCESS);
    t.k[(7 * HEADS) * 64 + 63] ^= 1;
    assert_int_equal(hx_spinor_attend_hvx(t.r.k, &a, t.work, &faults, &in_v), AEE_EBADITEM);
    assert_int_equal(in_v, 0);
    assert_int_equal(faults.n, 1);
    assert_int_equal(faults.at[0], 7 * HEADS);
    assert_int_equal(hx_spinor_scores_hvx(t.r.k, &a, t.work, &faults), AEE_EBADITEM);
    assert_int_equal(hx_spinor_scores_ref(t.r.codec, &a, &faults), AEE_EBADITEM);
    assert_int_equal(faults.at[0], 7 * HEADS);
    close_attn(&t);
}

static void test_wrong_arguments_are_refused(void **state)
{
    struct hx_spinor_faults faults;
    struct attn t;

    (void)state;
    open_attn(&t, 64, HX_BASIS_KLT);
    const struct hx_spinor_attn good = call_of(&t, 4, 0, t.got);
    struct hx_spinor_attn bad[6];

    for (size_t i = 0; i < HXT_LEN(bad); i++)
        bad[i] = good;
    bad[0].n_slots = 5;
    bad[1].k_first = 3;
    bad[2].n_q = 0;
    bad[3].scale = INFINITY;
    bad[4].scale = -1;
    bad[5].q = good.q + 1;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(hx_spinor_scores_hvx(t.r.k, &bad[i], t.work, &faults), AEE_EBADPARM);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(hx_spinor_scores_ref(t.r.codec, &bad[i], &faults), AEE_EBADPARM);
    assert_int_equal(hx_spinor_attn_bytes(t.r.k, 1, SIZE_MAX), 0);
    assert_int_equal(hx_spinor_attn_bytes(t.r.k, SIZE_MAX, 1), 0);
    close_attn(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores_are_those_of_decoded_blocks),
        cmocka_unit_test(test_outputs_are_those_of_decoded_blocks),
        cmocka_unit_test(test_corrupt_blocks_are_listed),
        cmocka_unit_test(test_wrong_arguments_are_refused),
    };

    return HXT_RUN(tests);
}
