/* Protects libok_linear_skel.so and the exact linear layer that uses it: through the rig sums are the reference's bit for
 * bit on any number of contexts, tokens and logits are those of the host, what is lost on the way is found, and what does not
 * fit is refused. */
#include <errno.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "e2e.h"
#include "golden.h"
#include "hxt_each.h"
#include "methods/ok/linear_ok.h"
#include "ok/ok_sums.h"
#include "ok_linear.h"
#include "open_engine.h"
#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"

enum { VOCAB = 2048, LAYERS = 6, TOKENS = 12 };

/* 0..2 go together; 3 takes several tiles of columns and is one row; 4 has more groups than tiles fit. */
static const struct {
    uint32_t rows, cols, planes;
} shapes[] = {{100, 70, 2}, {33, 70, 1}, {64, 70, 4}, {1, 5000, 2}, {700, 300, 2}};
enum { N = HXT_LEN(shapes) };

static remote_handle64 skel;
static ok_linear_matrix table[N];
static int32_t *weights;
static size_t weights_bytes;

static int open_skel(void **state)
{
    struct hxt_rng rng;

    (void)state;
    weights_bytes = 0;
    for (size_t i = 0; i < N; i++) {
        table[i] = (ok_linear_matrix){shapes[i].rows, shapes[i].cols, shapes[i].planes,
                                      (uint32_t)weights_bytes};
        weights_bytes += hx_okw_bytes(shapes[i].rows, shapes[i].cols, shapes[i].planes);
    }
    weights = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, weights_bytes);
    hxt_rng_init(&rng, 1);
    hxt_fill_bytes(&rng, weights, weights_bytes);
    return ok_linear_open(ok_linear_URI "&_dom=cdsp", &skel) ||
           fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(weights), weights, 0, weights_bytes,
                        FASTRPC_MAP_FD);
}

static int close_skel(void **state)
{
    int rc;

    (void)state;
    rc = ok_linear_load(skel, -1, 0, NULL, 0) ||
         fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(weights), weights, weights_bytes) ||
         ok_linear_close(skel);
    rpcmem_free(weights);
    return rc;
}

static void load(void)
{
    assert_int_equal(ok_linear_load(skel, rpcmem_to_fd(weights), (uint32_t)weights_bytes, table, N),
                     AEE_SUCCESS);
}

static int32_t *vectors(size_t n)
{
    int32_t *x = malloc(n * sizeof(*x));
    struct hxt_rng rng;

    hxt_rng_init(&rng, n);
    hxt_fill_bytes(&rng, x, n * sizeof(*x));
    return x;
}

/* From the definition of the layout. */
static void expect(uint32_t which, const int32_t *x, size_t n, int64_t *y)
{
    const ok_linear_matrix *m = &table[which];
    const int32_t *w = weights + m->offset / sizeof(*w);

    for (size_t t = 0; t < n; t++)
        for (size_t p = 0; p < m->planes; p++)
            for (size_t r = 0; r < m->rows; r++) {
                uint64_t sum = 0;

                for (size_t j = 0; j < m->cols; j++)
                    sum += (uint64_t)((int64_t)w[((r / 32 * m->cols + j) * m->planes + p) * 32 +
                                                 r % 32] * x[t * m->cols + j]);
                *y++ = (int64_t)sum;
            }
}

static void check_sums(const uint32_t *which, size_t n_m, size_t n, int threads)
{
    const size_t cols = table[which[0]].cols;
    size_t per_vector = 0;
    ok_linear_cycles t;

    for (size_t m = 0; m < n_m; m++)
        per_vector += (size_t)table[which[m]].rows * table[which[m]].planes;
    int32_t *x = vectors(n * cols);
    int64_t *want = malloc(n * per_vector * sizeof(*want)), *at = want;
    int64_t *got = hxt_guard_alloc(n * per_vector * sizeof(*got), 8);

    for (size_t m = 0; m < n_m; m++) {
        expect(which[m], x, n, at);
        at += n * table[which[m]].rows * table[which[m]].planes;
    }
    assert_int_equal(ok_linear_sums(skel, threads, which, (int)n_m, (uint32_t)n, x, (int)(n * cols),
                                    got, (int)(n * per_vector), &t),
                     AEE_SUCCESS);
    hxt_same_bytes(got, want, n * per_vector * sizeof(*got));
    hxt_guard_intact(got);
    assert_true(t.total > 0 && t.handler > 0 && t.fetch > 0);
    hxt_guard_free(got);
    free(want);
    free(x);
}

