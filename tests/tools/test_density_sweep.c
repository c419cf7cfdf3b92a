/* Protects: sweeps of `hexrig density`: rows as they are done, in every form the same; sweeps of profiles and options say what single
 * commands say; a row that fails is no reason to leave out others; an interrupted or killed one keeps its rows, and goes on to the same
 * object; files of other sweeps are refused; pictures. */
#include "e2e.h"

static json_t *rows(const char *words)
{
    json_t *j = e2e_json(words), *r = json_incref(json_object_get(j, "rows"));

    json_decref(j);
    return r;
}

/* The path lasts. */
static const char *path_of(const char *name)
{
    static char path[4][256];
    static size_t n;
    char *p = path[n++ % 4];

    snprintf(p, sizeof(path[0]), "%s/%s", hxt_tmpdir(), name);
    return p;
}

static char *text_of(const char *path)
{
    size_t n;
    char *text = hxt_read_file(path, &n);

    assert_non_null(text);
    return text;
}

/* --- forms */

static void test_csv_has_what_the_object_has(void **state)
{
    static const char words[] = "density --density batched,queue --pos 0,3 --front-end socket";
    json_t *r = rows(hxt_path("%s --json", words)), *row;
    struct hxt_result res;
    size_t i;

    (void)state;
    e2e_run(&res, hxt_path("%s --csv", words));
    assert_int_equal(res.exit_code, 0);
    if (strncmp(res.out, "density,pos,how,calls_per_token,", 32) != 0)
        fail_msg("no head: '%s'", res.out);
    json_array_foreach(r, i, row) {
        char line[256];

        snprintf(line, sizeof(line), "\n%s,%.0f,counted,%.0f,%.0f,%.0f,%.0f,%.12g,", e2e_text(row, "density"), e2e_number(row, "pos"),
                 e2e_number(row, "calls_per_token"), e2e_number(row, "packets_per_token"), e2e_number(row, "bytes_copied_per_token"),
                 e2e_number(row, "bytes_shared_per_token"), e2e_number(row, "model_us_per_token.dispatch"));
        if (!strstr(res.out, line))
            fail_msg("no line '%s' in '%s'", line + 1, res.out);
    }
    hxt_result_free(&res);
    json_decref(r);
}

static void test_the_object_has_a_version_and_says_that_it_is_complete(void **state)
{
    json_t *j = e2e_json("density --density batched --pos 1 --json --front-end socket");

    (void)state;
    assert_true(e2e_number(j, "version") == 1);
    assert_true(json_is_true(json_object_get(j, "complete")));
    json_decref(j);
}

/* --- sweeps of other things */

static void test_a_sweep_says_what_single_commands_say(void **state)
{
    static const char *const cases[][2] = {{"s22u-577", "spinor"}, {"s22u-577", "ntt"}, {"s22u-sync", "spinor"}, {"s22u-sync", "ntt"}};
    json_t *j = e2e_json("density --pos 3 --sweep profile=s22u-577,s22u-sync --sweep kv=spinor,ntt --offload kv --json");
    json_t *r = json_object_get(j, "rows"), *row;
    size_t i, n = 0;

    (void)state;
    assert_string_equal(e2e_text(j, "profile"), "s22u-577,s22u-sync");
    assert_string_equal(e2e_text(j, "kv"), "spinor,ntt");
    for (size_t c = 0; c < HXT_LEN(cases); c++) {
        json_t *one = rows(hxt_path("density --pos 3 --profile %s --kv %s --offload kv --json", cases[c][0], cases[c][1])), *want;

        json_array_foreach(one, i, want) {
            row = json_deep_copy(json_array_get(r, n++));
            assert_string_equal(e2e_text(row, "profile"), cases[c][0]);
            assert_string_equal(e2e_text(row, "kv"), cases[c][1]);
            json_object_del(row, "profile");
            json_object_del(row, "kv");
            assert_true(json_equal(row, want));
            json_decref(row);
        }
        json_decref(one);
    }
    assert_int_equal(json_array_size(r), n);
    json_decref(j);
    e2e_clean();
}

/* Of one client all is as without the word; of three a token makes the same calls, waits for others, and three are there sooner than one
 * after the other. */
