/* Protects `hexrig spec`: rows of drafters say what a run with that drafter does, in both columns, with the driver's counts and the law
 * beside them, and the same as JSON and CSV; quotients of its table; the law's figures. */
#include "e2e.h"

#define SHORT "--texts 1 -n 12 "

enum { TOKENS = 12, CALLS = 12 }; /* of a text; of a token of the shipped model, batched */

static json_t *rows_of(json_t *j)
{
    json_t *r = json_incref(json_object_get(j, "rows"));

    assert_true(json_is_array(r));
    json_decref(j);
    return r;
}

static json_t *row_of(const json_t *rows, const char *draft, double guesses)
{
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
        if (strcmp(e2e_text(row, "draft"), draft) == 0 && e2e_number(row, "guesses") == guesses)
            return row;
    fail_msg("no row of %s with %g guesses", draft, guesses);
    return NULL;
}

static void near(double got, double want, const char *what)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%s: %.12g is not %.12g", what, got, want);
}

/* --- sweeps */

static void check_plain(const json_t *row)
{
    near(e2e_number(row, "greedy.tokens_per_step"), 1, "tokens per step");
    near(e2e_number(row, "calls_per_token"), CALLS, "calls");
    near(e2e_number(row, "model.gain"), 1, "gain");
    assert_true(e2e_number(row, "model.t_v1_us") > 0 && e2e_number(row, "host.t_v1_s") > 0);
}

/* A step makes the calls of a token, and the drafter none. */
static void check_lookup(const json_t *row, double guesses)
{
    const double tokens = e2e_number(row, "greedy.tokens_per_step");

    assert_true(tokens >= 1 && tokens <= guesses + 1);
    assert_true(e2e_number(row, "along.tokens_per_step") >= 1);
    near(e2e_number(row, "greedy.emitted"), TOKENS, "tokens");
    near(tokens, TOKENS / e2e_number(row, "greedy.steps"), "tokens per step");
    near(e2e_number(row, "calls_per_token"), CALLS / tokens, "calls");
    assert_true(e2e_number(row, "model.t_d_us") == 0);
    assert_true(e2e_number(row, "model.gain") > 0.9 * tokens);
}

/* Its guesses are right, and cost what the model's own passes do, so that nothing is gained. */
static void check_perfect(const json_t *row, const json_t *plain, double guesses)
{
    near(e2e_number(row, "greedy.accept"), 1, "right guesses");
    near(e2e_number(row, "greedy.tokens_per_step"), e2e_number(row, "greedy.law"), "the law");
    near(e2e_number(row, "along.tokens_per_step"), guesses + 1, "tokens along a text");
    assert_true(e2e_number(row, "model.t_d_us") > 0.9 * e2e_number(plain, "model.t_v1_us"));
    assert_true(e2e_number(row, "model.gain") < 1.05);
}

static void test_csv_has_what_the_object_has(void **state)
{
    static const char words[] = "spec sweep --kv f32 --draft lookup,bigram --spec-batch 2,4 " SHORT;
    static const char head[] = "draft,guesses,greedy_tokens_per_step,";
    json_t *rows = rows_of(e2e_json(hxt_path("%s --json", words)));
    struct hxt_result res;
    const json_t *row;
    char *line;
    size_t i;

    (void)state;
    e2e_run(&res, hxt_path("%s --csv", words));
    assert_int_equal(res.exit_code, 0);
    if (strncmp(res.out, head, sizeof(head) - 1) != 0)
        fail_msg("no head: '%s'", res.out);
    line = res.out;
    json_array_foreach(rows, i, row) {
        char want[256];

        line = strchr(line, '\n') + 1;
        snprintf(want, sizeof(want), "%s,%.0f,%.12g,%.12g,", e2e_text(row, "draft"), e2e_number(row, "guesses"),
                 e2e_number(row, "greedy.tokens_per_step"), e2e_number(row, "greedy.accept"));
        if (strncmp(line, want, strlen(want)) != 0)
            fail_msg("line %zu does not begin with '%s': '%s'", i + 1, want, line);
    }
    hxt_result_free(&res);
    json_decref(rows);
}