static void test_sums_are_the_definitions_on_one_context_and_two(void **state)
{
    static const uint32_t together[] = {0, 1, 2}, wide[] = {3}, groups[] = {4};

    (void)state;
    load();
    for (int threads = 1; threads <= 2; threads++)
        for (size_t n = 1; n < 8; n += 3) {
            check_sums(together, 3, n, threads);
            check_sums(wide, 1, n, threads);
            check_sums(groups, 1, n, threads);
        }
}

/* 64 vectors are a round. */
static void test_many_vectors_take_several_rounds(void **state)
{
    static const uint32_t together[] = {1, 0};

    (void)state;
    load();
    check_sums(together, 2, 64, 2);
    check_sums(together, 2, 65, 2);
    check_sums(together, 2, 150, 1);
}

static void test_two_contexts_take_less_time_than_one(void **state)
{
    const uint32_t which = 4;
    int32_t *x = vectors(16 * 300);
    int64_t *y = malloc(16 * 1400 * sizeof(*y));
    ok_linear_cycles one, two;

    (void)state;
    load();
    assert_int_equal(ok_linear_sums(skel, 1, &which, 1, 16, x, 4800, y, 22400, &one), 0);
    assert_int_equal(ok_linear_sums(skel, 2, &which, 1, 16, x, 4800, y, 22400, &two), 0);
    print_message("700 x 300, 2 planes, 16 vectors: %llu pcycles on one context, %llu on two\n",
                  (unsigned long long)one.total, (unsigned long long)two.total);
    assert_true(two.worker > 0 && one.worker == 0);
    assert_true(two.total * 3 < one.total * 2);
    free(x);
    free(y);
}

static void test_what_does_not_fit_is_refused(void **state)
{
    static const uint32_t first[] = {0}, fused[] = {0, 1}, mixed[] = {0, 3}, absent[] = {N};
    static int32_t x[5070];
    static int64_t y[400];
    const int bad = AEE_DSP(AEE_EBADPARM);
    const uint32_t many[17] = {0};
    ok_linear_cycles t;

    (void)state;
    assert_int_equal(ok_linear_load(skel, -1, 0, NULL, 0), 0);
    assert_int_equal(ok_linear_sums(skel, 1, first, 1, 1, x, 70, y, 200, &t),
                     AEE_DSP(AEE_EBADSTATE));
    load();
    assert_int_equal(ok_linear_sums(skel, 1, first, 1, 1, x, 70, y, 200, &t), 0);
    assert_int_equal(ok_linear_sums(skel, 0, first, 1, 1, x, 70, y, 200, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 3, first, 1, 1, x, 70, y, 200, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 1, first, 1, 1, x, 71, y, 200, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 1, first, 1, 1, x, 70, y, 199, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 1, first, 1, 2, x, 70, y, 200, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 1, first, 1, 0, x, 0, y, 0, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 1, first, 1, UINT32_MAX, x, 70, y, 200, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 1, fused, 2, 1, x, 70, y, 200, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 1, first, 0, 1, x, 70, y, 200, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 1, many, 17, 1, x, 70, y, 400, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 1, mixed, 2, 1, x, 70, y, 202, &t), bad);
    assert_int_equal(ok_linear_sums(skel, 1, absent, 1, 1, x, 70, y, 200, &t), bad);
    assert_int_equal(ok_linear_sums(skel + 1000, 1, first, 1, 1, x, 70, y, 200, &t),
                     AEE_EINVHANDLE);
}

