/* Protects a forward pass of interface silicon (silicon_forward.c), called through the rig: layers give what the same
 * layers give in double, to the last bit the same however their matmuls run; times add up, and only a cold call builds
 * tables. */
#include <math.h>
#include <stdlib.h>

#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"
#include "silicon.h"
#include "silicon/layer.h"

enum { TOKENS = 5, WIDTH = 160, FFN = 300, HEADS = 3, HEAD = 64, LAYERS = 2, Q = HEADS * HEAD };
enum { MATRICES = 7 };

/* rows, in */
static const int shapes[MATRICES][2] = {{Q, WIDTH},   {HEAD, WIDTH}, {HEAD, WIDTH}, {WIDTH, Q},
                                        {FFN, WIDTH}, {FFN, WIDTH},  {WIDTH, FFN}};
enum { NORMS = 4 * WIDTH + 2 * HEAD, TIMES = (LAYERS + 1) * SILICON_PASS_TIMES };

static const silicon_geometry geometry = {TOKENS, WIDTH, FFN, HEADS, HEAD};
static remote_handle64 skel;
static uint8_t *weights;
static float x[TOKENS * WIDTH], y[TOKENS * WIDTH];
static uint64_t times[TIMES];

static size_t padded(size_t n)
{
    return (n + 127) / 128 * 128;
}

static size_t matrix_bytes(int i)
{
    return padded((size_t)shapes[i][0] * padded((size_t)shapes[i][1]) + (size_t)shapes[i][0] * 4);
}

static size_t layer_bytes(void)
{
    size_t bytes = padded(NORMS * 4);

    for (int i = 0; i < MATRICES; i++)
        bytes += matrix_bytes(i);
    return bytes;
}

static size_t all_bytes(void)
{
    return LAYERS * layer_bytes() + WIDTH * 4;
}

/* --- the same in double */

static const uint8_t *matrix_at(int layer, int i)
{
    const uint8_t *at = weights + (size_t)layer * layer_bytes();

    for (int k = 0; k < i; k++)
        at += matrix_bytes(k);
    return at;
}

static void matmul(int layer, int i, const float *in, float *out)
{
    const int rows = shapes[i][0], n = shapes[i][1];
    const int8_t *w = (const int8_t *)matrix_at(layer, i);
    const float *scale = (const float *)(w + (size_t)rows * padded((size_t)n));

    for (int t = 0; t < TOKENS; t++)
        for (int r = 0; r < rows; r++) {
            double sum = 0;

            for (int k = 0; k < n; k++)
                sum += (double)w[(size_t)r * padded((size_t)n) + (size_t)k] * in[t * n + k];
            out[t * rows + r] = (float)(sum * scale[r]);
        }
}

static void each_row(hx_row_op *op, const float *in, const float *other, int step, int n, int rows, int per_token, float *out)
{
    for (int r = 0; r < rows; r++)
        op(in + r * n, other ? other + r * step : NULL, n, r / per_token, out + r * n);
}

