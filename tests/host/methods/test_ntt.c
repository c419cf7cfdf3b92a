/* Protects: the transforms behind ring attention.  Every transform of host/methods/ntt is a bijection, equals the schoolbook
 * product and the reference of its kind bit for bit, at every N; the two moduli give one and the same integer; what the
 * paper prints wrongly is shown to be wrong. */
#include <math.h>
#include <stdlib.h>

#include "hxt.h"
#include "methods/ntt/ring/ntt.h"
#include "ntt_random.h"

enum { N_MAX = HX_POLY_N_MAX, BLOCK = HX_CRT_PRIMES * N_MAX, ROUND_TRIPS = 4096, SCHOOLBOOK = 64 };

static const size_t sizes[] = {64, 128, 256, 512};

static void fill_block(struct hxt_rng *rng, uint32_t *block, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        block[i] = (uint32_t)hxt_below(rng, HX_CRT_Q1);
        block[n + i] = (uint32_t)hxt_below(rng, HX_CRT_Q2);
    }
}

static void fill_residues60(struct hxt_rng *rng, uint64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = hxt_below(rng, HX_NTT60_Q);
}

/* Extremes that a random vector never has. */
static void fill_largest(uint32_t *block, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        block[i] = HX_CRT_Q1 - 1;
        block[n + i] = HX_CRT_Q2 - 1;
    }
}

/* --- 60 bits */

static uint64_t mul_wide(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b % HX_NTT60_Q);
}

static void test_barrett_of_60_bits_equals_division(void **state)
{
    struct hxt_rng rng;
    size_t wrong_in_print = 0;

    (void)state;
    hxt_rng_init(&rng, 3);
    for (int i = 0; i < 20000; i++) {
        const uint64_t a = i ? hxt_below(&rng, HX_NTT60_Q) : HX_NTT60_Q - 1;
        const uint64_t b = i ? hxt_below(&rng, HX_NTT60_Q) : HX_NTT60_Q - 1;
        const unsigned __int128 ab = (unsigned __int128)a * b;
        const unsigned __int128 product = (unsigned __int128)(uint64_t)(ab >> 64) * HX_NTT60_MU;
        const uint64_t quotient = (uint64_t)(product >> 64);

        assert_true(hx_ntt60_mul(a, b) == mul_wide(a, b));
        /* the paper's ((ab >> 64) mu) >> 64, then a subtraction or two: 2^8 too small a quotient */
        wrong_in_print += ab - (unsigned __int128)quotient * HX_NTT60_Q >=
                          (unsigned __int128)3 * HX_NTT60_Q;
    }
    assert_true(wrong_in_print > 19900);
    assert_true(HX_NTT60_MU == (uint64_t)(((unsigned __int128)1 << 120) / HX_NTT60_Q));
}

static uint64_t power60(uint64_t base, uint64_t e)
{
    uint64_t r = 1;

    for (; e; e >>= 1, base = mul_wide(base, base))
        r = e & 1 ? mul_wide(r, base) : r;
    return r;
}

static void test_psi_has_order_2n_and_1753_has_not(void **state)
{
    (void)state;
    for (size_t s = 0; s < HXT_LEN(sizes); s++) {
        const size_t n = sizes[s];

        assert_true(power60(hx_ntt60_psi(hx_ntt60_get(n)), n) == HX_NTT60_Q - 1);
        assert_true(power60(1753, n) != HX_NTT60_Q - 1); /* the paper's psi */
    }
    assert_true(hx_ntt60_psi(hx_ntt60_get(256)) == 524303130895384435ull);
    assert_null(hx_ntt60_get(32));
    assert_null(hx_ntt60_get(1024));
}

/* A Proth number is odd * 2^m + 1 with odd < 2^m. */
static void test_no_modulus_is_a_proth_prime(void **state)
{
    static const uint64_t moduli[] = {HX_NTT60_Q, HX_CRT_Q1, HX_CRT_Q2};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(moduli); i++) {
        const uint64_t power = (moduli[i] - 1) & -(moduli[i] - 1);

        assert_true((moduli[i] - 1) / power > power);
        assert_int_equal((moduli[i] - 1) % (2 * N_MAX), 0);
    }
}

static void test_residues_of_60_bits_come_back(void **state)
{
    const int64_t values[] = {0, 1, -1, HX_POLY_LIMIT, -HX_POLY_LIMIT};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(values); i++)
        assert_true(hx_ntt60_centre(hx_ntt60_residue(values[i])) == values[i]);
}

/* --- two primes */

