/* Protects the kernels of a whole layer (kernels/layer): rows, scores, both softmaxes and weighted sums are as near to the references
 * in double as their headers say, at edges too; K and V lie where they should; the softmax by integers is within 1e-6 nats of the
 * true one.  Whole layers through a rig: test_layer_rig.c. */
#include <math.h>
#include <sys/mman.h>

#include "hexrig_hvx_count.h"
#include "hxt.h"
#include "layer/layer_attn.h"
#include "layer/layer_rows.h"

enum { ALIGN = 128, LANES = 32 };

#define UNIT 0x1p-20

static float *row(size_t n)
{
    return hxt_guard_alloc(n * sizeof(float), ALIGN);
}

static float *random_row(struct hxt_rng *rng, size_t n, float factor)
{
    float *x = row(n);

    hxt_fill_f32(rng, x, n, HXT_NORMAL);
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
    return x;
}

static void check_one(const char *what, size_t i, float got, float want, double bound)
{
    if (!(fabs((double)got - want) <= bound))
        fail_msg("%s: [%zu] = %.9g, not %.9g: %.3g apart, %.3g allowed", what, i, (double)got, (double)want, fabs((double)got - want),
                 bound);
}

static const int sizes[] = {64, 128, 256, 1152, 6912};
static const float factors[] = {1, 1e-3f, 30};

/* --- rows */

static void check_norm(struct hxt_rng *rng, int n, float factor)
{
    float *x = random_row(rng, (size_t)n, factor), *w = random_row(rng, (size_t)n, 1), *got = row((size_t)n), *want = row((size_t)n);

    hx_layer_rmsnorm_ref(x, w, n, 1e-5f, want);
    hx_layer_rmsnorm_hvx(x, w, n, 1e-5f, got);
    for (int i = 0; i < n; i++)
        check_one("rmsnorm", (size_t)i, got[i], want[i], UNIT * fabs(want[i]) + 1e-36);
    hx_layer_rmsnorm_hvx(x, w, n, 1e-5f, x); /* in place */
    hxt_same_bytes(x, got, (size_t)n * sizeof(*x));
    hxt_guard_intact(got);
    hxt_guard_free(x), hxt_guard_free(w), hxt_guard_free(got), hxt_guard_free(want);
}

static void check_rope(struct hxt_rng *rng, int n, float factor)
{
    float *x = random_row(rng, (size_t)n, factor), *want = row((size_t)n), *turn = row((size_t)n), *before = row((size_t)n);

    for (int i = 0; i < n / 2; i++) {
        const double angle = 123 * pow(1e4, -2.0 * i / n);

        turn[i] = (float)cos(angle);
        turn[i + n / 2] = (float)sin(angle);
    }
    memcpy(want, x, (size_t)n * sizeof(*x));
    memcpy(before, x, (size_t)n * sizeof(*x));
    hx_layer_rope_ref(want, turn, n);
    hx_layer_rope_hvx(x, turn, n);
    for (int i = 0; i < n; i++)
        check_one("rope", (size_t)i, x[i], want[i], UNIT * fmax(fabs(before[i]), fabs(before[(i + n / 2) % n])));
    hxt_guard_intact(x);
    hxt_guard_free(x), hxt_guard_free(want), hxt_guard_free(turn), hxt_guard_free(before);
}

static void check_gate(struct hxt_rng *rng, int n, float factor, const char *what, double units,
                       void (*ref)(float *, const float *, int), void (*hvx)(float *, const float *, int))
{
    float *x = random_row(rng, (size_t)n, factor), *up = random_row(rng, (size_t)n, 1), *want = row((size_t)n), *before = row((size_t)n);

    x[0] = 100;
    x[1] = -100;
    x[2] = 0;
    memcpy(want, x, (size_t)n * sizeof(*x));
    memcpy(before, x, (size_t)n * sizeof(*x));
    ref(want, up, n);
    hvx(x, up, n);
    for (int i = 0; i < n; i++)
        check_one(what, (size_t)i, x[i], want[i], units * UNIT * fabs(before[i]) * fmax(1, fabs(up[i])) + 1e-36);
    hxt_guard_intact(x);
    hxt_guard_free(x), hxt_guard_free(up), hxt_guard_free(want), hxt_guard_free(before);
}

static void check_add(struct hxt_rng *rng, int n, float factor)
{
    float *x = random_row(rng, (size_t)n, factor), *y = random_row(rng, (size_t)n, 1), *got = row((size_t)n), *want = row((size_t)n);

    assert_int_equal(hx_layer_add_ref(x, y, n, want), 1);
    assert_int_equal(hx_layer_add_hvx(x, y, n, got), 1);
    for (int i = 0; i < n; i++)
        check_one("add", (size_t)i, got[i], want[i], UNIT * fmax(fabs(x[i]), fabs(y[i])));
    hxt_guard_intact(got);
    hxt_guard_free(x), hxt_guard_free(y), hxt_guard_free(got), hxt_guard_free(want);
}

