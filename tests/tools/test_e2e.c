/* Protects: what `hexrig run` promises: the text really comes through the DSP, the driver's counts follow the formulas
 * of each density, tokens do not depend on density or front end, modelled figures repeat. */
#include "e2e.h"

#define LAYERS 6
#define N_TOKENS 12

static json_t *run_density(const char *density, const char *more)
{
    char words[512];

    snprintf(words, sizeof(words), "run --json -p PROMPT -n %d --density %s %s", N_TOKENS, density,
             more);
    return e2e_json(words);
}

/* Position of step i of the run: the first generated token comes out of the last prompt token's step. */
static double first_position(const json_t *j)
{
    return (double)json_array_size(json_object_get(j, "prompt_tokens")) - 1;
}

static void test_per_vector_makes_12_encodes_and_12p_decodes_per_token(void **state)
{
    json_t *j = run_density("per-vector", "");
    double want = 0;

    (void)state;
    for (int i = 0; i < N_TOKENS; i++)
        want += 2 * LAYERS + 2 * LAYERS * (first_position(j) + i);
    assert_true(e2e_number(j, "dispatch.calls") == want);
    assert_true(fabs(e2e_number(j, "dispatch.calls_per_token") - want / N_TOKENS) < 1e-6);
    assert_true(e2e_number(j, "dispatch.bytes_copied_per_token") > 0);
    json_decref(j);
    e2e_clean();
}

static void test_batched_makes_12_calls_per_token(void **state)
{
    json_t *j = run_density("batched", "");

    (void)state;
    assert_true(e2e_number(j, "dispatch.calls") == 2 * LAYERS * N_TOKENS);
    assert_true(e2e_number(j, "dispatch.bytes_shared_per_token") > 0);
    json_decref(j);
    e2e_clean();
}

static void test_tokens_are_the_same_at_both_densities(void **state)
{
    json_t *a = run_density("per-vector", ""), *b = run_density("batched", "");

    (void)state;
    assert_int_equal(json_array_size(json_object_get(a, "tokens")), N_TOKENS);
    assert_true(json_equal(json_object_get(a, "tokens"), json_object_get(b, "tokens")));
    assert_string_equal(e2e_text(a, "text"), e2e_text(b, "text"));
    json_decref(a);
    json_decref(b);
}

static void test_socket_front_end_gives_the_same_run_as_fuse(void **state)
{
    json_t *a, *b = run_density("batched", "--front-end socket");
    json_t *c = run_density("per-vector", "--front-end socket");

    (void)state;
    assert_string_equal(e2e_text(b, "front_end"), "socket");
    assert_true(json_equal(json_object_get(b, "tokens"), json_object_get(c, "tokens")));
    if (e2e_have_fuse()) {
        a = run_density("batched", "--front-end fuse");
        assert_string_equal(e2e_text(a, "front_end"), "fuse");
        assert_true(json_equal(json_object_get(a, "tokens"), json_object_get(b, "tokens")));
        assert_true(json_equal(json_object_get(a, "dispatch"), json_object_get(b, "dispatch")));
        json_decref(a);
    }
    json_decref(b);
    json_decref(c);
    e2e_clean();
}

static void test_modelled_figures_repeat(void **state)
{
    json_t *a = run_density("per-vector", ""), *b = run_density("per-vector", "");

    (void)state;
    assert_true(json_equal(json_object_get(a, "dispatch"), json_object_get(b, "dispatch")));
    json_decref(a);
    json_decref(b);
}

static void test_s22u_577_dispatch_is_577_calls_per_second(void **state)
{
    static const char *const densities[] = {"per-vector", "batched"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(densities); i++) {
        json_t *j = run_density(densities[i], "--profile s22u-577");
        double got = e2e_number(j, "dispatch.model_us_per_token.dispatch") * N_TOKENS;
        double want = e2e_number(j, "dispatch.calls") * 1e6 / 577;

        assert_string_equal(e2e_text(j, "profile"), "s22u-577");
        if (fabs(got / want - 1) > 0.01)
            fail_msg("%s: modelled dispatch %.1f us, want %.1f", densities[i], got, want);
        json_decref(j);
    }
}

static void test_profiles_differ_in_cost_and_not_in_tokens(void **state)
{
    json_t *a = run_density("batched", "--profile s22u-577");
    json_t *b = run_density("batched", "--profile s22u-sync");

    (void)state;
    assert_string_equal(e2e_text(b, "profile"), "s22u-sync");
    assert_true(json_equal(json_object_get(a, "tokens"), json_object_get(b, "tokens")));
    assert_true(e2e_number(a, "dispatch.model_us_per_token.dispatch") !=
                e2e_number(b, "dispatch.model_us_per_token.dispatch"));
    json_decref(a);
    json_decref(b);
}

static void test_total_is_the_sum_of_its_parts(void **state)
{
    json_t *j = run_density("batched", "");
    double sum = e2e_number(j, "dispatch.model_us_per_token.dispatch") +
                 e2e_number(j, "dispatch.model_us_per_token.marshal") +
                 e2e_number(j, "dispatch.model_us_per_token.queue") +
                 e2e_number(j, "dispatch.model_us_per_token.exec");

    (void)state;
    assert_true(fabs(e2e_number(j, "dispatch.model_us_per_token.total") - sum) < 1e-3);
    assert_true(e2e_number(j, "dispatch.model_us_per_token.exec") > 0);
    json_decref(j);
}

