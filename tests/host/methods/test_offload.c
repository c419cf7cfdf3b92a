/* Protects linear layers and argmax on the DSP as people use them (hexrig run and ppl --offload, host/methods/dsp/linear_dsp.c): tokens
 * do not depend on where weights lie, how they are batched or who makes the choice, calls are what is promised,
 * perplexity stays, and what cannot work is said. */
#include <errno.h>

#include "e2e.h"
#include "golden.h"
#include "methods/dsp/linear_dsp.h"
#include "open_engine.h"
#include "own_rig.h"
#include "ppl_window.h"

#define RUN "run -p PROMPT --temp 0 -n 12 --kv f32 --json --offload "

enum { LAYERS = 6, VOCAB = 2048, TOKENS = 12 };

static const uint32_t prompt[] = {1066, 260, 579, 700, 49, 49, 260, 959, 1711, 273};

/* --- the command */

static double calls_per_token(const char *words)
{
    json_t *j = e2e_json(words);
    double calls = e2e_number(j, "dispatch.calls_per_token");

    assert_string_equal(e2e_text(j, "kv"), "f32");
    assert_string_equal(e2e_text(j, "density"), "none");
    json_decref(j);
    return calls;
}

static void test_calls_are_one_for_each_input(void **state)
{
    (void)state;
    assert_true(calls_per_token(RUN "linear") == 4 * LAYERS + 1);
    assert_true(calls_per_token(RUN "linear,argmax") == 4 * LAYERS + 1);
    assert_true(calls_per_token(RUN "linear=wq,wk,wv") == LAYERS);
    assert_true(calls_per_token(RUN "linear=gate,down") == 2 * LAYERS);
    assert_true(calls_per_token(RUN "linear=wq,up,out") == 2 * LAYERS + 1);
    assert_true(calls_per_token(RUN "argmax") == 1);
    e2e_clean();
}

static json_t *tokens_of(const char *words)
{
    json_t *j = e2e_json(words), *tokens = json_incref(json_object_get(j, "tokens"));

    assert_int_equal(json_array_size(tokens), TOKENS);
    json_decref(j);
    return tokens;
}

static void test_tokens_do_not_depend_on_the_placement_or_the_choice(void **state)
{
    static const char *const same[] = {RUN "linear --placement vtcm", RUN "linear --placement dma",
                                       RUN "linear,argmax", RUN "linear,argmax --placement ddr",
                                       RUN "linear --front-end socket"};
    json_t *want = tokens_of(RUN "linear --placement ddr");

    (void)state;
    for (size_t i = 0; i < HXT_LEN(same); i++) {
        json_t *got = tokens_of(same[i]);

        if (!json_equal(got, want))
            fail_msg("other tokens with %s", same[i]);
        json_decref(got);
    }
    json_decref(want);
    e2e_clean();
}

/* Next to the cache on the DSP; logits stay there. */
static void test_argmax_saves_the_logits(void **state)
{
    json_t *logits = e2e_json("run -p PROMPT -n 4 --temp 0 --offload linear=out --json");
    json_t *argmax = e2e_json("run -p PROMPT -n 4 --offload argmax --json");

    (void)state;
    assert_true(json_equal(json_object_get(logits, "tokens"), json_object_get(argmax, "tokens")));
    assert_true(e2e_number(logits, "dispatch.bytes_shared_per_token") -
                    e2e_number(argmax, "dispatch.bytes_shared_per_token") == VOCAB * 4);
    assert_true(e2e_number(argmax, "dispatch.calls_per_token") == 2 * LAYERS + 1);
    assert_string_equal(e2e_text(argmax, "offload"), "linear=out,argmax");
    assert_string_equal(e2e_text(argmax, "placement"), "dma");
    assert_string_equal(e2e_text(argmax, "density"), "batched");
    json_decref(logits);
    json_decref(argmax);
    e2e_clean();
}

static double ppl_of(const char *options)
{
    char words[400];
    json_t *j;
    double ppl;

    snprintf(words, sizeof(words), "ppl -f " HOLDOUT " --chunks 6 --kv f32 --json %s", options);
    j = e2e_json(words);
    ppl = e2e_number(j, "ppl");
    json_decref(j);
    return ppl;
}

