/* Protects libsilicon_skel.so: its methods, called through the rig, give what the kernels' definitions say for every
 * placement and build, refuse what does not fit, and report the time of the kernel. */
#include <math.h>
#include <stdlib.h>

#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"
#include "silicon.h"

static remote_handle64 skel;

static const silicon_how plain = {SILICON_RELEASE, SILICON_DDR, 1, 0};
static const silicon_how ways[] = {
    {SILICON_RELEASE, SILICON_DDR, 1, 0},  {SILICON_DEBUG, SILICON_DDR, 1, 0},
    {SILICON_RELEASE, SILICON_VTCM, 1, 0}, {SILICON_RELEASE, SILICON_DMA, 1, 0},
    {SILICON_RELEASE, SILICON_DDR, 2, 0},  {SILICON_RELEASE, SILICON_VTCM, 2, 0},
};

static int open_skel(void **state)
{
    (void)state;
    return silicon_open(silicon_URI "&_dom=cdsp", &skel);
}

static int close_skel(void **state)
{
    (void)state;
    return silicon_close(skel);
}

static void test_echo_gives_the_bytes_back_from_everywhere(void **state)
{
    uint8_t data[1000], back[1000];
    silicon_cycles t[HXT_LEN(ways)];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < HXT_LEN(ways); i++) {
        hxt_fill_bytes(&rng, data, sizeof(data));
        assert_int_equal(silicon_echo(skel, &ways[i], data, sizeof(data), back, sizeof(back), &t[i]),
                         AEE_SUCCESS);
        hxt_same_bytes(back, data, sizeof(data));
        assert_true(t[i].handler > 0 && t[i].total >= t[i].handler);
        assert_true(t[i].once == 0 && (t[i].worker > 0) == (ways[i].threads == 2));
        assert_true((t[i].copies > 0) == (ways[i].placement != SILICON_DDR));
    }
    assert_true(t[1].handler > 3 * t[0].handler); /* debug code */
}

static void test_unknown_ways_are_refused(void **state)
{
    static const silicon_how bad[] = {{2, SILICON_DDR, 1, 0}, {-1, SILICON_DDR, 1, 0},
                                      {SILICON_RELEASE, 3, 1, 0}, {SILICON_RELEASE, -1, 1, 0},
                                      {SILICON_RELEASE, SILICON_DDR, 0, 0},
                                      {SILICON_RELEASE, SILICON_DDR, 3, 0}};
    uint8_t data[128] = {0}, back[128];
    silicon_cycles t;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(silicon_echo(skel, &bad[i], data, 128, back, 128, &t),
                         AEE_DSP(AEE_EBADPARM));
    assert_int_equal(silicon_echo(skel, &plain, data, 128, back, 127, &t), AEE_DSP(AEE_EBADPARM));
}

static void test_axpby_and_modular_products_are_right(void **state)
{
    const uint32_t q = 1073738753;
    int16_t x[128], y[128];
    uint32_t a[64], b[64 * 32], r[64];
    silicon_cycles t;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    hxt_fill_bytes(&rng, x, sizeof(x));
    for (size_t i = 0; i < HXT_LEN(b); i++)
        b[i] = (uint32_t)hxt_below(&rng, q);
    for (size_t i = 0; i < HXT_LEN(a); i++)
        a[i] = (uint32_t)hxt_below(&rng, q);
    for (size_t w = 0; w < HXT_LEN(ways); w++) {
        assert_int_equal(silicon_axpby(skel, &ways[w], 12345, -7, x, 128, y, 128, &t), AEE_SUCCESS);
        for (int i = 0; i < 128; i++)
            assert_int_equal(y[i], (12345 * x[i] - 7) >> 15);
        assert_int_equal(silicon_barrett(skel, &ways[w], q, a, 64, b, 64, r, 64, &t), AEE_SUCCESS);
        for (int i = 0; i < 64; i++)
            assert_int_equal(r[i], (uint64_t)a[i] * b[i] % q);
        assert_int_equal(silicon_modmatmul(skel, &ways[w], q, 2, 32, 32, a, 64, b, 1024, r, 64, &t),
                         AEE_SUCCESS);
        for (int i = 0; i < 64; i++) {
            uint64_t sum = 0;

            for (int k = 0; k < 32; k++)
                sum += (uint64_t)a[i / 32 * 32 + k] * b[k * 32 + i % 32] % q;
            assert_int_equal(r[i], sum % q);
        }
    }
    assert_int_equal(silicon_barrett(skel, &plain, 17, a, 64, b, 64, r, 64, &t),
                     AEE_DSP(AEE_EBADPARM));
    assert_int_equal(silicon_modmatmul(skel, &plain, q, 2, 31, 32, a, 64, b, 1024, r, 64, &t),
                     AEE_DSP(AEE_EBADPARM));
}

