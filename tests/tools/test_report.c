/* Protects: `hexrig report timing`: every published row is predicted from a real call, close to silicon and the same in every
 * run; other cases can be asked; and what a question changes goes the way that it must. */
#include "e2e.h"

static const char *const row_ids[] = {"R02", "R04", "R05", "R07", "R10", "R13", "K03", "K05", "K06", "K10",
                                      "K11", "K15", "K16", "K18", "K20", "K21", "E10", "E03", "E06"};

/* A build with a sanitizer has the sanitizer's callbacks instead of the cost model's, and clang traces nothing: loads cost nothing
 * there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
#define NEEDS_LOADS() hxt_skip_test("only a gcc build without sanitizers tells the cost model of loads and stores")
#else
#define NEEDS_LOADS() ((void)0)
#endif

/* A group's figures are those of its rows, and its verdict is what its bars say. */
static void group_says(const json_t *table, const json_t *group)
{
    const char *name = e2e_text(group, "name");
    double worst = 0, bar = e2e_number(group, "worst_bar"), median = e2e_number(group, "median_error");
    int below = 0, above = 0, n = 0, ok;
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(table, "rows"), i, row) {
        const double error = fabs(e2e_number(row, "ratio") - 1);

        if (strcmp(name, "all") != 0 && strcmp(name, e2e_text(row, "group")) != 0)
            continue;
        worst = fmax(worst, error);
        below += error <= median + 1e-9;
        above += error >= median - 1e-9;
        n++;
    }
    assert_true(e2e_number(group, "n_rows") == n);
    assert_true(fabs(e2e_number(group, "worst_error") - worst) < 1e-9);
    assert_true(2 * below >= n && 2 * above >= n);
    ok = worst <= bar && median <= e2e_number(group, "median_bar");
    assert_int_equal(json_is_true(json_object_get(group, "ok")), ok);
}

static void groups_say_what_rows_are(const json_t *table)
{
    const json_t *groups = json_object_get(table, "groups");
    size_t i;
    json_t *group;
    int ok = 1;

    assert_int_equal(json_array_size(groups), 7);
    json_array_foreach(groups, i, group) {
        group_says(table, group);
        ok = ok && json_is_true(json_object_get(group, "ok"));
    }
    assert_int_equal(json_is_true(json_object_get(table, "ok")), ok);
}

static void every_row_is_there(const json_t *table)
{
    unsigned seen = 0;
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(table, "rows"), i, row) {
        double predicted = e2e_number(row, "predicted"), measured = e2e_number(row, "measured");

        assert_true(predicted > 0 && fabs(predicted / measured - e2e_number(row, "ratio")) < 1e-9);
        for (size_t k = 0; k < HXT_LEN(row_ids); k++)
            if (strcmp(e2e_text(row, "id"), row_ids[k]) == 0)
                seen |= 1u << k;
    }
    assert_int_equal(seen, (1u << HXT_LEN(row_ids)) - 1);
}

/* The rows of the text that no phone's calls are in are those of the table. */
static void rows_are_those_of(const json_t *table, const char *text)
{
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(table, "rows"), i, row) {
        const char *group = e2e_text(row, "group");
        char line[128];

        if (strcmp(group, "calls") == 0 || strcmp(group, "forward") == 0)
            continue;
        snprintf(line, sizeof(line), "\n%-4s %-7s %-46s %13.1f ", e2e_text(row, "id"), group, e2e_text(row, "what"),
                 e2e_number(row, "predicted"));
        if (!strstr(text, line))
            fail_msg("no line '%s' in '%s'", line + 1, text);
    }
}

/* A table takes ten seconds, so two of them hold it all: rows near silicon that are the same in every run and on either front end, with
 * a verdict that is the exit status. */
