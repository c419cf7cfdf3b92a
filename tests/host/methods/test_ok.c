/* Protects host/methods/ok/ok_ring.c, ok_shim.c and ok_unshim.c: arithmetic in the ring of integers of Q(sqrt(-163)) is exact or
 * refused, the shim cancels exactly and says so when it cannot, and headroom keeps its bound.  Tensors and kernels:
 * test_ok_tensor.c.  Corrected statements of docs/ok.md, "What the paper has wrong", are tested here. */
#include <errno.h>
#include <math.h>

#include "ok_ring.h"

/* --- the ring */

static hx_i128 norm(struct hx_ok x)
{
    hx_i128 n = 0;

    assert_int_equal(hx_ok_norm(&n, x), 0);
    return n;
}

static void test_powers_of_pi_41(void **state)
{
    static const struct hx_ok powers[] = {{1, 0},         {0, 1},          {-41, 1},
                                          {-41, -40},     {1640, -81},     {3321, 1559},
                                          {-63919, 4880}, {-200080, -59039}, {2420599, -259119}};
    struct hx_ok p;

    (void)state;
    for (unsigned k = 0; k < HXT_LEN(powers); k++) {
        assert_int_equal(hx_ok_pow(&p, (struct hx_ok){0, 1}, k), 0);
        ASSERT_OK(p, powers[k].a, powers[k].b);
    }
}

/* The paper has 2.8e12, which is neither this nor its root, 2.8e6. */
static void test_the_norm_of_pi_41_to_the_8_is_7984925229121(void **state)
{
    (void)state;
    assert_true(norm((struct hx_ok){2420599, -259119}) == 7984925229121);
    assert_true(fabs(sqrt(7984925229121.0) - 2.83e6) < 1e4);
}

static void test_ring_laws_on_random_elements(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (int i = 0; i < 2000; i++) {
        const struct hx_ok x = element(&rng, 1 << 18), y = element(&rng, 1 << 18);
        const struct hx_ok z = element(&rng, 1 << 12);
        struct hx_ok sum, cx, cy, cxy, left, right, self;
        int64_t trace;

        assert_int_equal(hx_ok_add(&sum, x, y), 0);
        assert_int_equal(hx_ok_add(&right, mul(x, z), mul(y, z)), 0);
        left = mul(sum, z);
        ASSERT_OK(left, right.a, right.b);
        left = mul(mul(x, y), z);
        right = mul(x, mul(y, z));
        ASSERT_OK(left, right.a, right.b);
        assert_true(norm(mul(x, y)) == norm(x) * norm(y));
        assert_true(norm(x) >= 0);
        assert_int_equal(hx_ok_conj(&cx, x) | hx_ok_conj(&cy, y) | hx_ok_conj(&cxy, mul(x, y)), 0);
        left = mul(cx, cy);
        ASSERT_OK(left, cxy.a, cxy.b);
        self = mul(x, cx); /* the norm, on the rational axis */
        assert_true(self.a == norm(x) && self.b == 0);
        assert_int_equal(hx_ok_add(&sum, x, cx) | hx_ok_trace(&trace, x), 0);
        ASSERT_OK(sum, trace, 0);
    }
}

static void test_division_is_exact_or_refused(void **state)
{
    struct hxt_rng rng;
    int refused = 0;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (int i = 0; i < 2000; i++) {
        const struct hx_ok x = element(&rng, 1 << 20), y = element(&rng, 1 << 10);
        struct hx_ok q = {-7, -7}, p = mul(x, y);

        if (y.a == 0 && y.b == 0)
            continue;
        assert_int_equal(hx_ok_div(&q, p, y), 0);
        ASSERT_OK(q, x.a, x.b);
        p.a++; /* y divides 1 only if it is a unit */
        if (norm(y) == 1)
            continue;
        assert_int_equal(hx_ok_div(&q, p, y), -EDOM);
        refused++;
    }
    assert_true(refused > 1900);
    assert_int_equal(hx_ok_div(&(struct hx_ok){0, 0}, (struct hx_ok){5, 5}, (struct hx_ok){0, 0}),
                     -EDOM);
}

