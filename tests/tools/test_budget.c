/* Protects: budgets and baselines: what a file says is read as it stands, everything else is refused with file, line and what is legal;
 * figures have the names that pages promise; what is not as it should be is a diff and exit status 1, also of `hexrig density`. */
#include <unistd.h>

#include "budget/figures.h"
#include "budget/gate.h"
#include "cli/cmd.h"
#include "e2e.h"

/* The path lasts until the next file of that name. */
static const char *file_of(const char *name, const char *text)
{
    static char path[300];

    snprintf(path, sizeof(path), "%s/%s", hxt_tmpdir(), name);
    hxt_write_file(path, text, strlen(text));
    return path;
}

/* --- files */

static void test_a_budget_is_read_as_it_stands(void **state)
{
    static const struct hx_limit want[] = {
        {"a@16.calls_per_token", HX_LIMIT_AT_MOST, 72, 0, 3}, {"a@*.x", HX_LIMIT_BELOW, 1.5, 0, 4},
        {"b", HX_LIMIT_AT_LEAST, 0, 0, 5}, {"b", HX_LIMIT_ABOVE, 1e6, 0, 6}, {"c", HX_LIMIT_EQUAL, 7, 0, 7},
        {"d", HX_LIMIT_EQUAL, 8, 2.5, 8},
    };
    const char *path = file_of("budget", "# of density\nversion=1\n a@16.calls_per_token <= 72 # two per layer\na@*.x<1.5\r\n"
                                         "b\t>=0\nb > 1e6\n"
                                         "c = 7\n"
                                         "d = 8 +- 2.5 %\ncommand = density");
    struct hx_limits l;
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(hx_limits_read(&l, path, 0, &err), 0);
    assert_string_equal(l.command, "density");
    assert_int_equal(l.n, HXT_LEN(want));
    for (size_t i = 0; i < HXT_LEN(want); i++) {
        assert_string_equal(l.at[i].figure, want[i].figure);
        assert_int_equal(l.at[i].how, want[i].how);
        assert_true(l.at[i].value == want[i].value && l.at[i].percent == want[i].percent);
        assert_int_equal(l.at[i].line, want[i].line);
    }
    hx_limits_free(&l);
}