static void test_roots_of_both_primes_are_those_of_the_smallest_base(void **state)
{
    static const uint32_t want[][2] = {{194629293, 900139301}, {557241807, 731140485},
                                       {536638208, 422740851}, {234792977, 404638277}};

    (void)state;
    for (size_t s = 0; s < HXT_LEN(sizes); s++)
        for (int p = 0; p < HX_CRT_PRIMES; p++)
            assert_int_equal(hx_crt_psi(hx_crt_get(sizes[s]), p), want[s][p]);
    assert_null(hx_crt_get(96));
    assert_int_equal(hx_crt_bytes(256), 2048);
}

/* ((x >> 29) mu) >> 31 is for one product; the sum of 15 needs a division (or more bits). */
static void test_barrett_of_one_product_is_wrong_for_15(void **state)
{
    const uint64_t q = HX_CRT_Q1, mu = (1ull << 60) / q;
    const uint64_t one = (q - 1) * (q - 1), all = HX_CRT_LAZY * one;
    uint64_t x[2];
    _Alignas(64) uint32_t a[128], sums[2];

    (void)state;
    for (int i = 0; i < 2; i++)
        x[i] = (i ? all : one) - (((i ? all : one) >> 29) * mu >> 31) * q;
    assert_true(x[0] < 3 * q && x[0] % q == one % q);
    assert_false(x[1] < 3 * q); /* two subtractions are not enough */
    fill_largest(a, 64); /* and 64 products of the largest residues come out right */
    for (size_t o = 0; hx_crt_variants[o]; o++)
        if (hx_crt_variants[o]->supported()) {
            hx_crt_variants[o]->dots(hx_crt_get(64), sums, a, a, 0, 1);
            assert_int_equal(sums[0], 64);
            assert_int_equal(sums[1], 64);
        }
}

/* q1 is the larger prime: a residue modulo it may be q2 or more, and then so much more than x2 that x2 - x1 + q2 is negative. */
static void test_garner_takes_residues_beyond_the_other_prime(void **state)
{
    static const uint32_t x1[] = {HX_CRT_Q1 - 1, HX_CRT_Q1 - 3000, HX_CRT_Q2, HX_CRT_Q2 + 1};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(x1); i++)
        for (uint32_t x2 = 0; x2 < 3; x2++) {
            const int64_t v = hx_crt_garner(x1[i], x2);

            assert_true(v <= HX_CRT_M / 2 && v >= -(HX_CRT_M / 2));
            assert_int_equal((v % HX_CRT_Q1 + HX_CRT_Q1) % HX_CRT_Q1, x1[i]);
            assert_int_equal((v % HX_CRT_Q2 + HX_CRT_Q2) % HX_CRT_Q2, x2);
        }
}

static void test_garner_is_the_inverse_of_taking_residues(void **state)
{
    const int64_t ends[] = {0, 1, -1, HX_CRT_M / 2, -(HX_CRT_M / 2), HX_POLY_LIMIT, -HX_POLY_LIMIT,
                            HX_CRT_Q2, HX_CRT_Q1 - 1, -(int64_t)HX_CRT_Q1};
    const int64_t half = HX_CRT_M / 2;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 4);
    for (size_t i = 0; i < 100000; i++) {
        const int64_t any = (int64_t)hxt_below(&rng, (uint64_t)HX_CRT_M) - half;
        const int64_t v = i < HXT_LEN(ends) ? ends[i] : any;
        const int64_t x1 = v % HX_CRT_Q1, x2 = v % HX_CRT_Q2;

        assert_true(hx_crt_garner((uint32_t)(x1 < 0 ? x1 + HX_CRT_Q1 : x1),
                                  (uint32_t)(x2 < 0 ? x2 + HX_CRT_Q2 : x2)) == v);
    }
}

/* --- transforms */

/* A[i] = a(psi^(2 brv(i) + 1)), from its definition */
static void test_reference_evaluates_at_odd_powers_of_psi(void **state)
{
    const struct hx_crt *t = hx_crt_get(64);
    uint32_t block[128];
    int32_t a[64];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 5);
    fill_coefficients(&rng, a, 64, 1u << 31);
    hx_crt_variants[0]->transform(t, block, a);
    for (uint64_t i = 0; i < 64; i++) {
        const uint64_t brv = (i & 1) << 5 | (i & 2) << 3 | (i & 4) << 1 | (i & 8) >> 1 |
                             (i & 16) >> 3 | i >> 5, at = 2 * brv + 1;
        uint64_t x = 1, sum = 0;

        for (uint64_t e = 0; e < at; e++)
            x = x * hx_crt_psi(t, 0) % HX_CRT_Q1;
        for (int j = 63; j >= 0; j--)
            sum = (sum * x + (uint64_t)((int64_t)a[j] + 4ll * HX_CRT_Q1)) % HX_CRT_Q1;
        assert_int_equal(block[i], sum);
    }
}

