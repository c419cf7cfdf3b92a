/* Protects the modular silicon kernels (kernels/silicon): Barrett products, matrix products and NTTs on HVX equal plain
 * arithmetic modulo q, values at the ends of the range among them. */
#include <stdlib.h>

#include "AEEStdErr.h"
#include "hexrig_hvx_count.h"
#include "hxt.h"
#include "skel/mod30.h"
#include "silicon/modmatmul.h"
#include "skel/ntt.h"

enum { ALIGN = 128 };

static const uint32_t primes[] = {HX_NTT_Q1, HX_NTT_Q2, 536870923 /* just above 2^29 */};

/* Residues of q, with the largest ones, 0 and 1 among them. */
static void fill_residues(struct hxt_rng *rng, uint32_t *v, size_t n, uint32_t q)
{
    const uint32_t edges[] = {q - 1, 0, 1, q - 2, q / 2};

    for (size_t i = 0; i < n; i++)
        v[i] = hxt_below(rng, 4) ? (uint32_t)hxt_below(rng, q)
                                 : edges[hxt_below(rng, HXT_LEN(edges))];
}

static void test_barrett_product_equals_the_remainder(void **state)
{
    enum { N = 4096 };
    uint32_t *a = hxt_guard_alloc(N * 4, ALIGN), *b = hxt_guard_alloc(N * 4, ALIGN);
    uint32_t *got = hxt_guard_alloc(N * 4, ALIGN), want[N];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t p = 0; p < HXT_LEN(primes); p++) {
        fill_residues(&rng, a, N, primes[p]);
        fill_residues(&rng, b, N, primes[p]);
        assert_int_equal(hx_barrett_ref(a, b, want, N, primes[p]), AEE_SUCCESS);
        assert_int_equal(hx_barrett_hvx(a, b, got, N, primes[p]), AEE_SUCCESS);
        hxt_same_bytes(got, want, sizeof(want));
    }
    assert_int_equal(hx_barrett_hvx(a, b, got, 33, primes[0]), AEE_EBADPARM);
    assert_int_equal(hx_barrett_hvx(a + 1, b, got, 32, primes[0]), AEE_EBADPARM);
    hxt_guard_free(a), hxt_guard_free(b), hxt_guard_free(got);
}

/* The quotient's estimate can be 2 too small; with the moduli above random values never show it. */
static void test_barrett_product_corrects_twice_where_it_must(void **state)
{
    const uint32_t q = 1073709071;
    uint32_t *a = hxt_guard_alloc(128, ALIGN), *b = hxt_guard_alloc(128, ALIGN);
    uint32_t *got = hxt_guard_alloc(128, ALIGN);

    (void)state;
    for (int i = 0; i < 32; i++)
        a[i] = 1073708734, b[i] = 1073708100;
    assert_int_equal(hx_barrett_hvx(a, b, got, 32, q), AEE_SUCCESS);
    for (int i = 0; i < 32; i++)
        assert_int_equal(got[i], (uint64_t)a[i] * b[i] % q);
    hxt_guard_free(a), hxt_guard_free(b), hxt_guard_free(got);
}

static void test_modular_matmul_equals_the_reference(void **state)
{
    static const struct hx_modmatmul shapes[] = {
        {1, 1, 32, HX_NTT_Q1},  {8, 128, 128, HX_NTT_Q1}, {1, 2048, 256, HX_NTT_Q2},
        {3, 5, 96, 536870923u}, {2, 2, 64, HX_NTT_Q2},    {0, 4, 32, HX_NTT_Q1},
    };
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (size_t i = 0; i < HXT_LEN(shapes); i++) {
        const struct hx_modmatmul *s = &shapes[i];
        size_t n_x = (size_t)s->batch * s->inner, n_w = (size_t)s->inner * s->outer;
        size_t n_y = (size_t)s->batch * s->outer;
        uint32_t *x = hxt_guard_alloc(n_x * 4 + 4, ALIGN), *w = hxt_guard_alloc(n_w * 4, ALIGN);
        uint32_t *got = hxt_guard_alloc(n_y * 4 + 4, ALIGN), *want = calloc(n_y + 1, 4);

        fill_residues(&rng, x, n_x, s->q);
        fill_residues(&rng, w, n_w, s->q);
        assert_int_equal(hx_modmatmul_ref(s, x, w, want), AEE_SUCCESS);
        assert_int_equal(hx_modmatmul_hvx(s, x, w, got), AEE_SUCCESS);
        hxt_same_bytes(got, want, n_y * 4);
        hxt_untouched((uint8_t *)got + n_y * 4, 4);
        free(want);
        hxt_guard_free(x), hxt_guard_free(w), hxt_guard_free(got);
    }
}

/* --- NTT */

static const int lengths[] = {64, 128, 256, 512};

static void test_ntt_roots_are_the_published_ones(void **state)
{
    static const struct {
        int n;
        uint32_t psi[2];
    } known[] = {{64, {194629293, 900139301}},
                 {128, {557241807, 731140485}},
                 {256, {536638208, 422740851}},
                 {512, {234792977, 404638277}}};
    uint32_t block[5 * HX_NTT_MAX];
    struct hx_ntt t;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(known); i++) {
        for (int p = 0; p < 2; p++) {
            assert_int_equal(hx_ntt_make(&t, block, known[i].n, primes[p], HX_NTT_FORWARD),
                             AEE_SUCCESS);
            assert_int_equal(t.psi[1], known[i].psi[p]);
        }
    }
    assert_int_equal(hx_ntt_make(&t, block, 32, primes[0], 0), AEE_EBADPARM);
    assert_int_equal(hx_ntt_make(&t, block, 96, primes[0], 0), AEE_EBADPARM);
    assert_int_equal(hx_ntt_make(&t, block, 1024, primes[0], 0), AEE_EBADPARM);
    assert_int_equal(hx_ntt_make(&t, block, 64, primes[2], 0), AEE_EBADPARM);
}

