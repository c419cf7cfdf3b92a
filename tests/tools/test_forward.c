/* Protects: `hexrig report timing --forward`: a pass is the sum of its operations and the host's share, the same in every
 * run; variants and first calls differ the way that they must; one layer stands for all behind the first; and a published
 * bound of a part is kept. */
#include "e2e.h"

/* As in test_report.c. */
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
#define NEEDS_LOADS() hxt_skip_test("only a gcc build without sanitizers tells the cost model of loads and stores")
#else
#define NEEDS_LOADS() ((void)0)
#endif

#define FORWARD "report timing --json --forward gemma3-1b "

/* A pass of as few tokens as tell it, and --tokens for it. */
enum { TOKENS = 2 };
#define FEW FORWARD "--tokens 2 "

static struct {
    char words[160];
    json_t *pass;
} known[16];

/* The answer to FEW and words, which is the same each time (the first test), so it is asked for once. */
static const json_t *pass_of(const char *words)
{
    size_t i = 0;

    while (known[i].pass && strcmp(known[i].words, words) != 0)
        i++;
    assert_true(i + 1 < HXT_LEN(known));
    if (!known[i].pass) {
        snprintf(known[i].words, sizeof(known[i].words), "%s", words);
        known[i].pass = e2e_json(hxt_path(FEW "%s", words));
    }
    return known[i].pass;
}

static int forget_passes(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(known); i++)
        json_decref(known[i].pass);
    return 0;
}

static double dsp_ms(const char *words)
{
    return e2e_number(pass_of(words), "dsp_ms");
}

static double ask(const char *words, const char *figure)
{
    json_t *j = e2e_json(words);
    double v = e2e_number(j, figure);

    json_decref(j);
    return v;
}

static const json_t *operation(const json_t *pass, const char *name)
{
    json_t *line;
    size_t i;

    json_array_foreach(json_object_get(pass, "operations"), i, line)
        if (strcmp(e2e_text(line, "name"), name) == 0)
            return line;
    return NULL;
}

static void test_a_pass_repeats(void **state)
{
    json_t *again = e2e_json(FEW "--variant v4 --cold");

    (void)state;
    assert_true(json_equal(again, pass_of("--variant v4 --cold")));
    json_decref(again);
}

static void test_a_pass_is_the_sum_of_its_parts(void **state)
{
    json_t *a = e2e_json(FORWARD "--variant v5 --cold"), *line; /* of 16 tokens, unless it is told otherwise */
    double ms = 0, share = 0;
    size_t i;

    (void)state;
    json_array_foreach(json_object_get(a, "operations"), i, line) {
        ms += e2e_number(line, "ms");
        share += e2e_number(line, "share");
        assert_true(e2e_number(line, "pcycles_each") > 0 && e2e_number(line, "count") >= 1);
        assert_non_null(e2e_text(line, "where"));
    }
    assert_int_equal(i, 18); /* 17 operations and the rest */
    assert_true(fabs(ms - e2e_number(a, "dsp_ms")) < 1e-6 && fabs(share - 1) < 1e-9);
    assert_true(e2e_number(operation(a, "rest"), "share") < 0.01);
    assert_true(e2e_number(a, "call_ms") > e2e_number(a, "dsp_ms"));
    assert_true(fabs(e2e_number(a, "ttft_ms") - e2e_number(a, "call_ms") - e2e_number(a, "host_ms")) < 1e-6);
    assert_true(fabs(e2e_number(a, "prefill_tokens_per_s") - 16e3 / e2e_number(a, "ttft_ms")) < 1e-9);
    assert_true(e2e_number(a, "host_ms") == 3330);
    assert_string_equal(e2e_text(a, "host_from"), "published");
    json_decref(a);
}

/* 26 layers, 4 heads; the last norm is behind them. */
enum { LAYERS = 26, HEADS = 4 };

static void test_operations_are_counted_as_the_model_has_them(void **state)
{
    static const struct {
        const char *name;
        double count;
    } want[] = {{"copy of attention weights", LAYERS},
                {"row sums of a matrix", LAYERS * 7},
                {"rmsnorm", (LAYERS * 4 + 1) * TOKENS},
                {"matmul Q", LAYERS},
                {"rmsnorm of a head", LAYERS * TOKENS * (HEADS + 1)},
                {"rope", LAYERS * TOKENS * (HEADS + 1)},
                {"softmax", LAYERS * TOKENS * HEADS},
                {"gelu", LAYERS * TOKENS},
                {"matmul down", LAYERS},
                {"residual add", LAYERS * TOKENS * 2}};
    const json_t *cold = pass_of("--variant v4 --cold"), *plain = pass_of("");

    (void)state;
    for (size_t i = 0; i < HXT_LEN(want); i++)
        assert_true(e2e_number(operation(cold, want[i].name), "count") == want[i].count);
    assert_string_equal(e2e_text(operation(cold, "matmul Q"), "where"), "VTCM, 2 contexts");
    assert_string_equal(e2e_text(operation(cold, "matmul gate"), "where"), "DDR, 2 contexts");
    /* hx3b neither stages nor needs tables */
    assert_string_equal(e2e_text(plain, "variant"), "hx3b");
    assert_null(operation(plain, "copy of attention weights"));
    assert_null(operation(plain, "row sums of a matrix"));
    assert_string_equal(e2e_text(operation(plain, "matmul gate"), "where"), "DDR, 1 context");
}

