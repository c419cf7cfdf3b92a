/* Protects gated matrices on the DSP (hexrig run with --linear gsi --offload linear, host/methods/gsi/on_dsp.h): one call for each input
 * of a layer, whichever path it takes and however many vectors; the same text from every placement and as packets; bytes that are read
 * there are those of the formula, so that the speedup is, on a planted model, too; bases grow there; what cannot be there is refused. */
#include "e2e.h"
#include "golden.h"
#include "hxt_each.h"

enum { LAYERS = 6, WIDTH = 256, FFN = 512, K = 64, PLANTED_LAYERS = 2 };

#define ALL_OF_LAYERS "--offload linear=wq,wk,wv,wo,gate,up,down"

static const char *text(void)
{
    static char path[4096];

    if (!*path) {
        char *books = hxt_read_file(HOLDOUT, NULL);

        snprintf(path, sizeof(path), "%s/books.txt", hxt_tmpdir());
        hxt_write_file(path, books, 4000);
        free(books);
    }
    return path;
}

static json_t *run(const char *words)
{
    return e2e_json(hxt_path("run -p PROMPT --temp 0 -n 8 --json --kv f32 --gsi-text %s %s", text(), words));
}

/* 32 dimensions of 512 in all that goes into its matrices. */
static const char *planted(void)
{
    static char path[4096];

    if (!*path) {
        snprintf(path, sizeof(path), "%s/planted.gguf", hxt_tmpdir());
        json_decref(e2e_json(hxt_path("model synth --json --geometry %dx8/4x64x512x1024x2048 --act-rank 32 --noise 0.005 -o %s",
                                      PLANTED_LAYERS, path)));
    }
    return path;
}

static json_t *run_planted(const char *words)
{
    return e2e_json(hxt_path("run -m %s -p PROMPT --temp 0 -n 12 --json --kv f32 %s", planted(), words));
}

static double weights_read(json_t *j, const char *place)
{
    return e2e_number(j, hxt_path("dispatch.dsp_bytes_per_token_by_purpose.weights.%s", place));
}

static void test_either_path_is_one_call_for_each_input(void **state)
{
    static const struct {
        const char *words;
        int calls, of_layers; /* of a token, with and without its logits */
    } cases[] = {
        {"--linear gsi:64 --offload linear", 4 * LAYERS + 1, 4 * LAYERS},
        {"--linear gsi:64 --gsi-static --offload linear,argmax", 4 * LAYERS + 1, 4 * LAYERS},
        {"--linear cpu,attn=gsi:64 --offload linear=wq,wk,wv --gsi-eps 0.3", LAYERS, LAYERS},
        {"--linear gsi:64 --gsi-off 1 --offload linear=gate,up", LAYERS, LAYERS},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i += HXT_EACH) {
        json_t *j = run(cases[i].words);

        if (e2e_number(j, "dispatch.calls_per_token") != cases[i].calls)
            fail_msg("%s: %g calls, %d are right", cases[i].words, e2e_number(j, "dispatch.calls_per_token"), cases[i].calls);
        assert_true(e2e_number(j, "dispatch.slow_path_calls") == 0);
        assert_true(e2e_number(j, "prefill.tokens") > 1 && e2e_number(j, "prefill.calls") == cases[i].of_layers);
        json_decref(j);
    }
    e2e_clean();
}

static void test_tokens_do_not_depend_on_the_placement_or_on_packets(void **state)
{
    static const char *const same[] = {"--placement resident", "--packets", "--placement ddr"};
    json_t *want = run("--linear cpu,attn=gsi:64 --gsi-eps 0.4 --offload linear");

    (void)state;
    assert_true(e2e_number(want, "gsi.phi") > 0 && e2e_number(want, "gsi.phi") < 1);
    for (size_t i = 0; i < HXT_LEN(same); i++) {
        json_t *got = run(hxt_path("--linear cpu,attn=gsi:64 --gsi-eps 0.4 --offload linear %s", same[i]));

        if (!json_equal(json_object_get(got, "tokens"), json_object_get(want, "tokens")))
            fail_msg("other tokens with %s", same[i]);
        json_decref(got);
    }
    json_decref(want);
    e2e_clean();
}

/* int8 and scales in f32, of the path that is taken and of that alone: a scale of 32 weights, as the model has them, and one of a row of
 * images; and of the bases f16, as the gate looks at them whichever path it is. */
