/* Protects gated matrices on the DSP (hexrig run with --linear gsi --offload linear, host/methods/gsi/on_dsp.h): one call for each input
 * of a layer, whichever path it takes; the same text from every placement and as packets; bytes that are read there are those of the
 * path; what cannot be there is refused. */
#include "e2e.h"
#include "golden.h"

enum { LAYERS = 6, WIDTH = 256, FFN = 512, K = 64 };

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

static void test_either_path_is_one_call_for_each_input(void **state)
{
    static const struct {
        const char *words;
        int calls;
    } cases[] = {
        {"--linear gsi:64 --offload linear", 4 * LAYERS + 1},
        {"--linear gsi:64 --gsi-static --offload linear,argmax", 4 * LAYERS + 1},
        {"--linear cpu,attn=gsi:64 --offload linear=wq,wk,wv --gsi-eps 0.3", LAYERS},
        {"--linear gsi:64 --gsi-off 1 --offload linear=gate,up", LAYERS},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        json_t *j = run(cases[i].words);

        if (e2e_number(j, "dispatch.calls_per_token") != cases[i].calls)
            fail_msg("%s: %g calls, %d are right", cases[i].words, e2e_number(j, "dispatch.calls_per_token"), cases[i].calls);
        assert_true(e2e_number(j, "dispatch.slow_path_calls") == 0);
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
 * bases and images. */
static void test_bytes_that_are_read_are_those_of_the_path(void **state)
{
    const double rows = 2 * WIDTH + 2 * FFN + 2 * WIDTH; /* of qkv, gate and up, wo and down */
    const double slow = LAYERS * ((2. * WIDTH + 2 * FFN + WIDTH) * WIDTH + WIDTH * (double)FFN) * (32 + 4) / 32;
    const double fast = LAYERS * (K * (rows + 3 * WIDTH + FFN) + 4 * (rows + 4 * K));
    json_t *none, *all;
    double got[2];

    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
    hxt_skip_test("this build's skels are not traced");
#endif
    none = run("--linear gsi:64 --gsi-eps 0 --offload linear=wq,wk,wv,wo,gate,up,down --placement ddr");
    all = run("--linear gsi:64 --gsi-static --offload linear=wq,wk,wv,wo,gate,up,down --placement ddr");
    got[0] = e2e_number(none, "dispatch.dsp_bytes_per_token_by_purpose.weights.ddr");
    got[1] = e2e_number(all, "dispatch.dsp_bytes_per_token_by_purpose.weights.ddr");
    print_message("slow %.0f, %.0f are right; fast %.0f, %.0f are right\n", got[0], slow, got[1], fast);
    assert_true(fabs(got[0] / slow - 1) < .02 && fabs(got[1] / fast - 1) < .02);
    json_decref(none);
    json_decref(all);
    e2e_clean();
}

static void test_what_cannot_be_there_is_refused(void **state)
{
    (void)state;
    e2e_refused(hxt_path("run -p x --kv f32 --gsi-text %s --linear gsi:64 --offload linear=wq", text()), 1,
                "gsi: wk of layer 0 shares its basis with matrices that are on the DSP: name all of them or none");
    e2e_refused(hxt_path("run -p x --kv f32 --gsi-text %s --linear gsi:64 --gsi-grow 8 --offload linear=wo", text()), 1,
                "gsi: wo of layer 0 is on the DSP, where bases do not grow");
    e2e_refused(hxt_path("run -p x --kv f32 --gsi-text %s --linear gsi:64 --page-weights", text()), 2,
                "linear method gsi has the weights in a form of its own");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_either_path_is_one_call_for_each_input),
        cmocka_unit_test(test_tokens_do_not_depend_on_the_placement_or_on_packets),
        cmocka_unit_test(test_bytes_that_are_read_are_those_of_the_path),
        cmocka_unit_test(test_what_cannot_be_there_is_refused),
    };

    return HXT_RUN(tests);
}