static void test_variants_and_first_calls_differ_as_they_must(void **state)
{
    double hx3b, v3, v4, v5, cold;

    (void)state;
    NEEDS_LOADS();
    hx3b = dsp_ms("--variant hx3b");
    v3 = dsp_ms("--variant v3");
    v4 = dsp_ms("--variant v4");
    v5 = dsp_ms("--variant v5");
    cold = dsp_ms("--variant v4 --cold");
    assert_true(v5 < v4 && v4 < hx3b && v3 < hx3b);
    assert_true(cold > v4 * 1.1); /* a scan of 698 MB */
}

static void test_the_hosts_share_is_taken_as_it_is(void **state)
{
    const json_t *published = pass_of("");
    json_t *j = e2e_json(FEW "--host-ms 100");

    (void)state;
    assert_true(e2e_number(j, "host_ms") == 100 && e2e_number(j, "tokens") == TOKENS);
    assert_string_equal(e2e_text(j, "host_from"), "given");
    assert_true(fabs(e2e_number(published, "host_ms") - 3330.0 * TOKENS / 16) < 1e-9);
    assert_true(e2e_number(published, "dsp_ms") == e2e_number(j, "dsp_ms"));
    json_decref(j);
}

/* What --forward stands on: layers behind the second one take what it takes. */
static void test_a_pass_is_one_call_of_as_many_layers(void **state)
{
    static const struct {
        const char *pass, *how;
        int tokens;
    } ways[] = {{"--variant hx3b --tokens 4", "", 4},
                {"--variant v4 --cold", "--threads 2 --placement vtcm --cold", TOKENS},
                {"--variant v5", "--threads 2 --placement dma", TOKENS}};
    char words[160];

    (void)state;
    for (size_t i = 0; i < HXT_LEN(ways); i++) {
        const double pass = dsp_ms(ways[i].pass);
        double ms[4];

        for (int layers = 1; layers <= 3; layers++) {
            snprintf(words, sizeof(words), "report timing --json --kernel layers --shape %dx%d --shared %s", ways[i].tokens, layers,
                     ways[i].how);
            ms[layers] = ask(words, "model_us.exec") / 1e3;
        }
        if (fabs((ms[1] + 25 * (ms[3] - ms[2])) / pass - 1) > 0.0005)
            fail_msg("%s: %g, %g and %g ms for one, two and three layers, %g for 26", ways[i].pass, ms[1], ms[2], ms[3], pass);
    }
}

/* By the published log, copying a layer's attention weights into VTCM, their row sums and 16 norms took at most 16 ms. */
static void test_a_layers_entry_is_within_the_published_bound(void **state)
{
    static const char *const parts[] = {"stage --shape 2959872x1", "row-sums --shape 1536x1152", "row-sums --shape 1152x1024",
                                        "rmsnorm --shape 16x1152"};
    double us = 0;
    char words[160];

    (void)state;
    NEEDS_LOADS();
    for (size_t i = 0; i < HXT_LEN(parts); i++) {
        snprintf(words, sizeof(words), "report timing --json --shared --cold --kernel %s", parts[i]);
        us += ask(words, "model_us.exec");
    }
    if (!(us > 1000 && us <= 16000))
        fail_msg("%.0f us", us);
}

static void test_bad_passes_are_refused(void **state)
{
    static const char *const bad[][2] = {
        {"report timing --forward qwen3-4b", "legal: gemma3-1b"},
        {"report timing --forward gemma3-1b --variant v6", "'v6'"},
        {"report timing --forward gemma3-1b --tokens 0", "'0'"},
        {"report timing --forward gemma3-1b --tokens 257", "'257'"},
        {"report timing --forward gemma3-1b --host-ms -1", "'-1'"},
        {"report timing --forward gemma3-1b --kernel axpby", "two questions"},
        {"report timing --forward gemma3-1b --calls 2", "two questions"},
        {"report timing --forward gemma3-1b --threads 2", "--kernel"},
        {"report timing --variant v4", "--forward"},
        {"report timing --cold", "--forward"},
        {"report timing --forward gemma3-1b --check", "--check"},
        {"report timing --kernel stage --threads 2", "runs on 1"},
        {"report timing --kernel attend --shape 513x1x32", "513 is more than 512"},
        {"report timing --kernel forward --shape 257", "257 is more than 256"},
    };
    struct hxt_result res;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        e2e_run(&res, bad[i][0]);
        if (res.exit_code != 2 || !strstr(res.err, bad[i][1]))
            fail_msg("%s: exit %d, '%s'", bad[i][0], res.exit_code, res.err);
        hxt_result_free(&res);
    }
    e2e_clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pass_repeats),
        cmocka_unit_test(test_a_pass_is_the_sum_of_its_parts),
        cmocka_unit_test(test_operations_are_counted_as_the_model_has_them),
        cmocka_unit_test(test_variants_and_first_calls_differ_as_they_must),
        cmocka_unit_test(test_the_hosts_share_is_taken_as_it_is),
        cmocka_unit_test(test_a_pass_is_one_call_of_as_many_layers),
        cmocka_unit_test(test_a_layers_entry_is_within_the_published_bound),
        cmocka_unit_test(test_bad_passes_are_refused),
    };

    return HXT_RUN_FIXTURE(tests, NULL, forget_passes);
}
