/* Protects: bad input gives one clear line and exit 1 or 2; a killed client, rig or DSP leaves nothing behind. */
#include "e2e.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "hx_block.h"
#include "other_users.h"
#include "own_rig.h"

static const char *model(void)
{
    return hxt_path("%s/share/hexrig/hexrig-tiny-q8_0.gguf", HXT_BUILD);
}

static const char *changed_model(const char *name, size_t keep, size_t at, unsigned char byte)
{
    size_t n;
    unsigned char *bytes = hxt_read_file(model(), &n);
    const char *path = hxt_path("%s/%s", hxt_tmpdir(), name);

    assert_non_null(bytes);
    if (at)
        bytes[at] = byte;
    hxt_write_file(path, bytes, keep ? keep : n);
    free(bytes);
    return path;
}

/* File offset of the type of a tensor: behind its name come u32 n_dims, u64 dims[n_dims], u32 type. */
static size_t type_offset(const char *tensor)
{
    size_t n, at;
    char *bytes = hxt_read_file(model(), &n), *p;
    uint32_t dims;

    p = memmem(bytes, n, tensor, strlen(tensor));
    assert_non_null(p);
    at = (size_t)(p - bytes) + strlen(tensor);
    memcpy(&dims, bytes + at, sizeof(dims));
    free(bytes);
    return at + 4 + 8 * dims;
}

static void test_missing_model_is_named(void **state)
{
    (void)state;
    e2e_refused("run -p PROMPT -m /nonexistent.gguf", 1, "/nonexistent.gguf");
    e2e_refused("ppl -f /nonexistent.txt", 1, "/nonexistent.txt");
}

static void test_a_directory_is_named_so(void **state)
{
    const char *want = "/tmp: is a directory";

    (void)state;
    e2e_refused("run -p PROMPT -m /tmp", 1, want);
    e2e_refused("run -p PROMPT --cal /tmp", 1, want);
    e2e_refused("run -p PROMPT --calib /tmp", 1, want);
    e2e_refused("ppl -f /tmp --kv f32", 1, want);
    e2e_refused(hxt_path("block calibrate -m %s -f /tmp -o /tmp/x.cal", model()), 1, want);
}

static void test_windows_that_would_repeat_are_refused(void **state)
{
    (void)state;
    e2e_refused(hxt_path("ppl -f %s/share/hexrig/books-holdout.txt --kv f32 --ctx 1 --chunks "
                         "1000000", HXT_BUILD), 1, "at most 46572 start at different places");
}

/* The end of the model becomes bytes 0xff: NaN as F32, F16 and scale of Q8_0.  The commands that use it. */
static void nan_model(size_t bytes, char *run, char *ppl, size_t words)
{
    const char *path = hxt_path("%s/nan.gguf", hxt_tmpdir());
    size_t n;
    unsigned char *all = hxt_read_file(model(), &n);

    assert_non_null(all);
    assert_true(bytes < n);
    memset(all + n - bytes, 0xff, bytes);
    hxt_write_file(path, all, n);
    free(all);
    snprintf(run, words, "run -p PROMPT -n 2 --kv f32 -m %s", path);
    snprintf(ppl, words, "ppl -f %s/share/hexrig/books-holdout.txt --ctx 8 --chunks 2 --kv f32 "
             "-m %s", HXT_BUILD, path);
}

static void test_a_model_of_nans_fails_by_position(void **state)
{
    static const struct {
        size_t bytes;
        const char *message;
    } cases[] = {
        {100, "position 2: the vector of logits holds NaN"}, /* the last norm; 2 = last of prompt */
        {20000, "position 0: the output of layer 5 holds NaN"},
        {500000, "position 0: K of layer 5 holds NaN"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        char run[512], ppl[512];

        nan_model(cases[i].bytes, run, ppl, sizeof(run));
        e2e_refused(run, 1, cases[i].message);
        e2e_refused(ppl, 1, strchr(cases[i].message, ':')); /* it scores from position 0 on */
    }
}

static void test_names_that_are_not_utf8_become_json(void **state)
{
    const char *path = hxt_path("%s/\xff.gguf", hxt_tmpdir());
    json_t *j;

    (void)state;
    assert_int_equal(symlink(model(), path), 0);
    j = e2e_json(hxt_path("run --json -n 2 -p \xff\xfe -m %s --cal %s/share/hexrig/hexrig-tiny.cal",
                          path, HXT_BUILD));
    assert_string_equal(e2e_text(j, "prompt"), "\xef\xbf\xbd\xef\xbf\xbd");
    assert_non_null(strstr(e2e_text(j, "model"), "/\xef\xbf\xbd.gguf"));
    assert_int_equal(json_array_size(json_object_get(j, "prompt_tokens")), 2); /* the bytes count */
    json_decref(j);
    j = e2e_json(hxt_path("ppl --json -f %s/share/hexrig/books-holdout.txt --ctx 8 --chunks 2 --kv "
                          "f32 -m %s", HXT_BUILD, path));
    assert_non_null(strstr(e2e_text(j, "model"), "/\xef\xbf\xbd.gguf"));
    json_decref(j);
    e2e_clean();
}

/* OpenBLAS once started its threads here, and never got them. */
static void test_little_memory_is_enough_without_a_dsp(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)state;
    hxt_skip_test("a sanitizer needs terabytes of address space");
#else
    const char *argv[] = {"sh", "-c", "ulimit -v 150000 && exec \"$0\" run -p x -n 2 --kv f32",
                          hxt_path("%s/bin/hexrig", HXT_BUILD), NULL};
    struct hxt_result res;

    (void)state;
    assert_int_equal(hxt_run(&res, &(struct hxt_cmd){.argv = argv, .timeout_s = 60}), 0);
    if (res.exit_code != 0)
        fail_msg("exit %d, timed out %d, err '%s'", res.exit_code, res.timed_out, res.err);
    hxt_result_free(&res);
#endif
}

