/* Protects: the transforms on HVX (kernels/ntt).  They are those of host/methods/ntt bit for bit, for both primes and every n, at random
 * and at the ends of the range; and those of the published kernel (kernels/silicon) in another order. */
#include <stdlib.h>

#include "AEEStdErr.h"
#include "hexrig_hvx_count.h"
#include "hxt.h"
#include "methods/ntt/ring/ntt.h"
#include "ntt/ring_ntt.h"

enum { N_MAX = HX_NTT_MAX, TIMES = 40 };

static const int sizes[] = {64, 128, 256, 512};
static const uint32_t primes[] = {HX_CRT_Q1, HX_CRT_Q2};

static struct hx_ring ring;
static _Alignas(128) uint32_t x[N_MAX], y[N_MAX], got[N_MAX], block[2 * N_MAX], block2[2 * N_MAX];

static void fill(struct hxt_rng *rng, uint32_t *v, int n, uint32_t q, int largest)
{
    for (int i = 0; i < n; i++)
        v[i] = largest ? q - 1 : (uint32_t)hxt_below(rng, q);
}

/* Both primes of a host block have the same values here; the one that is asked for counts. */
static uint32_t *host_block(uint32_t *b, const uint32_t *v, int n, int prime)
{
    memset(b, 0, 2 * (size_t)n * sizeof(*b));
    memcpy(b + prime * n, v, (size_t)n * sizeof(*b));
    return b + prime * n;
}

static void check_transforms(const struct hx_crt *host, int n, int prime)
{
    const struct hx_crt_ops *ref = hx_crt_variants[0];
    const size_t bytes = (size_t)n * sizeof(uint32_t);
    uint32_t *want = host_block(block, x, n, prime);

    memcpy(got, x, bytes);
    assert_int_equal(hx_ring_forward_hvx(&ring, got), AEE_SUCCESS);
    ref->forward(host, block);
    hxt_same_bytes(got, want, bytes);
    assert_int_equal(hx_ring_inverse_hvx(&ring, got), AEE_SUCCESS);
    hxt_same_bytes(got, x, bytes);
    host_block(block, x, n, prime);
    ref->inverse(host, block);
    assert_int_equal(hx_ring_inverse_hvx(&ring, got), AEE_SUCCESS);
    hxt_same_bytes(got, want, bytes);
    host_block(block, x, n, prime);
    host_block(block2, y, n, prime);
    ref->pointwise(host, block, block, block2);
    assert_int_equal(hx_ring_pointwise_hvx(&ring, got, x, y), AEE_SUCCESS);
    hxt_same_bytes(got, want, bytes);
}

static void check_dots(const struct hx_crt *host, int n, int prime)
{
    enum { KEYS = 3 };
    _Alignas(128) static uint32_t keys[KEYS * 2 * N_MAX];
    uint32_t sums[KEYS], want[2];

    for (int k = 0; k < KEYS; k++)
        memcpy(keys + k * 2 * n, k == 1 ? x : y, (size_t)n * sizeof(*keys));
    assert_int_equal(hx_ring_dots_hvx(&ring, sums, x, keys, 2 * (size_t)n, KEYS), AEE_SUCCESS);
    for (int k = 0; k < KEYS; k++) {
        host_block(block, x, n, prime);
        host_block(block2, k == 1 ? x : y, n, prime);
        hx_crt_variants[0]->dots(host, want, block, block2, 0, 1);
        assert_int_equal(sums[k], want[prime]);
    }
}

static void check_lift(const struct hx_crt *host, struct hxt_rng *rng, int n, int prime)
{
    int32_t a[N_MAX];

    for (int i = 0; i < n; i++)
        a[i] = i == 0 ? INT32_MAX : i == 1 ? INT32_MIN : (int32_t)hxt_u32(rng);
    hx_crt_variants[0]->transform(host, block, a);
    hx_crt_variants[0]->inverse(host, block);
    assert_int_equal(hx_ring_lift_hvx(&ring, got, a), AEE_SUCCESS);
    hxt_same_bytes(got, block + prime * n, (size_t)n * sizeof(*got));
}

