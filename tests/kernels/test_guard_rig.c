/* Protects guarded calls of libhex_linear_skel.so (kernels/linear/hex_linear_guard.c) through the rig: what is told loses its share of the
 * directions and no other bit changes; TEH is the host's; directions are in VTCM; an engine's guard makes no call more and 4 bytes, and
 * its tokens are the host's; what does not fit is refused. */
#include <math.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "e2e.h"
#include "engine/arch/arch.h"
#include "hex_linear.h"
#include "hx_weights.h"
#include "methods/guard/guard_file.h"
#include "model/model.h"
#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"

enum { ROWS = 300, COLS = 200, K = 5, N = 6 };

static const hex_linear_how ways[] = {{HEX_LINEAR_DDR, 1}, {HEX_LINEAR_DMA, 2}, {HEX_LINEAR_RESIDENT, 2}, {HEX_LINEAR_AUTO, 2}};

static remote_handle64 skel;
static hex_linear_matrix table[1];
static uint8_t *weights;
static size_t weights_bytes;
static float q[K * COLS], x[N * COLS], plain[N * ROWS], got[N * ROWS], teh[N];
static uint32_t ids[N], plain_ids[N];
static hex_linear_cycles cycles;
static const struct hx_guard_q guard = {q, K, COLS};

static void make_directions(struct hxt_rng *rng)
{
    for (size_t i = 0; i < K; i++) {
        double length = 0;

        hxt_fill_f32(rng, q + i * COLS, COLS, HXT_NORMAL);
        for (int pass = 0; pass < 2; pass++)
            hx_guard_project(&(struct hx_guard_q){q, i, COLS}, q + i * COLS);
        for (size_t k = 0; k < COLS; k++)
            length += (double)q[i * COLS + k] * q[i * COLS + k];
        for (size_t k = 0; k < COLS; k++)
            q[i * COLS + k] = (float)(q[i * COLS + k] / sqrt(length));
    }
}

/* Every other vector lies mostly in the directions. */
static void make_vectors(struct hxt_rng *rng)
{
    hxt_fill_f32(rng, x, N * COLS, HXT_NORMAL);
    for (size_t t = 0; t < N; t += 2)
        for (size_t i = 0; i < K; i++) {
            const float z = 20 + (float)hxt_normal(rng);

            for (size_t k = 0; k < COLS; k++)
                x[t * COLS + k] += z * q[i * COLS + k];
        }
}

static int open_skel(void **state)
{
    struct hxt_rng rng;
    const size_t run = 1024 * hx_weights_blocks(COLS);

    (void)state;
    hxt_rng_init(&rng, 1);
    make_directions(&rng);
    make_vectors(&rng);
    weights_bytes = hx_weights_bytes(HX_WEIGHTS_ROW8, ROWS, COLS);
    table[0] = (hex_linear_matrix){HX_WEIGHTS_ROW8, ROWS, COLS, 0};
    weights = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, weights_bytes);
    hxt_fill_bytes(&rng, weights, weights_bytes);
    for (size_t at = run; at < weights_bytes; at += run + HX_WEIGHTS_VECTOR)
        hxt_fill_f32(&rng, (float *)(weights + at), HX_WEIGHTS_ROWS, HXT_UNIFORM);
    return hex_linear_open(hex_linear_URI "&_dom=cdsp", &skel) ||
           fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(weights), weights, 0, weights_bytes, FASTRPC_MAP_FD) ||
           hex_linear_load(skel, rpcmem_to_fd(weights), (uint32_t)weights_bytes, table, 1);
}

static int close_skel(void **state)
{
    int rc;

    (void)state;
    rc = hex_linear_load(skel, -1, 0, NULL, 0) ||
         fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(weights), weights, weights_bytes) || hex_linear_close(skel);
    rpcmem_free(weights);
    return rc;
}

static void set(float above)
{
    uint32_t in_vtcm = 0;

    assert_int_equal(hex_linear_guard(skel, COLS, above, q, K * COLS, &in_vtcm), AEE_SUCCESS);
    assert_int_equal(in_vtcm, K * 7 * 128); /* 200 floats are 7 vectors */
}