static void test_all_rows_are_near_silicon_and_repeat(void **state)
{
    struct hxt_result res;
    json_t *table;

    (void)state;
    NEEDS_LOADS();
    e2e_run(&res, "report timing --check --json");
    assert_int_equal(res.exit_code, 0);
    assert_string_equal(res.err, "");
    table = json_loads(res.out, 0, NULL);
    assert_non_null(table);
    hxt_result_free(&res);
    assert_true(json_is_true(json_object_get(table, "ok"))); /* every group clears its bars, timing_rows.c */
    groups_say_what_rows_are(table);
    assert_true(e2e_number(table, "free_parameters") < (double)json_array_size(json_object_get(table, "rows")));
    every_row_is_there(table);
    e2e_run(&res, "report timing --check --profile s22u-577 --front-end socket"); /* no phone's calls */
    assert_int_equal(res.exit_code, 1);
    assert_non_null(strstr(res.err, "rows of group calls"));
    assert_non_null(strstr(res.out, "FAIL"));
    rows_are_those_of(table, res.out);
    hxt_result_free(&res);
    json_decref(table);
    e2e_clean();
}

static double ask(const char *words, const char *figure)
{
    json_t *j = e2e_json(words);
    double v = e2e_number(j, figure);

    json_decref(j);
    return v;
}

static void test_placement_threads_and_build_matter(void **state)
{
    double ddr, vtcm, two, fast, debug;

    (void)state;
    NEEDS_LOADS();
    ddr = ask("report timing --json --kernel matmul --shape 2x1152x2048 --shared", "pcycles.total");
    vtcm = ask("report timing --json --kernel matmul --shape 2x1152x2048 --shared --placement vtcm",
               "pcycles.total");
    two = ask("report timing --json --kernel matmul --shape 2x1152x2048 --shared --threads 2",
              "pcycles.total");
    fast = ask("report timing --json --kernel vht2 --shape 256", "pcycles.total");
    debug = ask("report timing --json --kernel vht2 --shape 256 --build debug", "pcycles.total");
    assert_true(ddr > 3 * vtcm);
    assert_true(two > 0.55 * ddr && two < 0.8 * ddr); /* both want more of DDR than there is */
    assert_true(debug > 3 * fast);
}

static void test_pure_calls_follow_the_profile(void **state)
{
    json_t *ten = e2e_json("report timing --json --calls 10");
    const double small = e2e_number(ten, "us_per_call"), first = e2e_number(ten, "us_first_call"), wall = e2e_number(ten, "wall_us");
    const double large = ask("report timing --json --calls 10 --in-bytes 65536 --out-bytes 65536", "us_per_call");
    const double pauses = ask("report timing --json --calls 10 --idle-us 700", "wall_us");
    const double paused = ask("report timing --json --kernel modmatmul --shape 32x128x128 --shared --idle-us 2000", "model_us.dispatch");
    const double busy = ask("report timing --json --kernel modmatmul --shape 32x128x128 --shared", "model_us.dispatch");

    (void)state;
    json_decref(ten);
    assert_true(fabs(small - 295) < 0.1); /* 185 and the waking of a DSP that has nothing to do */
    assert_true(fabs(large - small - 128 * 0.47) < 0.02);
    assert_true(fabs(wall - (first + 9 * small)) < 0.1);
    assert_true(fabs(pauses - (10 * first + 9 * 700)) < 0.1); /* after such a pause each call costs what the first did */
    assert_true(busy > 185 && busy < 185 + 115); /* a DSP that was busy stays awake, and the caller sleeps a while */
    assert_true(fabs(paused - busy - 157) < 1);  /* but not for ever, and the caller's caches get cold */
}

/* Threads on one handle, really started, whose calls overlap on the virtual clock. */
static void test_callers_side_by_side_win_until_the_dsp_has_no_more(void **state)
{
    static const struct {
        const char *question;
        double least, most; /* speed-up */
    } cases[] = {
        {"--calls 20", 1, 1},
        {"--calls 20 --concurrent 2", 1.5, 2.05},
        {"--calls 40 --concurrent 14", 3, 8}, /* the channel to the DSP */
        {"--kernel modmatmul --shape 16x128x128 --shared --calls 10 --concurrent 2", 1.9, 2.05}, /* the DSP sleeps in neither case */
        {"--kernel modmatmul --shape 32x128x128 --shared --calls 10 --concurrent 4", 1.9, 3}, /* two HVX contexts */
        {"--kernel modmatmul --shape 32x128x128 --shared --threads 2 --calls 10 --concurrent 2", 1, 1.9},
    };

    (void)state;
    NEEDS_LOADS();
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const double got = ask(hxt_path("report timing --json %s", cases[i].question), "speedup");

        if (got < cases[i].least || got > cases[i].most)
            fail_msg("%s: %g times, not %g to %g", cases[i].question, got, cases[i].least, cases[i].most);
    }
    e2e_clean();
}