static void test_what_does_not_fit_is_refused(void **state)
{
    const struct hx_ok low = {INT64_MIN, INT64_MIN}, big = {INT64_MAX, INT64_MAX};
    struct hx_ok out = {1, 2};
    hx_i128 n;
    int64_t t;

    (void)state;
    assert_int_equal(hx_ok_mul(&out, big, (struct hx_ok){2, 0}), -ERANGE);
    assert_int_equal(hx_ok_mul(&out, (struct hx_ok){0, (int64_t)1 << 60}, (struct hx_ok){0, 1}),
                     -ERANGE); /* 41 b d */
    assert_int_equal(hx_ok_add(&out, big, (struct hx_ok){0, 1}), -ERANGE);
    assert_int_equal(hx_ok_conj(&out, low), -ERANGE);
    assert_int_equal(hx_ok_trace(&t, big), -ERANGE);
    assert_int_equal(hx_ok_norm(&n, low), -ERANGE);
    assert_int_equal(hx_ok_div(&out, low, low), -ERANGE);
    assert_int_equal(hx_ok_div(&out, low, (struct hx_ok){-1, 0}), -ERANGE); /* 2^63 */
    ASSERT_OK(out, 1, 2);
}

/* --- primes */

/* Residues of squares decide: p splits iff -163 is a square modulo p. */
static int splits(unsigned p)
{
    for (unsigned s = 0; s < p; s++)
        if ((s * s + 163) % p == 0)
            return 1;
    return 0;
}

static void test_every_prime_has_its_kind_and_its_element(void **state)
{
    unsigned primes = 0, split = 0;
    struct hx_error err;

    (void)state;
    for (unsigned p = 0; p <= HX_OK_MAX_P + 10; p++) {
        struct hx_ok_prime q;
        unsigned d = 2;

        while (d < p && p % d)
            d++;
        if (p < 2 || d < p || p > HX_OK_MAX_P) {
            assert_int_equal(hx_ok_prime(&q, p, &err), -EINVAL);
            continue;
        }
        assert_int_equal(hx_ok_prime(&q, p, &err), 0);
        primes++;
        if (q.kind == HX_OK_INERT) {
            ASSERT_OK(q.pi, p, 0);
            assert_true(p == 2 || !splits(p));
            continue;
        }
        split += q.kind == HX_OK_SPLIT;
        assert_true(norm(q.pi) == p);
        assert_true(splits(p));
        assert_true((q.kind == HX_OK_RAMIFIED) == (p == 163));
        assert_true(p >= 41);
    }
    assert_int_equal(primes, 168); /* below 1000 */
    assert_true(split > 60);
}

static void test_pi_41_is_w(void **state)
{
    struct hx_ok_prime q;

    (void)state;
    assert_int_equal(hx_ok_prime(&q, 41, NULL), 0);
    assert_int_equal(q.kind, HX_OK_SPLIT);
    ASSERT_OK(q.pi, 0, 1);
}

/* --- the shim */

static const struct {
    unsigned p, k;
} shims[] = {{0, 0}, {41, 8}, {41, 1}, {2, 2}, {2, 8}, {3, 5}, {43, 6}, {47, 3}, {163, 2}, {997, 2}};

static void test_unshim_cancels_the_shim_exactly(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 3);
    for (size_t i = 0; i < HXT_LEN(shims); i++) {
        struct hx_ok_shim s;
        struct hx_ok_count count = {0, 0};

        assert_int_equal(hx_ok_shim_init(&s, shims[i].p, shims[i].k, NULL), 0);
        for (int n = 0; n < 500; n++) {
            const int64_t z = within(&rng, INT64_MAX / 2 / (int64_t)s.grow);
            const struct hx_ok x = element(&rng, 1 << 20);
            struct hx_ok y = mul(x, s.power);
            int64_t got = 0;

            assert_int_equal(hx_ok_unshim(&s, &y, &count), 0);
            ASSERT_OK(y, x.a, x.b);
            assert_int_equal(
                hx_ok_unshim_real(&s, mul((struct hx_ok){z, 0}, s.power), &got, &count), 0);
            assert_int_equal(got, z);
        }
        assert_int_equal(count.remainders, 0);
        assert_int_equal(count.divisions, s.k ? 500 * (4 * s.k + 1) : 0);
    }
}