static int run(const hex_linear_how *how, size_t n)
{
    memset(got, HXT_POISON, sizeof(got));
    memset(teh, HXT_POISON, sizeof(teh));
    return hex_linear_guarded(skel, how, 0, (uint32_t)n, x, (int)(n * COLS), got, (int)(n * ROWS), teh, (int)n, &cycles);
}

static void test_what_is_told_loses_its_share_and_nothing_else_changes(void **state)
{
    static const float above[] = {-1, .5f, INFINITY};
    static float safe[N * COLS], want[N * ROWS];
    const uint32_t which = 0;

    (void)state;
    for (size_t w = 0; w < HXT_LEN(ways); w++)
        for (size_t a = 0; a < HXT_LEN(above); a++) {
            memcpy(safe, x, sizeof(safe));
            for (size_t t = 0; t < N; t++)
                if (hx_guard_teh(&guard, x + t * COLS) > above[a])
                    hx_guard_project(&guard, safe + t * COLS);
            assert_int_equal(hex_linear_apply(skel, &ways[w], &which, 1, N, x, N * COLS, plain, N * ROWS, &cycles), AEE_SUCCESS);
            assert_int_equal(hex_linear_apply(skel, &ways[w], &which, 1, N, safe, N * COLS, want, N * ROWS, &cycles), AEE_SUCCESS);
            assert_int_equal(hex_linear_argmax(skel, &ways[w], 0, N, x, N * COLS, plain_ids, N, &cycles), AEE_SUCCESS);
            set(above[a]);
            assert_int_equal(run(&ways[w], N), AEE_SUCCESS);
            assert_int_equal(hex_linear_guarded_argmax(skel, &ways[w], 0, N, x, N * COLS, ids, N, teh, N, &cycles), AEE_SUCCESS);
            for (size_t t = 0; t < N; t++) {
                const double host = hx_guard_teh(&guard, x + t * COLS);

                assert_true(fabs(teh[t] - host) < 1e-5);
                if (host > above[a]) { /* a rounding of x to int8 may go the other way */
                    double off = 0, all = 0;

                    for (size_t r = 0; r < ROWS; r++) {
                        off += pow(got[t * ROWS + r] - want[t * ROWS + r], 2);
                        all += pow(want[t * ROWS + r], 2);
                    }
                    assert_true(off < 1e-5 * all);
                } else {
                    hxt_same_bytes(got + t * ROWS, plain + t * ROWS, ROWS * sizeof(float));
                    assert_int_equal(ids[t], plain_ids[t]);
                }
            }
        }
    assert_true(hx_guard_teh(&guard, x) > .9 && hx_guard_teh(&guard, x + COLS) < .4);
}

static void test_a_vector_that_is_not_finite_is_told_by_no_number(void **state)
{
    const float was = x[COLS + 3];

    (void)state;
    set(-1);
    x[COLS + 3] = INFINITY;
    assert_int_equal(run(&ways[0], 3), AEE_SUCCESS);
    assert_true(isnan(teh[1]) && isnan(got[ROWS]) && !isnan(teh[0]) && !isnan(got[0]) && !isnan(got[2 * ROWS]));
    assert_int_equal(hex_linear_guarded_argmax(skel, &ways[0], 0, 3, x, 3 * COLS, ids, 3, teh, 3, &cycles), AEE_SUCCESS);
    assert_true(ids[1] == UINT32_MAX && ids[0] < ROWS);
    x[COLS + 3] = was;
}

