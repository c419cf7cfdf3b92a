/* Blocks step by step against the fp64 codec: every head dimension, basis and code, also with other numbers of lanes; the same
 * blocks but for neighbours, decoded values within the bound of spinor_steps.h, predictions, what is refused; and attention over them
 * (spinor_steps_attn.h) against the reference's. */
#include <math.h>
#include <stdlib.h>

#include "hexrig_hvx_count.h"
#include "hx_f16.h"
#include "hx_vht2.h"
#include "hxt.h"
#include "spinor/spinor_steps_attn.h"
#include "spinor/spinor_steps.h"
#include "spinor_rig.h"

enum { VECTORS = 12, SLOTS = 2 };

struct steps {
    struct spinor_rig t; /* k: not there */
    struct hx_spinor *k;
};

static void open_steps(struct steps *s, size_t dh, size_t n_skel, size_t n_res, uint32_t basis, uint32_t code)
{
    struct hxt_rng rng;

    hxt_rng_init(&rng, dh + basis);
    memset(s, 0, sizeof(*s));
    assert_int_equal(hx_codec_format_lanes(&s->t.f, dh, n_skel, n_res, basis, code), 0);
    s->t.table_bytes = hx_block_table_bytes(s->t.f.shape, basis);
    s->t.tables = malloc(SLOTS * s->t.table_bytes);
    for (size_t i = 0; i < SLOTS; i++)
        (basis == HX_BASIS_KLT ? make_klt : make_vht2)(&rng, &s->t, s->t.tables + i * s->t.table_bytes);
    assert_int_equal(hx_codec_check_table(&s->t.f, s->t.tables), 0);
    s->t.codec = hx_codec_init(malloc(hx_codec_bytes(&s->t.f, SLOTS)), &s->t.f, s->t.tables, SLOTS);
    s->k = hxt_guard_alloc(hx_spinor_common(), 128);
    hx_spinor_lay_out(s->k, &s->t.f, 0);
}

static void close_steps(struct steps *s)
{
    hxt_guard_free(s->k);
    free(s->t.codec);
    free(s->t.tables);
}

/* Blocks may differ where a coefficient lies midway, and that is rare. */
static size_t other_lanes(const struct steps *s, const uint8_t *got, const uint8_t *want)
{
    const struct hx_block_shape *shape = s->t.f.shape;
    size_t n = 0;

    for (size_t i = 0; i < shape->n_res; i++) {
        const int a = (int)hx_block_magnitude(shape, got, i), b = (int)hx_block_magnitude(shape, want, i);

        n += a != b || hx_block_phase(shape, got, i) != hx_block_phase(shape, want, i);
    }
    return n;
}

static void check_format(struct steps *s)
{
    const struct hx_block_shape *shape = s->t.f.shape;
    uint8_t *got = hxt_guard_alloc(shape->slot, 1), want[HX_BLOCK_MAX_SLOT];
    float *x = hxt_guard_alloc(shape->dh * sizeof(*x), 4), *y = hxt_guard_alloc(shape->dh * sizeof(*y), 4);
    float back[HX_BLOCK_MAX_DH];
    size_t others = 0;
    struct hxt_rng rng;

    hxt_rng_init(&rng, 7);
    hx_hvx_reset();
    for (size_t i = 0; i < VECTORS; i++) {
        double top = 0;

        hxt_fill_f32(&rng, x, shape->dh, i == 0 ? HXT_ZERO : HXT_NORMAL);
        assert_int_equal(hx_steps_encode(s->k, s->t.codec, i % SLOTS, x, got), AEE_SUCCESS);
        assert_int_equal(hx_codec_encode(s->t.codec, i % SLOTS, x, want), 0);
        assert_int_equal(hx_block_fault(shape, got), HX_BLOCK_GOOD);
        others += other_lanes(s, got, want);
        assert_int_equal(hx_steps_decode(s->k, s->t.codec, i % SLOTS, got, y), AEE_SUCCESS);
        assert_int_equal(hx_codec_decode(s->t.codec, i % SLOTS, got, back), 0);
        for (size_t k = 0; k < shape->dh; k++)
            top = fmax(top, fabs((double)back[k]));
        for (size_t k = 0; k < shape->dh; k++)
            if (!(fabs((double)y[k] - (double)back[k]) <= 0x1p-17 * sqrt(shape->pad) * fmax(top, 0x1p-60)))
                fail_msg("dh %u, %u and %u lanes, basis %u, code %u: value %zu is %g, not %g", shape->dh, shape->n_skel,
                         shape->n_res, s->t.f.basis, s->t.f.code, k, (double)y[k], (double)back[k]);
        hxt_guard_intact(got), hxt_guard_intact(y);
    }
    if (others > VECTORS * shape->n_res / 50)
        fail_msg("dh %u, %u and %u lanes, basis %u, code %u: %zu lanes are not the codec's", shape->dh, shape->n_skel, shape->n_res,
                 s->t.f.basis, s->t.f.code, others);
    assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
    hxt_guard_free(got), hxt_guard_free(x), hxt_guard_free(y);
}