static void layer_ref(int layer, float *h)
{
    static float n[TOKENS * WIDTH], p[TOKENS * WIDTH], q[TOKENS * Q], a[TOKENS * Q], k[TOKENS * HEAD], v[TOKENS * HEAD];
    static float gate[TOKENS * FFN], up[TOKENS * FFN];
    const float *norm = (const float *)matrix_at(layer, MATRICES);

    each_row(hx_rmsnorm_ref, h, norm, 0, WIDTH, TOKENS, 1, n);
    matmul(layer, 0, n, q), matmul(layer, 1, n, k), matmul(layer, 2, n, v);
    each_row(hx_rmsnorm_ref, q, norm + 4 * WIDTH, 0, HEAD, TOKENS * HEADS, HEADS, q);
    each_row(hx_rmsnorm_ref, k, norm + 4 * WIDTH + HEAD, 0, HEAD, TOKENS, 1, k);
    each_row(hx_rope_ref, q, NULL, 0, HEAD, TOKENS * HEADS, HEADS, q);
    each_row(hx_rope_ref, k, NULL, 0, HEAD, TOKENS, 1, k);
    for (int r = 0; r < TOKENS * HEADS; r++)
        hx_attend_ref(q + r * HEAD, k, v, HEAD, r / HEADS + 1, HEAD, 0.125f, a + r * HEAD);
    matmul(layer, 3, a, p);
    each_row(hx_rmsnorm_ref, p, norm + WIDTH, 0, WIDTH, TOKENS, 1, n);
    each_row(hx_add_ref, h, n, WIDTH, WIDTH, TOKENS, 1, h);
    each_row(hx_rmsnorm_ref, h, norm + 2 * WIDTH, 0, WIDTH, TOKENS, 1, n);
    matmul(layer, 4, n, gate), matmul(layer, 5, n, up);
    each_row(hx_gelu_ref, gate, up, FFN, FFN, TOKENS, 1, gate);
    matmul(layer, 6, gate, p);
    each_row(hx_rmsnorm_ref, p, norm + 3 * WIDTH, 0, WIDTH, TOKENS, 1, n);
    each_row(hx_add_ref, h, n, WIDTH, WIDTH, TOKENS, 1, h);
}

/* --- weights */

static void fill_layer(struct hxt_rng *rng, int layer)
{
    float *norm = (float *)(uintptr_t)matrix_at(layer, MATRICES);

    for (int i = 0; i < MATRICES; i++) {
        const int rows = shapes[i][0];
        uint8_t *w = (uint8_t *)(uintptr_t)matrix_at(layer, i);
        float *scale = (float *)(w + (size_t)rows * padded((size_t)shapes[i][1]));

        memset(w, 0, matrix_bytes(i));
        for (int r = 0; r < rows; r++) {
            hxt_fill_bytes(rng, w + (size_t)r * padded((size_t)shapes[i][1]), (size_t)shapes[i][1]);
            scale[r] = (float)(1 + hxt_below(rng, 3)) / 1000;
        }
    }
    for (int i = 0; i < NORMS; i++)
        norm[i] = (float)(1 + hxt_below(rng, 10)) / 8;
}

static int open_skel(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 77);
    weights = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, all_bytes());
    assert_non_null(weights);
    for (int l = 0; l < LAYERS; l++)
        fill_layer(&rng, l);
    for (int i = 0; i < WIDTH; i++)
        ((float *)matrix_at(LAYERS, 0))[i] = 1;
    hxt_fill_f32(&rng, x, HXT_LEN(x), HXT_NORMAL);
    return silicon_open(silicon_URI "&_dom=cdsp", &skel);
}

static int close_skel(void **state)
{
    (void)state;
    rpcmem_free(weights);
    return silicon_close(skel);
}

static int call_with(const silicon_how *how, const silicon_geometry *g, int layers, int n_times, silicon_cycles *t)
{
    memset(y, HXT_POISON, sizeof(y));
    return silicon_forward(skel, how, g, layers, x, HXT_LEN(x), weights, (int)all_bytes(), y, HXT_LEN(y), times, n_times,
                           t);
}

static int call(const silicon_how *how, int layers, silicon_cycles *t)
{
    return call_with(how, &geometry, layers, TIMES, t);
}

/* --- tests */

static void test_a_pass_is_near_the_same_in_double(void **state)
{
    const silicon_how how = {SILICON_RELEASE, SILICON_DDR, 1, 0};
    static float h[TOKENS * WIDTH], want[TOKENS * WIDTH];
    double error = 0, all = 0;
    silicon_cycles t;

    (void)state;
    memcpy(h, x, sizeof(h));
    for (int l = 0; l < LAYERS; l++)
        layer_ref(l, h);
    each_row(hx_rmsnorm_ref, h, (const float *)matrix_at(LAYERS, 0), 0, WIDTH, TOKENS, 1, want);
    assert_int_equal(call(&how, LAYERS, &t), AEE_SUCCESS);
    for (size_t i = 0; i < HXT_LEN(y); i++) {
        error += ((double)y[i] - want[i]) * (y[i] - want[i]);
        all += (double)want[i] * want[i];
    }
    if (!(sqrt(error / all) < 0.03)) /* activations have 8 bits in every matmul */
        fail_msg("relative error %g", sqrt(error / all));
}