static void test_round_trips_are_exact(void **state)
{
    _Alignas(64) uint32_t before[BLOCK], block[BLOCK];
    uint64_t before60[N_MAX], v[N_MAX];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 6);
    for (size_t s = 0; s < HXT_LEN(sizes); s++)
        for (size_t i = 0; i < ROUND_TRIPS; i++) {
            const size_t n = sizes[s];

            fill_block(&rng, before, n);
            fill_residues60(&rng, before60, n);
            for (size_t o = 0; hx_crt_variants[o]; o++) {
                if (!hx_crt_variants[o]->supported())
                    continue;
                memcpy(block, before, sizeof(block));
                hx_crt_variants[o]->forward(hx_crt_get(n), block);
                hx_crt_variants[o]->inverse(hx_crt_get(n), block);
                assert_memory_equal(block, before, hx_crt_bytes(n));
            }
            for (size_t o = 0; hx_ntt60_variants[o]; o++) {
                if (!hx_ntt60_variants[o]->supported())
                    continue;
                memcpy(v, before60, sizeof(v));
                hx_ntt60_variants[o]->forward(hx_ntt60_get(n), v);
                hx_ntt60_variants[o]->inverse(hx_ntt60_get(n), v);
                assert_memory_equal(v, before60, n * sizeof(*v));
            }
        }
}

static void product60(const struct hx_ntt60_ops *o, int64_t *c, const int32_t *a, const int32_t *b,
                      size_t n)
{
    const struct hx_ntt60 *t = hx_ntt60_get(n);
    uint64_t x[N_MAX], y[N_MAX];

    for (size_t i = 0; i < n; i++) {
        x[i] = hx_ntt60_residue(a[i]);
        y[i] = hx_ntt60_residue(b[i]);
    }
    o->forward(t, x);
    o->forward(t, y);
    o->pointwise(t, x, x, y);
    o->inverse(t, x);
    for (size_t i = 0; i < n; i++)
        c[i] = hx_ntt60_centre(x[i]);
}

static void product_crt(const struct hx_crt_ops *o, int64_t *c, const int32_t *a, const int32_t *b,
                        size_t n)
{
    const struct hx_crt *t = hx_crt_get(n);
    _Alignas(64) uint32_t x[BLOCK], y[BLOCK];

    o->transform(t, x, a);
    o->transform(t, y, b);
    o->pointwise(t, x, x, y);
    o->inverse(t, x);
    for (size_t i = 0; i < n; i++)
        c[i] = hx_crt_garner(x[i], x[n + i]);
}

static void test_products_equal_schoolbook(void **state)
{
    int32_t a[N_MAX], b[N_MAX];
    int64_t want[N_MAX], got[N_MAX];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 7);
    for (size_t s = 0; s < HXT_LEN(sizes); s++)
        for (size_t i = 0; i < SCHOOLBOOK; i++) {
            const size_t n = sizes[s];

            fill_coefficients(&rng, a, n, 1u << 24); /* 512 2^48 < HX_POLY_LIMIT */
            fill_coefficients(&rng, b, n, 1u << 24);
            hx_poly_mul_ref(want, a, b, n);
            for (size_t o = 0; hx_crt_variants[o]; o++)
                if (hx_crt_variants[o]->supported()) {
                    product_crt(hx_crt_variants[o], got, a, b, n);
                    assert_memory_equal(got, want, n * sizeof(*got));
                }
            for (size_t o = 0; hx_ntt60_variants[o]; o++)
                if (hx_ntt60_variants[o]->supported()) {
                    product60(hx_ntt60_variants[o], got, a, b, n);
                    assert_memory_equal(got, want, n * sizeof(*got));
                }
        }
}

/* --- vectors against the reference, bit for bit, at random and at the ends of the range */

