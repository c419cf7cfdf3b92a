/* Protects the steps of the gate on the DSP (kernels/linear/subspace_gate.h): HVX gives what the reference in double gives, within what the
 * header says, for every width; nothing cancels where a vector lies in the subspace; directions survive f16.  Calls through a rig:
 * test_linear_gated_rig.c. */
#include <math.h>
#include <stdlib.h>

#include "hexrig_hvx_count.h"
#include "hx_f16.h"
#include "hxt.h"
#include "linear/subspace_gate.h"

enum { ALIGN = 128, PAIR = 64, DIRECTIONS = 9 };

static const int widths[] = {1, 2, 3, 9, 64}; /* pairs */

static float *floats(int pairs)
{
    return hxt_guard_alloc((size_t)pairs * PAIR * sizeof(float), ALIGN);
}

static double length2(const float *x, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

static void near(const char *what, int pairs, double got, double want, double bound)
{
    if (!(fabs(got - want) <= bound + 0x1p-120))
        fail_msg("%s, %d pairs: %.9g, not %.9g: %.3g apart, %.3g allowed", what, pairs, got, want, fabs(got - want), bound);
}

/* Directions of length 1 that are nearly orthogonal to each other, and a vector that lies `outside` of them by that share. */
struct space {
    int pairs, n;
    uint16_t *v; /* [DIRECTIONS][n] */
    float *x;    /* [n], in order */
};

static struct space space(int pairs, double outside, uint64_t stream)
{
    struct space s = {.pairs = pairs, .n = pairs * PAIR, .x = floats(pairs)};
    double v[DIRECTIONS][64 * PAIR];
    struct hxt_rng rng;

    hxt_rng_init(&rng, stream);
    s.v = hxt_guard_alloc(DIRECTIONS * (size_t)s.n * sizeof(*s.v), ALIGN);
    for (int i = 0; i < s.n; i++)
        s.x[i] = (float)(outside * hxt_normal(&rng));
    for (int d = 0; d < DIRECTIONS; d++) {
        double sum = 0;

        for (int i = 0; i < s.n; i++)
            v[d][i] = hxt_normal(&rng);
        for (int e = 0; e < d; e++) {
            double dot = 0;

            for (int i = 0; i < s.n; i++)
                dot += v[d][i] * v[e][i];
            for (int i = 0; i < s.n; i++)
                v[d][i] -= dot * v[e][i];
        }
        for (int i = 0; i < s.n; i++)
            sum += v[d][i] * v[d][i];
        for (int i = 0; i < s.n; i++) {
            v[d][i] /= sqrt(sum);
            s.v[d * s.n + i] = hx_f16_from_f32((float)v[d][i]);
            s.x[i] += (float)(sqrt(s.n) * v[d][i]);
        }
    }
    return s;
}

static void space_free(struct space *s)
{
    hxt_guard_free(s->v);
    hxt_guard_free(s->x);
}

/* What one kernel makes of a vector. */
struct result {
    float *x, *even, *odd, *rest, z[DIRECTIONS], x2, top, rest2;
};

typedef float spread_fn(float *x, int pairs, float *top);
typedef float direction_fn(const uint16_t *v, const float *x, int pairs, float *within);
typedef float rest_fn(const float *x, const float *even, const float *odd, int pairs, float *rest);

static struct result run(const struct space *s, spread_fn *spread, direction_fn *direction, rest_fn *rest)
{
    const size_t bytes = (size_t)s->n * sizeof(float);
    struct result r = {.x = floats(s->pairs), .even = floats(s->pairs), .odd = floats(s->pairs), .rest = floats(s->pairs)};

    memcpy(r.x, s->x, bytes);
    memset(r.even, 0, bytes);
    memset(r.odd, 0, bytes);
    r.x2 = spread(r.x, s->pairs, &r.top);
    for (int d = 0; d < DIRECTIONS; d++)
        r.z[d] = direction(s->v + d * s->n, r.x, s->pairs, d % 2 ? r.odd : r.even);
    r.rest2 = rest(r.x, r.even, r.odd, s->pairs, r.rest);
    return r;
}

static void result_free(struct result *r)
{
    float *all[] = {r->x, r->even, r->odd, r->rest};

    for (size_t i = 0; i < HXT_LEN(all); i++)
        hxt_guard_free(all[i]);
}

static void check_space(const struct space *s)
{
    struct result want = run(s, hx_gate_spread_ref, hx_gate_direction_ref, hx_gate_rest_ref), got;
    const double x = sqrt(length2(s->x, s->n)), rest = sqrt(length2(want.rest, s->n));

    hx_hvx_reset();
    got = run(s, hx_gate_spread_hvx, hx_gate_direction_hvx, hx_gate_rest_hvx);
    assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
    hxt_same_bytes(got.x, want.x, (size_t)s->n * sizeof(*got.x));
    assert_true(got.top == want.top);
    near("x2", s->pairs, got.x2, length2(s->x, s->n), 0x1p-19 * x * x);
    for (int d = 0; d < DIRECTIONS; d++)
        near("z", s->pairs, got.z[d], want.z[d], 0x1p-19 * x);
    for (int i = 0; i < s->n; i++)
        near("rest", s->pairs, got.rest[i], want.rest[i], 0x1p-19 * x);
    near("rest2", s->pairs, got.rest2, want.rest2, 0x1p-18 * x * rest + 0x1p-36 * x * x);
    result_free(&got);
    result_free(&want);
}

static void test_the_gate_is_as_near_to_the_reference_as_is_said(void **state)
{
    static const double outside[] = {1, 0.05, 1e-3, 0};

    (void)state;
    for (size_t w = 0; w < HXT_LEN(widths); w++)
        for (size_t o = 0; o < HXT_LEN(outside); o++) {
            struct space s = space(widths[w], outside[o], 31 * w + o);

            check_space(&s);
            space_free(&s);
        }
}

static void test_four_directions_have_the_bits_of_one_by_one(void **state)
{
    (void)state;
    for (size_t w = 0; w < HXT_LEN(widths); w++) {
        struct space s = space(widths[w], 0.3, 131 + w);
        float *x = floats(s.pairs), *one = floats(s.pairs), *four = floats(s.pairs), z[8], want, top;
        const size_t bytes = (size_t)s.n * sizeof(float);

        memcpy(x, s.x, bytes);
        memset(one, 0, bytes);
        memset(four, 0, bytes);
        hx_gate_spread_hvx(x, s.pairs, &top);
        hx_gate_four_hvx(s.v + s.n, 2, x, s.pairs, four, z, 2);
        for (int d = 0; d < 4; d++) {
            want = hx_gate_direction_hvx(s.v + (1 + 2 * d) * s.n, x, s.pairs, one);
            hxt_same_bytes(&z[2 * d], &want, sizeof(want));
        }
        hxt_same_bytes(four, one, bytes);
        hxt_guard_free(x), hxt_guard_free(one), hxt_guard_free(four);
        space_free(&s);
    }
}

/* |x|^2 - |z|^2 of such a vector is rounding of f32, a ten-thousandth of |x| and more; what is added up is what f16 leaves. */
static void test_nothing_cancels_where_a_vector_lies_within(void **state)
{
    (void)state;
    for (size_t w = 0; w < HXT_LEN(widths); w++) {
        struct space s = space(widths[w], 0, 5 + w);
        struct result r = run(&s, hx_gate_spread_hvx, hx_gate_direction_hvx, hx_gate_rest_hvx);
        double want = 0;

        for (int i = 0; i < s.n; i++)
            want += (double)r.rest[i] * r.rest[i];
        near("rest", s.pairs, sqrt(r.rest2), sqrt(want), 1e-5 * sqrt(want));
        assert_true(sqrt(r.rest2) < 5e-4 * sqrt(r.x2));
        result_free(&r);
        space_free(&s);
    }
}

static void test_what_is_not_finite_shows(void **state)
{
    static const float bad[] = {INFINITY, -INFINITY, NAN};

    (void)state;
    for (size_t b = 0; b < HXT_LEN(bad); b++)
        for (int at = 0; at < PAIR; at += 21) {
            float *x = floats(2), top;

            for (int i = 0; i < 2 * PAIR; i++)
                x[i] = i == at + PAIR ? bad[b] : 1;
            hx_gate_spread_hvx(x, 2, &top);
            assert_false(isfinite(top));
            hxt_guard_free(x);
        }
}

static void test_directions_survive_f16(void **state)
{
    (void)state;
    for (size_t w = 0; w < HXT_LEN(widths); w++) {
        const int pairs = widths[w], n = pairs * PAIR;
        struct space s = space(pairs, 1, 77 + w);
        uint16_t *got = hxt_guard_alloc((size_t)n * 2, ALIGN), *want = hxt_guard_alloc((size_t)n * 2, ALIGN);
        float *x = floats(pairs), *back = floats(pairs), top;

        memcpy(x, s.x, (size_t)n * sizeof(*x));
        hx_gate_spread_hvx(x, pairs, &top);
        hx_gate_narrow_ref(x, 0.01f, pairs, want);
        hx_gate_narrow_hvx(x, 0.01f, pairs, got);
        for (int i = 0; i < n; i++)
            if (abs(got[i] - want[i]) > 1)
                fail_msg("%d pairs: half %d is 0x%04x, not 0x%04x", pairs, i, got[i], want[i]);
        hx_gate_widen_ref(got, pairs, x);
        hx_gate_widen_hvx(got, pairs, back);
        hxt_near_f32_abs(back, x, (size_t)n, 1, 0x1p-36);
        hxt_guard_free(got), hxt_guard_free(want), hxt_guard_free(x), hxt_guard_free(back);
        space_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_gate_is_as_near_to_the_reference_as_is_said),
        cmocka_unit_test(test_four_directions_have_the_bits_of_one_by_one),
        cmocka_unit_test(test_nothing_cancels_where_a_vector_lies_within),
        cmocka_unit_test(test_what_is_not_finite_shows),
        cmocka_unit_test(test_directions_survive_f16),
    };

    return HXT_RUN(tests);
}