static void test_hvx_equals_the_host_for_every_n_and_prime(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t s = 0; s < HXT_LEN(sizes); s++)
        for (int prime = 0; prime < HX_RING_PRIMES; prime++) {
            const struct hx_crt *host = hx_crt_get((size_t)sizes[s]);

            assert_int_equal(hx_ring_make(&ring, sizes[s], prime), AEE_SUCCESS);
            assert_int_equal(ring.forward.w[sizes[s] / 2], hx_crt_psi(host, prime)); /* brv of 1 */
            for (int i = 0; i < TIMES; i++) {
                fill(&rng, x, sizes[s], primes[prime], i == 0);
                fill(&rng, y, sizes[s], primes[prime], i == 0 || i == 1);
                check_transforms(host, sizes[s], prime);
                check_dots(host, sizes[s], prime);
                check_lift(host, &rng, sizes[s], prime);
            }
        }
}

static int reversed(int i, int n)
{
    int r = 0;

    for (int bit = 1; bit < n; bit <<= 1, i >>= 1)
        r = r << 1 | (i & 1);
    return r;
}

static void test_hvx_is_the_published_kernel_in_reversed_order(void **state)
{
    uint32_t tables[5 * N_MAX];
    struct hx_ntt published;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (size_t s = 0; s < HXT_LEN(sizes); s++)
        for (int prime = 0; prime < HX_RING_PRIMES; prime++) {
            const int n = sizes[s];

            assert_int_equal(hx_ring_make(&ring, n, prime), AEE_SUCCESS);
            assert_int_equal(hx_ntt_make(&published, tables, n, primes[prime], HX_NTT_FORWARD),
                             AEE_SUCCESS);
            const struct hx_ntt_direction forward = hx_ntt_forward(&published);

            fill(&rng, x, n, primes[prime], 0);
            memcpy(got, x, sizeof(got));
            assert_int_equal(hx_ring_forward_hvx(&ring, got), AEE_SUCCESS);
            assert_int_equal(hx_ntt_scalar(&forward, x), AEE_SUCCESS);
            for (int i = 0; i < n; i++)
                assert_int_equal(got[i], x[reversed(i, n)]);
        }
}

static void test_hvx_does_the_work(void **state)
{
    (void)state;
    assert_int_equal(hx_ring_make(&ring, 256, 0), AEE_SUCCESS);
    memset(x, 0, sizeof(x));
    const uint64_t before = hx_hvx_ops(&hx_hvx_counts);

    hx_ring_forward_hvx(&ring, x);
    print_message("forward n 256: %llu HVX operations\n",
                  (unsigned long long)(hx_hvx_ops(&hx_hvx_counts) - before));
    assert_true(hx_hvx_ops(&hx_hvx_counts) - before > 8 * 4 * 10);
}

static void test_what_cannot_be_is_refused(void **state)
{
    (void)state;
    assert_int_equal(hx_ring_make(&ring, 32, 0), AEE_EBADPARM);
    assert_int_equal(hx_ring_make(&ring, 96, 0), AEE_EBADPARM);
    assert_int_equal(hx_ring_make(&ring, 1024, 0), AEE_EBADPARM);
    assert_int_equal(hx_ring_make(&ring, 64, 2), AEE_EBADPARM);
    assert_int_equal(hx_ring_make(&ring, 64, 1), AEE_SUCCESS);
    assert_int_equal(hx_ring_forward_hvx(&ring, x + 1), AEE_EBADPARM);
    assert_int_equal(hx_ring_inverse_hvx(&ring, x + 1), AEE_EBADPARM);
    assert_int_equal(hx_ring_scale_hvx(&ring, x + 1), AEE_EBADPARM);
    assert_int_equal(hx_ring_lift_hvx(&ring, x + 1, (const int32_t *)y), AEE_EBADPARM);
    assert_int_equal(hx_ring_pointwise_hvx(&ring, x, y + 1, y), AEE_EBADPARM);
    assert_int_equal(hx_ring_dots_hvx(&ring, got, x, y, 33, 1), AEE_EBADPARM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hvx_equals_the_host_for_every_n_and_prime),
        cmocka_unit_test(test_hvx_is_the_published_kernel_in_reversed_order),
        cmocka_unit_test(test_hvx_does_the_work),
        cmocka_unit_test(test_what_cannot_be_is_refused),
    };

    return HXT_RUN(tests);
}