/* --- devices */

static void refused_by_device(const char *device, const char *name, const char *meaning)
{
    struct hxt_result res;
    struct e2e_run r;

    e2e_command(&r, "run -p PROMPT -n 1");
    r.envs[1] = hxt_path("HEXRIG_DEVICE=%s", device);
    assert_int_equal(hxt_run(&res, &r.cmd), 0);
    if (res.exit_code != 1 || !e2e_one_line(res.err) || !strstr(res.err, name) ||
        !strstr(res.err, hxt_path("device %s: %s", device, meaning)))
        fail_msg("%s: exit %d, err '%s'", device, res.exit_code, res.err);
    hxt_result_free(&res);
}

static void test_a_device_that_is_none_is_named(void **state)
{
    (void)state;
    refused_by_device("/dev/null", "AEE_ERPC (0x200)", "no fastrpc device");
    refused_by_device("/dev/zero", "AEE_ERPC (0x200)", "no fastrpc device");
    e2e_clean();
}

static void test_the_session_that_is_one_too_many_learns_the_limit(void **state)
{
    const char *node = hxt_path("%s/hexrig/fastrpc-cdsp", e2e_dir());
    struct hxt_result res;
    int fds[64], max;
    json_t *status;

    (void)state;
    if (!e2e_have_fuse())
        hxt_skip_test("no /dev/fuse");
    e2e_run(&res, "up --front-end fuse");
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    refused_by_device(hxt_path("%s/hexrig/status", e2e_dir()), "AEE_", "no fastrpc device");
    status = e2e_json("status --json");
    max = (int)e2e_number(status, "sessions_max");
    json_decref(status);
    assert_true(max > 0 && max < (int)HXT_LEN(fds));
    for (int i = 0; i < max; i++) {
        fds[i] = open(node, O_RDWR | O_CLOEXEC);
        assert_true(fds[i] >= 0);
    }
    refused_by_device(node, "AEE_ERPC (0x200)", hxt_path("all of its %d sessions are taken", max));
    for (int i = 0; i < max; i++)
        close(fds[i]);
    e2e_run(&res, "down");
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    e2e_clean();
}

static void test_truncated_model_is_refused(void **state)
{
    static const size_t keep[] = {3, 20, 4000, 1000000};
    char words[512];

    (void)state;
    for (size_t i = 0; i < HXT_LEN(keep); i++) {
        const char *path = changed_model("truncated.gguf", keep[i], 0, 0);

        snprintf(words, sizeof(words), "run -p PROMPT -m %s", path);
        e2e_refused(words, 1, "truncated.gguf");
    }
}

static void test_unknown_quant_type_is_refused(void **state)
{
    const char *path = changed_model("quant.gguf", 0, type_offset("blk.0.attn_q.weight"), 99);
    char words[512];

    (void)state;
    snprintf(words, sizeof(words), "run -p PROMPT -m %s", path);
    e2e_refused(words, 1, "99");
}

/* The shipped calibration with another fingerprint (layout: host/methods/spinor/cal_file.h) and a correct CRC. */
static const char *foreign_cal(void)
{
    const char *path = hxt_path("%s/foreign.cal", hxt_tmpdir());
    size_t n;
    unsigned char *bytes =
        hxt_read_file(hxt_path("%s/share/hexrig/hexrig-tiny.cal", HXT_BUILD), &n);
    uint32_t crc;

    assert_non_null(bytes);
    bytes[24] ^= 1;
    crc = hx_crc32(0, bytes, n - sizeof(crc));
    memcpy(bytes + n - sizeof(crc), &crc, sizeof(crc));
    hxt_write_file(path, bytes, n);
    free(bytes);
    return path;
}

