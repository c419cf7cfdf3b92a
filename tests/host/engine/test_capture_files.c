/* Protects the files of captures (host/methods/capture): what cannot be written is told, what lies there already is not lost, and
 * every command that captures does so as the engine does. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture_of_run.h"
#include "e2e.h"

/* --- what cannot be written */

/* A disk that takes so many bytes of each file; 0: any number again. */
enum { FULL = 256 };

static void limit_files(rlim_t bytes)
{
    struct rlimit l;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
    l.rlim_cur = bytes ? bytes : l.rlim_max;
    signal(SIGXFSZ, bytes ? SIG_IGN : SIG_DFL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static const char old_capture[] = HX_CAPTURE_MAGIC "\0of another run";

/* A file with the capture of another run. */
static const char *old_file(const char *name)
{
    const char *path = hxt_path("%s/%s", hxt_tmpdir(), name);

    hxt_write_file(path, old_capture, sizeof(old_capture));
    return path;
}

/* The file is as it was, and nothing lies beside it. */
static void check_kept(const char *path, const void *was, size_t n)
{
    size_t is;
    char *now = hxt_read_file(path, &is);

    assert_non_null(now);
    assert_int_equal(is, n);
    hxt_same_bytes(now, was, n);
    free(now);
    assert_int_equal(access(hxt_path("%s.part", path), F_OK), -1);
}

static void test_a_full_disk_is_told_when_the_engine_finishes(void **state)
{
    const char *path = old_file("full.cap");
    struct hx_engine *e = open_capture(path, "v", "0"); /* one batch stays in the buffer */
    struct hx_error err = {""};
    int rc;

    (void)state;
    run(e, ids, 1, 0);
    limit_files(FULL);
    rc = hx_engine_finish(e, &err);
    limit_files(0);
    assert_int_equal(rc, -EFBIG);
    assert_string_equal(err.text, hxt_path("%s: cannot write the capture: File too large", path));
    hx_engine_close(e);
    check_kept(path, old_capture, sizeof(old_capture));
}

static void test_a_full_disk_ends_a_run(void **state)
{
    const char *path = old_file("full-run.cap"), *says = hxt_path("%s: cannot write the capture: File too large", path);
    struct hx_engine *e = open_capture(path, "all", NULL);
    struct hx_error err = {""};
    int rc;

    (void)state;
    limit_files(FULL);
    rc = hx_engine_run(e, ids, N, 0, &err);
    limit_files(0);
    assert_int_equal(rc, -EFBIG);
    assert_string_equal(err.text, says);
    assert_int_equal(hx_engine_finish(e, &err), -EFBIG);
    assert_string_equal(err.text, says);
    hx_engine_close(e);
    check_kept(path, old_capture, sizeof(old_capture));
}

static void refuse(const char *path, const char *points, const char *layers, int rc, const char *says)
{
    const struct hx_engine_cfg cfg = {
        .model = MODEL_Q8_0, .n_ctx = 16,
        .settings = HXT_SETTINGS("kv=f32", hxt_setting("capture", path), hxt_setting("capture-points", points),
                                 hxt_setting("capture-layers", layers))};
    struct hx_engine *e = NULL;
    struct hx_error err = {""};

    assert_int_equal(hx_engine_open(&e, &cfg, &err), rc);
    if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
}

static void test_what_cannot_be_captured_is_refused(void **state)
{
    (void)state;
    refuse("/none/there", "k", NULL, -ENOENT, "/none/there: cannot write the capture: No such file");
    refuse("/dev/full", "k", NULL, -EEXIST, "/dev/full: cannot write the capture: it is a device, no regular file");
    refuse("/", "k", NULL, -EISDIR, "/: cannot write the capture: Is a directory");
    refuse("", "k", NULL, -EINVAL, "tap capture needs capture FILE");
    refuse("x", "k,w", NULL, -EINVAL, "capture-points: unknown point 'w'; legal: embedding, after_attn, ");
    refuse("x", "", NULL, -EINVAL, "capture-points: unknown point ''");
    refuse("x", "k,", NULL, -EINVAL, "capture-points: unknown point ''");
}

static void test_layers_that_are_none_are_refused(void **state)
{
    static const char *const bad[] = {"", "x", "-1", "3-2", "1-", "1-2x", "1,2", "+1"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        refuse("x", "k", bad[i], -EINVAL, "is not FROM or FROM-TO");
    refuse("x", "k", "6", -EINVAL, "capture-layers: layer 6; the model has 6, from 0");
    refuse("x", "k", "2-30", -EINVAL, "capture-layers: layer 30; the model has 6, from 0");
    refuse("x", "k", "99999999999999999999999", -EINVAL, "capture-layers: layer 99999999999999999999999; the model");
    refuse("x", "k", "0-99999999999999999999999", -EINVAL, "layer 99999999999999999999999; the model has 6, from 0");
}

static void test_two_engines_do_not_write_one_file(void **state)
{
    const char *path = hxt_path("%s/busy.cap", hxt_tmpdir());
    struct hx_engine *e = open_capture(path, "k", NULL);
    struct hx_error err = {""};

    (void)state;
    run(e, ids, N, 0);
    refuse(path, "k", NULL, -EBUSY, "busy.cap: cannot write the capture: another engine writes it");
    assert_int_equal(hx_engine_finish(e, &err), 0);
    hx_capture_read_close(open_reader(path)); /* the other one left it alone */
    hx_engine_close(e);
}

/* --- what lies there already */

/* What must not be lost is what a run reads: models, texts, calibrations. */
static void test_files_that_are_no_captures_are_left_alone(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *says;
    } files[] = {
        {"GGUF\3\0\0\0", 8, "the file exists and is no capture: it begins with 'GGUF'"},
        {"The king was dead.", 18, "it begins with 'The king'"},
        {"HXCAPT", 6, "it begins with 'HXCAPT'"},
        {"HXCAPT2\0", 8, "it begins with 'HXCAPT2'"},
        {"\0", 1, "it begins with byte 0x00"},
    };
    char *path = strdup(hxt_path("%s/other", hxt_tmpdir())), *link = strdup(hxt_path("%s/link", hxt_tmpdir()));

    (void)state;
    assert_int_equal(symlink("other", link), 0);
    for (size_t i = 0; i < HXT_LEN(files); i++) {
        hxt_write_file(path, files[i].bytes, files[i].n);
        refuse(path, "k", NULL, -EEXIST, files[i].says);
        refuse(link, "k", NULL, -EEXIST, files[i].says);
        check_kept(path, files[i].bytes, files[i].n);
    }
    free(path);
    free(link);
}

static void test_only_regular_files_are_written(void **state)
{
    const char *pipe = hxt_path("%s/pipe", hxt_tmpdir()), *part = hxt_path("%s/linked.part", hxt_tmpdir());

    (void)state;
    assert_int_equal(mkfifo(pipe, 0600), 0);
    refuse(pipe, "k", NULL, -EEXIST, "/pipe: cannot write the capture: it is a pipe, no regular file");
    assert_int_equal(symlink("elsewhere", part), 0);
    refuse(hxt_path("%s/linked", hxt_tmpdir()), "k", NULL, -ELOOP, "/linked: cannot write the capture: ");
    assert_int_equal(access(hxt_path("%s/elsewhere", hxt_tmpdir()), F_OK), -1);
}

/* FILE.part may be somebody's, too; one of a run that was killed is not. */
static void test_a_part_that_lies_there_is_written_over_if_it_is_one(void **state)
{
    const char *path = hxt_path("%s/killed.cap", hxt_tmpdir()), *part = hxt_path("%s.part", path);
    struct hx_error err = {""};
    struct hx_engine *e;

    (void)state;
    hxt_write_file(part, "my notes", 8);
    refuse(path, "k", NULL, -EEXIST, "/killed.cap.part: cannot write the capture: the file exists and is no capture");
    hxt_write_file(part, old_capture, sizeof(old_capture));
    e = open_capture(path, "k", NULL);
    run(e, ids, N, 0);
    assert_int_equal(hx_engine_finish(e, &err), 0);
    hx_engine_close(e);
    hx_capture_read_close(open_reader(path));
    assert_int_equal(access(part, F_OK), -1);
}

static void test_a_capture_is_replaced_when_the_engine_finishes(void **state)
{
    const char *path = old_file("old.cap"), *link = hxt_path("%s/old-link", hxt_tmpdir());
    struct hx_error err = {""};
    struct hx_engine *e;
    struct stat st;
    size_t n;
    char *now;

    (void)state;
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(symlink("old.cap", link), 0);
    e = open_capture(link, "k", NULL);
    run(e, ids, N, 0);
    now = hxt_read_file(path, &n);
    assert_int_equal(n, sizeof(old_capture));
    hxt_same_bytes(now, old_capture, n);
    free(now);
    assert_int_equal(hx_engine_finish(e, &err), 0);
    hx_engine_close(e);
    hx_capture_read_close(open_reader(path));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_an_engine_that_does_not_finish_leaves_the_file_alone(void **state)
{
    const char *path = old_file("unfinished.cap");
    struct hx_engine *e = open_capture(path, "k", NULL);

    (void)state;
    run(e, ids, N, 0);
    hx_engine_close(e);
    check_kept(path, old_capture, sizeof(old_capture));
}

static void test_a_capture_of_nothing_is_none(void **state)
{
    const char *path = old_file("nothing.cap");
    struct hx_engine *e = open_capture(path, "k", NULL);
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(hx_engine_finish(e, &err), -ENODATA);
    assert_string_equal(err.text, hxt_path("%s: nothing to capture: no token was run", path));
    hx_engine_close(e);
    check_kept(path, old_capture, sizeof(old_capture));
}

/* --- the commands */

/* A command line with the path for each word FILE. */
static void put_path(char *line, size_t n, const char *words, const char *path)
{
    static const char word[] = "FILE";
    size_t used = 0;

    for (const char *at; (at = strstr(words, word)); words = at + sizeof(word) - 1)
        used += (size_t)snprintf(line + used, n - used, "%.*s%s", (int)(at - words), words, path);
    snprintf(line + used, n - used, "%s", words);
}

/* A model that is mapped, a text, a calibration: each is the run's own. */
static void test_commands_do_not_write_over_what_they_read(void **state)
{
    static const char *const words[][2] = {
        {MODEL_Q8_0, "run -p x -n 2 --kv f32 -m FILE --capture FILE"},
        {MODEL_Q8_0, "model capture -f " HOLDOUT " -n 40 -m FILE -o FILE"},
        {HOLDOUT, "model capture -f FILE -o FILE"},
        {HOLDOUT, "ppl -f FILE --chunks 1 --ctx 8 --kv f32 --capture FILE"},
        {HXT_SRC "/host/data/hexrig-tiny-vht2-after.cal", "run -p x -n 2 --cal FILE --capture FILE"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(words); i++) {
        char *path = strdup(hxt_path("%s/own", hxt_tmpdir())), line[1000];
        size_t n;
        void *bytes = hxt_read_file(words[i][0], &n);

        assert_non_null(bytes);
        hxt_write_file(path, bytes, n);
        put_path(line, sizeof(line), words[i][1], path);
        e2e_refused(line, 1, "own: cannot write the capture: the file exists and is no capture: it begins with ");
        check_kept(path, bytes, n);
        free(bytes);
        free(path);
    }
}

static void test_a_command_that_fails_leaves_the_old_capture(void **state)
{
    char *path = strdup(old_file("failed.cap"));

    (void)state;
    e2e_refused(hxt_path("model capture -f /none/there -o %s", path), 1, "/none/there");
    check_kept(path, old_capture, sizeof(old_capture));
    e2e_refused(hxt_path("model capture -f /dev/null -o %s", path), 1, "/dev/null: the text is empty");
    check_kept(path, old_capture, sizeof(old_capture));
    free(path);
}

/* The engine's tap is closed by each command that has one. */
static void test_every_command_completes_its_capture(void **state)
{
    static const char *const words[] = {
        "bench engine --prefill 4 --decode 1 --runs 1 --capture FILE",
        "density --density batched --pos 3 --capture FILE",
        "run -p PROMPT -n 2 --kv f32 --capture FILE",
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(words); i++) {
        char *path = strdup(old_file("done.cap")), line[1000];

        put_path(line, sizeof(line), words[i], path);
        json_decref(e2e_json(strcat(line, " --json")));
        hx_capture_read_close(open_reader(path));
        free(path);
    }
    e2e_clean();
}

/* Both processes see what flows through the model, and one writes it. */
static void test_two_processes_write_one_capture(void **state)
{
    char *one = strdup(hxt_path("%s/one.cap", hxt_tmpdir())), *two = strdup(hxt_path("%s/two.cap", hxt_tmpdir()));
    char *want, *got;
    size_t n, m;

    (void)state;
    json_decref(e2e_json(hxt_path("run -p PROMPT -n 2 --kv f32 --attn poly --ntt-crt --capture %s --json", one)));
    json_decref(e2e_json(hxt_path("run -p PROMPT -n 2 --kv f32 --attn poly --ntt-crt --crt-shard --capture %s --json", two)));
    want = hxt_read_file(one, &n);
    got = hxt_read_file(two, &m);
    assert_int_equal(n, m);
    hxt_same_bytes(got, want, n);
    free(want);
    free(got);
    free(one);
    free(two);
    e2e_clean();
}

static void test_model_capture_writes_what_it_says(void **state)
{
    const char *path = hxt_path("%s/cmd.cap", hxt_tmpdir());
    json_t *j = e2e_json(hxt_path("model capture -f " HOLDOUT " -o %s -n 20 --ctx 16 --points after_ffn,q --layers 5 "
                                  "--json", path));
    struct hx_capture_reader *r = open_reader(path);
    struct hx_capture_record c;
    const uint32_t *tokens, *pos;
    const float *rows;
    struct hx_error err = {""};
    size_t n = 0;

    (void)state;
    assert_true(e2e_number(j, "tokens") == 20);
    assert_true(e2e_number(j, "ctx") == 16);
    assert_string_equal(e2e_text(j, "kv"), "f32");
    assert_string_equal(json_string_value(json_array_get(json_object_get(j, "taps"), 0)), "capture");
    assert_int_equal(hx_capture_header(r)->n_records, 4);
    while (hx_capture_next(r, &c, &tokens, &pos, &rows, &err) == 1) {
        assert_int_equal(c.layer, 5);
        assert_int_equal(c.point, n % 2 ? HX_TAP_AFTER_FFN : HX_TAP_Q);
        assert_int_equal(c.n, n < 2 ? 16 : 4);
        assert_int_equal(pos[0], 0); /* each window begins afresh */
        n++;
    }
    assert_int_equal(n, 4);
    hx_capture_read_close(r);
    json_decref(j);
    e2e_clean();
}

static void test_commands_tell_what_they_cannot_write(void **state)
{
    (void)state;
    e2e_refused("model capture -f " HOLDOUT " -o /dev/full -n 4", 1, "/dev/full: cannot write the capture: it is a device");
    e2e_refused("model capture -f " HOLDOUT " -o /dev/stdout -n 4", 1, "/dev/stdout: cannot write the capture: it is a pipe");
    e2e_refused("model capture -f " HOLDOUT " -o /none/there -n 4", 1, "/none/there: cannot write the capture");
    e2e_refused("model capture -f /none/there -o x", 1, "/none/there");
    e2e_refused("model capture -o x", 2, "no text (-f FILE)");
    e2e_refused("model capture -f " HOLDOUT, 2, "no file to write (-o FILE)");
    e2e_refused("model capture -f x -o y --points z", 2, "--capture-points: unknown point 'z'; legal: embedding, ");
    e2e_refused("model capture -f x -o y --layers 2-1", 2, "--capture-layers: '2-1' is not FROM or FROM-TO");
    e2e_refused("run -p x --kv f32 --capture-points k", 2, "--capture-points needs --capture");
    e2e_refused("run -p x --kv f32 --tap capture", 2, "tap capture needs --capture FILE");
}

static void test_a_run_whose_capture_is_lost_has_failed(void **state)
{
    static const char *const words[] = {
        "model capture -f " HOLDOUT " -n 4 --points v --layers 0 --ctx 32 -o FILE",
        "run -p PROMPT -n 1 --kv f32 --capture FILE --capture-points v --capture-layers 0 --ctx 32",
        "ppl -f " HOLDOUT " --chunks 1 --ctx 8 --kv f32 --capture FILE --capture-points v --capture-layers 0",
        "bench engine --prefill 4 --decode 1 --runs 1 --capture FILE --capture-points v --capture-layers 0",
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(words); i++) {
        char *path = strdup(old_file("lost.cap")), line[1000];
        struct hxt_result res;

        put_path(line, sizeof(line), words[i], path);
        limit_files(FULL);
        e2e_run(&res, line);
        limit_files(0);
        assert_int_equal(res.exit_code, 1);
        if (!strstr(res.err, "lost.cap: cannot write the capture: File too large"))
            fail_msg("%s: stderr: %s", words[i], res.err);
        hxt_result_free(&res);
        check_kept(path, old_capture, sizeof(old_capture));
        free(path);
    }
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_full_disk_is_told_when_the_engine_finishes),
    cmocka_unit_test(test_a_full_disk_ends_a_run),
    cmocka_unit_test(test_what_cannot_be_captured_is_refused),
    cmocka_unit_test(test_layers_that_are_none_are_refused),
    cmocka_unit_test(test_two_engines_do_not_write_one_file),
    cmocka_unit_test(test_files_that_are_no_captures_are_left_alone),
    cmocka_unit_test(test_only_regular_files_are_written),
    cmocka_unit_test(test_a_part_that_lies_there_is_written_over_if_it_is_one),
    cmocka_unit_test(test_a_capture_is_replaced_when_the_engine_finishes),
    cmocka_unit_test(test_an_engine_that_does_not_finish_leaves_the_file_alone),
    cmocka_unit_test(test_a_capture_of_nothing_is_none),
    cmocka_unit_test(test_commands_do_not_write_over_what_they_read),
    cmocka_unit_test(test_a_command_that_fails_leaves_the_old_capture),
    cmocka_unit_test(test_every_command_completes_its_capture),
    cmocka_unit_test(test_two_processes_write_one_capture),
    cmocka_unit_test(test_model_capture_writes_what_it_says),
    cmocka_unit_test(test_commands_tell_what_they_cannot_write),
    cmocka_unit_test(test_a_run_whose_capture_is_lost_has_failed),
};

int main(void)
{
    return HXT_RUN(tests);
}
