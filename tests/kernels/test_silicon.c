/* Protects the silicon kernels (kernels/silicon): each HVX version gives what its plain C reference gives, at the
 * published shapes (rows cut down) and at edges, and refuses what it cannot do.  Their methods: test_silicon_rig.c. */
#include <math.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "hexrig_hvx_count.h"
#include "hxt.h"
#include "silicon/band_quantize.h"
#include "silicon/elementwise.h"
#include "silicon/qf32_dot.h"
#include "silicon/vht2.h"
#include "silicon/vrmpy_matmul.h"

enum { ALIGN = 128 };

/* --- vrmpy matmul */

struct matmul_case {
    struct hx_vrmpy_matmul shape;
    float *x, *w_scale, *want, *got;
    int8_t *w;
    uint8_t *u;
    int32_t *sums;
};

static void matmul_alloc(struct matmul_case *c, struct hxt_rng *rng, enum hxt_fill kind)
{
    const struct hx_vrmpy_matmul *s = &c->shape;
    const size_t stride = (size_t)hx_matmul_stride(s->in), n_y = (size_t)s->tokens * s->rows;

    c->x = hxt_guard_alloc((size_t)s->tokens * s->in * 4, ALIGN);
    c->w = hxt_guard_alloc(s->rows * stride, ALIGN);
    c->w_scale = hxt_guard_alloc((size_t)s->rows * 4, 4);
    c->u = hxt_guard_alloc(stride, ALIGN);
    c->sums = hxt_guard_alloc((size_t)s->rows * 4, 4);
    c->want = hxt_guard_alloc(n_y * 4, 4);
    c->got = hxt_guard_alloc(n_y * 4, 4);
    hxt_fill_f32(rng, c->x, (size_t)s->tokens * s->in, kind);
    hxt_fill_f32(rng, c->w_scale, (size_t)s->rows, HXT_UNIFORM);
    for (int r = 0; r < s->rows; r++)
        for (size_t i = 0; i < stride; i++)
            c->w[r * stride + i] =
                i < (size_t)s->in ? (int8_t)(r == 0 ? -127 : (int)hxt_below(rng, 255) - 127) : 0;
}

static void matmul_free(struct matmul_case *c)
{
    void *all[] = {c->x, c->w, c->w_scale, c->u, c->sums, c->want, c->got};

    for (size_t i = 0; i < HXT_LEN(all); i++)
        hxt_guard_free(all[i]);
}

/* In two halves, as two contexts do it. */
static void run_halves(struct matmul_case *c)
{
    const int lower = c->shape.rows / 2, stride = hx_matmul_stride(c->shape.in);
    const struct hx_matmul_half a = {c->shape, 0, lower};
    const struct hx_matmul_half b = {c->shape, lower, c->shape.rows - lower};

    hx_matmul_row_sums(c->w, c->shape.rows, stride, c->sums);
    assert_int_equal(hx_matmul_half_hvx(&a, c->x, c->w, c->sums, c->w_scale, c->got, c->u),
                     AEE_SUCCESS);
    assert_int_equal(hx_matmul_half_hvx(&b, c->x, c->w + (size_t)lower * stride, c->sums,
                                        c->w_scale, c->got, c->u), AEE_SUCCESS);
}

static void test_matmul_equals_the_integer_reference(void **state)
{
    static const struct hx_vrmpy_matmul shapes[] = {{2, 1152, 7},  {1, 6912, 5}, {1, 1024, 4}, {3, 128, 3},
                                              {1, 1, 1},     {2, 127, 2},  {1, 129, 6},  {4, 2, 33},
                                              {16, 1152, 32}};
    static const enum hxt_fill fills[] = {HXT_NORMAL, HXT_ZERO, HXT_SPIKE, HXT_CONST, HXT_HUGE,
                                          HXT_RANGE,  HXT_DENORMAL};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 3);
    for (size_t i = 0; i < HXT_LEN(shapes); i++) {
        for (size_t f = 0; f < HXT_LEN(fills); f++) {
            struct matmul_case c = {.shape = shapes[i]};
            const size_t n_y = (size_t)c.shape.tokens * c.shape.rows * 4;

            matmul_alloc(&c, &rng, fills[f]);
            hx_matmul_ref(&c.shape, c.x, c.w, c.w_scale, c.want);
            run_halves(&c);
            hxt_same_bytes(c.got, c.want, n_y);
            hxt_guard_poison(c.got);
            const struct hx_matmul_half all = {c.shape, 0, c.shape.rows};
            assert_int_equal(hx_matmul_single_hvx(&all, c.x, c.w, NULL, c.w_scale, c.got, c.u),
                             AEE_SUCCESS);
            hxt_same_bytes(c.got, c.want, n_y);
            matmul_free(&c);
        }
    }
}