/* Whether one vector decides a token depends on all the others, so the methods are named that do not follow the machine. */
#define REFERENCES "--linear ref --attn ref"

/* The error filter inverts one reply's blocks on their way back from the DSP. */
static void corrupted_decode(const char *density, int method, int nth)
{
    json_t *good = run_density(density, REFERENCES), *bad;
    struct hxt_result res;
    char words[512];

    snprintf(words, sizeof(words),
             "run --json -p PROMPT -n %d --density %s " REFERENCES
             " --filter error:method=%d,nth=%d,corrupt=all", N_TOKENS, density, method, nth);
    e2e_run(&res, words);
    if (res.exit_code == 0) {
        bad = json_loads(res.out, 0, NULL);
        assert_non_null(bad);
        assert_false(json_equal(json_object_get(good, "tokens"), json_object_get(bad, "tokens")));
        json_decref(bad);
    } else {
        assert_int_equal(res.exit_code, 1);
        assert_true(e2e_one_line(res.err));
    }
    json_decref(good);
    hxt_result_free(&res);
    e2e_clean();
}

static void test_one_corrupted_decode_reply_changes_tokens_or_fails(void **state)
{
    (void)state;
    corrupted_decode("per-vector", 4, 30);
    corrupted_decode("batched", 6, 20);
}

static void test_failing_call_fails_the_run_with_its_code(void **state)
{
    (void)state;
    e2e_refused("run --json -p PROMPT -n 4 --filter error:method=6,nth=3,code=0x8000040e", 1,
                "0x8000040e");
}

static void test_block_ratios_are_those_of_63_bytes(void **state)
{
    json_t *j = e2e_json("run --json -p PROMPT -n 1");

    (void)state;
    assert_true(e2e_number(j, "block.payload_bytes") == 63);
    assert_true(e2e_number(j, "block.slot_bytes") == 64);
    assert_true(fabs(e2e_number(j, "block.ratio_padded_f32") - 616.0 / 63) < 1e-9);
    assert_true(fabs(e2e_number(j, "block.ratio_f32") - 512.0 / 63) < 1e-9);
    assert_true(fabs(e2e_number(j, "block.ratio_f16") - 256.0 / 63) < 1e-9);
    json_decref(j);
}

static void test_text_output_carries_the_same_figures_as_json(void **state)
{
    json_t *j = e2e_json("run --json -p PROMPT -n 4");
    struct hxt_result res;
    const char *start = hxt_path("%s\nmodel=", e2e_text(j, "text")); /* one newline after the text */
    char line[128];

    (void)state;
    e2e_run(&res, "run -p PROMPT -n 4");
    assert_int_equal(res.exit_code, 0);
    assert_true(strncmp(res.out, start, strlen(start)) == 0);
    snprintf(line, sizeof(line), "\ndispatch.calls=%.0f\n", e2e_number(j, "dispatch.calls"));
    assert_non_null(strstr(res.out, line));
    hxt_result_free(&res);
    json_decref(j);
}

static void test_up_status_run_down(void **state)
{
    struct hxt_result res;
    json_t *status, *run;

    (void)state;
    e2e_refused("status", 1, "no rig runs there");
    e2e_refused("down", 1, "no rig runs there");
    e2e_run(&res, "up --profile s22u-sync");
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    e2e_run(&res, "up");
    assert_int_equal(res.exit_code, 1);
    assert_non_null(strstr(res.err, "runs there already"));
    hxt_result_free(&res);
    status = e2e_json("status --json");
    assert_string_equal(e2e_text(status, "state"), "up");
    assert_string_equal(e2e_text(status, "profile"), "s22u-sync");
    run = e2e_json("run --json -p PROMPT -n 2"); /* uses the rig that is up */
    assert_string_equal(e2e_text(run, "profile"), "s22u-sync");
    json_decref(run);
    run = e2e_json("run --json -p PROMPT -n 2 --profile s22u-577"); /* does not fit: a private one */
    assert_string_equal(e2e_text(run, "profile"), "s22u-577");
    json_decref(run);
    json_decref(status);
    e2e_run(&res, "down");
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_per_vector_makes_12_encodes_and_12p_decodes_per_token),
    cmocka_unit_test(test_batched_makes_12_calls_per_token),
    cmocka_unit_test(test_tokens_are_the_same_at_both_densities),
    cmocka_unit_test(test_socket_front_end_gives_the_same_run_as_fuse),
    cmocka_unit_test(test_modelled_figures_repeat),
    cmocka_unit_test(test_s22u_577_dispatch_is_577_calls_per_second),
    cmocka_unit_test(test_profiles_differ_in_cost_and_not_in_tokens),
    cmocka_unit_test(test_total_is_the_sum_of_its_parts),
    cmocka_unit_test(test_one_corrupted_decode_reply_changes_tokens_or_fails),
    cmocka_unit_test(test_failing_call_fails_the_run_with_its_code),
    cmocka_unit_test(test_block_ratios_are_those_of_63_bytes),
    cmocka_unit_test(test_text_output_carries_the_same_figures_as_json),
    cmocka_unit_test(test_up_status_run_down),
};

int main(void)
{
    return HXT_RUN(tests);
}