static void test_perplexity_of_a_text_stays(void **state)
{
    const double q8 = ppl_of("-m " MODEL_Q8_0), dsp = ppl_of("--offload linear -m " MODEL_Q8_0);

    (void)state;
    if (!(dsp != q8 && fabs(dsp / q8 - 1) < 0.002))
        fail_msg("perplexity %.4f here, %.4f on the DSP", q8, dsp);
    e2e_clean();
}

static void test_what_cannot_work_is_said(void **state)
{
    (void)state;
    e2e_refused("run -p x --offload matmul", 2, "'matmul'; legal: kv, attn, layer, linear, linear=NAME");
    e2e_refused("run -p x --offload linear=wq,wx", 2, "'wx'");
    e2e_refused("run -p x --offload linear --placement l2", 2, "ddr, vtcm, dma");
    e2e_refused("run -p x --kv f32 --linear dsp:l2", 2, "dsp:l2: unknown placement; legal: ddr, vtcm, dma");
    e2e_refused("run -p x --kv f32 --linear dsp:vtcm --placement ddr", 2,
                "--placement ddr and --linear dsp:vtcm exclude each other");
    e2e_refused("run -p x --placement dma", 2, "--placement needs --offload linear");
    e2e_refused("run -p x --placement dma --offload kv", 2, "--placement needs --offload linear");
    e2e_refused("run -p x --offload argmax --temp 0.5", 2, "--temp 0.5 needs the logits");
    e2e_refused("ppl -f x --offload argmax", 2, "a perplexity needs them");
}

/* --- the engine, on a rig of this program's own */

/* offload NULL: none. */
static struct hx_engine *open_engine(const char *offload, const char *placement, size_t max_batch)
{
    return hxt_engine_open(&(struct hx_engine_cfg){
        .model = MODEL_Q8_0, .n_ctx = 64, .max_batch = max_batch,
        .settings = HXT_SETTINGS("kv=f32", HXT_REF, hxt_setting("offload", offload),
                                 offload ? hxt_setting("placement", placement) : NULL)});
}

static void logits_of(const char *offload, const char *placement, size_t max_batch, float *logits)
{
    struct hx_engine *e = open_engine(offload, placement, max_batch);

    run(e, prompt, HXT_LEN(prompt), 0);
    assert_int_equal(hx_engine_logits(e, logits, NULL), 0);
    hx_engine_close(e);
}

static void test_logits_are_the_same_bits_in_any_batch_and_place(void **state)
{
    static const size_t batches[] = {1, 3, 4, 7};
    static float want[VOCAB], got[VOCAB];

    (void)state;
    logits_of("linear", "ddr", 64, want);
    for (size_t i = 0; i < HXT_LEN(batches); i++) {
        logits_of("linear", hx_placements[i % 3], batches[i], got);
        hxt_same_bytes(got, want, sizeof(want));
    }
}

/* Each matrix changes the logits a little, so each of them is really computed elsewhere. */
static void test_every_matrix_goes_to_the_dsp(void **state)
{
    static float f32[VOCAB], got[VOCAB];

    (void)state;
    logits_of(NULL, NULL, 64, f32);
    for (size_t m = 0; hx_matrix_names[m]; m++) {
        double sum = 0, top = 0;

        logits_of(hxt_path("linear=%s", hx_matrix_names[m]), "ddr", 64, got);
        for (size_t i = 0; i < VOCAB; i++) {
            sum += fabs((double)got[i] - f32[i]);
            top = fmax(top, fabs((double)f32[i]));
        }
        if (!(sum > 0 && sum / VOCAB < 0.02 * top))
            fail_msg("%s: the logits moved by %g of %g on average", hx_matrix_names[m], sum / VOCAB, top);
    }
}

static void test_argmax_needs_the_output_matrix_there(void **state)
{
    struct hx_engine *e = open_engine("linear=wq", "ddr", 64);
    struct hx_error err;
    uint32_t id;

    (void)state;
    run(e, prompt, HXT_LEN(prompt), 0);
    assert_int_equal(hx_forward_argmax(e->forward, e->last, 1, &id, &err), -ENOTSUP);
    hx_engine_close(e);
}

/* Of windows of WikiText-2: six, as each touches the same memory and both perplexities are of the same ones; HXT_WINDOWS_ALL=1: the 24 of
 * docs/offload.md. */
enum { WINDOWS = 24, SOME_WINDOWS = 6 };