static void test_blocks_are_those_of_the_codec(void **state)
{
    static const size_t lanes[][3] = {{64, 14, 25}, {64, 32, 9}, {128, 14, 60}, {128, 10, 40}, {128, 1, 1}, {256, 20, 127}, {512, 18, 300}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(lanes); i++)
        for (uint32_t n = 0; n < HX_BASES * HX_CODES; n++) {
            struct steps s;

            open_steps(&s, lanes[i][0], lanes[i][1], lanes[i][2], n / HX_CODES, n % HX_CODES);
            check_format(&s);
            close_steps(&s);
        }
}

static void test_predictions_are_those_of_the_codec(void **state)
{
    uint16_t skeleton[HX_BLOCK_MAX_SKEL];
    float got[HX_BLOCK_MAX_RES], want[HX_BLOCK_MAX_RES];
    struct steps s;

    (void)state;
    for (size_t j = 0; j < HXT_LEN(skeleton); j++)
        skeleton[j] = hx_f16_from_f32((float)j - 4);
    for (uint32_t basis = 0; basis < HX_BASES; basis++) {
        open_steps(&s, 128, 11, 50, basis, HX_CODE_SHEET);
        hx_steps_predict(s.t.codec, 1, skeleton, got);
        hx_spinor_predict_ref(s.t.codec, 1, skeleton, want);
        for (size_t i = 0; i < 50; i++)
            assert_true(fabsf(got[i]) - fabsf(want[i]) < 1e-5f && fabsf(want[i]) - fabsf(got[i]) < 1e-5f);
        close_steps(&s);
    }
}

static void test_what_no_block_can_hold_is_refused(void **state)
{
    const float bad[] = {NAN, INFINITY, -0x1.000002p100f, 1e9f};
    uint8_t block[HX_BLOCK_MAX_SLOT];
    float x[128] = {1}, y[128];
    struct steps s;

    (void)state;
    open_steps(&s, 128, 20, 60, HX_BASIS_KLT, HX_CODE_SHEET);
    memset(block, HXT_POISON, sizeof(block));
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        for (size_t k = 0; k < 128; k++)
            x[k] = i == 3 ? bad[i] : 0;
        x[100] = bad[i];
        assert_int_equal(hx_steps_encode(s.k, s.t.codec, 0, x, block), AEE_EBADPARM);
        hxt_untouched(block, sizeof(block));
    }
    memset(x, 0, sizeof(x));
    memset(y, HXT_POISON, sizeof(y));
    assert_int_equal(hx_steps_encode(s.k, s.t.codec, 0, x, block), AEE_SUCCESS);
    block[5] ^= 4;
    assert_int_equal(hx_steps_decode(s.k, s.t.codec, 0, block, y), AEE_EBADITEM);
    hxt_untouched(y, sizeof(y));
    close_steps(&s);
}

/* --- attention */

enum { HEADS = SLOTS, MOST_QUERIES = 35, MOST_POS = 9, FLOATS = HEADS * MOST_QUERIES * 128 };

/* Queries and results at any float, blocks at any byte, with guards. */
struct attn {
    struct steps s;
    uint8_t *k, *v;            /* [MOST_POS][HEADS][slot] */
    float *q, *own, *got;      /* [HEADS][MOST_QUERIES][dh], [2][HEADS][dh] */
    float want[FLOATS];
    double k_length;           /* of the longest decoded K */
};