static void test_rows_are_near_the_reference(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 61);
    for (size_t s = 0; s < HXT_LEN(sizes); s++)
        for (size_t f = 0; f < HXT_LEN(factors); f++) {
            hx_hvx_reset();
            check_norm(&rng, sizes[s], factors[f]);
            check_rope(&rng, sizes[s], factors[f]);
            check_gate(&rng, sizes[s], factors[f], "silu", 1, hx_layer_silu_ref, hx_layer_silu_hvx);
            check_gate(&rng, sizes[s], factors[f], "gelu", 4, hx_layer_gelu_ref, hx_layer_gelu_hvx);
            check_add(&rng, sizes[s], factors[f]);
            assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
        }
}

static void test_what_is_not_finite_is_told(void **state)
{
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    float *x = row(96), *y = row(96), *sum = row(96);

    (void)state;
    memset(x, 0, 96 * sizeof(*x));
    memset(y, 0, 96 * sizeof(*y));
    assert_int_equal(hx_layer_add_hvx(x, y, 96, sum), 1);
    for (size_t b = 0; b < HXT_LEN(bad); b++)
        for (size_t i = 0; i < 96; i += 19) {
            float *at = (i % 2 ? x : y) + i;

            *at = bad[b];
            assert_int_equal(hx_layer_add_hvx(x, y, 96, sum), 0);
            assert_int_equal(hx_layer_add_ref(x, y, 96, sum), 0);
            *at = 0;
        }
    x[40] = y[40] = 3e38f;
    assert_int_equal(hx_layer_add_hvx(x, y, 96, sum), 0);
    hxt_guard_free(x), hxt_guard_free(y), hxt_guard_free(sum);
}

/* --- attention */

static void test_keys_are_columns_of_tiles_and_values_are_rows(void **state)
{
    enum { DH = 128, POSITIONS = 70, FLOATS = 96 * DH };
    float *k = row(FLOATS), *v = row(FLOATS), *want_k = row(FLOATS), *want_v = row(FLOATS);
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 62);
    memcpy(want_k, k, FLOATS * sizeof(*k));
    memcpy(want_v, v, FLOATS * sizeof(*v));
    for (size_t pos = 0; pos < POSITIONS; pos++) {
        float *key = random_row(&rng, DH, 1), *value = random_row(&rng, DH, 1);

        hx_layer_put_ref(want_k, want_v, pos, key, value, DH);
        hx_layer_put_hvx(k, v, pos, key, value, DH);
        assert_true(k[pos / 32 * 32 * DH + 5 * 32 + pos % 32] == key[5]);
        assert_true(v[pos * DH + 5] == value[5]);
        hxt_guard_free(key), hxt_guard_free(value);
    }
    hxt_same_bytes(k, want_k, FLOATS * sizeof(*k));
    hxt_same_bytes(v, want_v, FLOATS * sizeof(*v));
    hxt_guard_free(k), hxt_guard_free(v), hxt_guard_free(want_k), hxt_guard_free(want_v);
}

static double length(const float *x, size_t n, size_t step)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i * step] * x[i * step];
    return sqrt(sum);
}

static void check_scores(struct hxt_rng *rng, int dh, int tiles)
{
    const size_t n = (size_t)tiles * LANES;
    float *q = random_row(rng, (size_t)dh, 1), *k = random_row(rng, n * (size_t)dh, 2), *got = row(n), *want = row(n);
    const float scale = 1 / sqrtf((float)dh);

    hx_layer_scores_ref(q, k, dh, tiles, scale, want);
    hx_layer_scores_hvx(q, k, dh, tiles, scale, got);
    for (size_t i = 0; i < n; i++)
        check_one("scores", i, got[i], want[i],
                  0x1p-20 * scale * length(q, (size_t)dh, 1) * length(k + i / LANES * (size_t)dh * LANES + i % LANES, (size_t)dh, LANES));
    hxt_guard_intact(got);
    hxt_guard_free(q), hxt_guard_free(k), hxt_guard_free(got), hxt_guard_free(want);
}

static void check_values(struct hxt_rng *rng, int dh, int n)
{
    float *w = random_row(rng, (size_t)n, 1), *v = random_row(rng, (size_t)n * (size_t)dh, 1), *got = row((size_t)dh),
          *want = row((size_t)dh);

    hx_layer_values_ref(w, v, n, dh, want);
    hx_layer_values_hvx(w, v, n, dh, got);
    for (int d = 0; d < dh; d++) {
        double sum = 0;

        for (int i = 0; i < n; i++)
            sum += fabs((double)w[i] * v[i * dh + d]);
        check_one("values", (size_t)d, got[d], want[d], 0x1p-20 * sum);
    }
    hxt_guard_intact(got);
    hxt_guard_free(w), hxt_guard_free(v), hxt_guard_free(got), hxt_guard_free(want);
}

