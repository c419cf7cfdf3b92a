/* Protects a layer's row operations (kernels/silicon/layer.h): scalar and HVX versions are as near to the references in double as
 * the header says, at the published shapes and at edges; the elementary functions are those of libm. */
#include <math.h>

#include "AEEStdErr.h"
#include "hexrig_hvx_count.h"
#include "hxt.h"
#include "silicon/layer.h"

enum { ALIGN = 128, LANES = 32 };

/* --- elementary functions */

#define NEAR(got, want) \
    do { \
        const float g_ = (got), w_ = (float)(want); \
        if (hxt_ulp_f32(g_, w_) > 4) \
            fail_msg(#got ": %.9g, not %.9g (i %d)", g_, w_, i); \
    } while (0)

static void test_elementary_functions_are_those_of_libm(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const float x = (float)(i - 10000) / 1000, wide = (float)i * 0.05f, small = (float)i * 0x1p-40f;

        NEAR(hx_scalar_exp(x * 8), exp((double)(x * 8)));
        NEAR(hx_scalar_tanh(x), tanh(x));
        NEAR(hx_scalar_tanh(small), tanh(small));
        NEAR(hx_scalar_pow(1e6f, -(float)i / 20000), pow(1e6f, -(float)i / 20000));
        NEAR(hx_scalar_pow((float)(i + 1) / 99, 0.75f), pow((float)(i + 1) / 99, 0.75));
        if (fabs(sin(wide)) > 1e-3)
            NEAR(hx_scalar_sin(wide), sin(wide));
        if (fabs(cos(wide)) > 1e-3)
            NEAR(hx_scalar_cos(wide), cos(wide));
    }
    assert_true(hx_scalar_exp(-1000) > 0 && hx_scalar_exp(-1000) < 1e-37f);
    assert_true(hx_scalar_tanh(1e30f) == 1 && hx_scalar_tanh(-1e30f) == -1);
}

/* --- rows */

/* What errors are measured against: the result; |x|, times |other|; the largest |x|, more at later positions, whose angles are
 * larger; the result, more where x is far from the maximum, for the difference has lost bits, and where many are added up. */
enum against { RESULT, X, TURNED, EXPONENTIAL };

struct op {
    const char *name;
    hx_row_op *ref, *scalar, *hvx;
    int multiple;  /* of n, on HVX */
    enum against against;
};

static const struct op ops[] = {
    {"rmsnorm", hx_rmsnorm_ref, hx_rmsnorm_scalar, hx_rmsnorm_hvx, 32, RESULT},
    {"rope", hx_rope_ref, hx_rope_scalar, hx_rope_hvx, 64, TURNED},
    {"softmax", hx_softmax_ref, hx_softmax_scalar, hx_softmax_hvx, 1, EXPONENTIAL},
    {"gelu", hx_gelu_ref, hx_gelu_scalar, hx_gelu_hvx, 1, X},
    {"silu", hx_silu_ref, hx_silu_scalar, hx_silu_hvx, 1, X},
    {"add", hx_add_ref, hx_add_scalar, hx_add_hvx, 1, X},
};

struct row {
    float *x, *other, *y, *want;
    int n, index;
    double top;
};

/* Cosines and sines as the HVX version of rope wants them. */
static void fill_turns(float *to, int n, int row)
{
    for (int i = 0; i < n / 2; i++) {
        const double angle = row * pow(HX_ROPE_BASE, -2.0 * i / n);

        to[i] = (float)cos(angle);
        to[i + n / 2] = (float)sin(angle);
    }
}

static struct row row_alloc(struct hxt_rng *rng, const struct op *op, int n, int index, float factor)
{
    const size_t bytes = ((size_t)n + LANES - 1) / LANES * LANES * 4;
    struct row r = {hxt_guard_alloc(bytes, ALIGN), hxt_guard_alloc(bytes, ALIGN), hxt_guard_alloc(bytes, ALIGN),
                    hxt_guard_alloc(bytes, ALIGN), n, index, 0};

    hxt_fill_f32(rng, r.x, (size_t)n, HXT_NORMAL); /* the padding stays poisoned */
    hxt_fill_f32(rng, r.other, (size_t)n, HXT_UNIFORM);
    if (strcmp(op->name, "rope") == 0)
        fill_turns(r.other, n, index);
    for (int i = 0; i < n; i++) {
        r.x[i] *= factor;
        r.top = fmax(r.top, fabs(r.x[i]));
    }
    return r;
}

static void row_free(struct row *r)
{
    hxt_guard_free(r->x), hxt_guard_free(r->other), hxt_guard_free(r->y), hxt_guard_free(r->want);
}

static double scale_of(const struct op *op, const struct row *r, int i)
{
    switch (op->against) {
    case X: return fabs(r->x[i]) * fmax(1, fabs(r->other[i])) + fabs(r->other[i]);
    case TURNED: return r->top * (1 + r->index / 8.0);
    case EXPONENTIAL: return fabs(r->want[i]) * (1 + r->top / 4 + r->n / 1024.0);
    default: return fabs(r->want[i]);
    }
}