static void test_vht2_of_a_unit_vector_is_flat_and_debug_costs_more(void **state)
{
    float x[256] = {1}, y[256];
    silicon_cycles release, debug;
    const silicon_how *how[] = {&ways[0], &ways[1]};
    silicon_cycles *t[] = {&release, &debug};

    (void)state;
    for (int hvx = 0; hvx < 2; hvx++) {
        for (int i = 0; i < 2; i++) {
            assert_int_equal(silicon_vht2(skel, how[i], hvx, 128, 3, x, 256, y, 256, t[i]),
                             AEE_SUCCESS);
            for (int j = 0; j < 256; j++)
                assert_true(fabsf(y[j] - (j < 128 ? 0.08838835f : 0)) < 1e-6f);
        }
        assert_true(debug.handler > 2 * release.handler);
    }
    assert_int_equal(silicon_vht2(skel, &plain, 1, 96, 1, x, 96, y, 96, &release),
                     AEE_DSP(AEE_EBADPARM));
    assert_int_equal(silicon_vht2(skel, &plain, 1, 128, 1, x, 200, y, 200, &release),
                     AEE_DSP(AEE_EBADPARM));
}

static void test_argmax_finds_the_first_largest_from_both_contexts(void **state)
{
    static uint16_t logits[1000];
    static const int at[][2] = {{3, 3}, {999, 999}, {0, 999}, {499, 700}, {600, 601}};
    uint32_t index;
    silicon_cycles t;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(at); i++) {
        memset(logits, 0, sizeof(logits));
        logits[at[i][0]] = logits[at[i][1]] = 17;
        for (size_t w = 0; w < HXT_LEN(ways); w++) {
            assert_int_equal(silicon_argmax(skel, &ways[w], logits, 1000, &index, &t), AEE_SUCCESS);
            assert_int_equal(index, at[i][0]);
        }
    }
    for (size_t w = 0; w < HXT_LEN(ways); w++) { /* a share without elements */
        assert_int_equal(silicon_argmax(skel, &ways[w], logits, 7, &index, &t), AEE_SUCCESS);
        assert_int_equal(index, 0);
    }
    assert_int_equal(silicon_argmax(skel, &plain, logits, 0, &index, &t), AEE_DSP(AEE_EBADPARM));
}

static void test_dot_sums_products(void **state)
{
    float a[3 * 64], b[3 * 64], sums[3];
    silicon_cycles t;

    (void)state;
    for (int i = 0; i < 3 * 64; i++)
        a[i] = (float)(i % 5), b[i] = (float)(i / 64 + 1);
    for (size_t w = 0; w < HXT_LEN(ways); w++) {
        assert_int_equal(silicon_dot(skel, &ways[w], 64, a, 192, b, 192, sums, 3, &t), AEE_SUCCESS);
        for (int i = 0; i < 3; i++) {
            float want = 0;

            for (int j = 0; j < 64; j++)
                want += a[64 * i + j] * b[64 * i + j];
            assert_true(fabsf(sums[i] - want) < 1e-3f);
        }
    }
    assert_int_equal(silicon_dot(skel, &plain, 48, a, 48, b, 48, sums, 1, &t),
                     AEE_DSP(AEE_EBADPARM));
}

/* A constant vector: VHT2 leaves its first coefficient.  39 of the numbers below 64 are squarefree, so it is lane 7 of band 2, of 4 bits,
 * and 7 = M times its scale.  Behind two bands of 12 bytes. */