/* Single or two contexts, DDR, VTCM or tiles, tables or not: the sums are the same integers. */
static void test_every_way_gives_the_same_bits(void **state)
{
    static float want[TOKENS * WIDTH];
    silicon_cycles t;

    (void)state;
    for (int threads = 1; threads <= 2; threads++)
        for (int placement = SILICON_DDR; placement <= SILICON_DMA; placement++)
            for (int cold = 1; cold >= 0; cold--) {
                const silicon_how how = {SILICON_RELEASE, placement, threads, cold};

                assert_int_equal(call(&how, LAYERS, &t), AEE_SUCCESS);
                if (threads == 1 && placement == SILICON_DDR && cold)
                    memcpy(want, y, sizeof(want));
                hxt_same_bytes(y, want, sizeof(want));
                assert_true((t.worker > 0) == (threads == 2));
                assert_true((times[SILICON_PASS_STAGING] > 0) == (placement != SILICON_DDR));
                assert_true((times[SILICON_PASS_TABLES] > 0) == (cold && threads == 2));
            }
}

static void test_times_of_operations_make_up_a_layer(void **state)
{
    const silicon_how how = {SILICON_RELEASE, SILICON_DMA, 2, 1};
    silicon_cycles t;
    uint64_t all = 0;

    (void)state;
    assert_int_equal(call(&how, LAYERS, &t), AEE_SUCCESS);
    for (int l = 0; l < LAYERS; l++) {
        const uint64_t *row = times + l * SILICON_PASS_TIMES;
        uint64_t sum = 0;

        for (int op = 0; op < SILICON_PASS_PCYCLES; op++) {
            assert_true(row[op] > 0);
            sum += row[op];
        }
        assert_true(sum <= row[SILICON_PASS_PCYCLES] && sum > row[SILICON_PASS_PCYCLES] * 99 / 100);
        assert_true(row[SILICON_PASS_MICROSECONDS] > 0);
        all += row[SILICON_PASS_PCYCLES];
    }
    assert_true(all < t.total);
    assert_true(times[LAYERS * SILICON_PASS_TIMES + SILICON_PASS_NORM] > 0);
}

static void test_passes_that_do_not_fit_are_refused(void **state)
{
    const silicon_how warm = {SILICON_RELEASE, SILICON_DDR, 2, 0}, one = {SILICON_RELEASE, SILICON_DDR, 1, 0};
    const silicon_geometry bad[] = {{0, WIDTH, FFN, HEADS, HEAD},      {TOKENS, WIDTH + 1, FFN, HEADS, HEAD},
                                    {TOKENS, WIDTH, 0, HEADS, HEAD},   {TOKENS, WIDTH, FFN, HEADS, 63},
                                    {TOKENS, WIDTH, FFN, -1, HEAD},    {513, WIDTH, FFN, HEADS, HEAD}};
    silicon_cycles t;

    (void)state;
    assert_int_equal(call(&warm, LAYERS, &t), AEE_DSP(AEE_EBADSTATE)); /* no cold call before it */
    assert_int_equal(call(&one, LAYERS - 1, &t), AEE_DSP(AEE_EBADPARM)); /* weights of more layers */
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(call_with(&one, &bad[i], LAYERS, TIMES, &t), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(call_with(&one, &geometry, LAYERS, TIMES - 1, &t), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(call(&one, LAYERS, &t), AEE_SUCCESS);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_pass_is_near_the_same_in_double, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_every_way_gives_the_same_bits, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_times_of_operations_make_up_a_layer, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_passes_that_do_not_fit_are_refused, open_skel, close_skel),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
