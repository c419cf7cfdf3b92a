/* Protects `hexrig stats` and `hexrig run-with --report`: a program's calls by method, with nothing but its binary, on every front end,
 * and of that program alone. */
#include <errno.h>
#include <jansson.h>
#include <unistd.h>

#include "e2e.h"
#include "rig/method_stats.h"
#include "silicon.h"

/* --- the text of the node ------------------------------------------------------------------------------------------ */

static const char node[] =
    "session=1 pid=7 interface=calculator library=libcalculator_skel.so method=2 name=sum calls=3 errors=1 bytes_copied=10 "
    "bytes_shared=20 hvx_ops=30 model_dispatch_ns=1000000 model_marshal_ns=2000000 model_queue_ns=3000000 model_exec_ns=4000000\n"
    "session=0 pid=7 interface=calculator library=libcalculator_skel.so method=2 name=sum calls=1 errors=0 bytes_copied=1 "
    "bytes_shared=2 hvx_ops=3 model_dispatch_ns=100000 model_marshal_ns=0 model_queue_ns=0 model_exec_ns=0\n"
    "session=2 pid=8 interface=old library=libold_skel.so method=3 name= calls=5 errors=0 bytes_copied=0 "
    "bytes_shared=0 hvx_ops=0 model_dispatch_ns=90000000 model_marshal_ns=0 model_queue_ns=0 model_exec_ns=0\n";

static void load(struct hx_method_stats *s, const char *text)
{
    assert_int_equal(hx_method_stats_parse(s, text), 0);
}

static void test_calls_of_a_method_add_up_and_the_dearest_comes_first(void **state)
{
    struct hx_method_stats s;

    (void)state;
    load(&s, node);
    hx_method_stats_merge(&s);
    assert_int_equal(s.n, 2);
    assert_string_equal(s.at[0].interface, "old");
    assert_string_equal(s.at[1].name, "sum");
    assert_int_equal(s.at[1].calls, 4);
    assert_int_equal(s.at[1].errors, 1);
    assert_int_equal(s.at[1].bytes_shared, 22);
    assert_int_equal(s.at[1].dispatch_ns, 1100000);
    hx_method_stats_free(&s);
}

/* Another process's calls are left out, and what the same number had before. */
static void test_what_was_there_before_is_taken_away(void **state)
{
    static const pid_t others[] = {8};
    struct hx_method_stats s, before;

    (void)state;
    load(&s, node);
    load(&before, strstr(node, "session=0 "));
    hx_method_stats_since(&s, &before, others, HXT_LEN(others));
    assert_int_equal(s.n, 1);
    assert_int_equal(s.at[0].calls, 3);
    assert_int_equal(s.at[0].dispatch_ns, 1000000);
    hx_method_stats_free(&s);
    hx_method_stats_free(&before);
}

static void test_an_idl_file_names_what_the_skel_does_not(void **state)
{
    static const char idl[] = "interface first { long nothing(); };\n"
                              "interface old { long a(); long b(); long c(in sequence<long> x); long d(); };\n";
    const char *file = hxt_path("%s/old.idl", hxt_tmpdir());
    struct hx_method_stats s;

    (void)state;
    hxt_write_file(file, idl, sizeof(idl) - 1);

    load(&s, node);
    assert_int_equal(hx_method_stats_name(&s, "stats", file), 0);
    assert_string_equal(s.at[2].name, "d");
    assert_string_equal(s.at[0].name, "sum");
    assert_int_not_equal(hx_method_stats_name(&s, "stats", "/nonexistent.idl"), 0);
    hx_method_stats_free(&s);
}

static void test_a_text_that_is_none_is_refused(void **state)
{
    static const char *const texts[] = {"x\n", "session=1\n", "session=1 interface= calls=1\n", "\n \n"};
    struct hx_method_stats s;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(texts); i++) {
        assert_int_equal(hx_method_stats_parse(&s, texts[i]), -EPROTO);
        hx_method_stats_free(&s);
    }
    load(&s, "");
    assert_int_equal(s.n, 0);
    hx_method_stats_print(&s, NULL, stdout);
    hx_method_stats_free(&s);
}

/* --- a program ------------------------------------------------------------------------------------------------------ */

static const char *self;

/* What `hexrig run-with` runs: two echoes, of silicon_skel. */
static int client(void)
{
    static const silicon_how how = {SILICON_RELEASE, SILICON_DDR, 1, 0};
    uint8_t data[1000] = {1}, back[1000];
    remote_handle64 h;
    silicon_cycles t;
    int rc = silicon_open(silicon_URI "&_dom=cdsp", &h);

    for (int i = 0; i < 2 && !rc; i++)
        rc = silicon_echo(h, &how, data, sizeof(data), back, sizeof(back), &t);
    return rc ? rc : silicon_close(h);
}