static void test_compress_of_a_constant_keeps_one_coefficient(void **state)
{
    float v[2 * 64];
    uint8_t codes[2 * 42];
    silicon_cycles t;

    (void)state;
    for (int i = 0; i < 128; i++)
        v[i] = 0.875f; /* coefficient 7, scale 1 = 0x3c00 */
    for (size_t w = 0; w < HXT_LEN(ways); w++) {
        memset(codes, HXT_POISON, sizeof(codes));
        assert_int_equal(silicon_compress(skel, &ways[w], 0, 1, 64, v, 128, codes, 84, &t),
                         AEE_SUCCESS);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(codes[42 * i + 24], 0x00);
            assert_int_equal(codes[42 * i + 25], 0x3c);
            assert_int_equal(codes[42 * i + 29], 14 << 4 | 7); /* lane 6 is 0 */
        }
    }
    assert_int_equal(silicon_compress(skel, &plain, 0, 1, 64, v, 128, codes, 83, &t),
                     AEE_DSP(AEE_EBADPARM));
    assert_int_equal(silicon_compress(skel, &plain, 2, 1, 64, v, 128, codes, 84, &t),
                     AEE_DSP(AEE_EBADPARM));
}

/* --- NTT: forward of 1 is 1 everywhere; inverse undoes forward, with whatever tables */

static void check_ntt(const silicon_how *how, uint32_t q, int n)
{
    uint32_t v[2 * 512] = {1}, there[2 * 512], back[2 * 512];
    silicon_cycles t;

    v[n + 1] = q - 1;
    for (int i = 0; i < 3; i++) {
        const int variant = n == 64 ? i % 2 : i;

        assert_int_equal(silicon_ntt(skel, how, variant, 0, q, n, v, 2 * n, there, 2 * n, &t),
                         AEE_SUCCESS);
        for (int j = 0; j < n; j++)
            assert_int_equal(there[j], 1);
        assert_int_equal(silicon_ntt(skel, how, variant, 1, q, n, there, 2 * n, back, 2 * n, &t),
                         AEE_SUCCESS);
        hxt_same_bytes(back, v, 2 * (size_t)n * 4);
    }
}

static void test_ntt_goes_there_and_back_with_each_kind_of_tables(void **state)
{
    const silicon_how two = {SILICON_RELEASE, SILICON_DDR, 2, 0};
    silicon_cycles first, again;
    uint32_t v[64] = {0}, r[64];

    (void)state;
    assert_int_equal(silicon_ntt(skel, &plain, SILICON_NTT_PERSISTENT, 0, 1073738753, 64, v, 64, r,
                                 64, &first), AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(silicon_ntt_init(skel, &plain, &first), AEE_SUCCESS);
    assert_int_equal(silicon_ntt_init(skel, &plain, &again), AEE_SUCCESS);
    assert_true(again.total < first.total / 10);
    for (int n = 64; n <= 512; n *= 2) {
        check_ntt(&plain, 1073738753, n);
        check_ntt(&two, 1073732609, n);
    }
    assert_int_equal(silicon_ntt(skel, &plain, SILICON_NTT_HVX, 0, 1073479681, 64, v, 64, r, 64,
                                 &first), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(silicon_ntt(skel, &ways[1], SILICON_NTT_HVX, 0, 1073738753, 64, v, 64, r, 64,
                                 &first), AEE_DSP(AEE_EUNSUPPORTED));
}

/* --- matmul: x = 127, 0, 0, ... picks one weight of each row, exactly; three tiles of 16 rows at most */

enum { INNER = 65504, STRIDE = 65536, ROWS = 38, TOKENS = 2 };

static float x[TOKENS * INNER] __attribute__((aligned(128))), w_scale[ROWS], y[TOKENS * ROWS];
static uint8_t *w;

static int call_matmul(const silicon_how *how, int variant, silicon_cycles *t)
{
    memset(y, HXT_POISON, sizeof(y));
    return silicon_matmul(skel, how, variant, TOKENS, INNER, ROWS, x, TOKENS * INNER, w,
                          ROWS * STRIDE, w_scale, ROWS, y, TOKENS * ROWS, t);
}

/* vrmpy is exact here; qf32 may lose the last bits of a sum. */
static void check_matmul(int variant)
{
    for (int i = 0; i < TOKENS * ROWS; i++) {
        const int t = i / ROWS, r = i % ROWS;
        const float want = (float)(int8_t)w[r * STRIDE + t] * 127 * w_scale[r];

        if (fabsf(y[i] - want) > (variant == SILICON_QF32 ? fabsf(want) * 0x1p-20f + 1e-30f : 0))
            fail_msg("variant %d, token %d, row %d: %.9g, not %.9g", variant, t, r, y[i], want);
    }
}

static int matmul_setup(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 3);
    w = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, ROWS * STRIDE);
    assert_non_null(w);
    hxt_fill_bytes(&rng, w, ROWS * STRIDE);
    for (int r = 0; r < ROWS; r++) {
        memset(w + r * STRIDE + INNER, 0, STRIDE - INNER);
        w_scale[r] = 0.25f * (float)(r + 1);
    }
    for (int t = 0; t < TOKENS; t++)
        x[t * INNER + t] = 127;
    return 0;
}

