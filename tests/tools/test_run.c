/* Protects `hexrig run` and `hexrig ppl` as people type them: where a prompt comes from, streams, chats, stop texts, what
 * sampling options do, refusals before anything is run, windows. */
#include <poll.h>

#include "e2e.h"

#define F32 "--kv f32 --threads 1"

/* hexrig with words, of which PROMPT is one (e2e.h), and text on stdin. */
static char *output(const char *words, const char *input)
{
    struct hxt_result res;
    struct e2e_run r;
    char *out;

    e2e_command(&r, words);
    r.cmd.input = input;
    assert_int_equal(hxt_run(&res, &r.cmd), 0);
    if (res.exit_code != 0)
        fail_msg("hexrig %s: exit %d: %s", words, res.exit_code, res.err);
    out = strdup(res.out);
    hxt_result_free(&res);
    return out;
}

/* The text that a run prints: what stands before the figures. */
static char *printed(const char *words, const char *input)
{
    char *out = output(words, input), *end = strstr(out, "\nmodel=");

    assert_non_null(end);
    *end = '\0';
    return out;
}

static void test_a_stream_is_the_text(void **state)
{
    char *whole = printed("run -p PROMPT -n 40 " F32, NULL);
    char *stream = printed("run -p PROMPT -n 40 --stream " F32, NULL);

    (void)state;
    assert_true(strlen(whole) > 40);
    assert_string_equal(stream, whole);
    free(stream);
    free(whole);
}

static void test_quiet_leaves_the_text_alone_on_stdout(void **state)
{
    char *text = printed("run -p PROMPT -n 12 " F32, NULL);
    struct hxt_result res;

    (void)state;
    for (int stream = 0; stream < 2; stream++) {
        e2e_run(&res, hxt_path("run -q -p PROMPT -n 12 %s " F32, stream ? "--stream" : ""));
        assert_int_equal(res.exit_code, 0);
        assert_string_equal(res.out, hxt_path("%s\n", text));
        assert_non_null(strstr(res.err, "finish=length\n"));
        assert_non_null(strstr(res.err, "\ndispatch.steps=12\n"));
        hxt_result_free(&res);
    }
    free(text);
}

static void test_a_prompt_comes_from_a_file_or_stdin(void **state)
{
    const char *path = strdup(hxt_path("%s/prompt", hxt_tmpdir()));
    char *want = printed("run -p PROMPT -n 12 " F32, NULL);
    char *file, *input;

    (void)state;
    hxt_write_file(path, "The king was\n", 13);
    file = printed(hxt_path("run -f %s -n 12 " F32, path), NULL);
    input = printed("run -p - -n 12 " F32, "The king was");
    assert_string_equal(file, want);
    assert_string_equal(input, want);
    free(input);
    free(file);
    free(want);
    free((char *)path);
}

static void test_a_stop_text_ends_it(void **state)
{
    json_t *j = e2e_json("run --json -p PROMPT -n 64 --temp 0 --stop nowhere --stop dom " F32);

    (void)state;
    assert_string_equal(e2e_text(j, "text"), " a king");
    assert_string_equal(e2e_text(j, "finish"), "stop");
    assert_true(json_array_size(json_object_get(j, "tokens")) == e2e_number(j, "dispatch.steps"));
    assert_true(e2e_number(j, "dispatch.steps") < 8);
    json_decref(j);
}

static void test_exactly_n_tokens_without_chat(void **state)
{
    json_t *j = e2e_json("run --json -p PROMPT -n 17 " F32);

    (void)state;
    assert_int_equal(json_array_size(json_object_get(j, "tokens")), 17);
    assert_string_equal(e2e_text(j, "finish"), "length");
    assert_true(e2e_number(j, "host.peak_rss_bytes") > 1 << 20);
    json_decref(j);
}

static json_t *tokens(const char *options)
{
    json_t *j = e2e_json(hxt_path("run --json -p PROMPT -n 24 %s " F32, options));
    json_t *ids = json_incref(json_object_get(j, "tokens"));

    json_decref(j);
    return ids;
}