static void test_rows_say_what_guesses_were_worth(void **state)
{
    json_t *rows = rows_of(e2e_json("spec sweep --draft lookup,perfect --spec-batch 2,4 " SHORT "--json"));
    const json_t *plain = row_of(rows, "none", 0);

    (void)state;
    assert_int_equal(json_array_size(rows), 5);
    check_plain(plain);
    for (int g = 2; g <= 4; g += 2) {
        check_lookup(row_of(rows, "lookup", g), g);
        check_perfect(row_of(rows, "perfect", g), plain, g);
    }
    json_decref(rows);
    e2e_clean();
}

/* Texts of one's own, and no rig. */
static void test_prompts_and_texts_come_from_files(void **state)
{
    const char *prompts = strdup(hxt_path("%s/prompts", hxt_tmpdir())), *text = strdup(hxt_path("%s/text", hxt_tmpdir()));
    json_t *rows;
    char many[4000];
    size_t n = 0;

    (void)state;
    while (n + 40 < sizeof(many))
        n += (size_t)snprintf(many + n, sizeof(many) - n, "the king was in the house. ");
    hxt_write_file(text, many, n);
    hxt_write_file(prompts, "\nThe king was\n\nOnce upon a time\n", 31);
    rows = rows_of(e2e_json(hxt_path("spec sweep --kv f32 --draft lookup --spec-batch 4 --texts 8 -n 20 --prompts %s -f %s --json", prompts,
                                     text)));
    near(e2e_number(row_of(rows, "lookup", 4), "greedy.emitted"), 2 * 20, "tokens of two prompts");
    near(e2e_number(row_of(rows, "lookup", 4), "along.steps"), 8 * 21, "steps of eight pieces");
    assert_true(e2e_number(row_of(rows, "lookup", 4), "calls_per_token") == 0);
    assert_true(e2e_number(row_of(rows, "lookup", 4), "along.tokens_per_step") > 1);
    json_decref(rows);
    hxt_write_file(text, "short", 5);
    e2e_refused(hxt_path("spec sweep --kv f32 --draft lookup -f %s", text), 1, "tokens; a piece has 80");
    hxt_write_file(prompts, "\n\n", 2);
    e2e_refused(hxt_path("spec sweep --kv f32 --draft lookup --prompts %s", prompts), 1, "there is no prompt in it");
    free((char *)prompts);
    free((char *)text);
    e2e_clean();
}

static void test_a_table_holds_drafters_against_the_two_that_cost_nothing(void **state)
{
    json_t *rows = rows_of(e2e_json("spec table --kv f32 --draft perfect --spec-batch 3 " SHORT "--json"));
    static const char *const kinds[] = {"greedy", "along"}, *const of[] = {"lookup", "bigram"};

    (void)state;
    assert_int_equal(json_array_size(rows), 3);
    for (size_t k = 0; k < HXT_LEN(kinds); k++)
        for (size_t b = 0; b < HXT_LEN(of); b++) {
            const char *tokens = hxt_path("%s.tokens_per_step", kinds[k]), *over = hxt_path("%s.over_%s", kinds[k], of[b]);

            near(e2e_number(row_of(rows, of[b], 3), over), 1, over);
            near(e2e_number(row_of(rows, "perfect", 3), over),
                 e2e_number(row_of(rows, "perfect", 3), tokens) / e2e_number(row_of(rows, of[b], 3), tokens), over);
        }
    json_decref(rows);
}

/* gnuplot, as far as this command uses it: the script goes to where the picture would. */
static const char fake[] = "#!/bin/sh\ncat >\"$(dirname \"$0\")/script\"\n";

static void test_a_picture_has_both_lines_of_each_drafter(void **state)
{
    const char *bin = hxt_tmpdir();
    char path[300], *script;
    struct hxt_result res;
    struct e2e_run run;
    const char *envs[] = {run.env, "HEXRIG_DEVICE", path, NULL};

    (void)state;
    hxt_write_file(hxt_path("%s/gnuplot", bin), fake, sizeof(fake) - 1);
    chmod(hxt_path("%s/gnuplot", bin), 0755);
    e2e_command(&run, "spec sweep --kv f32 --draft lookup,bigram --spec-batch 1,2 " SHORT "--plot x.svg");
    snprintf(path, sizeof(path), "PATH=%s:/usr/bin:/bin", bin);
    run.cmd.env = envs;
    assert_int_equal(hxt_run(&res, &run.cmd), 0);
    if (res.exit_code)
        fail_msg("exit %d: %s", res.exit_code, res.err);
    script = hxt_read_file(hxt_path("%s/script", bin), NULL);
    assert_non_null(script);
    assert_non_null(strstr(script, "set output 'x.svg'"));
    assert_non_null(strstr(script, "title 'lookup, greedy texts', '-'"));
    assert_non_null(strstr(script, "title 'bigram, along a text'\n1 "));
    assert_null(strstr(script, "none"));
    free(script);
    hxt_result_free(&res);
}