static void test_what_is_wrong_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *says;
        int baseline;
    } cases[] = {
        {"x <= 4\n", ":1: version is missing; legal: 1", 0},
        {"", ":0: version is missing; legal: 1", 0},
        {"version = 1\n", ":1: no FIGURE COMPARISON LIMIT", 0},
        {"version = 2\nx <= 4\n", ":1: version '2'; legal: 1", 0},
        {"version = 1\nversion = 1\n", ":2: version for the second time", 0},
        {"version = 1\ncommand = run\ncommand = run\n", ":3: command for the second time", 0},
        {"version = 1\n\nzork\n", ":3: 'zork' is no FIGURE COMPARISON LIMIT; comparisons: <=, <, >=, >, =", 0},
        {"version = 1\n<= 3\n", ":2: '<= 3' is no FIGURE COMPARISON LIMIT", 0},
        {"version = 1\nx <= -1\n", ":2: x: '-1' is no number from 0 to 1e+18", 0},
        {"version = 1\nx <= 3ms\n", ":2: x: '3ms' is no number from 0 to 1e+18", 0},
        {"version = 1\nx <= 2e18\n", ":2: x: '2e18' is no number", 0},
        {"version = 1\nx <= nan\n", ":2: x: 'nan' is no number", 0},
        {"version = 1\nx <= inf\n", ":2: x: 'inf' is no number", 0},
        {"version = 1\nx <=\n", ":2: x: '' is no number", 0},
        {"version = 1\nx <= 3 +- 2%\n", ":2: x: +- is legal behind = alone", 0},
        {"version = 1\nx = 3 +- 2\n", ":2: '+- 2' is no +- PERCENT%", 0},
        {"version = 1\nx = 3 +- 1001%\n", ":2: x: '+- 1001%' is no percentage from 0 to 1000", 0},
        {"version = 1\nx <= 3\ny > 1\nx <= 4\n", ":4: x for the second time", 0},
        {"version = 1\nx <= 3\n", ":2: x: comparison '<='; legal in a baseline: =", 1},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const char *path = file_of("wrong", cases[i].text);
        struct hx_limits l;
        struct hx_error err = {""};

        assert_int_equal(hx_limits_read(&l, path, cases[i].baseline, &err), -EINVAL);
        if (strncmp(err.text, path, strlen(path)) != 0 || strncmp(err.text + strlen(path), cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("'%s' is not '%s%s'", err.text, path, cases[i].says);
        hx_limits_free(&l);
    }
}

static void test_a_file_with_a_byte_0_and_a_folder_are_refused(void **state)
{
    const char *path = file_of("zero", "");
    struct hx_limits l;
    struct hx_error err = {""};

    (void)state;
    hxt_write_file(path, "version = 1\nx = \0 3\n", 20);
    assert_int_equal(hx_limits_read(&l, path, 0, &err), -EINVAL);
    assert_non_null(strstr(err.text, "/zero:2: a byte 0; this is no text"));
    hx_limits_free(&l);
    assert_int_equal(hx_limits_read(&l, hxt_tmpdir(), 0, &err), -EISDIR);
    hx_limits_free(&l);
}

static void test_limits_hold_up_to_twelve_digits(void **state)
{
    static const struct {
        struct hx_limit l;
        double figure;
        int holds;
    } cases[] = {
        {{"", HX_LIMIT_AT_MOST, 72, 0, 0}, 72, 1}, {{"", HX_LIMIT_AT_MOST, 72, 0, 0}, 72.001, 0},
        {{"", HX_LIMIT_BELOW, 72, 0, 0}, 72, 0},
        {{"", HX_LIMIT_BELOW, 72, 0, 0}, 71.9, 1}, {{"", HX_LIMIT_AT_LEAST, 3, 0, 0}, 3, 1},
        {{"", HX_LIMIT_AT_LEAST, 3, 0, 0}, 2.9, 0},
        {{"", HX_LIMIT_ABOVE, 0, 0, 0}, 0, 0}, {{"", HX_LIMIT_ABOVE, 0, 0, 0}, 1e-9, 1}, {{"", HX_LIMIT_EQUAL, 0, 0, 0}, 0, 1},
        {{"", HX_LIMIT_EQUAL, 100, 0, 0}, 101, 0}, {{"", HX_LIMIT_EQUAL, 100, 1, 0}, 101, 1},
        {{"", HX_LIMIT_EQUAL, 100, 1, 0}, 98.9, 0},
        {{"", HX_LIMIT_EQUAL, 0.333333333333, 0, 0}, 1.0 / 3, 1},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        if (hx_limit_holds(&cases[i].l, cases[i].figure) != cases[i].holds)
            fail_msg("%g %s %g", cases[i].figure, hx_limit_sign(cases[i].l.how), cases[i].l.value);
}

/* --- figures */

static void test_figures_are_numbers_by_group(void **state)
{
    json_t *groups = json_pack("{s:{s:i, s:s, s:{s:f}}, s:{s:i}}", "my model/a@1", "calls", 3, "how", "counted", "us", "total", 1.5, "b=?",
                               "calls", 4);
    json_t *figures = hx_figures(groups);
    char *text = json_dumps(figures, JSON_COMPACT), *behind, *legal;

    (void)state;
    assert_string_equal(text, "{\"my_model/a@1.calls\":3.0,\"my_model/a@1.us.total\":1.5,\"b__.calls\":4.0}");
    assert_int_equal(hx_figures_legal(figures, groups, "my_model/a@1.zork", &behind, &legal), 0);
    assert_string_equal(behind, "my_model/a@1.");
    assert_string_equal(legal, "calls, us.total");
    free(behind);
    free(legal);
    assert_int_equal(hx_figures_legal(figures, groups, "zork", &behind, &legal), 0);
    assert_string_equal(behind, "");
    assert_string_equal(legal, "my model/a@1.*, b=?.*");
    free(behind);
    free(legal);
    free(text);
    json_decref(figures);
    json_decref(groups);
}

/* --- gates */

/* Begins and ends with two groups; what went to stderr meanwhile in `said`. */
static int pass(struct hx_gate *g, int calls, double us, char said[2048])
{
    FILE *f = tmpfile();
    int err = dup(STDERR_FILENO), rc;
    size_t n;

    assert_non_null(f);
    fflush(stderr);
    dup2(fileno(f), STDERR_FILENO);
    rc = hx_gate_begin(g);
    if (!rc)
        rc = hx_gate_end(g, json_pack("{s:{s:i, s:f}, s:{s:i}}", "a", "calls", calls, "us", us, "b", "calls", 4));
    fflush(stderr);
    dup2(err, STDERR_FILENO);
    close(err);
    rewind(f);
    n = fread(said, 1, 2047, f);
    said[n] = '\0';
    fclose(f);
    hx_gate_free(g);
    return rc;
}

static void expect(int rc, int want, const char *said, const char *says)
{
    if (rc != want || !strstr(said, says) || (!*says && *said))
        fail_msg("%d, not %d: '%s' is not '%s'", rc, want, said, says);
}

static void test_a_broken_limit_is_a_diff_and_exit_status_1(void **state)
{
    struct hx_gate g = {.cmd = "run", .budget = file_of("b", "version = 1\na.calls <= 4\n*.calls < 5\na.us >= 2\n")};
    const struct hx_gate again = g;
    char said[2048];

    (void)state;
    expect(pass(&g, 3, 2, said), HX_EXIT_OK, said, "");
    g = again;
    expect(pass(&g, 6, 1, said), HX_EXIT_FAILED, said, "/b\n+++ hexrig run\n"
           "@@ line 2 @@\n-a.calls <= 4\n+a.calls = 6 (+50 %)\n"
           "@@ line 3 @@\n-a.calls < 5\n+a.calls = 6 (+20 %)\n"
           "@@ line 4 @@\n-a.us >= 2\n+a.us = 1 (-50 %)\nhexrig run: --budget: ");
    expect(0, 0, said, "/b: 3 figures are not within the limits\n");
}

static void test_figures_and_commands_that_are_not_there_are_refused(void **state)
{
    struct hx_gate g = {.cmd = "run", .budget = file_of("b", "version = 1\na.calls <= 1\na.zork <= 4\n")};
    char said[2048];

    (void)state;
    expect(pass(&g, 3, 2, said), HX_EXIT_USAGE, said,
           "/b:3: unknown figure 'a.zork'; legal: a. and one of calls, us; see hexrig run --help\n");
    assert_null(strstr(said, "@@"));
    g = (struct hx_gate){.cmd = "run", .budget = file_of("b", "version = 1\ncommand = density\na.calls <= 4\n")};
    expect(pass(&g, 3, 2, said), HX_EXIT_USAGE, said, "/b:2: command 'density'; legal: run;");
    g = (struct hx_gate){.cmd = "run", .save = "/nowhere/at/all"};
    expect(pass(&g, 3, 2, said), HX_EXIT_USAGE, said, "--save-baseline: /nowhere/at/all: No such file or directory");
}

static void test_a_baseline_holds_what_it_was_saved_from(void **state)
{
    const char *path = file_of("base", "");
    struct hx_gate g = {.cmd = "run", .save = path};
    char said[2048], *text;
    size_t n;

    (void)state;
    expect(pass(&g, 3, 1.0 / 3, said), HX_EXIT_OK, said, "");
    g = (struct hx_gate){.cmd = "run", .baseline = path};
    expect(pass(&g, 3, 1.0 / 3, said), HX_EXIT_OK, said, "");
    g = (struct hx_gate){.cmd = "run", .baseline = path};
    expect(pass(&g, 3, 0.3, said), HX_EXIT_FAILED, said,
           "@@ line 5 @@\n-a.us = 0.333333333333\n+a.us = 0.3 (-10 %)\nhexrig run: --compare: ");
    g = (struct hx_gate){.cmd = "run", .baseline = path, .save = path, .tolerance = {{strdup("*.us"), 15}}, .n_tolerances = 1};
    expect(pass(&g, 3, 0.3, said), HX_EXIT_OK, said, "");
    g = (struct hx_gate){.cmd = "run", .baseline = path, .save = path};
    expect(pass(&g, 3, 0.3, said), HX_EXIT_OK, said, "");
    text = hxt_read_file(path, &n); /* the tolerance stays */
    assert_non_null(strstr(text, "version = 1\ncommand = run\na.calls = 3\na.us = 0.3 +- 15%\nb.calls = 4\n"));
    free(text);
}

static void test_figures_that_came_or_went_differ(void **state)
{
    struct hx_gate g = {.cmd = "run", .baseline = file_of("base", "version = 1\ncommand = run\na.calls = 3\na.old = 1\nb.calls = 4\n")};
    char said[2048];

    (void)state;
    expect(pass(&g, 3, 2, said), HX_EXIT_FAILED, said,
           "@@ line 4 @@\n-a.old = 1\n@@ new @@\n+a.us = 2\nhexrig run: --compare: ");
    expect(0, 0, said, ": 2 figures differ; --save-baseline writes them anew\n");
}

/* --- the command */

#define DENSITY "density --geometry 2x2x64 --density batched --pos 1 --front-end socket"

static void test_a_sweep_keeps_to_its_budget_or_fails(void **state)
{
    const char *path = file_of("b", "version = 1\ncommand = density\nbatched@1.calls_per_token <= 4\n");
    struct hxt_result res;

    (void)state;
    e2e_refused(hxt_path(DENSITY " --budget %s --tolerance 3", path), 2, "--tolerance is of --compare and --save-baseline");
    e2e_refused(hxt_path(DENSITY " --compare %s", path), 2, "/b:3: batched@1.calls_per_token: comparison '<='; legal in a baseline: =");
    e2e_refused("run --chat --budget b", 2, "no conversation");
    e2e_run(&res, hxt_path(DENSITY " --budget %s", path));
    expect(res.exit_code, 0, res.err, "");
    hxt_result_free(&res);
    file_of("b", "version = 1\nbatched@1.calls_per_token < 4\n");
    e2e_run(&res, hxt_path(DENSITY " --budget %s", path));
    expect(res.exit_code, 1, res.err, "-batched@1.calls_per_token < 4\n+batched@1.calls_per_token = 4 (+0 %)\n");
    hxt_result_free(&res);
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_budget_is_read_as_it_stands),
    cmocka_unit_test(test_what_is_wrong_is_refused_with_its_line),
    cmocka_unit_test(test_a_file_with_a_byte_0_and_a_folder_are_refused),
    cmocka_unit_test(test_limits_hold_up_to_twelve_digits),
    cmocka_unit_test(test_figures_are_numbers_by_group),
    cmocka_unit_test(test_a_broken_limit_is_a_diff_and_exit_status_1),
    cmocka_unit_test(test_figures_and_commands_that_are_not_there_are_refused),
    cmocka_unit_test(test_a_baseline_holds_what_it_was_saved_from),
    cmocka_unit_test(test_figures_that_came_or_went_differ),
    cmocka_unit_test(test_a_sweep_keeps_to_its_budget_or_fails),
};

int main(void)
{
    return HXT_RUN(tests);
}