static void check_clients(const json_t *row, const json_t *alone)
{
    const double wall = e2e_number(row, "model_us_per_token.wall"), total = e2e_number(row, "model_us_per_token.total");
    const double once = e2e_number(alone, "model_us_per_token.total");
    json_t *plain = json_deep_copy(row);

    json_object_del(plain, "clients");
    if (strcmp(e2e_text(row, "clients"), "1") == 0) {
        assert_true(json_equal(plain, alone));
    } else {
        assert_true(e2e_number(row, "calls_per_token") == e2e_number(alone, "calls_per_token"));
        assert_true(e2e_number(row, "bytes_shared_per_token") == e2e_number(alone, "bytes_shared_per_token"));
        assert_true(e2e_number(row, "model_us_per_token.queue") > 0);
        assert_true(wall < once && wall < total && wall > total / 4);
    }
    json_decref(plain);
}

static void test_clients_side_by_side_repeat(void **state)
{
    static const char command[] = "density --density per-layer,batched --pos 3 --profile s22u-sync --json";
    json_t *one = rows(command), *first, *again, *row;
    size_t i;

    (void)state;
    first = rows(hxt_path("%s --sweep clients=1,3", command));
    again = rows(hxt_path("%s --sweep clients=1,3", command));
    assert_true(json_equal(first, again));
    assert_int_equal(json_array_size(first), 4);
    json_array_foreach(first, i, row)
        check_clients(row, json_array_get(one, i % 2));
    json_decref(one);
    json_decref(first);
    json_decref(again);
    e2e_refused("density --pos 3 --density queue --sweep clients=1,2", 2, "--sweep clients=2: queue makes packets");
    e2e_refused("density --pos 3 --packets --density batched --sweep clients=2", 2, "batched makes packets");
    e2e_refused("density --pos 3 --sweep clients=33", 2, "legal: integers from 1 to 32");
    e2e_clean();
}

static void test_a_row_that_fails_leaves_the_others(void **state)
{
    struct hxt_result res;
    json_t *j, *r;

    (void)state;
    e2e_run(&res, "density --density batched,queue --pos 2,5000,1 --front-end socket --json");
    assert_int_equal(res.exit_code, 1);
    assert_non_null(strstr(res.err, "hexrig density: batched@5000, queue@5000: position 5000: the model's context is "));
    j = json_loads(res.out, 0, NULL);
    r = json_object_get(j, "rows");
    assert_true(json_is_false(json_object_get(j, "complete")));
    assert_int_equal(json_array_size(r), 4);
    assert_string_equal(e2e_text(json_array_get(r, 2), "density"), "queue");
    assert_true(e2e_number(json_array_get(r, 3), "pos") == 2);
    json_decref(j);
    hxt_result_free(&res);
    e2e_clean();
}