static void test_callers_get_the_same_figures_over_any_front_end(void **state)
{
    static const char *const questions[] = {"--calls 30 --concurrent 3 --in-bytes 5000", "--calls 30 --idle-us 90",
                                            "--kernel modmatmul --shared --calls 5 --concurrent 4"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(questions); i++) {
        json_t *a = e2e_json(hxt_path("report timing --json %s", questions[i]));
        json_t *b = e2e_json(hxt_path("report timing --json %s --front-end socket", questions[i]));

        if (!json_equal(a, b))
            fail_msg("%s", questions[i]);
        json_decref(a);
        json_decref(b);
    }
    e2e_clean();
}

static void test_more_calls_than_are_made_are_said_to_be_extrapolated(void **state)
{
    json_t *few = e2e_json("report timing --json --calls 3 --concurrent 2"), *many;

    (void)state;
    assert_true(json_is_false(json_object_get(few, "extrapolated")) && e2e_number(few, "made_by_each") == 3);
    many = e2e_json("report timing --json --calls 1000000 --concurrent 14");
    assert_true(json_is_true(json_object_get(many, "extrapolated")) && e2e_number(many, "made_by_each") == 20000 / 14);
    assert_true(e2e_number(many, "wall_us") > 1000000 * 14 * 40.0); /* the channel alone */
    json_decref(few);
    json_decref(many);
    e2e_clean();
}

static void test_bad_questions_are_refused(void **state)
{
    static const char *const bad[][2] = {
        {"report", "timing"},
        {"report speed", "timing"},
        {"report timing --kernel nope", "'nope'"},
        {"report timing --kernel axpby --shape 64x64", "axpby takes N"},
        {"report timing --shape 0", "'0'"},
        {"report timing --kernel axpby --shape 64x", "'64x'"},
        {"report timing --threads 3", "3"},
        {"report timing --placement l2", "'l2'"},
        {"report timing --kernel axpby --in-bytes 2", "kernel null"},
        {"report timing --kernel axpby --cold --calls 2", "--cold is one call"},
        {"report timing --kernel ntt --shape 128x3", "3 is more than 2"},
        {"report timing --kernel ntt-scalar --shape 1024", "1024 is more than 512"},
        {"report timing --kernel matmul-single --threads 2", "--threads 2: kernel matmul-single runs on 1"},
        {"report timing --calls 1 --concurrent 15", "15"},
        {"report timing --concurrent 2", "--calls"},
        {"report timing --threads 2", "--kernel"},
        {"report timing --idle-us 5", "--kernel"},
        {"report timing --check --calls 5", "--check"},
        {"report timing --kernel modmatmul --shape 16777216x16777216x1", "elements"},
    };
    struct hxt_result res;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        e2e_run(&res, bad[i][0]);
        if (res.exit_code != 2 || !strstr(res.err, bad[i][1]))
            fail_msg("%s: exit %d, '%s'", bad[i][0], res.exit_code, res.err);
        hxt_result_free(&res);
    }
    e2e_run(&res, "report timing --kernel axpby --shape 65"); /* not a multiple of 64: the kernel refuses */
    assert_int_equal(res.exit_code, 1);
    assert_non_null(strstr(res.err, "axpby"));
    hxt_result_free(&res);
    e2e_clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_rows_are_near_silicon_and_repeat),
        cmocka_unit_test(test_placement_threads_and_build_matter),
        cmocka_unit_test(test_pure_calls_follow_the_profile),
        cmocka_unit_test(test_callers_side_by_side_win_until_the_dsp_has_no_more),
        cmocka_unit_test(test_callers_get_the_same_figures_over_any_front_end),
        cmocka_unit_test(test_more_calls_than_are_made_are_said_to_be_extrapolated),
        cmocka_unit_test(test_bad_questions_are_refused),
    };

    return HXT_RUN(tests);
}