static void test_what_does_not_fit_is_refused(void **state)
{
    uint32_t in_vtcm;

    (void)state;
    set(-1);
    assert_int_equal(hex_linear_guarded(skel, &ways[0], 1, 1, x, COLS, got, ROWS, teh, 1, &cycles), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_linear_guarded(skel, &ways[0], 0, 1, x, COLS, got, ROWS - 1, teh, 1, &cycles), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_linear_guarded(skel, &ways[0], 0, 1, x, COLS, got, ROWS, teh, 2, &cycles), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_linear_guarded_argmax(skel, &ways[0], 0, 2, x, 2 * COLS, ids, 1, teh, 2, &cycles), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_linear_guard(skel, COLS, NAN, q, K * COLS, &in_vtcm), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_linear_guard(skel, COLS, 0, q, K * COLS - 1, &in_vtcm), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_linear_guard(skel, 0, 0, q, K * COLS, &in_vtcm), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_linear_guard(skel, 2, 0, q, 6, &in_vtcm), AEE_DSP(AEE_EBADPARM));
    /* a guard that was refused leaves none */
    assert_int_equal(run(&ways[0], 1), AEE_DSP(AEE_EBADSTATE));
    /* of another width */
    assert_int_equal(hex_linear_guard(skel, COLS / 2, 0, q, COLS / 2, &in_vtcm), AEE_SUCCESS);
    assert_int_equal(run(&ways[0], 1), AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(hex_linear_guard(skel, 0, 0, q, 0, &in_vtcm), AEE_SUCCESS);
    assert_int_equal(in_vtcm, 0);
    assert_int_equal(run(&ways[0], 1), AEE_DSP(AEE_EBADSTATE));
}

/* --- an engine's */

static void test_an_engines_guard_makes_no_call_more_and_its_tokens_are_the_hosts(void **state)
{
    const char *path = hxt_path("%s/x.guard", hxt_tmpdir());
    struct hx_guard g = {.name = "x", .threshold = .2, .f = 4, .d = 256, .q = calloc(4 * 256, sizeof(float))};
    struct hx_model *m = NULL;
    struct hx_error err = {""};
    json_t *without, *with, *host;

    (void)state;
    if (hx_model_open(&m, HXT_BUILD "/share/hexrig/hexrig-tiny-q8_0.gguf", hx_archs, &err))
        fail_msg("%s", err.text);
    g.fingerprint = m->fingerprint;
    hx_model_close(m);
    for (size_t i = 0; i < g.f; i++)
        g.q[i * 256 + 50 * i + 7] = 1;
    assert_int_equal(hx_guard_write(&g, path, &err), 0);
    without = e2e_json("run --json -p The -n 8 --temp 0 --kv f32 --linear dsp");
    with = e2e_json(hxt_path("run --json -p The -n 8 --temp 0 --kv f32 --linear dsp --guard %s", path));
    host = e2e_json(hxt_path("run --json -p The -n 8 --temp 0 --kv f32 --linear dsp,out=ref --guard %s", path));
    assert_true(e2e_number(with, "guard.projected") == 8);
    assert_true(json_is_true(json_object_get(json_object_get(with, "guard"), "on_dsp")) && e2e_number(with, "guard.vtcm_bytes") == 4096);
    assert_true(e2e_number(with, "dispatch.calls_per_token") == e2e_number(without, "dispatch.calls_per_token"));
    assert_true(e2e_number(with, "dispatch.bytes_copied_per_token") == e2e_number(without, "dispatch.bytes_copied_per_token") + 4);
    assert_true(json_equal(json_object_get(with, "tokens"), json_object_get(host, "tokens")));
    /* the same states, a token at a time */
    assert_true(e2e_number(with, "guard.tokens") == 8 && e2e_number(host, "guard.tokens") == 8);
    assert_true(fabs(e2e_number(with, "guard.teh_percent_mean") / e2e_number(host, "guard.teh_percent_mean") - 1) < 1e-4);
    assert_true(fabs(e2e_number(with, "guard.energy_percent_mean") / e2e_number(host, "guard.energy_percent_mean") - 1) < 1e-4);
    /* what a projection leaves is measured here alone */
    assert_null(json_object_get(json_object_get(with, "guard"), "left_most"));
    assert_true(e2e_number(host, "guard.left_most") < 1e-6);
    json_decref(without);
    json_decref(with);
    json_decref(host);
    free(g.q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_told_loses_its_share_and_nothing_else_changes, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_a_vector_that_is_not_finite_is_told_by_no_number, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_refused, open_skel, close_skel),
        cmocka_unit_test(test_an_engines_guard_makes_no_call_more_and_its_tokens_are_the_hosts),
    };

    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}