/* Its report: two echoes of 1000 bytes there and back, and nothing but that, open and close. */
static void expect_report(const char *text)
{
    json_error_t error;
    json_t *o = json_loads(text, 0, &error), *m;
    const json_t *total;
    double dispatch = 0;
    size_t i, echoes = 0;

    if (!o)
        fail_msg("%s in: %s", error.text, text);
    assert_int_equal(json_integer_value(json_object_get(o, "version")), 1);
    assert_int_equal(json_array_size(json_object_get(o, "methods")), 3);
    json_array_foreach(json_object_get(o, "methods"), i, m) {
        const char *name = json_string_value(json_object_get(m, "name"));

        dispatch += json_real_value(json_object_get(json_object_get(m, "model_ms"), "dispatch"));
        if (strcmp(name, "echo") != 0)
            continue;
        echoes++;
        assert_string_equal(json_string_value(json_object_get(m, "interface")), "silicon");
        assert_string_equal(json_string_value(json_object_get(m, "library")), "libsilicon_skel.so");
        assert_int_equal(json_integer_value(json_object_get(m, "calls")), 2);
        assert_true(json_integer_value(json_object_get(m, "bytes_copied")) >= 4000);
    }
    assert_int_equal(echoes, 1);
    total = json_object_get(o, "total");
    assert_int_equal(json_integer_value(json_object_get(total, "calls")), 4);
    assert_true(json_real_value(json_object_get(json_object_get(total, "model_ms"), "dispatch")) - dispatch < 1e-6);
    json_decref(o);
}

static char *report_of(const char *options)
{
    const char *file = hxt_path("%s/report.json", hxt_tmpdir());
    char words[2048], *text;
    struct hxt_result r;

    snprintf(words, sizeof(words), "run-with --library %s --json --report=%s -- %s client", options, file, self);
    e2e_run(&r, words);
    if (r.exit_code)
        fail_msg("hexrig %s: exit %d: %s", words, r.exit_code, r.err);
    hxt_result_free(&r);
    text = hxt_read_file(file, NULL);
    assert_non_null(text);
    unlink(file);
    return text;
}

static void test_a_program_gets_its_calls_by_method(void **state)
{
    char *text = report_of(""), *sync;

    (void)state;
    expect_report(text);
    assert_non_null(strstr(text, "\"profile\": \"s22u-577\""));
    sync = report_of("--profile s22u-sync --filter delay:us=1");
    expect_report(sync);
    assert_non_null(strstr(sync, "\"profile\": \"s22u-sync\""));
    free(text);
    free(sync);
    e2e_clean();
}

/* The second run is told of its own calls alone; `stats` of both. */
static void rig_that_runs_tells_of_all(const char *front_end)
{
    const char *mount = hxt_path("%s/m", hxt_tmpdir());
    char words[1024], *text;
    struct hxt_result r;

    snprintf(words, sizeof(words), "up --front-end %s --mount %s", front_end, mount);
    e2e_run(&r, words);
    if (r.exit_code)
        fail_msg("hexrig %s: %s", words, r.err);
    hxt_result_free(&r);
    for (int i = 0; i < 2; i++) {
        text = report_of(hxt_path("--device %s/fastrpc-cdsp", mount));
        expect_report(text);
        free(text);
    }
    snprintf(words, sizeof(words), "stats --mount %s", mount);
    e2e_run(&r, words);
    assert_int_equal(r.exit_code, 0);
    assert_non_null(strstr(r.out, "\nsilicon.echo"));
    assert_non_null(strstr(r.out, "profile s22u-577\n"));
    hxt_result_free(&r);
    snprintf(words, sizeof(words), "stats --json --mount %s", mount);
    e2e_run(&r, words);
    assert_int_equal(r.exit_code, 0);
    assert_non_null(strstr(r.out, "\"name\": \"echo\", \"calls\": 4,"));
    assert_non_null(strstr(r.out, hxt_path("\"front_end\": \"%s\"", front_end)));
    hxt_result_free(&r);
    snprintf(words, sizeof(words), "down --mount %s", mount);
    e2e_run(&r, words);
    assert_int_equal(r.exit_code, 0);
    hxt_result_free(&r);
}

static void test_stats_on_sockets(void **state)
{
    (void)state;
    rig_that_runs_tells_of_all("socket");
}

static void test_stats_on_fuse(void **state)
{
    (void)state;
    if (access("/dev/fuse", R_OK | W_OK))
        hxt_skip_test("/dev/fuse cannot be opened");
    rig_that_runs_tells_of_all("fuse");
}

static void test_what_cannot_be_is_refused(void **state)
{
    (void)state;
    e2e_refused("run-with --filter nope -- true", 2, "nope");
    e2e_refused("run-with --profile nope -- true", 2, "nope");
    e2e_refused(hxt_path("stats --mount %s/none", hxt_tmpdir()), 1, "none");
    e2e_refused("run-with --library --report=/nonexistent/x -- true", 1, "/nonexistent/x");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_of_a_method_add_up_and_the_dearest_comes_first),
        cmocka_unit_test(test_what_was_there_before_is_taken_away),
        cmocka_unit_test(test_an_idl_file_names_what_the_skel_does_not),
        cmocka_unit_test(test_a_text_that_is_none_is_refused),
        cmocka_unit_test(test_a_program_gets_its_calls_by_method),
        cmocka_unit_test(test_stats_on_sockets),
        cmocka_unit_test(test_stats_on_fuse),
        cmocka_unit_test(test_what_cannot_be_is_refused),
    };

    self = argv[0];
    return argc > 1 ? client() : HXT_RUN(tests);
}
