/* Protects compressed vectors (rpc/block/hx_compress.h): sizes of every head dimension, both Moebius orders, how much comes back,
 * and what is refused. */
#include <errno.h>
#include <math.h>

#include "hx_compress.h"
#include "hx_vht2.h"
#include "hxt.h"

static void test_sizes_are_the_published_ones_or_those_of_the_pad(void **state)
{
    static const struct {
        int dh, n, k, v;
        enum hx_mobius kind;
    } want[] = {
        {8, 8, 14, 5, HX_MOBIUS_SHIP},    {64, 64, 42, 26, HX_MOBIUS_SHIP},    {72, 77, 50, 31, HX_MOBIUS_BLOCK},
        {80, 105, 66, 42, HX_MOBIUS_BLOCK},   {96, 105, 66, 42, HX_MOBIUS_BLOCK},  {105, 105, 66, 42, HX_MOBIUS_BLOCK},
        {112, 154, 90, 60, HX_MOBIUS_BLOCK},  {128, 128, 76, 50, HX_MOBIUS_SHIP},  {192, 210, 121, 81, HX_MOBIUS_BLOCK},
        {256, 256, 144, 98, HX_MOBIUS_SHIP},  {512, 512, 280, 194, HX_MOBIUS_SHIP}, {1024, 1024, 552, 386, HX_MOBIUS_SHIP},
    };
    struct hx_compress c;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(want); i++)
        for (int is_v = 0; is_v < 2; is_v++) {
            assert_int_equal(hx_compress_init(&c, want[i].dh, is_v), 0);
            assert_int_equal(c.n, want[i].n);
            assert_int_equal(c.kind, want[i].kind);
            assert_int_equal(c.bytes, is_v ? want[i].v : want[i].k);
        }
}

static void test_head_dimensions_without_a_pad_are_refused(void **state)
{
    static const int bad[] = {-64, 0, 1, 7, 771, 1000, 1023, 1025, 1155, 2048};
    struct hx_compress c;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(hx_compress_init(&c, bad[i], 0), -EINVAL);
}

static void test_orders_are_permutations_with_squarefree_numbers_first(void **state)
{
    static const struct {
        int n, squarefree[HX_MOBIUS_ORDERS];
    } want[] = {{66, {40, 41}}, {128, {78, 78}}, {154, {93, 94}}, {330, {202, 203}}, {770, {469, 470}}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(want); i++)
        for (int kind = 0; kind < HX_MOBIUS_ORDERS; kind++) {
            uint16_t order[HX_MOBIUS_MAX];
            uint8_t seen[HX_MOBIUS_MAX] = {0};
            const int first = hx_mobius_order(want[i].n, (enum hx_mobius)kind, order);

            assert_int_equal(first, want[i].squarefree[kind]);
            for (int k = 0; k < want[i].n; k++) {
                const size_t number = order[k] + (kind == HX_MOBIUS_BLOCK);

                assert_int_equal(seen[order[k]]++, 0);
                assert_int_equal(number > 0 && hx_squarefree_index(number - 1), k < first);
                if (k && k != first)
                    assert_true(order[k] > order[k - 1]);
            }
        }
}

/* Of normal values 3 bits keep less than 5. */
static void test_vectors_come_back_nearly(void **state)
{
    static const int dims[] = {8, 64, 80, 96, 128, 160, 256, 512, 770, 1024};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < HXT_LEN(dims); i++)
        for (int is_v = 0; is_v < 2; is_v++) {
            float x[1024], y[1024];
            double error = 0, size = 0;
            uint8_t codes[600];
            struct hx_compress c;

            assert_int_equal(hx_compress_init(&c, dims[i], is_v), 0);
            hxt_fill_f32(&rng, x, (size_t)dims[i], HXT_NORMAL);
            assert_int_equal(hx_compress_encode(&c, x, codes), 0);
            assert_int_equal(hx_compress_decode(&c, c.bands.bands, codes, y), 0);
            for (int k = 0; k < dims[i]; k++) {
                error += pow((double)x[k] - (double)y[k], 2);
                size += pow((double)x[k], 2);
            }
            if (!(error < (is_v ? 0.3 : 0.1) * size))
                fail_msg("dh %d, is_v %d: error %g of %g", dims[i], is_v, error, size);
        }
}

static void test_what_is_not_finite_is_refused_and_nothing_written(void **state)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    uint8_t codes[76], untouched[76];
    float x[128] = {1};
    struct hx_compress c;

    (void)state;
    memset(codes, HXT_POISON, sizeof(codes));
    memcpy(untouched, codes, sizeof(codes));
    assert_int_equal(hx_compress_init(&c, 128, 0), 0);
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        x[77] = bad[i];
        assert_int_equal(hx_compress_encode(&c, x, codes), -EDOM);
        assert_memory_equal(codes, untouched, sizeof(codes));
    }
    assert_int_equal(hx_compress_decode(&c, 5, codes, x), -EINVAL);
    assert_int_equal(hx_compress_decode(&c, -1, codes, x), -EINVAL);
}

static void test_the_walsh_hadamard_transform_is_its_own_inverse(void **state)
{
    double x[64] = {0};

    (void)state;
    assert_int_equal(hx_wht_f64(x, 0), -EINVAL);
    assert_int_equal(hx_wht_f64(x, 66), -EINVAL);
    x[5] = 1;
    assert_int_equal(hx_wht_f64(x, 64), 0);
    for (int k = 0; k < 64; k++)
        assert_true(fabs(x[k] - (__builtin_parity(k & 5) ? -0.125 : 0.125)) < 1e-15);
    assert_int_equal(hx_wht_f64(x, 64), 0);
    for (int k = 0; k < 64; k++)
        assert_true(fabs(x[k] - (k == 5)) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_the_published_ones_or_those_of_the_pad),
        cmocka_unit_test(test_head_dimensions_without_a_pad_are_refused),
        cmocka_unit_test(test_orders_are_permutations_with_squarefree_numbers_first),
        cmocka_unit_test(test_vectors_come_back_nearly),
        cmocka_unit_test(test_what_is_not_finite_is_refused_and_nothing_written),
        cmocka_unit_test(test_the_walsh_hadamard_transform_is_its_own_inverse),
    };

    return HXT_RUN(tests);
}