static void test_matrices_that_are_not_there_are_refused(void **state)
{
    static const ok_linear_matrix wrong[] = {
        {0, 8, 1, 0},  {8, 0, 1, 0},          {8, 8, 0, 0},           {8, 8, 5, 0},
        {8, 8, 1, 64}, {8, 8, 1, 0xffffff80u}, {1u << 31, 8, 1, 0},    {32, 17, 1, 0},
        {33, 16, 1, 0}, {1 << 20, 1 << 20, 4, 0},
    };
    const int fd = rpcmem_to_fd(weights);

    (void)state;
    for (size_t i = 0; i < HXT_LEN(wrong); i++)
        assert_int_equal(ok_linear_load(skel, fd, 2048, &wrong[i], 1), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(ok_linear_load(skel, fd, (uint32_t)weights_bytes + 8192, table, N),
                     AEE_DSP(AEE_EBADPARM));
    assert_int_equal(ok_linear_load(skel, 1000, (uint32_t)weights_bytes, table, N),
                     AEE_DSP(AEE_ENOSUCHMAP));
}

/* --- the engine */

static const uint32_t prompt[] = {1066, 260, 579, 700, 49, 49, 260, 959, 1711, 273};

/* Logits of a prompt and of TOKENS single tokens after it. */
static float *logits_of(const char *const mode[2], const char *q_max, const char *offload)
{
    const struct hx_engine_cfg cfg = {
        .model = MODEL_F16,
        .settings = HXT_SETTINGS("kv=f32", "attn=ref", "linear=ok", hxt_setting("q-max", q_max), mode[0],
                                 offload ? hxt_setting("offload", offload) : mode[1],
                                 offload ? mode[1] : NULL)};
    float *logits = malloc((TOKENS + 1) * VOCAB * sizeof(*logits));
    struct hx_engine *e = hxt_engine_open(&cfg);
    struct hx_ok_report r;

    run(e, prompt, HXT_LEN(prompt), 0);
    for (size_t i = 0;; i++) {
        assert_int_equal(hx_engine_logits(e, logits + i * VOCAB, NULL), 0);
        if (i == TOKENS)
            break;
        run(e, &prompt[i % HXT_LEN(prompt)], 1, HXT_LEN(prompt) + i);
    }
    hx_linear_ok_report(e->core->linear[0].open, &r);
    assert_int_equal(strcmp(r.kernel, "hvx") == 0, offload != NULL);
    assert_int_equal(r.count.remainders, 0);
    hx_engine_close(e);
    return logits;
}

static void test_logits_are_the_hosts_bit_for_bit(void **state)
{
    static const char *const native[2] = {"native-ok"}, *const b[2] = {"frobenius-quant"};
    static const char *const e[2] = {"frobenius-quant", "shim-config=E"};
    static const struct {
        const char *const *mode;
        int wide; /* q-max is 15, not 9 */
        const char *offload;
    } ways[] = {
        {native, 0, "linear"}, {b, 0, "linear"}, {e, 0, "linear"}, {b, 0, "linear=wk,down"}, {b, 1, "linear"},
    };
    float *here[2] = {logits_of(native, "9", NULL), logits_of(native, "15", NULL)};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(ways); i += HXT_EACH) {
        float *there = logits_of(ways[i].mode, ways[i].wide ? "15" : "9", ways[i].offload);

        hxt_same_bytes(there, here[ways[i].wide], (TOKENS + 1) * VOCAB * sizeof(*there));
        free(there);
    }
    free(here[0]);
    free(here[1]);
}

#define RUN "run -p PROMPT -n 6 --kv f32 --json "

static void test_a_token_takes_one_call_for_each_input(void **state)
{
    json_t *there = e2e_json(RUN "--frobenius-quant --offload linear");
    json_t *here = e2e_json(RUN "--native-ok");

    (void)state;
    assert_true(e2e_number(there, "dispatch.calls_per_token") == 4 * LAYERS);
    assert_true(e2e_number(there, "ok.divisions") > 0);
    assert_true(e2e_number(there, "ok.remainders") == 0);
    assert_string_equal(e2e_text(json_object_get(there, "ok"), "kernel"), "hvx");
    assert_true(json_equal(json_object_get(there, "tokens"), json_object_get(here, "tokens")));
    json_decref(there);
    json_decref(here);
    e2e_clean();
}