static void test_calibration_of_another_model_is_refused(void **state)
{
    char words[512];

    (void)state;
    snprintf(words, sizeof(words), "run -p PROMPT --cal %s", foreign_cal());
    e2e_refused(words, 1, "another model");
}

static void test_unknown_values_list_the_legal_ones(void **state)
{
    (void)state;
    e2e_refused("run -p PROMPT --kv q4", 2,
                "--kv: unknown value 'q4'; legal: spinor, spinor-attn, spinor-cpu, f32, ntt, banded, proj, proj-attn, layer");
    e2e_refused("run -p PROMPT --density dense", 2, "per-vector");
    e2e_refused("run -p PROMPT --front-end ether", 2, "legal: auto, fuse, socket, cuse");
    e2e_refused("run -p PROMPT -n many", 2, "many");
    e2e_refused("demo -n 0", 2, "hexrig demo: --tokens: unknown value '0'");
    e2e_refused("demo -n x", 2, "hexrig demo: --tokens: unknown value 'x'");
    e2e_refused("up --front-end ether", 2, "legal: auto, fuse, socket, cuse");
    e2e_refused("run -p PROMPT --zork", 2, "--zork");
    e2e_refused("zork", 2, "legal: up, down, status, stats, top, filter, run");
    e2e_refused("run -p PROMPT --profile zork", 2, "zork");
    e2e_refused("run -p PROMPT --filter zork:x=1", 2, "zork");
}

/* What user nobody runs. */
static char build[4096];

/* As nobody, who may not open /dev/fuse here: --front-end fuse fails, auto says that it falls back. */
static void test_fuse_without_permission(void **state)
{
    const char *bin = hxt_path("%s/bin/hexrig", build);
    const char *dir = hxt_path("%s/nobody", hxt_tmpdir());
    const char *env[] = {hxt_path("XDG_RUNTIME_DIR=%s", dir), "HEXRIG_DEVICE", NULL};
    const char *can[] = {"runuser", "-u", "nobody", "--", "sh", "-c",
                         hxt_path("test -x %s -a ! -w /dev/fuse -a -w %s", bin, dir), NULL};
    const char *argv[] = {"runuser", "-u", "nobody", "--", bin, "run", "-p", "x", "-n", "1",
                          "--front-end", "fuse", NULL};
    struct hxt_result r;

    (void)state;
    if (geteuid() != 0)
        hxt_skip_test("only root can run a command as nobody");
    assert_int_equal(chmod(hxt_tmpdir(), 0711), 0);
    assert_int_equal(mkdir(dir, 0777), 0);
    assert_int_equal(chmod(dir, 0777), 0);
    if (!hxt_succeeds(&(struct hxt_cmd){.argv = can, .env = env}))
        hxt_skip_test("nobody cannot run %s, or may open /dev/fuse", bin);
    assert_int_equal(hxt_run(&r, &(struct hxt_cmd){.argv = argv, .env = env}), 0);
    assert_int_equal(r.exit_code, 1);
    assert_non_null(strstr(r.err, "/dev/fuse"));
    assert_true(e2e_one_line(r.err));
    hxt_result_free(&r);
    argv[11] = "auto";
    assert_int_equal(hxt_run(&r, &(struct hxt_cmd){.argv = argv, .env = env}), 0);
    assert_int_equal(r.exit_code, 0);
    assert_non_null(strstr(r.out, "front_end=socket"));
    assert_non_null(strstr(r.err, "/dev/fuse"));
    assert_true(e2e_one_line(r.err));
    hxt_result_free(&r);
    assert_int_equal(rmdir(dir), 0); /* empty */
}

/* --- kills */

static int process_is_there(void *name)
{
    return e2e_find(name) > 0;
}

static int dsp_is_busy(void *arg)
{
    (void)arg;
    return e2e_find("hexrig-pd") > 0;
}

/* Starts a run that lasts long enough to be disturbed, and waits until its user PD works. */
static void start_long_run(struct hxt_child *c, struct e2e_run *r, const char *front_end)
{
    char words[256];

    snprintf(words, sizeof(words), "run --json -p PROMPT -n 200 --density per-vector --front-end %s",
             front_end);
    e2e_command(r, words);
    assert_int_equal(hxt_start(c, &r->cmd), 0);
    assert_true(hxt_until(process_is_there, "hexrig-fuse", 20));
    assert_true(hxt_until(dsp_is_busy, NULL, 20));
}

static const char *const front_ends[] = {"fuse", "socket"};

static int skip_front_end(size_t i)
{
    return i == 0 && !e2e_have_fuse();
}