static void test_matmul_is_close_to_floats(void **state)
{
    struct matmul_case c = {.shape = {1, 1152, 16}};
    const struct hx_matmul_half all = {c.shape, 0, 16};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 4);
    matmul_alloc(&c, &rng, HXT_NORMAL);
    assert_int_equal(hx_matmul_single_hvx(&all, c.x, c.w, NULL, c.w_scale, c.got, c.u),
                     AEE_SUCCESS);
    for (int r = 0; r < c.shape.rows; r++) {
        double sum = 0, top = 0, weight = 0;

        for (int i = 0; i < c.shape.in; i++) {
            sum += (double)c.w[r * 1152 + i] * c.x[i];
            top = fmax(top, fabs(c.x[i]));
            weight += abs(c.w[r * 1152 + i]);
        }
        /* half a code per element at worst */
        assert_true(fabs(c.got[r] - sum * c.w_scale[r]) <=
                    top / 254 * weight * fabs(c.w_scale[r]) * 1.001);
    }
    assert_int_equal(hx_matmul_single_hvx(&all, c.x, c.w + 1, NULL, c.w_scale, c.got, c.u),
                     AEE_EBADPARM);
    matmul_free(&c);
}

static void test_quantise_rounds_halves_away_and_pads_with_128(void **state)
{
    float x[] = {127, 0.5f, -0.5f, 1.5f, -1.5f, 0.49f, -127, 0};
    const uint8_t want[] = {255, 129, 127, 130, 126, 128, 1, 128};
    uint8_t *u = hxt_guard_alloc(128, ALIGN);

    (void)state;
    assert_true(hx_matmul_quantize(x, (int)HXT_LEN(x), u) == 127);
    hxt_same_bytes(u, want, sizeof(want));
    for (size_t i = sizeof(want); i < 128; i++)
        assert_int_equal(u[i], 128);
    hxt_guard_free(u);
}

/* --- qf32 dot */

static void test_qf32_dot_is_near_the_fp64_sum(void **state)
{
    enum { COUNT = 3 };
    static const int sizes[] = {32, 64, 256, 1152};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 14);
    for (size_t i = 0; i < HXT_LEN(sizes); i++) {
        const int n = sizes[i];
        float *a = hxt_guard_alloc((size_t)n * COUNT * 4, ALIGN);
        float *b = hxt_guard_alloc((size_t)n * COUNT * 4, ALIGN), got[COUNT], want[COUNT];

        hxt_fill_f32(&rng, a, (size_t)n * COUNT, HXT_NORMAL);
        hxt_fill_f32(&rng, b, (size_t)n * COUNT, HXT_NORMAL);
        assert_int_equal(hx_qf32_dot_ref(a, b, n, COUNT, want), AEE_SUCCESS);
        assert_int_equal(hx_qf32_dot_hvx(a, b, n, COUNT, got), AEE_SUCCESS);
        for (int c = 0; c < COUNT; c++) {
            double weight = 0;

            for (int j = 0; j < n; j++)
                weight += fabs((double)a[c * n + j] * b[c * n + j]);
            assert_true(fabs(got[c] - want[c]) <= 0x1p-18 * weight);
        }
        assert_int_equal(hx_qf32_dot_hvx(a, b, n - 1, 1, got), AEE_EBADPARM);
        hxt_guard_free(a), hxt_guard_free(b);
    }
}

static void test_qf32_matmul_is_near_the_fp64_sum(void **state)
{
    struct matmul_case c = {.shape = {3, 1152, 9}};
    const struct hx_matmul_half parts[] = {{c.shape, 0, 4}, {c.shape, 4, 5}};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 15);
    matmul_alloc(&c, &rng, HXT_NORMAL);
    hx_qf32_matmul_ref(&c.shape, c.x, c.w, c.w_scale, c.want);
    for (size_t i = 0; i < HXT_LEN(parts); i++)
        assert_int_equal(hx_qf32_matmul_hvx(&parts[i], c.x, c.w + parts[i].first * 1152, NULL,
                                            c.w_scale, c.got, NULL), AEE_SUCCESS);
    for (int i = 0; i < 27; i++) {
        double weight = 0;

        for (int j = 0; j < 1152; j++)
            weight += fabs((double)c.w[i % 9 * 1152 + j] * c.x[i / 9 * 1152 + j]);
        assert_true(fabs(c.got[i] - c.want[i]) <= 0x1p-18 * weight * fabs(c.w_scale[i % 9]));
    }
    matmul_free(&c);
}