static void test_wrong_lists_are_refused(void **state)
{
    static const char *const cases[][2] = {
        {"--pos 1,,2", "--pos: value 2 of the list is empty"},
        {"--pos 1,2,", "--pos: value 3 of the list is empty"},
        {"--density batched,,queue", "--density: value 2 of the list is empty"},
        {"--sweep profile", "--sweep: 'profile' is no NAME=VALUE,..."},
        {"--sweep profile=", "--sweep: the list is empty"},
        {"--sweep kv=spinor,", "--sweep: value 2 of the list is empty"},
        {"--sweep kv=spinor,zork", "--kv: unknown value 'zork'"},
        {"--sweep zork=1", "zork"},
        {"--sweep pos=1,2", "--sweep: --pos is a list of its own"},
        {"--sweep kv=spinor --sweep kv=banded", "--sweep: kv twice"},
        {"--sweep geometry=qwen3-4b,zork", "--geometry: unknown value 'zork'"},
        {"--csv --json", "--csv and --json exclude each other"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        e2e_refused(hxt_path("density %s", cases[i][0]), 2, cases[i][1]);
}

/* --- files to go on from */

#define SWEEP "density --density batched,queue --pos 1,4,9 --front-end socket --json"

/* The first n lines of a file, and so many characters of the next one. */
static void cut(const char *path, int n, size_t more)
{
    char *text = text_of(path), *at = text;

    while (n--)
        at = strchr(at, '\n') + 1;
    hxt_write_file(path, text, (size_t)(at - text) + more);
    free(text);
}

static void test_a_sweep_goes_on_to_the_same_object(void **state)
{
    const char *path = path_of("sweep");
    json_t *all = e2e_json(hxt_path(SWEEP " --resume %s", path)), *again;
    char *before = text_of(path), *after;

    (void)state;
    cut(path, 3, 20); /* a head, two rows, and one that was not written to its end */
    again = e2e_json(hxt_path(SWEEP " --resume %s", path));
    assert_true(json_equal(all, again));
    after = text_of(path);
    assert_string_equal(after, before);
    json_decref(again);
    again = e2e_json(hxt_path(SWEEP " --resume %s", path)); /* and without any work */
    assert_true(json_equal(all, again));
    json_decref(again);
    json_decref(all);
    free(before);
    free(after);
    e2e_clean();
}

static void test_files_of_other_sweeps_are_refused(void **state)
{
    static const char *const texts[][2] = {
        {"{\"hexrig_density\": 2}\n", ":1: version 2; legal: 1"},
        {"{\"rows\": []}\n", ":1: no \"hexrig_density\": this is no file of a sweep"},
        {"zork\n", ":1: "},
    };
    const char *path = path_of("other");
    json_t *all = e2e_json(hxt_path(SWEEP " --resume %s", path));

    (void)state;
    json_decref(all);
    e2e_refused(hxt_path("density --density batched --pos 1 --resume %s --profile s22u-sync", path), 2,
                hxt_path("%s:1: another sweep: profile is \"default\", not \"s22u-sync\"", path));
    e2e_refused(hxt_path("density --kv ntt --offload kv --pos 1 --resume %s", path), 2, ":1: another sweep: kv is \"spinor\", not \"ntt\"");
    cut(path, 1, 0);
    {
        char *head = text_of(path);

        hxt_write_file(path, hxt_path("%s{\"key\": 1}\n", head), strlen(head) + 11);
        free(head);
    }
    e2e_refused(hxt_path(SWEEP " --resume %s", path), 2, ":2: no \"key\" and \"line\"");
    for (size_t i = 0; i < HXT_LEN(texts); i++) {
        hxt_write_file(path, texts[i][0], strlen(texts[i][0]));
        e2e_refused(hxt_path("density --pos 1 --resume %s", path), 2, hxt_path("%s%s", path, texts[i][1]));
    }
}

static int has_a_row(void *path)
{
    size_t n;
    char *text = hxt_read_file(path, &n);
    int found = text && strstr(text, "\"row\"") && text[n - 1] == '\n';

    free(text);
    return found;
}

static void test_an_interrupt_keeps_rows(void **state)
{
    const char *path = path_of("interrupted");
    struct e2e_run run;
    struct hxt_child c;
    struct hxt_result res;
    json_t *j;

    (void)state;
    e2e_command(&run, hxt_path("density --geometry qwen3-4b --density per-token,per-vector --pos 0,600 --rows counted --basis vht2 "
                               "--json --resume %s", path));
    assert_int_equal(hxt_start(&c, &run.cmd), 0);
    assert_true(hxt_until(has_a_row, (void *)(uintptr_t)path, E2E_TIMEOUT_S));
    assert_int_equal(hxt_signal(&c, SIGINT), 0);
    assert_int_equal(hxt_wait(&c, &res), 0);
    assert_int_equal(res.exit_code, 128 + SIGINT);
    j = json_loads(res.out, 0, NULL);
    assert_non_null(j);
    assert_true(json_is_false(json_object_get(j, "complete")));
    assert_true(json_array_size(json_object_get(j, "rows")) >= 1);
    assert_non_null(strstr(res.err, "interrupted: "));
    json_decref(j);
    hxt_result_free(&res);
    e2e_clean();
}

/* The child in a command's own group: its rig has another one. */
static pid_t worker_of(pid_t command)
{
    pid_t child[8];
    size_t n = hxt_children(command, child, HXT_LEN(child));

    for (size_t i = 0; i < n && i < HXT_LEN(child); i++)
        if (getpgid(child[i]) == command)
            return child[i];
    fail_msg("no process measures");
    return 0;
}

static void test_a_measuring_process_that_is_killed_is_told_of(void **state)
{
    const char *path = path_of("killed");
    struct e2e_run run;
    struct hxt_child c;
    struct hxt_result res;

    (void)state;
    e2e_command(&run, hxt_path("density --geometry qwen3-4b --density per-token,per-vector --pos 0,600 --rows counted --basis vht2 "
                               "--resume %s", path));
    assert_int_equal(hxt_start(&c, &run.cmd), 0);
    assert_true(hxt_until(has_a_row, (void *)(uintptr_t)path, E2E_TIMEOUT_S));
    assert_int_equal(kill(worker_of(c.pid), SIGKILL), 0);
    assert_int_equal(hxt_wait(&c, &res), 0);
    assert_int_equal(res.exit_code, 1);
    assert_string_equal(res.err, "hexrig density: the process that measures was ended: Killed\n");
    assert_non_null(strstr(res.out, "per-token"));
    hxt_result_free(&res);
    e2e_clean();
}

/* --- pictures */

/* gnuplot, as far as this command uses it: the script goes to where the picture would. */
static const char fake[] = "#!/bin/sh\ncat >script\nout=$(sed -n \"s/^set output '\\(.*\\)'$/\\1/p\" script)\nmv script \"$out\"\n";

static void run_in(struct hxt_result *res, const char *dir, const char *words)
{
    struct e2e_run run;
    char path[300];
    const char *envs[] = {run.env, "HEXRIG_DEVICE", path, NULL};

    e2e_command(&run, words);
    snprintf(path, sizeof(path), "PATH=%s", dir);
    run.cmd.env = envs;
    assert_int_equal(hxt_run(res, &run.cmd), 0);
}

static void test_a_picture_has_a_line_for_each_density(void **state)
{
    const char *bin = path_of("bin"), *svg = path_of("rows.svg");
    struct hxt_result res;
    char *script;

    (void)state;
    mkdir(bin, 0755);
    hxt_write_file(hxt_path("%s/gnuplot", bin), fake, sizeof(fake) - 1);
    chmod(hxt_path("%s/gnuplot", bin), 0755);
    run_in(&res, hxt_path("%s:/usr/bin:/bin", bin),
           hxt_path("density --density batched,queue --pos 1,4 --front-end socket --plot %s", svg));
    if (res.exit_code)
        fail_msg("exit %d: %s", res.exit_code, res.err);
    script = text_of(svg);
    assert_non_null(strstr(script, "set terminal svg"));
    assert_non_null(strstr(script, "title 'batched', '-' using 1:2 with linespoints linewidth 2 title 'queue'\n1 "));
    free(script);
    hxt_result_free(&res);
    e2e_clean();
}

static void test_a_picture_needs_gnuplot(void **state)
{
    struct hxt_result res;

    (void)state;
    run_in(&res, "/nonexistent", "density --plot x.svg");
    assert_int_equal(res.exit_code, 1);
    assert_string_equal(res.out, "");
    assert_non_null(strstr(res.err, "--plot: gnuplot is not installed (Debian: apt-get install gnuplot-nox)"));
    hxt_result_free(&res);
    e2e_refused("density --plot x.gif", 2, "--plot: unknown value 'x.gif'; legal: FILE.svg, FILE.png");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_csv_has_what_the_object_has),
    cmocka_unit_test(test_the_object_has_a_version_and_says_that_it_is_complete),
    cmocka_unit_test(test_a_sweep_says_what_single_commands_say),
    cmocka_unit_test(test_clients_side_by_side_repeat),
    cmocka_unit_test(test_a_row_that_fails_leaves_the_others),
    cmocka_unit_test(test_wrong_lists_are_refused),
    cmocka_unit_test(test_a_sweep_goes_on_to_the_same_object),
    cmocka_unit_test(test_files_of_other_sweeps_are_refused),
    cmocka_unit_test(test_an_interrupt_keeps_rows),
    cmocka_unit_test(test_a_measuring_process_that_is_killed_is_told_of),
    cmocka_unit_test(test_a_picture_has_a_line_for_each_density),
    cmocka_unit_test(test_a_picture_needs_gnuplot),
};

int main(void)
{
    return HXT_RUN(tests);
}