static void test_sampling_options_reach_the_sampler(void **state)
{
    json_t *greedy = tokens("--temp 0"), *min_p = tokens("--temp 1 --min-p 1"), *top_k = tokens("--temp 1 --top-k 1");
    json_t *warm = tokens("--temp 1 --seed 4"), *other = tokens("--repeat-penalty 1000 --repeat-last 100");

    (void)state;
    assert_true(json_equal(greedy, min_p) && json_equal(greedy, top_k));
    assert_false(json_equal(greedy, warm));
    for (size_t i = 0; i < json_array_size(other); i++) /* none comes twice */
        for (size_t k = 0; k < i; k++)
            assert_false(json_equal(json_array_get(other, i), json_array_get(other, k)));
    json_decref(greedy);
    json_decref(min_p);
    json_decref(top_k);
    json_decref(warm);
    json_decref(other);
}

/* Which sampler runs when nobody says, and which options take its penalty away. */
static void test_without_a_choice_repeats_are_penalized(void **state)
{
    static const struct {
        const char *words, *ran, *same; /* same: words that say it in full */
    } cases[] = {
        {"", "--temp 0 --repeat-penalty 1.1 --repeat-last 64", "--temp 0 --repeat-penalty 1.1"},
        {"--seed 7 --repeat-last 3", "--temp 0 --repeat-penalty 1.1 --repeat-last 3", "--repeat-last 3 --repeat-penalty 1.1"},
        {"--temp 0", "--temp 0", "--repeat-penalty 1"},
        {"--top-k 1", "--temp 0", "--repeat-penalty 1"},
        {"--temp 0.8 --top-k 40 --top-p 0.95 --min-p 0.05 --seed 18446744073709551615",
         "--temp 0.8 --top-k 40 --top-p 0.95 --min-p 0.05 --seed 18446744073709551615",
         "--temp 0.8 --top-k 40 --top-p 0.95 --min-p 0.05 --seed 18446744073709551615"},
        {"--presence-penalty 0.5 --frequency-penalty -0.25", "--temp 0 --presence-penalty 0.5 --frequency-penalty -0.25",
         "--temp 0 --presence-penalty 0.5 --frequency-penalty -0.25"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        json_t *j = e2e_json(hxt_path("run --json -p PROMPT -n 24 %s " F32, cases[i].words)), *same = tokens(cases[i].same);

        assert_string_equal(e2e_text(j, "sampler"), cases[i].ran);
        assert_true(json_equal(json_object_get(j, "tokens"), same));
        json_decref(same);
        json_decref(j);
    }
}

/* The shipped model's first text, as a newcomer sees it: no piece of 32 bytes comes twice. */
static void test_the_first_text_does_not_loop(void **state)
{
    enum { PIECE = 32 };
    char *text = printed("run -p PROMPT " F32, NULL), *loops = printed("run -p PROMPT --temp 0 " F32, NULL);
    int came_twice[2] = {0};

    (void)state;
    for (int k = 0; k < 2; k++)
        for (const char *at = k ? loops : text; strlen(at) > PIECE; at++)
            came_twice[k] |= memmem(at + 1, strlen(at + 1), at, PIECE) != NULL;
    if (came_twice[0])
        fail_msg("%s", text);
    assert_true(came_twice[1]); /* or there would be nothing to see */
    free(loops);
    free(text);
}

static void test_a_conversation_remembers(void **state)
{
    static const char talk[] = "Tell me of the king\nAnd of the queen\n";
    char *one = printed("run --chat=chatml --system Brief. -n 8 -p - " F32, "Tell me of the king");
    char *both = output("run --chat=chatml --system Brief. -n 8 " F32, talk);
    char *alone = printed("run --chat=chatml --system Brief. -n 8 -p - " F32, "And of the queen");

    (void)state;
    assert_memory_equal(both, one, strlen(one)); /* its first reply */
    assert_int_equal(both[strlen(one)], '\n');
    assert_string_not_equal(both + strlen(one) + 1, hxt_path("%s\n", alone));
    free(alone);
    free(both);
    free(one);
}

/* By the slow reference, whose reply of some 1000 tokens is not made before the signal comes. */
static void test_ctrl_c_ends_the_reply_and_not_the_conversation(void **state)
{
    struct hxt_child child;
    struct hxt_result res;
    struct e2e_run r;
    struct pollfd p = {.events = POLLIN};
    char first;

    (void)state;
    e2e_command(&r, "run --chat=chatml --ignore-eos --linear ref --attn ref " F32);
    r.cmd.input = "Tell me of the king\n";
    r.cmd.timeout_s = E2E_TIMEOUT_S;
    assert_int_equal(hxt_start(&child, &r.cmd), 0);
    p.fd = child.out_fd;
    assert_int_equal(poll(&p, 1, E2E_TIMEOUT_S * 1000), 1);
    assert_int_equal(read(p.fd, &first, 1), 1); /* text is being made */
    hxt_signal(&child, SIGINT);
    assert_int_equal(hxt_wait(&child, &res), 0);
    if (res.exit_code != 0)
        fail_msg("exit code %d, signal %d: %s", res.exit_code, res.signal, res.err);
    assert_int_equal(res.out[res.out_len - 1], '\n'); /* and the end of stdin ends it */
    hxt_result_free(&res);
}

static void test_wrong_usage_is_told(void **state)
{
    (void)state;
    e2e_refused("run", 2, "no prompt");
    e2e_refused("run -p x -f y", 2, "-p and -f");
    e2e_refused("run -f /nonexistent", 1, "/nonexistent: No such file");
    e2e_refused("run -p x --stream --json", 2, "--stream and --json");
    e2e_refused("run -p x --quiet --json", 2, "--quiet and --json");
    e2e_refused("run --chat --json", 2, "conversation");
    e2e_refused("run -p x --system y", 2, "--system is of a chat");
    e2e_refused("run -p x --ignore-eos", 2, "--ignore-eos is of a chat");
    e2e_refused("run --chat chatml", 2, "--chat=FAMILY");
    e2e_refused("run --chat=telepathy -p x " F32, 1, "telepathy");
    e2e_refused("run -p x --min-p 2", 2, "--min-p: unknown value '2'");
    e2e_refused("run -p x --repeat-penalty 0", 2, "--repeat-penalty: unknown value '0'");
    e2e_refused("run -p PROMPT --ctx 8 -n 7 " F32, 1,
                "3 prompt tokens and 7 new ones need 9 positions, the context has 8");
    e2e_refused("ppl -f x --windows both", 2, "--windows: unknown value 'both'; legal: spread, llama");
    e2e_refused("ppl -f x --kl --kv ntt --crt-shard", 2, "--kl and --crt-shard exclude each other");
}

/* A model that no calibration is for, with heads of 4, which no block holds. */
#define FOREIGN HXT_SRC "/tests/data/fuzz/gguf/tiny-qwen3.gguf"

static void test_a_model_without_a_calibration_runs_at_once(void **state)
{
    static const char *const leaves_it_open[] = {"", "--kv auto", "--kv spinor --kv auto"};

    (void)state;
    for (size_t i = 0; i < sizeof(leaves_it_open) / sizeof(leaves_it_open[0]); i++) {
        struct hxt_result res;

        e2e_run(&res, hxt_path("run -m %s -p x -n 2 %s", FOREIGN, leaves_it_open[i]));
        assert_int_equal(res.exit_code, 0);
        assert_non_null(strstr(res.err, "hexrig run: cache f32: there is no calibration for this model"));
        assert_non_null(strstr(res.out, "\nkv=f32\n"));
        assert_non_null(strstr(res.out, "\nkv_why=f32: there is no calibration for this model"));
        hxt_result_free(&res);
    }
    e2e_refused("run -p x -n 2 --kv spinor -m " FOREIGN, 1, "no calibration for this model; use --cal");
    e2e_refused("density --kv auto", 2, "--kv: unknown value 'auto'");
}

static void test_blocks_that_are_asked_for_are_calibrated_on_the_shipped_text(void **state)
{
    static const struct {
        const char *words;
        int exit_code;
        const char *says; /* behind the choice */
    } asked[] = {
        {"run -p x -n 2", 1, "the model's head dimension is 4; blocks need 64, 128, 256 or 512"},
        {"serve", 2, "--calibrate-on is for one run"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        struct hxt_result res;

        e2e_run(&res, hxt_path("%s --density per-layer -m " FOREIGN, asked[i].words));
        assert_int_equal(res.exit_code, asked[i].exit_code);
        assert_non_null(strstr(res.err, "cache spinor, calibrated on the shipped books-holdout.txt: --density asks for blocks"));
        assert_non_null(strstr(res.err, asked[i].says));
        hxt_result_free(&res);
    }
}

static void test_auto_keeps_blocks_where_there_is_a_calibration(void **state)
{
    json_t *j = e2e_json("run -p x -n 1 --kv auto --json");

    (void)state;
    assert_string_equal(e2e_text(j, "kv"), "spinor");
    assert_string_equal(e2e_text(j, "kv_why"), "spinor: there is a calibration for this model");
    json_decref(j);
}

static void test_ppl_has_the_windows_of_llama(void **state)
{
    json_t *j = e2e_json(hxt_path("ppl --json -f %s/share/hexrig/books-holdout.txt --ctx 32 --chunks 3 "
                                  "--windows llama " F32, HXT_BUILD));

    (void)state;
    assert_string_equal(e2e_text(j, "windows"), "llama");
    assert_true(e2e_number(j, "chunks") == 3 && e2e_number(j, "tokens") == 3 * (32 - 1 - 16));
    assert_true(e2e_number(j, "ppl") > 1 && e2e_number(j, "host.peak_rss_bytes") > 1 << 20);
    json_decref(j);
}

#define PPL "ppl --json -f " HXT_BUILD "/share/hexrig/books-holdout.txt --chunks 1 --threads 1 "

static void test_ppl_has_the_standard_error_of_its_predictions(void **state)
{
    json_t *one = e2e_json(PPL "--kv f32 --ctx 1"), *two = e2e_json(PPL "--kv f32 --ctx 2");
    const double a = e2e_number(one, "nll"), mean = e2e_number(two, "nll"); /* of the first one, of both */

    (void)state;
    assert_true(e2e_number(one, "standard_error.nll") == 0 && e2e_number(one, "standard_error.ppl") == 0);
    assert_true(fabs(a - mean) > 1e-3); /* or there would be nothing to see */
    assert_true(fabs(e2e_number(two, "standard_error.nll") - fabs(a - mean)) < 1e-9);
    assert_true(fabs(e2e_number(two, "standard_error.ppl") - exp(mean) * fabs(a - mean)) < 1e-6);
    assert_null(json_object_get(two, "kl"));
    json_decref(two);
    json_decref(one);
}

static void test_kl_holds_a_cache_against_f32(void **state)
{
    json_t *f32 = e2e_json(PPL "--kv f32 --ctx 48 --kl"), *blocks = e2e_json(PPL "--kv spinor-cpu --ctx 48 --kl");
    json_t *alone = e2e_json(PPL "--kv spinor-cpu --ctx 48");

    (void)state;
    assert_true(e2e_number(f32, "kl.mean") == 0 && e2e_number(f32, "kl.max") == 0 && e2e_number(f32, "kl.same_top") == 1);
    assert_true(e2e_number(f32, "kl.ppl") == e2e_number(f32, "ppl"));
    assert_true(e2e_number(blocks, "ppl") == e2e_number(alone, "ppl")); /* the reference does not touch what it is held against */
    assert_true(e2e_number(blocks, "kl.ppl") == e2e_number(f32, "ppl"));
    assert_true(e2e_number(blocks, "kl.mean") > 1e-4 && e2e_number(blocks, "kl.mean") < 0.3);
    assert_true(e2e_number(blocks, "kl.max") >= e2e_number(blocks, "kl.mean") && e2e_number(blocks, "kl.standard_error") > 0);
    assert_true(e2e_number(blocks, "kl.same_top") > 0.5 && e2e_number(blocks, "kl.same_top") <= 1);
    json_decref(alone);
    json_decref(blocks);
    json_decref(f32);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_stream_is_the_text),
    cmocka_unit_test(test_quiet_leaves_the_text_alone_on_stdout),
    cmocka_unit_test(test_a_prompt_comes_from_a_file_or_stdin),
    cmocka_unit_test(test_a_stop_text_ends_it),
    cmocka_unit_test(test_exactly_n_tokens_without_chat),
    cmocka_unit_test(test_sampling_options_reach_the_sampler),
    cmocka_unit_test(test_without_a_choice_repeats_are_penalized),
    cmocka_unit_test(test_the_first_text_does_not_loop),
    cmocka_unit_test(test_a_conversation_remembers),
    cmocka_unit_test(test_ctrl_c_ends_the_reply_and_not_the_conversation),
    cmocka_unit_test(test_wrong_usage_is_told),
    cmocka_unit_test(test_a_model_without_a_calibration_runs_at_once),
    cmocka_unit_test(test_blocks_that_are_asked_for_are_calibrated_on_the_shipped_text),
    cmocka_unit_test(test_auto_keeps_blocks_where_there_is_a_calibration),
    cmocka_unit_test(test_ppl_has_the_windows_of_llama),
    cmocka_unit_test(test_ppl_has_the_standard_error_of_its_predictions),
    cmocka_unit_test(test_kl_holds_a_cache_against_f32),
};

int main(void)
{
    return HXT_RUN(tests);
}