static void test_killed_client_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(front_ends); i++) {
        struct hxt_child c;
        struct hxt_result res;
        struct e2e_run r;

        if (skip_front_end(i))
            continue;
        start_long_run(&c, &r, front_ends[i]);
        assert_int_equal(hxt_signal(&c, SIGKILL), 0);
        assert_int_equal(hxt_wait(&c, &res), 0);
        assert_int_equal(res.signal, SIGKILL);
        hxt_result_free(&res);
        e2e_clean();
    }
}

static void kill_during_run(const char *name, const char *front_end)
{
    struct hxt_child c;
    struct hxt_result res;
    struct e2e_run r;
    pid_t pid;

    start_long_run(&c, &r, front_end);
    pid = e2e_find(name);
    assert_true(pid > 1); /* kill(-1) would end the machine */
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(hxt_wait(&c, &res), 0);
    if (res.exit_code != 1 || !*res.err)
        fail_msg("%s killed: exit %d, signal %d, err '%s'", name, res.exit_code, res.signal,
                 res.err);
    hxt_result_free(&res);
}

static void test_killed_dsp_fails_the_run_and_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(front_ends); i++) {
        if (skip_front_end(i))
            continue;
        kill_during_run("hexrig-dsp", front_ends[i]);
        e2e_clean();
        kill_during_run("hexrig-pd", front_ends[i]);
        e2e_clean();
        kill_during_run("hexrig-fuse", front_ends[i]);
        e2e_clean();
    }
}

static void test_interrupted_client_leaves_nothing(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(signals); i++) {
        struct hxt_child c;
        struct hxt_result res;
        struct e2e_run r;

        start_long_run(&c, &r, "auto");
        assert_int_equal(hxt_signal(&c, signals[i]), 0);
        assert_int_equal(hxt_wait(&c, &res), 0);
        assert_true(res.exit_code != 0);
        hxt_result_free(&res);
        e2e_clean();
    }
}

static int no_rig_runs(void *unused)
{
    (void)unused;
    return !e2e_find("hexrig-fuse");
}

/* A background rig that was killed: status says so, down cleans up, up works again. */
static void test_killed_background_rig_is_cleaned_up_by_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(front_ends); i++) {
        struct hxt_result res;
        char words[64];
        pid_t pid;

        if (skip_front_end(i))
            continue;
        snprintf(words, sizeof(words), "up --front-end %s", front_ends[i]);
        e2e_run(&res, words);
        assert_int_equal(res.exit_code, 0);
        hxt_result_free(&res);
        pid = e2e_find("hexrig-fuse");
        assert_true(pid > 1);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_true(hxt_until(no_rig_runs, NULL, 10));
        e2e_run(&res, "status");
        assert_int_equal(res.exit_code, 1);
        hxt_result_free(&res);
        e2e_run(&res, "down"); /* 1 when the rig's helper has cleaned up by itself */
        hxt_result_free(&res);
        rmdir(hxt_path("%s/hexrig", e2e_dir())); /* the killed rig could not remove it */
        e2e_clean();
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_missing_model_is_named),
    cmocka_unit_test(test_a_directory_is_named_so),
    cmocka_unit_test(test_windows_that_would_repeat_are_refused),
    cmocka_unit_test(test_a_model_of_nans_fails_by_position),
    cmocka_unit_test(test_names_that_are_not_utf8_become_json),
    cmocka_unit_test(test_little_memory_is_enough_without_a_dsp),
    cmocka_unit_test(test_a_device_that_is_none_is_named),
    cmocka_unit_test(test_the_session_that_is_one_too_many_learns_the_limit),
    cmocka_unit_test(test_truncated_model_is_refused),
    cmocka_unit_test(test_unknown_quant_type_is_refused),
    cmocka_unit_test(test_calibration_of_another_model_is_refused),
    cmocka_unit_test(test_unknown_values_list_the_legal_ones),
    cmocka_unit_test(test_fuse_without_permission),
    cmocka_unit_test(test_killed_client_leaves_nothing),
    cmocka_unit_test(test_killed_dsp_fails_the_run_and_leaves_nothing),
    cmocka_unit_test(test_interrupted_client_leaves_nothing),
    cmocka_unit_test(test_killed_background_rig_is_cleaned_up_by_down),
};

/* The build, and a /dev/fuse for root alone, are shown in a mount namespace of this process, which must not be the one that
 * removes the folder. */
static int run(const char *folder)
{
    hxt_build_for_nobody(folder, build, sizeof(build));
    if (geteuid() == 0 && access("/dev/fuse", F_OK) == 0 && hxt_own_mounts() == 0)
        hxt_fuse_with_mode(folder, 0600); /* without it, the test that nobody may not open it tells why it skips */
    return HXT_RUN(tests);
}

int main(void)
{
    return own_rig_run(run, hxt_tmpdir());
}