/* --- VHT2 */

static void check_vht2(int (*transform)(float *, int), struct hxt_rng *rng, int n,
                       enum hxt_fill kind)
{
    float *x = hxt_guard_alloc((size_t)n * 4, ALIGN), want[HX_VHT2_MAX];
    double top = 0;

    hxt_fill_f32(rng, x, (size_t)n, kind);
    for (int i = 0; i < n; i++)
        top = fmax(top, fabs(x[i]));
    memcpy(want, x, (size_t)n * 4);
    assert_int_equal(hx_vht2_ref(want, n), AEE_SUCCESS);
    assert_int_equal(transform(x, n), AEE_SUCCESS);
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i] - want[i]) <= 0x1p-20 * log2(n) * top * sqrt(n)))
            fail_msg("n %d fill %s: x[%d] = %g, not %g", n, hxt_fill_name(kind), i, x[i], want[i]);
    hxt_guard_free(x);
}

static void test_vht2_is_near_the_fp64_transform(void **state)
{
    static const enum hxt_fill fills[] = {HXT_NORMAL, HXT_UNIFORM, HXT_ZERO, HXT_SPIKE, HXT_CONST};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 5);
    for (int n = 2; n <= HX_VHT2_MAX; n *= 2) {
        for (size_t f = 0; f < HXT_LEN(fills); f++) {
            check_vht2(hx_vht2_scalar, &rng, n, fills[f]);
            if (n >= 32)
                check_vht2(hx_vht2_hvx, &rng, n, fills[f]);
        }
    }
    assert_int_equal(hx_vht2_hvx(NULL, 16), AEE_EBADPARM);
    assert_int_equal(hx_vht2_scalar(NULL, 48), AEE_EBADPARM);
    assert_int_equal(hx_vht2_scalar(NULL, 2048), AEE_EBADPARM);
}

static void test_vht2_is_its_own_inverse(void **state)
{
    float *x = hxt_guard_alloc(512 * 4, ALIGN), first[512];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 6);
    hxt_fill_f32(&rng, x, 512, HXT_NORMAL);
    memcpy(first, x, sizeof(first));
    assert_int_equal(hx_vht2_hvx(x, 512), AEE_SUCCESS);
    assert_int_equal(hx_vht2_hvx(x, 512), AEE_SUCCESS);
    hxt_near_f32_abs(x, first, 512, 0, 1e-4);
    hxt_guard_free(x);
}

/* --- elementwise */

static void test_axpby_equals_the_reference_and_saturates(void **state)
{
    enum { N = 640 };
    static const int16_t alphas[] = {0, 1, -1, 32767, -32768, 12345};
    static const int32_t betas[] = {0, 1, -1, (1 << 30) - 1, -(1 << 30), 16384};
    int16_t *x = hxt_guard_alloc(N * 2, ALIGN), *got = hxt_guard_alloc(N * 2, ALIGN), want[N];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 7);
    hxt_fill_bytes(&rng, x, N * 2);
    x[0] = INT16_MIN, x[1] = INT16_MAX;
    for (size_t a = 0; a < HXT_LEN(alphas); a++) {
        for (size_t b = 0; b < HXT_LEN(betas); b++) {
            assert_int_equal(hx_axpby_ref(want, x, N, alphas[a], betas[b]), AEE_SUCCESS);
            assert_int_equal(hx_axpby_hvx(got, x, N, alphas[a], betas[b]), AEE_SUCCESS);
            hxt_same_bytes(got, want, sizeof(want));
        }
    }
    assert_int_equal(hx_axpby_hvx(got, x, 65, 1, 1), AEE_EBADPARM);
    assert_int_equal(hx_axpby_hvx(got, x, 64, 1, 1 << 30), AEE_EBADPARM);
    hxt_guard_free(x), hxt_guard_free(got);
}