static void test_scores_and_sums_are_near_the_reference(void **state)
{
    static const int widths[] = {64, 128, 256};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 63);
    for (size_t w = 0; w < HXT_LEN(widths); w++)
        for (int n = 1; n <= 9; n += 4) {
            check_scores(&rng, widths[w], n);
            check_values(&rng, widths[w], n * n);
        }
}

/* --- softmaxes */

struct ends {
    int first, end;
};

static const struct ends ends[] = {{0, 1}, {0, 31}, {0, 32}, {0, 33}, {31, 32}, {31, 33}, {5, 64}, {0, 65}, {17, 1000}};

static float *scores_of(struct hxt_rng *rng, const struct ends *e, float spread)
{
    return random_row(rng, hx_layer_tiles((size_t)e->end) * LANES, spread); /* beyond the ends, too */
}

static void check_softmax(struct hxt_rng *rng, const struct ends *e, float spread)
{
    const size_t n = hx_layer_tiles((size_t)e->end) * LANES;
    float *x = scores_of(rng, e, spread), *want = row(n), *got = row(n), top = -INFINITY;

    memcpy(want, x, n * sizeof(*x));
    memcpy(got, x, n * sizeof(*x));
    for (int i = e->first; i < e->end; i++)
        top = fmaxf(top, x[i]);
    hx_layer_softmax_ref(want, e->first, e->end);
    hx_layer_softmax_hvx(got, e->first, e->end);
    for (size_t i = 0; i < n; i++)
        check_one("softmax", i, got[i], want[i],
                  (int)i < e->first || (int)i >= e->end ? 0 : 0x1p-21 * want[i] * (4 + fabs(top) + fabs(x[i])) + 0x1p-125);
    hxt_guard_intact(got);
    hxt_guard_free(x), hxt_guard_free(want), hxt_guard_free(got);
}

static void test_softmax_is_near_the_reference(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 64);
    for (size_t i = 0; i < HXT_LEN(ends); i++)
        for (size_t f = 0; f < HXT_LEN(factors); f++)
            check_softmax(&rng, &ends[i], factors[f]);
}

/* Where 32-bit addresses reach, as VTCM is. */
struct vtcm {
    struct hx_layer_exp exp;
    struct hx_layer_gathered room;
};

static struct vtcm *low_memory(void)
{
    struct vtcm *v = mmap(NULL, sizeof(*v), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

    assert_true(v != MAP_FAILED);
    hx_layer_exp_init(&v->exp);
    return v;
}

/* KL(softmax || by integers), nats; a weight of 0 counts as half of the least one. */
static double divergence(const float *x, const float *q, const struct ends *e)
{
    double sum = 0, top = x[e->first], kl = 0;

    for (int i = e->first; i < e->end; i++)
        top = fmax(top, x[i]);
    for (int i = e->first; i < e->end; i++)
        sum += exp(x[i] - top);
    for (int i = e->first; i < e->end; i++) {
        const double p = exp(x[i] - top) / sum;

        kl += p * log(p / (q[i] > 0 ? q[i] : 0x1p-30 / sum));
    }
    return kl;
}

static void check_softmax_int(struct hxt_rng *rng, struct vtcm *v, const struct ends *e, float spread)
{
    const size_t n = hx_layer_tiles((size_t)e->end) * LANES;
    float *x = scores_of(rng, e, spread), *got = row(n);
    double kl, sum = 0;

    memcpy(got, x, n * sizeof(*x));
    hx_layer_softmax_int_hvx(got, e->first, e->end, &v->exp, &v->room);
    for (size_t i = 0; i < n; i++) {
        assert_true((int)i >= e->first && (int)i < e->end ? got[i] >= 0 : got[i] == 0);
        sum += got[i];
    }
    kl = divergence(x, got, e);
    if (fabs(sum - 1) > 1e-5 || !(fabs(kl) <= 1e-6))
        fail_msg("softmax by integers, %d..%d, spread %g: sum %.9g, KL %.3g", e->first, e->end, (double)spread, sum, kl);
    hxt_guard_intact(got);
    hxt_guard_free(x), hxt_guard_free(got);
}

static void test_softmax_by_integers_is_within_a_millionth_nat(void **state)
{
    struct vtcm *v = low_memory();
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 65);
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < HXT_LEN(ends); i++)
            for (size_t f = 0; f < HXT_LEN(factors); f++)
                check_softmax_int(&rng, v, &ends[i], factors[f]);
    munmap(v, sizeof(*v));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_rows_are_near_the_reference),
    cmocka_unit_test(test_what_is_not_finite_is_told),
    cmocka_unit_test(test_keys_are_columns_of_tiles_and_values_are_rows),
    cmocka_unit_test(test_scores_and_sums_are_near_the_reference),
    cmocka_unit_test(test_softmax_is_near_the_reference),
    cmocka_unit_test(test_softmax_by_integers_is_within_a_millionth_nat),
};

int main(void)
{
    return HXT_RUN(tests);
}