static void compare_crt(const struct hx_crt_ops *o, const struct hx_crt *t, size_t n,
                        const int32_t *a, const uint32_t *x, const uint32_t *y)
{
    const struct hx_crt_ops *ref = hx_crt_variants[0];
    _Alignas(64) uint32_t want[BLOCK], got[BLOCK];
    uint32_t sums[2], sums_ref[2];

    ref->transform(t, want, a);
    o->transform(t, got, a);
    assert_memory_equal(got, want, hx_crt_bytes(n));
    memcpy(want, x, hx_crt_bytes(n));
    memcpy(got, x, hx_crt_bytes(n));
    ref->forward(t, want);
    o->forward(t, got);
    assert_memory_equal(got, want, hx_crt_bytes(n));
    memcpy(want, x, hx_crt_bytes(n));
    memcpy(got, x, hx_crt_bytes(n));
    ref->inverse(t, want);
    o->inverse(t, got);
    assert_memory_equal(got, want, hx_crt_bytes(n));
    ref->pointwise(t, want, x, y);
    o->pointwise(t, got, x, y);
    assert_memory_equal(got, want, hx_crt_bytes(n));
    ref->dots(t, sums_ref, x, y, 0, 1);
    o->dots(t, sums, x, y, 0, 1);
    assert_memory_equal(sums, sums_ref, sizeof(sums));
}

static void test_vectors_of_two_primes_equal_the_reference(void **state)
{
    _Alignas(64) uint32_t x[BLOCK], y[BLOCK];
    int32_t a[N_MAX];
    struct hxt_rng rng;
    size_t ran = 0;

    (void)state;
    hxt_rng_init(&rng, 8);
    for (size_t o = 1; hx_crt_variants[o]; o++) {
        if (!hx_crt_variants[o]->supported())
            continue;
        ran++;
        for (size_t s = 0; s < HXT_LEN(sizes); s++)
            for (size_t i = 0; i < 500; i++) {
                const size_t n = sizes[s];

                fill_coefficients(&rng, a, n, 1u << 31);
                a[hxt_below(&rng, n)] = -INT32_MAX;
                if (i == 0) {
                    fill_largest(x, n);
                    fill_largest(y, n);
                } else {
                    fill_block(&rng, x, n);
                    fill_block(&rng, y, n);
                }
                compare_crt(hx_crt_variants[o], hx_crt_get(n), n, a, x, y);
            }
    }
    if (!ran)
        hxt_skip_test("this machine has no AVX2");
}

static void compare60(const struct hx_ntt60_ops *o, const struct hx_ntt60 *t, size_t n,
                      const uint64_t *x, const uint64_t *y)
{
    const struct hx_ntt60_ops *ref = hx_ntt60_variants[0];
    uint64_t want[N_MAX], got[N_MAX];

    memcpy(want, x, sizeof(want));
    memcpy(got, x, sizeof(got));
    ref->forward(t, want);
    o->forward(t, got);
    assert_memory_equal(got, want, n * sizeof(*got));
    memcpy(want, x, sizeof(want));
    memcpy(got, x, sizeof(got));
    ref->inverse(t, want);
    o->inverse(t, got);
    assert_memory_equal(got, want, n * sizeof(*got));
    ref->pointwise(t, want, x, y);
    o->pointwise(t, got, x, y);
    assert_memory_equal(got, want, n * sizeof(*got));
    assert_true(o->dot(t, x, y) == ref->dot(t, x, y));
}

static void test_vectors_of_60_bits_equal_the_reference(void **state)
{
    uint64_t x[N_MAX], y[N_MAX];
    struct hxt_rng rng;
    size_t ran = 0;

    (void)state;
    hxt_rng_init(&rng, 9);
    for (size_t o = 1; hx_ntt60_variants[o]; o++) {
        if (!hx_ntt60_variants[o]->supported())
            continue;
        ran++;
        for (size_t s = 0; s < HXT_LEN(sizes); s++)
            for (size_t i = 0; i < 500; i++) {
                fill_residues60(&rng, x, N_MAX);
                fill_residues60(&rng, y, N_MAX);
                for (size_t j = 0; i == 0 && j < N_MAX; j++)
                    x[j] = y[j] = HX_NTT60_Q - 1;
                compare60(hx_ntt60_variants[o], hx_ntt60_get(sizes[s]), sizes[s], x, y);
            }
    }
    if (!ran)
        hxt_skip_test("this machine has no AVX-512");
}

/* --- scores */

