/* Protects: `hexrig report timing --identify` and `--interval`: which rows tell a parameter, what is uncertain of a figure and
 * what a row left out would have, are the same in every run and go the way that the model must. */
#include "e2e.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
#define NEEDS_LOADS() hxt_skip_test("only a gcc build without sanitizers tells the cost model of loads and stores")
#else
#define NEEDS_LOADS() ((void)0)
#endif

/* Rows are asked once for every parameter. */
#define NEEDS_MINUTES() \
    do { \
        if (!getenv("HXT_IDENTIFY_ALL")) \
            hxt_skip_test("takes minutes: make check-calibration"); \
    } while (0)

enum { LONG_TIMEOUT_S = 1800, TEXT_MAX = 16384 };

/* The shipped profile whose values are all taken as they are, but for the lines that follow: few parameters vary, and few rigs
 * have to run. */
static const char *write_profile(const char *name, const char *lines)
{
    static const char *const files[] = {HXT_SRC "/dsp/profiles/v69.inc", HXT_SRC "/dsp/profiles/s22u-sync.conf"};
    const char *path = hxt_path("%s/%s.conf", hxt_tmpdir(), name);
    char text[TEXT_MAX], *save;
    size_t n = 0;

    for (size_t i = 0; i < HXT_LEN(files); i++) {
        size_t bytes;
        char *all = hxt_read_file(files[i], &bytes);

        assert_non_null(all = realloc(all, bytes + 1));
        all[bytes] = '\0';
        for (char *line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
            if (strncmp(line, "include", 7) != 0)
                n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s\n", (int)strcspn(line, "#"), line);
        free(all);
    }
    n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", lines);
    assert_true(n < sizeof(text));
    hxt_write_file(path, text, n);
    return path;
}

static json_t *find(const json_t *list, const char *key, const char *value)
{
    json_t *j;
    size_t i;

    json_array_foreach(list, i, j)
        if (strcmp(e2e_text(j, key), value) == 0)
            return j;
    fail_msg("no %s '%s'", key, value);
    return NULL;
}

static json_t *parameter(const json_t *report, const char *name)
{
    return find(json_object_get(report, "parameters"), "name", name);
}

static int tells(const json_t *parameter, const char *id)
{
    const json_t *rows = json_object_get(parameter, "told_by");
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
        if (strcmp(json_string_value(row), id) == 0)
            return 1;
    return 0;
}

/* The slope of the first row of that id. */
static double slope(const json_t *report, const char *name, const char *id)
{
    const json_t *rows = json_object_get(report, "rows");
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
        if (strcmp(e2e_text(row, "id"), id) == 0)
            return json_number_value(json_array_get(json_object_get(parameter(report, name), "slopes"), i));
    fail_msg("no row %s", id);
    return 0;
}

static const char two_fitted[] = "ddr_pcycles = 170 # fitted 80..400: K03, K11\n"
                                 "dispatch_us = 185 # fitted 100..300: R02\n"
                                 "dma_setup_pcycles = 100 # assumed 30..1000: no row\n";

static void test_identify_names_the_rows_that_tell_a_parameter(void **state)
{
    const char *words;
    json_t *a, *b, *p;

    (void)state;
    NEEDS_LOADS();
    NEEDS_MINUTES();
    words = hxt_path("report timing --identify --interval --json --profile %s", write_profile("two", two_fitted));
    a = e2e_json(words);
    b = e2e_json(words);
    assert_true(json_equal(a, b));
    json_decref(b);
    assert_true(e2e_number(a, "free_parameters") == 2);

    p = parameter(a, "ddr_pcycles");
    assert_true(tells(p, "K11") && tells(p, "K03") && !tells(p, "R04"));
    assert_true(e2e_number(p, "error") < 0.3 * e2e_number(p, "error_before"));
    assert_string_equal(e2e_text(p, "is"), "fitted");
    assert_true(slope(a, "ddr_pcycles", "K11") > 0.5 && slope(a, "ddr_pcycles", "K11") <= 1.05);
    assert_true(fabs(slope(a, "ddr_pcycles", "K15")) < 0.05);
    assert_true(slope(a, "dispatch_us", "R04") > 0.3 && slope(a, "dispatch_us", "K11") == 0);

    p = parameter(a, "dma_setup_pcycles");
    assert_string_equal(e2e_text(p, "is"), "assumed");
    assert_true(fabs(e2e_number(p, "error") / e2e_number(p, "error_before") - 1) < 0.05);
    assert_true(fabs(e2e_number(p, "error_before") - log(1000.0 / 30) / 2 / 1.645) < 1e-9);

    p = parameter(a, "hvx_pcycles"); /* without a note */
    assert_true(json_is_false(json_object_get(p, "varies")));
    assert_string_equal(e2e_text(p, "origin"), "");
    assert_int_equal(json_array_size(json_object_get(a, "directions")), 2);
    json_decref(a);
    e2e_clean();
}

/* The rows and groups are those of the plain report; a row's interval has its figure in the middle; left out, a row of which no other
 * knows the parameter is off by more. */
static void test_rows_have_intervals_and_an_error_without_them(void **state)
{
    const char *path;
    json_t *plain, *all, *row;
    size_t i, inside = 0;

    (void)state;
    NEEDS_LOADS();
    NEEDS_MINUTES();
    path = write_profile("lone", "vtcm_request_pcycles = 33000 # fitted 1000..34000: R10\n");
    plain = e2e_json(hxt_path("report timing --json --profile %s", path));
    all = e2e_json(hxt_path("report timing --identify --interval --json --profile %s", path));
    assert_true(json_equal(json_object_get(plain, "groups"), json_object_get(all, "groups")));
    json_array_foreach(json_object_get(all, "rows"), i, row) {
        const json_t *interval = json_object_get(row, "interval"), *same = json_array_get(json_object_get(plain, "rows"), i);
        const double low = json_number_value(json_array_get(interval, 0)), high = json_number_value(json_array_get(interval, 1));
        const double predicted = e2e_number(row, "predicted"), measured = e2e_number(row, "measured");

        assert_true(e2e_number(same, "predicted") == predicted);
        assert_true(low < predicted && predicted < high && fabs(low * high / predicted / predicted - 1) < 1e-6);
        inside += low <= measured && measured <= high;
        if (strcmp(e2e_text(row, "id"), "K15") == 0) /* no VTCM is in it */
            assert_true(fabs(e2e_number(row, "without") - fabs(e2e_number(row, "ratio") - 1)) < 1e-6);
        /* six requests, a quarter of the call, go to the middle of their range, 5831 */
        if (strcmp(e2e_text(row, "id"), "R10") == 0 && json_is_true(json_object_get(row, "first_call")))
            assert_true(e2e_number(row, "without") > 0.2);
    }
    assert_true(e2e_number(all, "rows_in_interval") == (double)inside);
    json_decref(plain);
    json_decref(all);
    e2e_clean();
}

static double total_us(const char *profile, const char *how)
{
    json_t *j = e2e_json(hxt_path("report timing --kernel forward --shared --json --profile %s %s", profile, how));
    const double us = e2e_number(j, "model_us.total");

    json_decref(j);
    return us;
}

/* Whole passes are asked briefly when a parameter is moved. */
static void test_a_pass_has_the_slopes_of_the_whole(void **state)
{
    static const struct {
        const char *id, *how;
    } passes[] = {{"E03", ""}, {"E06", "--threads 2 --placement vtcm --cold"}};
    char at[256], moved[256];
    json_t *j;

    (void)state;
    NEEDS_LOADS();
    NEEDS_MINUTES();
    snprintf(at, sizeof(at), "%s", write_profile("at", "ddr_thread_pcycles = 80 # fitted 60..120: E03\n"));
    snprintf(moved, sizeof(moved), "%s", write_profile("moved", "ddr_thread_pcycles = 84\n"));
    j = e2e_json(hxt_path("report timing --identify --json --profile %s", at));
    for (size_t i = 0; i < HXT_LEN(passes); i++) {
        const double whole = log(total_us(moved, passes[i].how) / total_us(at, passes[i].how)) / log(1.05);

        if (fabs(slope(j, "ddr_thread_pcycles", passes[i].id) - whole) > 0.05) /* two threads meet differently */
            fail_msg("%s: slope %g, by whole passes %g", passes[i].id, slope(j, "ddr_thread_pcycles", passes[i].id), whole);
    }
    json_decref(j);
    e2e_clean();
}

static double width(const json_t *answer, const char *object, const char *key)
{
    const json_t *pair = json_object_get(json_object_get(json_object_get(answer, "interval"), object), key);

    assert_int_equal(json_array_size(pair), 2);
    return json_number_value(json_array_get(pair, 1)) / json_number_value(json_array_get(pair, 0));
}

static void test_a_figure_is_as_uncertain_as_what_it_rests_on(void **state)
{
    struct hxt_result res;
    const char *path;
    json_t *fits, *small;

    (void)state;
    NEEDS_LOADS();
    NEEDS_MINUTES();
    path = write_profile("wide", "l2_kib = 1024 # assumed 512..2048: no row\n");
    /* 1.8 MB, used eight times: an L2 of 2 MiB holds it, one of 1 MiB does not */
    fits = e2e_json(hxt_path("report timing --kernel matmul --shape 8x1152x1600 --shared --interval --json --profile %s", path));
    small = e2e_json(hxt_path("report timing --kernel vht2 --shape 256 --interval --json --profile %s", path));
    assert_true(e2e_number(fits, "interval.coverage") == 0.9);
    assert_true(width(fits, "pcycles", "total") > 1.5 * width(small, "pcycles", "total"));
    assert_true(fabs(log(width(small, "pcycles", "total")) - 2 * 1.645 * e2e_number(small, "interval.scatter")) < 0.02);
    json_decref(fits);
    json_decref(small);

    e2e_run(&res, hxt_path("report timing --calls 3 --interval --profile %s", path));
    assert_int_equal(res.exit_code, 0);
    assert_non_null(strstr(res.out, "us_per_call="));
    assert_non_null(strstr(res.out, " .. "));
    hxt_result_free(&res);
    e2e_clean();
}

static void test_fitted_is_no_word_for_what_no_row_tells(void **state)
{
    struct hxt_result res;

    (void)state;
    NEEDS_LOADS();
    e2e_run(&res, hxt_path("report timing --identify --check --profile %s",
                           write_profile("untold", "packet_us = 92.5 # fitted 40..150: R02\n")));
    assert_int_equal(res.exit_code, 1);
    assert_non_null(strstr(res.err, "packet_us: the profile says fitted, but no row tells it"));
    assert_non_null(strstr(res.out, "no row"));
    hxt_result_free(&res);
    e2e_clean();
}

static void test_bad_questions_are_refused(void **state)
{
    const char *path = write_profile("bad", "hvx_pcycles = 3 # fitted 4..8: K05\n");
    struct e2e_run run;
    struct hxt_result res;

    (void)state;
    e2e_refused(hxt_path("report timing --identify --profile %s", path), 2, "hvx_pcycles");
    e2e_refused("report timing --identify --profile s99", 2, "s99");
    e2e_refused("report timing --identify --kernel axpby", 2, "--identify");
    e2e_command(&run, "report timing --interval");
    run.envs[1] = "HEXRIG_DEVICE=/dev/null";
    assert_int_equal(hxt_run(&res, &run.cmd), 0);
    assert_int_equal(res.exit_code, 2);
    assert_non_null(strstr(res.err, "HEXRIG_DEVICE"));
    hxt_result_free(&res);
}

/* The shipped profile, with all its parameters. */
static void test_the_shipped_profile_holds_when_rows_are_left_out(void **state)
{
    struct e2e_run run;
    struct hxt_result res;
    json_t *j;

    (void)state;
    NEEDS_LOADS();
    NEEDS_MINUTES();
    e2e_command(&run, "report timing --identify --interval --check --json");
    run.cmd.timeout_s = LONG_TIMEOUT_S;
    assert_int_equal(hxt_run(&res, &run.cmd), 0);
    assert_int_equal(res.exit_code, 0);
    j = json_loads(res.out, 0, NULL);
    assert_non_null(j);
    assert_true(e2e_number(j, "without_median_error") <= e2e_number(j, "without_median_bar"));
    assert_true(e2e_number(j, "rows_in_interval") >= 0.8 * e2e_number(j, "n_rows"));
    json_decref(j);
    hxt_result_free(&res);
    e2e_clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identify_names_the_rows_that_tell_a_parameter),
        cmocka_unit_test(test_rows_have_intervals_and_an_error_without_them),
        cmocka_unit_test(test_a_pass_has_the_slopes_of_the_whole),
        cmocka_unit_test(test_a_figure_is_as_uncertain_as_what_it_rests_on),
        cmocka_unit_test(test_fitted_is_no_word_for_what_no_row_tells),
        cmocka_unit_test(test_bad_questions_are_refused),
        cmocka_unit_test(test_the_shipped_profile_holds_when_rows_are_left_out),
    };

    return HXT_RUN(tests);
}