static void check_near(const struct op *op, const struct row *r, double bound, const char *version)
{
    for (int i = 0; i < r->n; i++)
        if (!(fabs((double)r->y[i] - r->want[i]) <= bound * scale_of(op, r, i) + 1e-36))
            fail_msg("%s, %s, n %d: y[%d] = %.9g, not %.9g (x %.9g)", op->name, version, r->n, i, r->y[i], r->want[i], r->x[i]);
}

static void check_op(struct hxt_rng *rng, const struct op *op, int n, int index, float factor)
{
    struct row r = row_alloc(rng, op, n, index, factor);

    assert_int_equal(op->ref(r.x, r.other, n, index, r.want), AEE_SUCCESS);
    assert_int_equal(op->scalar(r.x, r.other, n, index, r.y), AEE_SUCCESS);
    check_near(op, &r, 0x1p-19, "scalar");
    if (n % op->multiple == 0) {
        hxt_guard_poison(r.y);
        assert_int_equal(op->hvx(r.x, r.other, n, index, r.y), AEE_SUCCESS);
        check_near(op, &r, 0x1p-15, "HVX");
        assert_int_equal(op->hvx(r.x, r.other, n, index, r.x), AEE_SUCCESS); /* in place */
        hxt_same_bytes(r.x, r.y, (size_t)n * 4);
    } else {
        assert_int_equal(op->hvx(r.x, r.other, n, index, r.y), AEE_EBADPARM);
    }
    row_free(&r);
}

static void test_rows_are_near_the_reference_in_double(void **state)
{
    static const int sizes[] = {2, 16, 32, 64, 90, 256, 1152, 6912};
    static const float factors[] = {1, 1e-3f, 30};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 41);
    for (size_t o = 0; o < HXT_LEN(ops); o++)
        for (size_t s = 0; s < HXT_LEN(sizes); s++)
            for (size_t f = 0; f < HXT_LEN(factors); f++)
                check_op(&rng, &ops[o], sizes[s], (int)s * 5, factors[f]);
}

static void test_softmax_of_one_and_of_far_apart_values(void **state)
{
    float *x = hxt_guard_alloc(128, ALIGN), *y = hxt_guard_alloc(128, ALIGN);

    (void)state;
    x[0] = -3e30f;
    assert_int_equal(hx_softmax_hvx(x, NULL, 1, 0, y), AEE_SUCCESS);
    assert_true(fabsf(y[0] - 1) < 1e-4f);
    x[1] = 500;
    assert_int_equal(hx_softmax_hvx(x, NULL, 2, 0, y), AEE_SUCCESS);
    assert_true(y[0] < 1e-36f && fabsf(y[1] - 1) < 1e-4f);
    hx_softmax_scalar(x, NULL, 2, 0, y);
    assert_true(y[0] < 1e-36f && y[1] == 1);
    hxt_guard_free(x), hxt_guard_free(y);
}

static void test_hvx_versions_run_on_hvx_and_refuse_misaligned_rows(void **state)
{
    float *x = hxt_guard_alloc(512, ALIGN), *y = hxt_guard_alloc(512, ALIGN);

    (void)state;
    memset(x, 0, 512);
    for (size_t o = 0; o < HXT_LEN(ops); o++) {
        hx_hvx_reset();
        ops[o].scalar(x, x, 64, 1, y);
        assert_true(hx_hvx_ops(&hx_hvx_counts) == 0);
        ops[o].hvx(x, x, 64, 1, y);
        assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
        assert_int_equal(ops[o].hvx(x + 1, x, 64, 1, y), AEE_EBADPARM);
        assert_int_equal(ops[o].hvx(x, x, 64, 1, y + 1), AEE_EBADPARM);
        assert_int_equal(ops[o].hvx(x, x, 0, 1, y), AEE_EBADPARM);
    }
    hxt_guard_free(x), hxt_guard_free(y);
}

/* --- attention */

static void test_attention_is_near_the_reference_in_double(void **state)
{
    enum { DH = 256, STRIDE = 300, MOST = 16 };
    static float q[DH], k[MOST * STRIDE], v[MOST * STRIDE], got[DH], want[DH], weight[MOST];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 42);
    hxt_fill_f32(&rng, q, DH, HXT_NORMAL);
    hxt_fill_f32(&rng, k, HXT_LEN(k), HXT_NORMAL);
    hxt_fill_f32(&rng, v, HXT_LEN(v), HXT_NORMAL);
    for (int n = 1; n <= MOST; n += 5) {
        hx_attend_ref(q, k, v, STRIDE, n, DH, 1.0f / 16, want);
        hx_scores_scalar(q, k, STRIDE, n, DH, 1.0f / 16, weight);
        hx_softmax_scalar(weight, NULL, n, 0, weight);
        hx_weighted_scalar(weight, v, STRIDE, n, DH, got);
        for (int d = 0; d < DH; d++)
            if (!(fabs(got[d] - want[d]) < 2e-5))
                fail_msg("n %d: y[%d] = %g, not %g", n, d, got[d], want[d]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementary_functions_are_those_of_libm),
        cmocka_unit_test(test_rows_are_near_the_reference_in_double),
        cmocka_unit_test(test_softmax_of_one_and_of_far_apart_values),
        cmocka_unit_test(test_hvx_versions_run_on_hvx_and_refuse_misaligned_rows),
        cmocka_unit_test(test_attention_is_near_the_reference_in_double),
    };

    return HXT_RUN(tests);
}