/* The DSP has the weights: of the file nothing but the embedding, norms and metadata is left, as a copy. */
static void test_after_the_upload_the_file_goes(void **state)
{
    json_t *released = e2e_json(RUN "--frobenius-quant --offload linear --release-file");
    json_t *here = e2e_json(RUN "--native-ok");

    (void)state;
    assert_true(json_equal(json_object_get(released, "tokens"), json_object_get(here, "tokens")));
    assert_true(e2e_number(released, "release_file.gone_mb") > 3.5); /* Q8_0: 3.77 MB in the layers */
    assert_true(e2e_number(released, "release_file.rss_drop_mb") > 0);
    json_decref(released);
    json_decref(here);
    e2e_clean();
}

/* Without a shim the same damage would be a wrong token or none. */
static void test_a_damaged_reply_leaves_a_remainder(void **state)
{
    struct hxt_result res;

    (void)state;
    e2e_run(&res, RUN "--frobenius-quant --offload linear "
                      "--filter error:method=3,nth=30,corrupt=all");
    assert_int_equal(res.exit_code, 1);
    if (!strstr(res.err, "is not divisible by pi_41^8"))
        fail_msg("stderr: %s", res.err);
    hxt_result_free(&res);
    e2e_clean();
}

static void test_what_cannot_be_meant_is_a_usage_error(void **state)
{
    static const char *const wrong[][2] = {
        {"--frobenius-quant --native-ok", "exclude each other"},
        {"--shim-k 8", "--shim-k needs --frobenius-quant;"},
        {"--shim-config E --native-ok", "--shim-config needs --frobenius-quant;"},
        {"--x-bits 16", "--x-bits needs --native-ok or --frobenius-quant"},
        {"--frobenius-quant --shim-p 39", "prime numbers from 2 to 1000"},
        {"--frobenius-quant --shim-config C", "legal: B, E"},
        {"--linear ref --native-ok", "exclude each other"},
        {"--linear ok --shim-p 43", "--shim-p needs --frobenius-quant;"},
        {"--native-ok --placement dma", "--placement needs --offload linear or --linear dsp or --kv layer;"},
        {"--native-ok --offload argmax", "output matrix"},
        {"--native-ok --offload linear=wq,out", "output matrix"},
        {"--native-ok --offload linear --placement ddr", "legal: dma"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(wrong); i++) {
        struct hxt_result res;

        e2e_run(&res, hxt_path("%s%s", RUN, wrong[i][0]));
        assert_int_equal(res.exit_code, 2);
        if (!strstr(res.err, wrong[i][1]))
            fail_msg("%s: '%s' is not in: %s", wrong[i][0], wrong[i][1], res.err);
        hxt_result_free(&res);
    }
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_sums_are_the_definitions_on_one_context_and_two, open_skel,
                                    close_skel),
    cmocka_unit_test_setup_teardown(test_many_vectors_take_several_rounds, open_skel, close_skel),
    cmocka_unit_test_setup_teardown(test_two_contexts_take_less_time_than_one, open_skel, close_skel),
    cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_refused, open_skel, close_skel),
    cmocka_unit_test_setup_teardown(test_matrices_that_are_not_there_are_refused, open_skel,
                                    close_skel),
    cmocka_unit_test(test_logits_are_the_hosts_bit_for_bit),
    cmocka_unit_test(test_a_token_takes_one_call_for_each_input),
    cmocka_unit_test(test_after_the_upload_the_file_goes),
    cmocka_unit_test(test_a_damaged_reply_leaves_a_remainder),
    cmocka_unit_test(test_what_cannot_be_meant_is_a_usage_error),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}