/* --- the law */

static void test_the_law_counts_tokens_calls_and_costs(void **state)
{
    json_t *j = e2e_json("spec law -a 0.8 --spec-batch 4 --draft-cost 0.1 --verify-cost 0.05 --json");
    const json_t *row = json_array_get(json_object_get(j, "rows"), 0);
    const double tokens = (1 - pow(0.8, 5)) / (1 - 0.8);

    (void)state;
    near(e2e_number(row, "tokens_per_step"), tokens, "tokens");
    near(e2e_number(row, "calls_share"), 1 / tokens, "calls");
    near(e2e_number(row, "gain"), tokens / 1.6, "gain");
    assert_true(e2e_number(j, "best.guesses") == 5); /* 3.689 / 1.75 is more than 3.362 / 1.6 and 3.951 / 1.9 */
    json_decref(j);
    j = e2e_json("spec law -a 0.8 --spec-batch 4 --draft-cost 0.5 --accept-loss 0.1 --draft-saving 0.6 --json");
    near(e2e_number(json_array_get(json_object_get(j, "rows"), 0), "compressed"),
         (1 - pow(0.7, 5)) / (1 - pow(0.8, 5)) * (1 - 0.8) / (1 - 0.7) * (4 * 0.5 + 1) / (4 * 0.4 * 0.5 + 1), "the compressed drafter");
    json_decref(j);
    j = e2e_json("spec law -a 0.5 --draft-cost 1 --json"); /* a drafter as slow as the model */
    assert_true(e2e_number(j, "best.guesses") == 0 && e2e_number(j, "best.gain") == 1);
    json_decref(j);
}

/* --- what cannot be */

static void test_what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *words, *says;
    } cases[] = {
        {"spec", "no action; legal: sweep, table, law"},
        {"spec law", "no share of right guesses (-a A)"},
        {"spec law -a 1.5", "--accept: unknown value '1.5'; legal: numbers from 0 to 1"},
        {"spec law -a 0.5 --spec-batch 4,", "--spec-batch: value 2 of the list is empty"},
        {"spec law -a 0.5 --spec-batch 64", "--spec-batch: unknown value '64'; legal: integers from 1 to 63"},
        {"spec law -a 0.5 --accept-loss 0.6", "--accept-loss 0.6 is more than the share of right guesses, 0.5"},
        {"spec sweep --draft zork", "--draft: unknown value 'zork'"},
        {"spec sweep --draft lookup,lookup", "--draft: lookup twice"},
        {"spec sweep --draft gp", "--draft: gp: RANK is missing"},
        {"spec sweep --spec-batch 0", "--spec-batch: unknown value '0'"},
        {"spec sweep --spec-adapt on", "--spec-adapt is of hexrig run"},
        {"spec sweep --no-verifier", "--no-verifier is of hexrig run"},
        {"spec sweep --csv --json", "--csv and --json exclude each other"},
        {"spec sweep --plot x.gif", "--plot: unknown value 'x.gif'; legal: FILE.svg, FILE.png"},
        {"spec sweep --texts 0", "--texts: unknown value '0'"},
        {"spec sweep --draft swarm:4 --offload attn", "proposes trees of tokens"},
        {"spec table --draft bigram", "--draft: bigram twice"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        e2e_refused(cases[i].words, 2, cases[i].says);
    e2e_refused("spec sweep --kv f32 --draft lookup --ctx 128 -n 200", 1, "need 202 positions; the context has 128");
    e2e_refused("spec sweep --kv f32 --draft lookup -f nowhere.txt", 1, "nowhere.txt: No such file or directory");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_rows_say_what_guesses_were_worth),
    cmocka_unit_test(test_csv_has_what_the_object_has),
    cmocka_unit_test(test_prompts_and_texts_come_from_files),
    cmocka_unit_test(test_a_table_holds_drafters_against_the_two_that_cost_nothing),
    cmocka_unit_test(test_a_picture_has_both_lines_of_each_drafter),
    cmocka_unit_test(test_the_law_counts_tokens_calls_and_costs),
    cmocka_unit_test(test_what_cannot_be_is_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