static void test_echo_and_copy_give_every_byte(void **state)
{
    static const int sizes[] = {0, 1, 127, 128, 129, 1000, 4096};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 8);
    for (size_t i = 0; i < HXT_LEN(sizes); i++) {
        size_t n = (size_t)sizes[i];
        uint8_t *from = hxt_guard_alloc(n + 1, ALIGN), *to = hxt_guard_alloc(n + 1, ALIGN);

        hxt_fill_bytes(&rng, from, n);
        hx_echo(to, from, sizes[i]);
        hxt_same_bytes(to, from, n);
        hxt_guard_poison(to);
        hx_copy_hvx(to, from, sizes[i]);
        hxt_same_bytes(to, from, n);
        hxt_untouched(to + n, 1);
        hxt_guard_free(from), hxt_guard_free(to);
    }
}

static void test_argmax_finds_the_first_largest_value(void **state)
{
    static const int sizes[] = {1, 2, 63, 64, 65, 127, 128, 200, 151936};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 9);
    for (size_t i = 0; i < HXT_LEN(sizes) * 8; i++) {
        const int n = sizes[i / 8];
        const size_t skew = hxt_below(&rng, 64); /* of the address, in elements */
        uint16_t *buffer = hxt_guard_alloc((skew + (size_t)n) * 2, ALIGN), *x = buffer + skew;

        hxt_fill_bytes(&rng, x, (size_t)n * 2);
        if (i % 2) { /* ties, zeros */
            for (int j = 0; j < n; j++)
                x[j] = (uint16_t)hxt_below(&rng, i % 4 == 1 ? 2 : 1);
        }
        assert_int_equal(hx_argmax_hvx(x, n), hx_argmax_ref(x, n));
        x[n - 1] = UINT16_MAX;
        assert_int_equal(hx_argmax_hvx(x, n), hx_argmax_ref(x, n));
        hxt_guard_free(buffer);
    }
}

/* --- band quantise */

static void check_bands(const struct hx_bands *b, struct hxt_rng *rng, enum hxt_fill kind,
                        float factor)
{
    const size_t bytes = (size_t)hx_bands_bytes(b);
    float *x = hxt_guard_alloc((size_t)b->n * 4, ALIGN);
    uint8_t *got = hxt_guard_alloc(bytes, 1), *want = hxt_guard_alloc(bytes, 1);

    hxt_fill_f32(rng, x, (size_t)b->n, kind);
    for (int i = 0; i < b->n; i++)
        x[i] *= factor;
    assert_int_equal(hx_bands_encode(b, x, want), AEE_SUCCESS);
    assert_int_equal(hx_band_quantize_hvx(b, x, got), AEE_SUCCESS);
    hxt_same_bytes(got, want, bytes);
    hxt_guard_free(x), hxt_guard_free(got), hxt_guard_free(want);
}

static void test_band_quantise_equals_the_reference(void **state)
{
    static const int sizes[] = {64, 128, 256, 512, 61, 1024};
    static const struct hx_bands odd = {97, 3, {2, 8, 7}};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 12);
    for (int kind = 0; kind < HXT_FINITE; kind++) {
        for (size_t i = 0; i < HXT_LEN(sizes); i++) {
            const struct hx_bands k = hx_bands_k(sizes[i]), v = hx_bands_v(sizes[i]);

            check_bands(&k, &rng, (enum hxt_fill)kind, 1);
            check_bands(&v, &rng, (enum hxt_fill)kind, 1);
            check_bands(&k, &rng, (enum hxt_fill)kind, 0x1p-21f); /* coarse scales: codes clamp */
        }
        check_bands(&odd, &rng, (enum hxt_fill)kind, 1);
    }
}

/* fp16 rounding of the scale over its whole range, subnormal and overflowing ones too. */
static void test_band_scale_is_rounded_as_by_the_reference(void **state)
{
    const struct hx_bands b = {32, 1, {2}}; /* M = 1: the scale is amax */
    float *x = hxt_guard_alloc(32 * 4, ALIGN);
    uint8_t got[10], want[10];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 13);
    memset(x, 0, 32 * 4);
    assert_int_equal(hx_bands_bytes(&b), sizeof(got));
    for (int i = 0; i < 200000; i++) {
        uint32_t pattern = 0x32000000 + hxt_u32(&rng) % (0x48000000 - 0x32000000);

        pattern &= i % 3 ? ~0u : ~0xfffu; /* ties */
        memcpy(&x[7], &pattern, 4);
        hx_bands_encode(&b, x, want), hx_band_quantize_hvx(&b, x, got);
        if (memcmp(got, want, sizeof(got)))
            fail_msg("amax %#x: scale %02x%02x, not %02x%02x", pattern, got[1], got[0], want[1],
                     want[0]);
    }
    hxt_guard_free(x);
}