static double golden_ppl(const char *model, const char *offload)
{
    enum { CTX = 128 };
    const size_t n_windows = getenv("HXT_WINDOWS_ALL") ? WINDOWS : SOME_WINDOWS;
    const struct hx_engine_cfg cfg = {.model = model, .n_ctx = CTX, .max_batch = CTX,
                                      .settings = HXT_SETTINGS("kv=f32", HXT_REF, hxt_setting("offload", offload))};
    struct hx_engine *e = hxt_engine_open(&cfg);
    uint32_t ids[CTX + 1];
    uint16_t *windows;
    struct hx_error err;
    size_t bytes = 0;
    double nll = 0;

    windows = hxt_read_file(GOLDEN "wikitext2-windows.u16", &bytes);
    assert_true(windows && bytes == WINDOWS * sizeof(ids) / 2);
    for (size_t w = 0; w < n_windows; w++) {
        for (size_t t = 0; t <= CTX; t++)
            ids[t] = windows[w * (CTX + 1) + t];
        if (hxt_ppl_window(e->model, e->forward, ids, CTX, &nll, &err))
            fail_msg("%s", err.text);
    }
    hx_engine_close(e);
    free(windows);
    return exp(nll / (double)(n_windows * CTX));
}

/* Q8_0 weights as they are, F16 rounded row by row.  On one front end: tokens are the same on
 * both, see above. */
static void test_perplexity_stays_within_a_500th(void **state)
{
    static const char *const models[] = {MODEL_Q8_0, MODEL_F16};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(models); i++) {
        const double f32 = golden_ppl(models[i], NULL);
        const double dsp = golden_ppl(models[i], "linear");

        print_message("%s: perplexity %.4f in f32, %.4f on the DSP (%+.3f %%)\n", models[i], f32,
                      dsp, 100 * (dsp / f32 - 1));
        assert_true(fabs(dsp / f32 - 1) < 0.002);
    }
}

/* Engines keep the VTCM that their calls needed, 256 KiB or more each, until there is none for the next one. */
static void test_without_vtcm_the_reason_names_the_place(void **state)
{
    enum { MOST = 33 };
    struct hx_engine *e[MOST];
    static float logits[VOCAB];
    struct hx_error err = {""};
    size_t n = 0;
    int rc = 0;

    (void)state;
    while (!rc && n < MOST) {
        e[n] = open_engine("linear=out", "vtcm", 64);
        run(e[n], prompt, 1, 0);
        rc = hx_engine_logits(e[n++], logits, &err);
    }
    assert_int_equal(rc, -EIO);
    assert_true(n > 1);
    assert_non_null(strstr(err.text, "weights in vtcm: AEE_ENOMEMORY"));
    hx_engine_close(e[0]);
    assert_int_equal(hx_engine_logits(e[n - 1], logits, &err), 0);
    for (size_t i = 1; i < n; i++)
        hx_engine_close(e[i]);
}

static const struct CMUnitTest on_rig[] = {
    cmocka_unit_test(test_logits_are_the_same_bits_in_any_batch_and_place),
    cmocka_unit_test(test_every_matrix_goes_to_the_dsp),
    cmocka_unit_test(test_argmax_needs_the_output_matrix_there),
    cmocka_unit_test(test_without_vtcm_the_reason_names_the_place),
};

static const struct CMUnitTest on_one_rig[] = {
    cmocka_unit_test(test_perplexity_stays_within_a_500th),
};

static const struct CMUnitTest commands[] = {
    cmocka_unit_test(test_calls_are_one_for_each_input),
    cmocka_unit_test(test_tokens_do_not_depend_on_the_placement_or_the_choice),
    cmocka_unit_test(test_argmax_saves_the_logits),
    cmocka_unit_test(test_perplexity_of_a_text_stays),
    cmocka_unit_test(test_what_cannot_work_is_said),
};

static int with_own_rig(const char *front_end)
{
    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(on_rig, own_rig_start, own_rig_stop);
}

static int with_one_rig(const char *front_end)
{
    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(on_one_rig, own_rig_start, own_rig_stop);
}

static int with_commands(const char *unused)
{
    (void)unused;
    return HXT_RUN(commands);
}

int main(void)
{
    int rc = own_rig_run_both(with_own_rig);

    rc |= own_rig_run(with_one_rig, "socket");
    return rc | own_rig_run(with_commands, "commands");
}