static void test_a_damaged_product_leaves_a_remainder(void **state)
{
    (void)state;
    for (size_t i = 1; i < HXT_LEN(shims); i++) {
        struct hx_ok_shim s;
        struct hx_ok_count count = {0, 0};
        int64_t out = 5;

        assert_int_equal(hx_ok_shim_init(&s, shims[i].p, shims[i].k, NULL), 0);
        struct hx_ok y = mul((struct hx_ok){12345, 0}, s.power);

        y.a++;
        assert_int_equal(hx_ok_unshim_real(&s, y, &out, &count), -EDOM);
        assert_int_equal(out, 5);
        assert_true(count.remainders > 0);
    }
}

/* Eight at a time, with one bad among them or a sum too large for the quick way. */
static void test_many_are_unshimmed_as_one_is(void **state)
{
    enum { N = 4 * HX_OK_BATCH };
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 10);
    for (size_t i = 0; i < 400 * HXT_LEN(shims); i++) {
        int64_t a[N] __attribute__((aligned(64))), b[N] __attribute__((aligned(64))), want[N];
        struct hx_ok_count one = {0, 0}, many = {0, 0};
        struct hx_ok_shim s;
        int bad = 0;

        hx_ok_shim_init(&s, shims[i % HXT_LEN(shims)].p, shims[i % HXT_LEN(shims)].k, NULL);
        for (size_t k = 0; k < N; k++) {
            const int64_t z = within(&rng, (INT64_MAX / 2 / (int64_t)s.grow) >> (k % 2 ? 0 : 12));
            struct hx_ok y = mul((struct hx_ok){z, 0}, s.power);

            if (i % 3 == 0 && hxt_below(&rng, N) == 0)
                *(hxt_u64(&rng) & 1 ? &y.a : &y.b) += hxt_u64(&rng) & 1 ? 1 : -1;
            a[k] = want[k] = y.a;
            b[k] = y.b;
            bad |= hx_ok_unshim_real(&s, y, &want[k], &one) != 0;
        }
        assert_int_equal(hx_ok_unshim_many(&s, a, b, N, &many), bad ? -EDOM : 0);
        assert_memory_equal(a, want, sizeof(a));
        assert_int_equal(many.remainders, one.remainders);
        assert_int_equal(many.divisions, one.divisions);
    }
}

/* What is left of a product of rational numbers is rational. */
static void test_an_imaginary_part_counts_as_a_remainder(void **state)
{
    struct hx_ok_shim s;
    struct hx_ok_count count = {0, 0};
    int64_t out;

    (void)state;
    assert_int_equal(hx_ok_shim_init(&s, 41, 8, NULL), 0);
    assert_int_equal(hx_ok_unshim_real(&s, mul((struct hx_ok){7, 1}, s.power), &out, &count), -EDOM);
    assert_int_equal(count.remainders, 1);
}

static void test_shims_that_cannot_be_are_refused(void **state)
{
    static const struct {
        unsigned p, k;
    } bad[] = {{1, 1}, {4, 2}, {41, 0}, {0, 8}, {41, 17}, {1009, 1}, {39, 1}, {997, 8}, {41, 16}};
    struct hx_ok_shim s;
    struct hx_error err;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        err.text[0] = 0;
        assert_int_equal(hx_ok_shim_init(&s, bad[i].p, bad[i].k, &err), -EINVAL);
        assert_true(strlen(err.text) > 0);
    }
}

/* "By construction" is not enough: with k = 8 and q_max = 10 shimmed coordinates leave int32. */
static void test_lanes_hold_887_and_not_888(void **state)
{
    (void)state;
    assert_true(887 * (int64_t)2420599 <= INT32_MAX);
    assert_true(888 * (int64_t)2420599 > INT32_MAX);
    assert_true(1 << 9 <= 887 && 1 << 10 > 887);
}