static int matmul_teardown(void **state)
{
    (void)state;
    rpcmem_free(w);
    return 0;
}

/* Other bytes in the 2 MiB of VTCM where the last call's weights still are. */
static void spoil_vtcm(void)
{
    enum { N = 1 << 19 };
    const silicon_how how = {SILICON_RELEASE, SILICON_VTCM, 1, 0};
    static int16_t in[N], out[N];
    silicon_cycles t;

    assert_int_equal(silicon_axpby(skel, &how, 1, 12345 << 15, in, N, out, N, &t), AEE_SUCCESS);
    assert_int_equal(out[N - 1], 12345);
}

static void check_matmul_on(int placement, int threads)
{
    silicon_how how = {SILICON_RELEASE, placement, threads, 1};
    silicon_cycles t;

    for (int variant = SILICON_SINGLE; variant <= SILICON_QF32; variant++) {
        spoil_vtcm();
        assert_int_equal(call_matmul(&how, variant, &t), AEE_SUCCESS);
        check_matmul(variant);
        assert_true((t.once > 0) == (variant == SILICON_ROW_SUMS));
        assert_true((t.worker > 0) == (threads == 2));
        assert_true(t.handler > 0 && t.total >= t.handler);
    }
    how.cold = 0;
    assert_int_equal(call_matmul(&how, SILICON_ROW_SUMS, &t), AEE_SUCCESS);
    check_matmul(SILICON_ROW_SUMS);
    assert_true(t.once == 0);
}

static void test_matmul_gives_the_products_however_it_runs(void **state)
{
    (void)state;
    for (int placement = SILICON_DDR; placement <= SILICON_DMA; placement++)
        for (int threads = 1; threads <= 2; threads++)
            check_matmul_on(placement, threads);
}

static void test_a_second_context_halves_the_matmul(void **state)
{
    const silicon_how one = {SILICON_RELEASE, SILICON_VTCM, 1, 1};
    const silicon_how two = {SILICON_RELEASE, SILICON_VTCM, 2, 1};
    silicon_cycles t1, t2;

    (void)state;
    assert_int_equal(call_matmul(&one, SILICON_SINGLE, &t1), AEE_SUCCESS);
    assert_int_equal(call_matmul(&two, SILICON_SINGLE, &t2), AEE_SUCCESS);
    assert_true(t2.total < t1.total);
    assert_true(t2.worker < t1.handler && t2.handler < t1.handler);
}

static void test_warm_matmul_without_a_table_is_refused(void **state)
{
    static uint8_t other[128];
    float scale = 1, in = 1, out;
    silicon_cycles t;

    (void)state;
    assert_int_equal(silicon_matmul(skel, &plain, 1, 1, 1, 1, &in, 1, other, 128, &scale, 1, &out, 1,
                                    &t), AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(silicon_matmul(skel, &plain, 0, 1, 1, 1, &in, 1, other, 127, &scale, 1, &out, 1,
                                    &t), AEE_DSP(AEE_EBADPARM));
}


static int start(void **state)
{
    return own_rig_start(state) || matmul_setup(state);
}

static int stop(void **state)
{
    matmul_teardown(state);
    return own_rig_stop(state);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_echo_gives_the_bytes_back_from_everywhere, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_unknown_ways_are_refused, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_axpby_and_modular_products_are_right, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_vht2_of_a_unit_vector_is_flat_and_debug_costs_more, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_argmax_finds_the_first_largest_from_both_contexts, open_skel,
                                        close_skel),
        cmocka_unit_test_setup_teardown(test_dot_sums_products, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_compress_of_a_constant_keeps_one_coefficient, open_skel,
                                        close_skel),
        cmocka_unit_test_setup_teardown(test_ntt_goes_there_and_back_with_each_kind_of_tables, open_skel,
                                        close_skel),
        cmocka_unit_test_setup_teardown(test_a_second_context_halves_the_matmul, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_warm_matmul_without_a_table_is_refused, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_matmul_gives_the_products_however_it_runs, open_skel, close_skel),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, start, stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