static void test_bytes_that_are_read_are_those_of_the_path(void **state)
{
    const double rows = 2 * WIDTH + 2 * FFN + 2 * WIDTH; /* of qkv, gate and up, wo and down */
    const double basis = LAYERS * K * 2. * (3 * WIDTH + FFN);
    const double slow = LAYERS * ((2. * WIDTH + 2 * FFN + WIDTH) * WIDTH + WIDTH * (double)FFN) * (32 + 4) / 32 + basis;
    const double fast = LAYERS * (K + 4) * rows + basis;
    json_t *none, *all;
    double got[2];

    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
    hxt_skip_test("this build's skels are not traced");
#endif
    none = run("--linear gsi:64 --gsi-eps 0 " ALL_OF_LAYERS " --placement ddr");
    all = run("--linear gsi:64 --gsi-static " ALL_OF_LAYERS " --placement ddr");
    got[0] = weights_read(none, "ddr");
    got[1] = weights_read(all, "ddr");
    print_message("slow %.0f, %.0f are right; fast %.0f, %.0f are right\n", got[0], slow, got[1], fast);
    assert_true(fabs(got[0] / slow - 1) < .02 && fabs(got[1] / fast - 1) < .02);
    assert_true(fabs(e2e_number(none, "gsi.bytes_per_token") / slow - 1) < .001);
    assert_true(fabs(e2e_number(all, "gsi.bytes_per_token") / fast - 1) < .001);
    json_decref(none);
    json_decref(all);
    e2e_clean();
}

/* The gate's speedup is measured: bytes that are read without it over those with it.  Streamed, so that nothing stays. */
static void test_on_a_planted_model_the_speedup_of_the_formula_is_measured(void **state)
{
    json_t *plain, *gated;
    double measured, formula;

    (void)state;
    plain = run_planted(ALL_OF_LAYERS " --placement dma");
    gated = run_planted(hxt_path("--linear gsi:64 --gsi-text %s " ALL_OF_LAYERS " --placement dma", text()));
    assert_true(e2e_number(gated, "gsi.phi") > .99);
    assert_true(json_equal(json_object_get(plain, "tokens"), json_object_get(gated, "tokens")));
    assert_true(e2e_number(gated, "dispatch.calls_per_token") == 4 * PLANTED_LAYERS);
    assert_true(e2e_number(plain, "dispatch.calls_per_token") == 4 * PLANTED_LAYERS);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__) /* whose skels are not traced */
    measured = weights_read(plain, "dma") / weights_read(gated, "dma");
    formula = e2e_number(gated, "gsi.s_bytes");
    print_message("speedup %.4f, by the formula %.4f\n", measured, formula);
    assert_true(measured > 3 && fabs(measured / formula - 1) < .02);
    assert_true(fabs(weights_read(gated, "dma") / e2e_number(gated, "gsi.bytes_per_token") - 1) < .02);
#else
    (void)measured, (void)formula;
#endif
    json_decref(plain);
    json_decref(gated);
}

/* 16 directions are too few; those that vectors bring along are enough, and only a vector that brings one is slow. */
static void test_directions_that_join_on_the_dsp_bring_phi_back(void **state)
{
    const char *words = hxt_path("-n 40 --linear gsi:16 --gsi-text %s " ALL_OF_LAYERS, text());
    json_t *few = run_planted(words), *grown = run_planted(hxt_path("%s --gsi-grow 48", words));

    (void)state;
    print_message("phi %.3f, with %.0f directions more %.3f\n", e2e_number(few, "gsi.phi"), e2e_number(grown, "gsi.added.directions"),
                  e2e_number(grown, "gsi.phi"));
    assert_true(e2e_number(few, "gsi.phi") < .1);
    assert_true(e2e_number(grown, "gsi.phi") > e2e_number(few, "gsi.phi") + .3);
    assert_true(e2e_number(grown, "gsi.added.directions") > 0 && e2e_number(grown, "gsi.added.bytes") > 0);
    assert_true(e2e_number(grown, "dispatch.calls_per_token") == 4 * PLANTED_LAYERS);
    assert_true(json_equal(json_object_get(few, "tokens"), json_object_get(grown, "tokens")));
    json_decref(few);
    json_decref(grown);
    e2e_clean();
}

static void test_what_cannot_be_there_is_refused(void **state)
{
    (void)state;
    e2e_refused(hxt_path("run -p x --kv f32 --gsi-text %s --linear gsi:64 --offload linear=wq", text()), 1,
                "gsi: wk of layer 0 shares its basis with matrices that are on the DSP: name all of them or none");
    e2e_refused(hxt_path("run -p x --kv f32 --gsi-text %s --linear gsi:64 --page-weights", text()), 2,
                "linear method gsi has the weights in a form of its own");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_either_path_is_one_call_for_each_input),
        cmocka_unit_test(test_tokens_do_not_depend_on_the_placement_or_on_packets),
        cmocka_unit_test(test_bytes_that_are_read_are_those_of_the_path),
        cmocka_unit_test(test_on_a_planted_model_the_speedup_of_the_formula_is_measured),
        cmocka_unit_test(test_directions_that_join_on_the_dsp_bring_phi_back),
        cmocka_unit_test(test_what_cannot_be_there_is_refused),
    };

    return HXT_RUN(tests);
}