static void test_headroom_is_the_rule_of_62_bits(void **state)
{
    struct hx_ok_shim s, id;
    struct hx_error err = {""};

    (void)state;
    hx_ok_shim_init(&s, 41, 8, NULL);
    hx_ok_shim_init(&id, 0, 0, NULL);
    assert_int_equal(s.grow, 41 * 259119);
    assert_true(fabs(log2((double)s.grow) - 23.35) < 0.01);
    for (unsigned q = 1; q <= HX_OK_MAX_Q; q++)
        for (size_t in = 1; in < 5000; in = in * 3 + 1) {
            const int most = (int)floor(62 - q - log2((double)s.grow) - ceil(log2((double)in)));

            assert_int_equal(hx_ok_x_bits(&s, q, in), most < 0 ? -1 : most);
        }
    assert_int_equal(hx_ok_x_bits(&s, 9, 2048), 18);
    assert_int_equal(hx_ok_x_bits(&s, 15, 2048), 12);
    assert_int_equal(hx_ok_x_bits(&id, 15, 2048), 36);
    assert_int_equal(hx_ok_headroom(&s, 15, 12, 2048, &err), 0);
    assert_int_equal(hx_ok_headroom(&s, 15, 13, 2048, &err), -ERANGE);
    assert_non_null(strstr(err.text, "x_bits up to 12"));
    assert_int_equal(hx_ok_x_bits(&s, 20, (size_t)1 << 30), -1);
}

/* The rule holds at its edge: the worst sum survives every step, in which 41 b is the largest number. */
static void test_the_worst_sum_within_headroom_survives_unshim(void **state)
{
    struct hx_ok_shim s;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(shims); i++) {
        hx_ok_shim_init(&s, shims[i].p, shims[i].k, NULL);
        const int64_t z = (int64_t)1 << (9 + hx_ok_x_bits(&s, 9, 2048) + 11);
        struct hx_ok_count count = {0, 0};
        int64_t out;

        assert_int_equal(hx_ok_unshim_real(&s, mul((struct hx_ok){-z, 0}, s.power), &out, &count),
                         0);
        assert_int_equal(out, -z);
    }
}

/* Why un-shimming goes step by step: the same worst sum times conj(pi^8) at once leaves int64 by 2^21. */
static void test_one_step_overflows_where_eight_do_not(void **state)
{
    struct hx_ok_shim s;
    struct hx_ok conj, out;

    (void)state;
    hx_ok_shim_init(&s, 41, 8, NULL);
    const struct hx_ok y = mul((struct hx_ok){(int64_t)1 << 38, 0}, s.power);

    assert_int_equal(hx_ok_conj(&conj, s.power), 0);
    assert_int_equal(hx_ok_mul(&out, y, conj), -ERANGE);
    assert_int_equal(hx_ok_mul(&out, mul((struct hx_ok){1 << 17, 0}, s.power), conj), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_powers_of_pi_41),
    cmocka_unit_test(test_the_norm_of_pi_41_to_the_8_is_7984925229121),
    cmocka_unit_test(test_ring_laws_on_random_elements),
    cmocka_unit_test(test_division_is_exact_or_refused),
    cmocka_unit_test(test_what_does_not_fit_is_refused),
    cmocka_unit_test(test_every_prime_has_its_kind_and_its_element),
    cmocka_unit_test(test_pi_41_is_w),
    cmocka_unit_test(test_unshim_cancels_the_shim_exactly),
    cmocka_unit_test(test_a_damaged_product_leaves_a_remainder),
    cmocka_unit_test(test_many_are_unshimmed_as_one_is),
    cmocka_unit_test(test_an_imaginary_part_counts_as_a_remainder),
    cmocka_unit_test(test_shims_that_cannot_be_are_refused),
    cmocka_unit_test(test_lanes_hold_887_and_not_888),
    cmocka_unit_test(test_headroom_is_the_rule_of_62_bits),
    cmocka_unit_test(test_the_worst_sum_within_headroom_survives_unshim),
    cmocka_unit_test(test_one_step_overflows_where_eight_do_not),
};

int main(void)
{
    return HXT_RUN(tests);
}