static void test_two_primes_and_60_bits_give_one_integer(void **state)
{
    enum { KEYS = 100, TIMES = 250 }; /* 4 sizes: 1e5 dots */
    static _Alignas(64) uint32_t keys[KEYS][BLOCK];
    static int32_t k[KEYS][N_MAX];
    _Alignas(64) uint32_t query[BLOCK];
    uint64_t query60[N_MAX], key60[N_MAX];
    int32_t q[N_MAX];
    int64_t c[KEYS];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 10);
    for (size_t s = 0; s < HXT_LEN(sizes); s++) {
        const size_t n = sizes[s];

        for (size_t i = 0; i < TIMES; i++) {
            fill_coefficients(&rng, q, n, 1u << (8 + i % 17));
            hx_crt_query(hx_crt_get(n), query, q);
            hx_ntt60_query(hx_ntt60_get(n), query60, q);
            for (size_t j = 0; j < KEYS; j++) {
                fill_coefficients(&rng, k[j], n, 1u << 24);
                hx_poly_involute(k[j], n);
                hx_crt_transform(hx_crt_get(n), keys[j], k[j]);
            }
            hx_crt_scores(hx_crt_get(n), c, query, keys[0], BLOCK, KEYS);
            for (size_t j = 0; j < KEYS; j++) {
                hx_ntt60_transform(hx_ntt60_get(n), key60, k[j]);
                assert_true(hx_ntt60_score(hx_ntt60_get(n), query60, key60) == c[j]);
                hx_poly_involute(k[j], n);
                assert_true(hx_poly_dot_ref(q, k[j], n) == c[j]);
            }
        }
    }
}

static void test_blocks_decode_to_what_was_encoded(void **state)
{
    _Alignas(64) uint32_t block[BLOCK];
    int32_t a[N_MAX], k[N_MAX], back[N_MAX];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 11);
    for (size_t s = 0; s < HXT_LEN(sizes); s++)
        for (size_t i = 0; i < 100; i++) {
            const size_t n = sizes[s];

            fill_coefficients(&rng, a, n, 1u << 31);
            memcpy(k, a, sizeof(k));
            hx_poly_involute(k, n);
            hx_crt_transform(hx_crt_get(n), block, k);
            hx_crt_decode(hx_crt_get(n), back, block);
            assert_memory_equal(back, a, n * sizeof(*a));
        }
}

/* --- the object files of the two primes have no 128-bit type */

static size_t count_of(const char *command)
{
    FILE *f = popen(command, "r");
    size_t n = 0;
    char line[512];

    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        n++;
    assert_int_equal(pclose(f) / 256 > 1, 0); /* grep: 1 is "none" */
    return n;
}

static void test_crt_objects_have_no_128_bit_type(void **state)
{
    static const char *const files[] = {"crt", "crt_avx2", "crt_avx512", "ntt60"};
    static const char types[] = "__int128|u128|__uint128|int128_t";
    char command[1024];

    (void)state;
    if (system("command -v gcc >/dev/null && command -v nm >/dev/null"))
        hxt_skip_test("no gcc or no nm");
    for (size_t i = 0; i < HXT_LEN(files); i++) {
        /* without the system's headers, some of which declare such types */
        snprintf(command, sizeof(command), "gcc -E -D_GNU_SOURCE -I%s/host %s/host/methods/ntt/ring/%s.c | "
                 "awk '/^# [0-9]+ \"/ {ours = index($3, \"host/methods/ntt/ring/\")} ours' | grep -E '%s'",
                 HXT_SRC, HXT_SRC, files[i], types);
        assert_true((count_of(command) > 0) == (i == 3)); /* the control: one that has it */
        snprintf(command, sizeof(command),
                 "nm %s/obj/host/methods/ntt/ring/%s.o | grep -E ' U __.*(ti3|ti4|tisf|tidf)$'", HXT_BUILD,
                 files[i]);
        assert_true(i == 3 || count_of(command) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrett_of_60_bits_equals_division),
        cmocka_unit_test(test_psi_has_order_2n_and_1753_has_not),
        cmocka_unit_test(test_no_modulus_is_a_proth_prime),
        cmocka_unit_test(test_residues_of_60_bits_come_back),
        cmocka_unit_test(test_roots_of_both_primes_are_those_of_the_smallest_base),
        cmocka_unit_test(test_barrett_of_one_product_is_wrong_for_15),
        cmocka_unit_test(test_garner_takes_residues_beyond_the_other_prime),
        cmocka_unit_test(test_garner_is_the_inverse_of_taking_residues),
        cmocka_unit_test(test_reference_evaluates_at_odd_powers_of_psi),
        cmocka_unit_test(test_round_trips_are_exact),
        cmocka_unit_test(test_products_equal_schoolbook),
        cmocka_unit_test(test_vectors_of_two_primes_equal_the_reference),
        cmocka_unit_test(test_vectors_of_60_bits_equal_the_reference),
        cmocka_unit_test(test_two_primes_and_60_bits_give_one_integer),
        cmocka_unit_test(test_blocks_decode_to_what_was_encoded),
        cmocka_unit_test(test_crt_objects_have_no_128_bit_type),
    };

    return HXT_RUN(tests);
}