static void test_band_sizes_are_the_published_ones(void **state)
{
    static const int want[][3] = {{64, 42, 26}, {128, 76, 50}, {256, 144, 0}, {512, 280, 0}};
    struct hx_bands bad = {64, 4, {5, 5, 1, 3}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(want); i++) {
        const struct hx_bands k = hx_bands_k(want[i][0]), v = hx_bands_v(want[i][0]);

        assert_int_equal(hx_bands_bytes(&k), want[i][1]);
        if (want[i][2])
            assert_int_equal(hx_bands_bytes(&v), want[i][2]);
    }
    assert_int_equal(hx_bands_bytes(&bad), 0);
    assert_int_equal(hx_band_quantize_hvx(&bad, NULL, NULL), AEE_EBADPARM);
}

/* HVX operations since the last time this was asked. */
static uint64_t hvx_ops(void)
{
    uint64_t n = hx_hvx_ops(&hx_hvx_counts);

    hx_hvx_reset();
    return n;
}

static void test_the_fast_versions_run_on_hvx(void **state)
{
    const struct hx_vrmpy_matmul shape = {1, 128, 1};
    const struct hx_matmul_half all = {shape, 0, 1};
    const struct hx_bands bands = hx_bands_v(64);
    float *x = hxt_guard_alloc(1024, ALIGN), y[1], scale[1] = {1};
    uint8_t *u = hxt_guard_alloc(1024, ALIGN);
    int32_t sum[1] = {0};

    (void)state;
    memset(x, 0, 1024), memset(u, 0, 1024);
    (void)hvx_ops();
    hx_matmul_single_hvx(&all, x, (int8_t *)u + 128, NULL, scale, y, u);
    assert_true(hvx_ops() > 0);
    hx_matmul_half_hvx(&all, x, (int8_t *)u + 128, sum, scale, y, u);
    assert_true(hvx_ops() > 0);
    hx_qf32_matmul_hvx(&all, x, (int8_t *)u, NULL, scale, y, NULL);
    assert_true(hvx_ops() > 0);
    hx_qf32_dot_hvx(x, x, 32, 1, y);
    assert_true(hvx_ops() > 0);
    hx_vht2_hvx(x, 64);
    assert_true(hvx_ops() > 0);
    hx_vht2_scalar(x, 64);
    assert_true(hvx_ops() == 0);
    hx_band_quantize_hvx(&bands, x, u);
    assert_true(hvx_ops() > 0);
    hx_axpby_hvx((int16_t *)u, (int16_t *)x, 64, 1, 1);
    assert_true(hvx_ops() > 0);
    hx_argmax_hvx((uint16_t *)x, 128);
    assert_true(hvx_ops() > 0);
    hxt_guard_free(x), hxt_guard_free(u);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_matmul_equals_the_integer_reference),
    cmocka_unit_test(test_matmul_is_close_to_floats),
    cmocka_unit_test(test_quantise_rounds_halves_away_and_pads_with_128),
    cmocka_unit_test(test_qf32_dot_is_near_the_fp64_sum),
    cmocka_unit_test(test_qf32_matmul_is_near_the_fp64_sum),
    cmocka_unit_test(test_vht2_is_near_the_fp64_transform),
    cmocka_unit_test(test_vht2_is_its_own_inverse),
    cmocka_unit_test(test_the_fast_versions_run_on_hvx),
    cmocka_unit_test(test_axpby_equals_the_reference_and_saturates),
    cmocka_unit_test(test_echo_and_copy_give_every_byte),
    cmocka_unit_test(test_argmax_finds_the_first_largest_value),
    cmocka_unit_test(test_band_quantise_equals_the_reference),
    cmocka_unit_test(test_band_scale_is_rounded_as_by_the_reference),
    cmocka_unit_test(test_band_sizes_are_the_published_ones),
};

int main(void)
{
    return HXT_RUN(tests);
}