static uint8_t *make_blocks(struct attn *t, struct hxt_rng *rng, double *longest)
{
    const struct hx_block_shape *shape = t->s.t.f.shape;
    uint8_t *blocks = hxt_guard_alloc(MOST_POS * HEADS * shape->slot, 1);
    float x[HX_BLOCK_MAX_DH];

    for (size_t i = 0; i < MOST_POS * HEADS; i++) {
        double sum = 0;

        hxt_fill_f32(rng, x, shape->dh, HXT_NORMAL);
        assert_int_equal(hx_codec_encode(t->s.t.codec, i % HEADS, x, blocks + i * shape->slot), 0);
        assert_int_equal(hx_codec_decode(t->s.t.codec, i % HEADS, blocks + i * shape->slot, x), 0);
        for (size_t d = 0; d < shape->dh; d++)
            sum += (double)x[d] * (double)x[d];
        *longest = fmax(*longest, sqrt(sum));
    }
    return blocks;
}

static void open_attn(struct attn *t, const size_t lanes[3], uint32_t basis, uint32_t code)
{
    const size_t dh = lanes[0];
    double unused = 0;
    struct hxt_rng rng;

    open_steps(&t->s, dh, lanes[1], lanes[2], basis, code);
    hxt_rng_init(&rng, 11 + dh + basis);
    t->k_length = 0;
    t->k = make_blocks(t, &rng, &t->k_length);
    t->v = make_blocks(t, &rng, &unused);
    t->q = hxt_guard_alloc(HEADS * MOST_QUERIES * dh * sizeof(float), 4);
    t->own = hxt_guard_alloc(2 * HEADS * dh * sizeof(float), 4);
    t->got = hxt_guard_alloc(HEADS * MOST_QUERIES * dh * sizeof(float), 4);
    hxt_fill_f32(&rng, t->q, HEADS * MOST_QUERIES * dh, HXT_NORMAL);
    hxt_fill_f32(&rng, t->own, 2 * HEADS * dh, HXT_NORMAL);
}

static void close_attn(struct attn *t)
{
    hxt_guard_free(t->k), hxt_guard_free(t->v), hxt_guard_free(t->q), hxt_guard_free(t->own), hxt_guard_free(t->got);
    close_steps(&t->s);
}

static struct hx_spinor_attn call_of(const struct attn *t, size_t n_q, size_t n_pos, int own, float *out)
{
    const size_t dh = t->s.t.f.shape->dh;

    return (struct hx_spinor_attn){.n_slots = HEADS, .n_q = n_q, .n_pos = n_pos, .k = t->k, .v = t->v, .q = t->q,
                                   .k_own = own ? t->own : NULL, .v_own = own ? t->own + HEADS * dh : NULL,
                                   .scale = 1 / sqrtf((float)dh), .out = out};
}

static double query_length(const struct attn *t)
{
    const size_t dh = t->s.t.f.shape->dh;
    double longest = 0;

    for (size_t i = 0; i < HEADS * MOST_QUERIES; i++) {
        double sum = 0;

        for (size_t d = 0; d < dh; d++)
            sum += (double)t->q[i * dh + d] * (double)t->q[i * dh + d];
        longest = fmax(longest, sqrt(sum));
    }
    return longest;
}

static double worst_of(const struct attn *t, size_t n)
{
    double worst = 0;

    for (size_t i = 0; i < n; i++) {
        assert_true(isfinite(t->got[i]));
        worst = fmax(worst, fabs((double)t->got[i] - (double)t->want[i]));
    }
    return worst;
}

static void check_scores(struct attn *t, size_t n_q, size_t n_pos)
{
    const double bound = 0x1p-16 * query_length(t) * t->k_length / sqrt(t->s.t.f.shape->dh);
    struct hx_spinor_attn got = call_of(t, n_q, n_pos, 0, t->got), want = call_of(t, n_q, n_pos, 0, t->want);
    struct hx_spinor_faults faults;

    hxt_guard_poison(t->got);
    assert_int_equal(hx_steps_scores(t->s.k, t->s.t.codec, &got, &faults), AEE_SUCCESS);
    assert_int_equal(hx_spinor_scores_ref(t->s.t.codec, &want, &faults), AEE_SUCCESS);
    if (worst_of(t, HEADS * n_q * n_pos) > bound)
        fail_msg("%zu queries, %zu positions: a score is off by %g, more than %g", n_q, n_pos, worst_of(t, HEADS * n_q * n_pos), bound);
    hxt_untouched(t->got + HEADS * n_q * n_pos, sizeof(float));
    hxt_guard_intact(t->got);
}

