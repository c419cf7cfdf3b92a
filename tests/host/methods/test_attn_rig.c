/* Protects attention on the DSP as people use it (hexrig run and ppl --offload attn, host/methods/spinor/kv_spinor_attn.c, method
 * attn_layer): tokens do not depend on how the work is cut into calls or batches, calls are what is promised and do not grow
 * with the position, perplexity stays near that of decoded blocks, and what cannot work is said. */
#include <math.h>

#include "e2e.h"
#include "golden.h"
#include "methods/spinor/kv_spinor_attn.h"
#include "open_engine.h"
#include "own_rig.h"
#include "sp_hex.h"

#define RUN "run -p PROMPT -n 12 --offload attn --json "

enum { LAYERS = 6, KV_HEADS = 1, VOCAB = 2048, IDS = 20 };

static const uint32_t ids[IDS] = {1066, 260, 579, 700, 49, 49, 260, 959, 1711, 273,
                                  505,  1560, 351, 258, 270, 271, 361, 810, 273, 260};

static const char *const densities[] = {"per-vector", "per-layer", "batched"};

/* --- the command */

static json_t *tokens_of(const char *words, double *calls)
{
    json_t *j = e2e_json(words), *tokens = json_incref(json_object_get(j, "tokens"));

    *calls = e2e_number(j, "dispatch.calls_per_token");
    assert_string_equal(e2e_text(json_object_get(j, "block"), "k"), "after");
    json_decref(j);
    return tokens;
}

static void test_tokens_are_the_same_and_calls_are_as_promised(void **state)
{
    static const double want_calls[] = {3 * LAYERS * KV_HEADS, 2 * LAYERS, LAYERS};
    json_t *first = NULL;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(densities); i++) {
        double calls;
        json_t *tokens = tokens_of(hxt_path(RUN "--density %s", densities[i]), &calls);

        assert_true(calls == want_calls[i]);
        assert_true(calls == hx_kv_attn_calls(densities[i], LAYERS, KV_HEADS));
        if (!first)
            first = json_incref(tokens);
        if (!json_equal(tokens, first))
            fail_msg("other tokens with %s", densities[i]);
        json_decref(tokens);
    }
    json_decref(first);
    e2e_clean();
}

static void test_calls_do_not_grow_with_the_position(void **state)
{
    (void)state;
    for (size_t n = 4; n <= 40; n += 36) {
        json_t *j = e2e_json(hxt_path("run -p PROMPT -n %zu --offload attn --json", n));

        assert_true(e2e_number(j, "dispatch.calls_per_token") == LAYERS);
        json_decref(j);
    }
    e2e_clean();
}

/* Windows: calls wait for each other's threads, so each window is seconds; under a sanitizer more would touch the same memory. */
#ifdef __SANITIZE_ADDRESS__
enum { CHUNKS = 1 };
#else
enum { CHUNKS = 2 };
#endif

static double ppl_of(const char *options)
{
    json_t *j = e2e_json(hxt_path("ppl -f " HOLDOUT " --chunks %d --json %s", CHUNKS, options));
    double ppl = e2e_number(j, "ppl");

    json_decref(j);
    return ppl;
}

static void test_perplexity_is_that_of_decoded_blocks(void **state)
{
    const double decoded = ppl_of("--k after"), attended = ppl_of("--offload attn");

    (void)state;
    if (!(fabs(attended / decoded - 1) < 0.005))
        fail_msg("perplexity %.4f decoded, %.4f attended to on the DSP", decoded, attended);
    e2e_clean();
}

static void test_what_cannot_work_is_said(void **state)
{
    (void)state;
    e2e_refused("run -p x --offload attn --density per-token", 2, "--density per-token");
    e2e_refused("run -p x --offload attn --density queue", 2, "--density queue");
    e2e_refused("run -p x --offload attn --k before", 2, "K after RoPE");
    e2e_refused("run -p x --offload attn --kv f32", 2, "--offload attn: the cache f32 cannot do attention on the DSP");
    e2e_refused("run -p x --offload kv --kv f32", 2, "--offload kv: the cache f32 cannot be on the DSP");
    e2e_refused("run -p x --offload attn --attn ref", 2, "--attn ref exclude each other");
}

/* --- the engine */

static void logits_of(const char *density, size_t max_batch, float *logits)
{
    const struct hx_engine_cfg cfg = {
        .model = MODEL_Q8_0, .n_ctx = 32, .max_batch = max_batch,
        .settings = HXT_SETTINGS("kv=spinor", "k-rope=post", "linear=ref", "offload=kv,attn",
                                 hxt_setting("density", density)),
        .share = HXT_SRC "/host/data",
    };
    struct hx_engine *e = hxt_engine_open(&cfg);

    run(e, ids, IDS, 0);
    assert_int_equal(hx_engine_logits(e, logits, NULL), 0);
    hx_engine_close(e);
}

static void test_logits_do_not_depend_on_batches(void **state)
{
    static float want[VOCAB], got[VOCAB];

    (void)state;
    logits_of("per-vector", 0, want);
    for (size_t batch = 1; batch <= IDS; batch += 6) {
        logits_of("batched", batch, got);
        hxt_same_bytes(got, want, sizeof(want));
    }
}

/* --- the method */

static void test_lengths_that_do_not_fit_are_refused(void **state)
{
    enum { DH = 128 };
    static float q[2 * DH], x[DH], y[2 * DH];
    static uint8_t past[64], fresh[2][64];
    remote_handle64 h;

    (void)state;
    assert_int_equal(sp_hex_open(sp_hex_URI "&_dom=cdsp", &h), 0);
#define STEP(n_past, n_new, q_len, x_len, past_len, new_len, y_len)                                  \
    sp_hex_attn_layer(h, 0, 1, 1, n_past, n_new, 1, 1, q, q_len, x, x_len, x, x_len, past, past_len, \
                      past, past_len, fresh[0], new_len, fresh[1], new_len, y, y_len)
    assert_int_equal(STEP(0, 1, 2 * DH, DH, 0, 64, 2 * DH), AEE_DSP(AEE_EBADSTATE)); /* no tables */
    assert_int_equal(STEP(1, 1, 2 * DH, DH, 0, 64, 2 * DH), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(STEP(0, 1, 2 * DH, DH, 64, 64, 2 * DH), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(STEP(0, 0, 2 * DH, DH, 0, 64, 2 * DH), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(STEP(-1, 1, 2 * DH, DH, 0, 64, 2 * DH), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(STEP(0, 3, 2 * DH, DH, 0, 64, 2 * DH), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(STEP(0, 1, 2 * DH, DH, 0, 64, DH), AEE_DSP(AEE_EBADPARM));
#undef STEP
    sp_hex_close(h);
}

static const struct CMUnitTest on_rig[] = {
    cmocka_unit_test(test_logits_do_not_depend_on_batches),
    cmocka_unit_test(test_lengths_that_do_not_fit_are_refused),
};

static const struct CMUnitTest commands[] = {
    cmocka_unit_test(test_tokens_are_the_same_and_calls_are_as_promised),
    cmocka_unit_test(test_calls_do_not_grow_with_the_position),
    cmocka_unit_test(test_perplexity_is_that_of_decoded_blocks),
    cmocka_unit_test(test_what_cannot_work_is_said),
};

static int with_own_rig(const char *front_end)
{
    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(on_rig, own_rig_start, own_rig_stop);
}

static int with_commands(const char *unused)
{
    (void)unused;
    return HXT_RUN(commands);
}

int main(void)
{
    int rc = own_rig_run_both(with_own_rig);

    return rc | own_rig_run(with_commands, "commands");
}