static void check_ntt(const struct hx_ntt *t, struct hxt_rng *rng)
{
    const struct hx_ntt_direction forward = hx_ntt_forward(t), inverse = hx_ntt_inverse(t);
    const size_t bytes = (size_t)t->n * 4;
    uint32_t *scalar = hxt_guard_alloc(bytes, 4), *hvx = hxt_guard_alloc(bytes, ALIGN);
    uint32_t v[HX_NTT_MAX], want[HX_NTT_MAX];

    fill_residues(rng, v, (size_t)t->n, t->q);
    memcpy(want, v, bytes), memcpy(scalar, v, bytes), memcpy(hvx, v, bytes);
    assert_int_equal(hx_ntt_forward_ref(want, t->n, t->q, t->psi[1]), AEE_SUCCESS);
    assert_int_equal(hx_ntt_scalar(&forward, scalar), AEE_SUCCESS);
    assert_int_equal(hx_ntt_hvx(&forward, hvx), AEE_SUCCESS);
    hxt_same_bytes(scalar, want, bytes);
    hxt_same_bytes(hvx, want, bytes);
    assert_int_equal(hx_ntt_scalar(&inverse, scalar), AEE_SUCCESS);
    assert_int_equal(hx_ntt_hvx(&inverse, hvx), AEE_SUCCESS);
    hxt_same_bytes(scalar, v, bytes);
    hxt_same_bytes(hvx, v, bytes);
    hxt_guard_free(scalar), hxt_guard_free(hvx);
}

static void test_ntt_equals_the_sum_and_its_inverse_undoes_it(void **state)
{
    const unsigned all = HX_NTT_FORWARD | HX_NTT_INVERSE | HX_NTT_STAGES;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 10);
    for (size_t i = 0; i < HXT_LEN(lengths); i++) {
        uint32_t *block = hxt_guard_alloc(hx_ntt_bytes(lengths[i]), ALIGN);

        for (int p = 0; p < 2; p++) {
            struct hx_ntt t;

            assert_int_equal(hx_ntt_make(&t, block, lengths[i], primes[p], all), AEE_SUCCESS);
            for (int round = 0; round < 4; round++)
                check_ntt(&t, &rng);
        }
        hxt_untouched(block + 5 * lengths[i] - 2, 8);
        hxt_guard_free(block);
    }
}

/* The published use: the product of transforms is the transform of the product modulo x^n + 1. */
static void test_ntt_multiplies_polynomials(void **state)
{
    enum { N = 256 };
    const uint32_t q = HX_NTT_Q1;
    uint32_t block[5 * N], a[N], b[N], product[N];
    uint64_t want[N] = {0};
    uint32_t *va = hxt_guard_alloc(N * 4, ALIGN), *vb = hxt_guard_alloc(N * 4, ALIGN);
    struct hxt_rng rng;
    struct hx_ntt t;

    (void)state;
    hxt_rng_init(&rng, 11);
    fill_residues(&rng, a, N, q), fill_residues(&rng, b, N, q);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            uint64_t term = (uint64_t)a[i] * b[j] % q;

            want[(i + j) % N] += i + j < N ? term : q - term;
        }
    }
    assert_int_equal(hx_ntt_make(&t, block, N, q, 7), AEE_SUCCESS);
    const struct hx_ntt_direction forward = hx_ntt_forward(&t), inverse = hx_ntt_inverse(&t);
    memcpy(va, a, N * 4), memcpy(vb, b, N * 4);
    hx_ntt_hvx(&forward, va), hx_ntt_hvx(&forward, vb);
    assert_int_equal(hx_barrett_hvx(va, vb, va, N, q), AEE_SUCCESS);
    assert_int_equal(hx_ntt_hvx(&inverse, va), AEE_SUCCESS);
    for (int i = 0; i < N; i++)
        product[i] = (uint32_t)(want[i] % q);
    hxt_same_bytes(va, product, sizeof(product));
    hxt_guard_free(va), hxt_guard_free(vb);
}

static void test_the_fast_versions_run_on_hvx(void **state)
{
    const struct hx_modmatmul shape = {1, 1, 32, HX_NTT_Q1};
    uint32_t block[5 * 64], *v = hxt_guard_alloc(256, ALIGN);
    struct hx_ntt t;

    (void)state;
    memset(v, 0, 256);
    assert_int_equal(hx_ntt_make(&t, block, 64, HX_NTT_Q1, 7), AEE_SUCCESS);
    const struct hx_ntt_direction forward = hx_ntt_forward(&t);
    hx_hvx_reset();
    hx_ntt_scalar(&forward, v);
    assert_true(hx_hvx_ops(&hx_hvx_counts) == 0);
    hx_ntt_hvx(&forward, v);
    assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
    hx_hvx_reset();
    hx_modmatmul_hvx(&shape, v, v, v + 32);
    assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
    hxt_guard_free(v);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_barrett_product_equals_the_remainder),
    cmocka_unit_test(test_barrett_product_corrects_twice_where_it_must),
    cmocka_unit_test(test_modular_matmul_equals_the_reference),
    cmocka_unit_test(test_the_fast_versions_run_on_hvx),
    cmocka_unit_test(test_ntt_roots_are_the_published_ones),
    cmocka_unit_test(test_ntt_equals_the_sum_and_its_inverse_undoes_it),
    cmocka_unit_test(test_ntt_multiplies_polynomials),
};

int main(void)
{
    return HXT_RUN(tests);
}