static double check_attend(struct attn *t, size_t n_q, size_t n_pos, int own)
{
    struct hx_spinor_attn got = call_of(t, n_q, n_pos, own, t->got), want = call_of(t, n_q, n_pos, own, t->want);
    struct hx_spinor_faults faults;
    int in_v, rc = hx_spinor_attend_ref(t->s.t.codec, &want, &faults, &in_v);

    hxt_guard_poison(t->got);
    assert_int_equal(hx_steps_attend(t->s.k, t->s.t.codec, &got, &faults, &in_v), rc);
    assert_int_equal(rc, n_pos || own ? AEE_SUCCESS : AEE_EBADPARM);
    hxt_guard_intact(t->got);
    return rc ? 0 : worst_of(t, HEADS * n_q * t->s.t.f.shape->dh);
}

/* Values are of N(0, 1): what is found is some 2e-6. */
static void test_attention_is_that_over_decoded_blocks(void **state)
{
    static const size_t lanes[][3] = {{64, 32, 9}, {128, 14, 60}, {128, 10, 40}};
    static const size_t queries[] = {1, 3, 32, MOST_QUERIES}, positions[] = {0, 1, 2, MOST_POS};
    static struct attn t;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(lanes); i++)
        for (uint32_t basis = 0; basis < HX_BASES; basis++) {
            double worst = 0;

            open_attn(&t, lanes[i], basis, HX_CODE_SHEET);
            hx_hvx_reset();
            for (size_t c = 0; c < HXT_LEN(queries) * HXT_LEN(positions); c++) {
                const size_t n_q = queries[c / HXT_LEN(positions)], n_pos = positions[c % HXT_LEN(positions)];

                check_scores(&t, n_q, n_pos);
                worst = fmax(worst, fmax(check_attend(&t, n_q, n_pos, 0), check_attend(&t, n_q, n_pos, 1)));
            }
            print_message("dh %zu, %zu and %zu lanes, %s: worst output %.1e\n", lanes[i][0], lanes[i][1], lanes[i][2],
                          hx_block_basis_names[basis], worst);
            assert_true(worst < 2e-5);
            assert_true(hx_hvx_ops(&hx_hvx_counts) > 10000);
            close_attn(&t);
        }
}

static void test_attention_lists_corrupt_blocks(void **state)
{
    static const size_t lanes[] = {128, 10, 40};
    struct hx_spinor_faults faults;
    struct hx_spinor_attn a;
    static struct attn t;
    size_t slot;
    int in_v;

    (void)state;
    open_attn(&t, lanes, HX_BASIS_KLT, HX_CODE_SIGN);
    a = call_of(&t, 3, MOST_POS, 1, t.got);
    slot = t.s.t.f.shape->slot;
    hxt_guard_poison(t.got);
    t.v[(5 * HEADS + 1) * slot + 3] ^= 4;
    assert_int_equal(hx_steps_attend(t.s.k, t.s.t.codec, &a, &faults, &in_v), AEE_EBADITEM);
    assert_int_equal(in_v, 1);
    assert_int_equal(faults.n, 1);
    assert_int_equal(faults.at[0], 5 * HEADS + 1);
    hxt_untouched(t.got, HEADS * 3 * 128 * sizeof(float));
    assert_int_equal(hx_steps_scores(t.s.k, t.s.t.codec, &a, &faults), AEE_SUCCESS);
    t.k[2 * HEADS * slot] ^= 1;
    assert_int_equal(hx_steps_attend(t.s.k, t.s.t.codec, &a, &faults, &in_v), AEE_EBADITEM);
    assert_int_equal(in_v, 0);
    assert_int_equal(faults.at[0], 2 * HEADS);
    assert_int_equal(hx_steps_scores(t.s.k, t.s.t.codec, &a, &faults), AEE_EBADITEM);
    assert_int_equal(faults.n, 1);
    a.k_first = 1;
    assert_int_equal(hx_steps_scores(t.s.k, t.s.t.codec, &a, &faults), AEE_EBADPARM);
    a.k_first = 0, a.scale = 0;
    assert_int_equal(hx_steps_attend(t.s.k, t.s.t.codec, &a, &faults, &in_v), AEE_EBADPARM);
    close_attn(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_those_of_the_codec),
        cmocka_unit_test(test_predictions_are_those_of_the_codec),
        cmocka_unit_test(test_what_no_block_can_hold_is_refused),
        cmocka_unit_test(test_attention_is_that_over_decoded_blocks),
        cmocka_unit_test(test_attention_lists_corrupt_blocks),
    };

    return HXT_RUN(tests);
}
