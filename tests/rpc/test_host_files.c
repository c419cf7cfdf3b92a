/* Protects: a skel's files are its host's, by libcdsprpc.so's listener, on both front ends: what is beneath the declared folders and
 * nothing else, read and written as libc and apps_std say, errors as published; and programs whose skels ask nothing have no listener. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "AEEStdErr.h"
#include "calculator_client.h"
#include "hxt_host.h"
#include "kept_log.h"

static remote_handle64 h;
static char shown[4096], writable[4096], hidden[4096]; /* folders of this test's */

static void put(const char *folder, const char *name, const char *text)
{
    char path[8192];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static const char *in(const char *folder, const char *name)
{
    static char path[2][8192];
    static int turn;

    turn = !turn;
    snprintf(path[turn], sizeof(path[0]), "%s/%s", folder, name);
    return path[turn];
}

static void make(char *folder, size_t bytes, const char *name)
{
    snprintf(folder, bytes, "%s/%s", hxt_tmpdir(), name);
    assert_int_equal(mkdir(folder, 0700), 0);
}

static void make_folders(void)
{
    make(shown, sizeof(shown), "shown");
    make(writable, sizeof(writable), "writable");
    make(hidden, sizeof(hidden), "hidden");
    mkdir(in(shown, "cdsp"), 0700);
    mkdir(in(shown, "sub"), 0700);
    put(shown, "hxt_host.txt", "of the host");
    put(shown, "two.txt", "in the folder");
    put(shown, "cdsp/two.txt", "for the CDSP");
    put(shown, "sub/deep.txt", "deep");
    put(hidden, "secret.txt", "secret");
    assert_int_equal(symlink(in(hidden, "secret.txt"), in(shown, "link.txt")), 0);
    assert_int_equal(mkfifo(in(shown, "fifo"), 0600), 0);
}

/* The rig has its skels from elsewhere: what it started with is not what this program declares now. */
static int start(void **state)
{
    if (own_rig_start(state))
        return -1;
    make_folders();
    setenv("DSP_LIBRARY_PATH", shown, 1);
    setenv("HEXRIG_HOST_FILES", writable, 1);
    return hxt_host_open(hxt_host_URI CDSP_DOMAIN, &h);
}

static int stop(void **state)
{
    int rc = remote_handle64_close(h);

    return own_rig_stop(state) || rc;
}

static int read_error(const char *name)
{
    unsigned char text[64];
    int n = 0, error = -1;

    assert_int_equal(hxt_host_read(h, name, 0, false, text, sizeof(text), &n, &error), AEE_SUCCESS);
    return error;
}

static void expect_read(const char *name, int offset, bool end, const char *want)
{
    unsigned char text[64] = "";
    int n = 0, error = -1;

    assert_int_equal(hxt_host_read(h, name, offset, end, text, sizeof(text), &n, &error), AEE_SUCCESS);
    assert_int_equal(error, 0);
    assert_int_equal(n, strlen(want));
    assert_memory_equal(text, want, n);
}

static int64_t ask(int what, const char *name, int want)
{
    int64_t value = -1;
    int result = -1;

    assert_int_equal(hxt_host_ask(h, what, name, &value, &result), AEE_SUCCESS);
    assert_int_equal(result, want);
    return value;
}

static int write_error(const char *name, const char *mode, const char *text)
{
    int error = -1;

    assert_int_equal(hxt_host_write(h, name, mode, (const unsigned char *)text, (int)strlen(text), &error), AEE_SUCCESS);
    return error;
}

static void test_fopen_reads_the_hosts_file(void **state)
{
    (void)state;
    expect_read("hxt_host.txt", 0, false, "of the host");
    expect_read("hxt_host.txt", 3, false, "the host");
    expect_read("hxt_host.txt", -4, true, "host");
    expect_read(in(shown, "hxt_host.txt"), 0, false, "of the host");
    expect_read("sub/deep.txt", 0, false, "deep");
    expect_read("sub/../hxt_host.txt", 0, false, "of the host");
}

static void test_a_skels_open_may_read_already(void **state)
{
    unsigned char text[64] = "";
    int n = 0, error = 0;

    (void)state;
    assert_int_equal(hxt_host_read(h, "open", 0, false, text, sizeof(text), &n, &error), AEE_SUCCESS);
    assert_int_equal(n, strlen("of the host"));
    assert_memory_equal(text, "of the host", n);
}

static void test_the_folder_of_the_domain_goes_first(void **state)
{
    (void)state;
    expect_read("two.txt", 0, false, "for the CDSP");
    expect_read(in(shown, "two.txt"), 0, false, "in the folder");
}

static void test_what_is_not_beneath_a_folder_is_refused(void **state)
{
    (void)state;
    assert_int_equal(read_error("nothing.txt"), ENOENT);
    assert_int_equal(read_error(in(shown, "nothing.txt")), ENOENT);
    assert_int_equal(read_error("../hidden/secret.txt"), EACCES);
    assert_int_equal(read_error("link.txt"), EACCES);
#ifndef __SANITIZE_ADDRESS__ /* a PD without a sandbox opens by itself what its host does not */
    assert_int_equal(read_error(in(hidden, "secret.txt")), EACCES);
    assert_int_equal(read_error("/etc/passwd"), EACCES);
    assert_int_equal(read_error("/proc/self/environ"), EACCES);
#endif
    ask(1, in(hidden, "secret.txt"), EACCES);
    ask(1, "/proc/self/environ", EACCES);
    assert_int_equal(read_error("sub"), EISDIR);
    assert_int_equal(read_error("fifo"), EACCES); /* at once */
    ask(2, "../hidden/secret.txt", EACCES);
    ask(2, "/etc/passwd", EACCES);
    assert_int_equal(ask(3, "/etc/passwd", 0), 0);
}

/* Folders are what they were when the listener began. */
static void test_a_part_of_the_domain_that_becomes_a_link_leads_nowhere(void **state)
{
    (void)state;
    assert_int_equal(rename(in(shown, "cdsp"), in(shown, "cdsp.was")), 0);
    assert_int_equal(symlink(hidden, in(shown, "cdsp")), 0);
    ask(1, "secret.txt", ENOENT);
    ask(1, "cdsp/secret.txt", EACCES);
    expect_read("two.txt", 0, false, "in the folder");
    assert_int_equal(unlink(in(shown, "cdsp")), 0);
    assert_int_equal(rename(in(shown, "cdsp.was"), in(shown, "cdsp")), 0);
    expect_read("two.txt", 0, false, "for the CDSP");
}

static void test_another_current_folder_and_another_name_change_nothing(void **state)
{
    const remote_handle64 whole = h;
    char was[4096];

    (void)state;
    assert_non_null(getcwd(was, sizeof(was)));
    assert_int_equal(chdir(hxt_tmpdir()), 0);
    setenv("DSP_LIBRARY_PATH", "shown", 1);
    assert_int_equal(hxt_host_open(hxt_host_URI CDSP_DOMAIN "&_session=1", &h), AEE_SUCCESS);
    assert_int_equal(chdir(hidden), 0);
    assert_int_equal(mkdir("shown", 0700), 0);
    put("shown", "secret.txt", "secret");
    ask(1, "secret.txt", ENOENT);
    assert_int_equal(ask(1, "hxt_host.txt", 0), 11);
    assert_int_equal(rename(shown, in(hidden, "moved")), 0);
    assert_int_equal(symlink(hidden, shown), 0);
    ask(1, "secret.txt", ENOENT);
    assert_int_equal(ask(1, "hxt_host.txt", 0), 11);
    assert_int_equal(ask(1, "two.txt", 0), 12);
    assert_int_equal(unlink(shown), 0);
    assert_int_equal(rename(in(hidden, "moved"), shown), 0);
    assert_int_equal(hxt_host_close(h), AEE_SUCCESS);
    h = whole;
    setenv("DSP_LIBRARY_PATH", shown, 1);
    assert_int_equal(chdir(was), 0);
}

static void test_folders_for_reading_are_not_written(void **state)
{
    (void)state;
    assert_int_equal(write_error(in(shown, "new.txt"), "w", "x"), EACCES);
    assert_int_equal(write_error(in(shown, "two.txt"), "r+", "x"), EACCES);
    assert_int_equal(write_error(in(shown, "two.txt"), "a", "x"), EACCES);
    ask(6, in(shown, "two.txt"), EACCES);
    ask(4, in(shown, "folder"), EACCES);
    assert_int_not_equal(access(in(shown, "new.txt"), F_OK), 0);
    expect_read(in(shown, "two.txt"), 0, false, "in the folder");
}

static void test_a_folder_for_writing_is(void **state)
{
    int result = -1;

    (void)state;
    assert_int_equal(write_error("out.txt", "w", "written"), 0);
    expect_read("out.txt", 0, false, "written");
    assert_int_equal(write_error(in(writable, "out.txt"), "a", " twice"), 0);
    expect_read(in(writable, "out.txt"), 0, false, "written twice");
    assert_int_equal(ask(2, "out.txt", 0), 13);
    assert_int_equal(ask(8, "out.txt", 0), 13);
    assert_int_equal(write_error("out.txt", "wx", ""), EEXIST);
    assert_int_equal(write_error("../hidden/out.txt", "w", "x"), EACCES);
    ask(4, "made", 0);
    ask(4, "made", EEXIST);
    assert_int_equal(hxt_host_rename(h, "out.txt", "made/out.txt", &result), AEE_SUCCESS);
    assert_int_equal(result, 0);
    assert_int_equal(hxt_host_rename(h, "made/out.txt", in(hidden, "out.txt"), &result), AEE_SUCCESS);
    assert_int_equal(result, EACCES);
    ask(5, "made", ENOTEMPTY);
    ask(6, "made/out.txt", 0);
    ask(5, "made", 0);
    ask(6, "made", ENOENT);
}

static void test_streams_are_libcs(void **state)
{
    char line[32] = "";
    bool at_end = false;
    int at = 0;

    (void)state;
    put(writable, "mix.txt", "first line\nsecond");
    assert_int_equal(hxt_host_mix(h, "mix.txt", line, sizeof(line), &at, &at_end), AEE_SUCCESS);
    assert_string_equal(line, "first line\n");
    assert_int_equal(at, 11);
    assert_true(at_end);
    expect_read("mix.txt", 11, false, "second42 and more");
    ask(6, "mix.txt", 0);
}

static void test_large_files_come_whole(void **state)
{
    enum { BYTES = 3000000 };
    char *text = malloc(BYTES + 1);
    unsigned char *got = malloc(BYTES);
    int n = 0, error = -1;

    (void)state;
    for (int i = 0; i < BYTES; i++)
        text[i] = (char)('a' + i % 23);
    text[BYTES] = '\0';
    put(writable, "large", text);
    assert_int_equal(hxt_host_read(h, "large", 0, false, got, BYTES, &n, &error), AEE_SUCCESS);
    assert_int_equal(n, BYTES);
    assert_memory_equal(got, text, BYTES);
    assert_int_equal(ask(1, "large", 0), BYTES);
    assert_int_equal(hxt_host_file_memory(h, "large", got, BYTES, &n, &error), AEE_SUCCESS);
    assert_int_equal(error, 0);
    assert_int_equal(n, BYTES);
    assert_memory_equal(got, text, BYTES);
    assert_int_equal(hxt_host_write(h, "large2", "w", got, BYTES, &error), AEE_SUCCESS);
    assert_int_equal(error, 0);
    assert_int_equal(ask(2, "large2", 0), BYTES);
    ask(6, "large", 0);
    ask(6, "large2", 0);
    free(text);
    free(got);
}

static void test_folders_are_listed(void **state)
{
    char names[512] = "";
    int result = -1;

    (void)state;
    assert_int_equal(hxt_host_list(h, "sub", names, sizeof(names), &result), AEE_SUCCESS);
    assert_int_equal(result, 0);
    assert_non_null(strstr(names, "deep.txt "));
    assert_int_equal(hxt_host_list(h, in(hidden, ""), names, sizeof(names), &result), AEE_SUCCESS);
    assert_int_equal(result, EACCES);
    assert_int_equal(hxt_host_list(h, "two.txt", names, sizeof(names), &result), AEE_SUCCESS);
    assert_int_equal(result, ENOTDIR);
}

static void test_open_files_have_a_limit(void **state)
{
    (void)state;
    assert_int_equal(ask(9, "two.txt", EMFILE), 256);
    expect_read("two.txt", 0, false, "for the CDSP");
}

static void test_the_environment_is_the_hosts_own(void **state)
{
    char value[4096] = "";
    int result = -1;

    (void)state;
    assert_int_equal(hxt_host_env(h, "ADSP_LIBRARY_PATH", value, sizeof(value), &result), AEE_SUCCESS);
    assert_int_equal(result, 0);
    assert_string_equal(value, shown);
    assert_int_equal(hxt_host_env(h, "HOME", value, sizeof(value), &result), AEE_SUCCESS);
    assert_int_equal(result, ENOENT);
    ask(7, "HOME", AEE_EUNSUPPORTED);
}

static void test_memory_of_the_host_is_mapped(void **state)
{
    uint64_t address = 0;
    int result = -1;

    (void)state;
    assert_int_equal(hxt_host_memory(h, 1 << 20, &address, &result), AEE_SUCCESS);
    assert_int_equal(result, 0);
    assert_true(address && address < UINT64_C(1) << 32);
    assert_int_equal(hxt_host_memory(h, 0, &address, &result), AEE_SUCCESS);
    assert_int_equal(result, AEE_EBADPARM);
}

/* Pieces of 256 MiB until there is no place for one more; nothing is written to them, so they cost no memory. */
static size_t take_all(uint64_t *at, size_t most)
{
    size_t n = 0;
    int result = 0;

    while (n < most && !result) {
        assert_int_equal(hxt_host_take_memory(h, 256 << 20, &at[n], &result), AEE_SUCCESS);
        n += !result;
    }
    assert_int_equal(result, AEE_DSP(AEE_EBADPARM));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(hxt_host_give_memory(h, at[i], &result), AEE_SUCCESS);
        assert_int_equal(result, 0);
    }
    return n;
}

static void test_memory_ends_with_the_addresses_of_the_pd_and_comes_back(void **state)
{
    uint64_t at[16];
    const size_t n = take_all(at, HXT_LEN(at));

    (void)state;
    assert_true(n > 0 && n < HXT_LEN(at));
    assert_int_equal(take_all(at, HXT_LEN(at)), n);
}

static void test_names_and_handles_that_the_host_does_not_have(void **state)
{
    unsigned sum = 0;
    int result = 0;

    (void)state;
    assert_int_equal(hxt_host_open_name(h, "apps_std", &result), AEE_SUCCESS);
    assert_int_equal(result, 0);
    assert_int_equal(hxt_host_open_name(h, "libm.so.6", &result), AEE_SUCCESS);
    assert_int_equal(result, AEE_ENOSUCHMOD);
    assert_int_equal(hxt_host_call(h, 77, 10, 10, &sum, &result), AEE_SUCCESS);
    assert_int_equal(result, AEE_EINVHANDLE);
    assert_int_equal(hxt_host_call(h, 1, 10, 10, &sum, &result), AEE_SUCCESS); /* apps_std's fopen has other buffers */
    assert_int_equal(result & 0xff, AEE_EBADPARM);
    assert_int_equal(hxt_host_say(h, "said by the DSP"), AEE_SUCCESS);
}

/* A terminal would take them for orders: 0x9b is one by itself. */
static void test_what_the_dsp_says_is_plain_text(void **state)
{
    static const char text[] = "a\033[31mb\x9b" "31mc\x7f\rd\xc3\xa9";
    char *log;

    (void)state;
    log_begin();
    assert_int_equal(hxt_host_say(h, text), AEE_SUCCESS);
    ask(10, text, 0);
    log_end("libcdsprpc: dsp: HIGH: skel.c:77: a?[31mb?31mc??d??\n");
    log = hxt_read_file(hxt_path("%s/log", hxt_tmpdir()), NULL);
    assert_non_null(strstr(log, "libcdsprpc: dsp: a?[31mb?31mc??d??\n"));
    for (const char *p = log; *p; p++)
        assert_true(*p == '\n' || (*p >= ' ' && *p < 0x7f));
    free(log);
}

static void *read_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 50; i++)
        expect_read("hxt_host.txt", i % 5, false, &"of the host"[i % 5]);
    return NULL;
}

static void test_threads_share_the_listener(void **state)
{
    pthread_t t[4];

    (void)state;
    for (size_t i = 0; i < HXT_LEN(t); i++)
        assert_int_equal(pthread_create(&t[i], NULL, read_often, NULL), 0);
    for (size_t i = 0; i < HXT_LEN(t); i++)
        pthread_join(t[i], NULL);
}

static int threads_of_this_process(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = -2;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* And with the last handle it goes. */
static void test_only_skels_that_ask_have_a_listener(void **state)
{
    remote_handle64 other = 0, more = 0;
    int before = threads_of_this_process();

    (void)state;
    assert_int_equal(remote_handle64_open(calculator_URI CDSP_DOMAIN "&_session=1", &other), AEE_SUCCESS);
    assert_int_equal(threads_of_this_process(), before);
    assert_int_equal(hxt_host_open(hxt_host_URI CDSP_DOMAIN "&_session=1", &more), AEE_SUCCESS);
    assert_int_equal(threads_of_this_process(), before + 1);
    assert_int_equal(hxt_host_close(more), AEE_SUCCESS);
    assert_int_equal(remote_handle64_close(other), AEE_SUCCESS);
    assert_int_equal(threads_of_this_process(), before);
}

/* A call that a session's end does not wait for. */
struct late_call {
    remote_handle64 h;
    int rc, result;
    uint64_t address;
    pthread_t thread;
};

static void *ask_late(void *arg)
{
    struct late_call *c = arg;

    c->rc = hxt_host_memory_when(c->h, "go.txt", 1 << 16, &c->address, &c->result);
    return NULL;
}

static int is_there(void *path)
{
    return access(path, F_OK) == 0;
}

/* And the number of a session that has been ended may be another's by then. */
static void test_memory_comes_to_the_pd_that_asks(void **state)
{
    struct remote_rpc_session_close close = {CDSP_DOMAIN_ID + 8};
    struct late_call c = {.result = -1};
    remote_handle64 other = 0;

    (void)state;
    assert_int_equal(hxt_host_open(hxt_host_URI CDSP_DOMAIN "&_session=1", &c.h), AEE_SUCCESS);
    assert_int_equal(pthread_create(&c.thread, NULL, ask_late, &c), 0);
    assert_true(hxt_until(is_there, (char *)in(writable, "waits"), 20));
    assert_int_equal(rmdir(in(writable, "waits")), 0);
    assert_int_equal(remote_session_control(FASTRPC_SESSION_CLOSE, &close, sizeof(close)), AEE_SUCCESS);
    assert_int_equal(remote_handle64_open(calculator_URI CDSP_DOMAIN "&_session=1", &other), AEE_SUCCESS);
    put(shown, "go.txt", "");
    pthread_join(c.thread, NULL);
    assert_int_equal(c.rc, AEE_SUCCESS);
    assert_int_equal(c.result, 0);
    assert_int_equal(remote_handle64_close(other), AEE_SUCCESS);
    assert_int_equal(unlink(in(shown, "go.txt")), 0);
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

static _Atomic int is_ended, end_result;

static void *end_session(void *request)
{
    struct remote_rpc_session_close c = {CDSP_DOMAIN_ID + 8 * 2};

    end_result = remote_session_control(*(uint32_t *)request, &c, sizeof(c)); /* that to kill is laid out alike */
    is_ended = 1;
    return NULL;
}

static int session_has_ended(void *unused)
{
    (void)unused;
    return is_ended;
}

/* Who says goodbye is not held up by who does not answer. */
static void end_a_stopped_pd(uint32_t request)
{
    const int threads = threads_of_this_process();
    remote_handle64 other = 0;
    pid_t before[OWN_RIG_PDS], pd;
    const size_t n = own_rig_pds(before);
    pthread_t t;
    int in_time;

    assert_int_equal(hxt_host_open(hxt_host_URI CDSP_DOMAIN "&_session=2", &other), AEE_SUCCESS);
    assert_int_equal(remote_handle64_open(calculator_URI CDSP_DOMAIN "&_session=2", &other), AEE_SUCCESS);
    pd = own_rig_new_pd(before, n);
    assert_true(pd > 0);
    assert_int_equal(hxt_stop(pd), 0);
    is_ended = 0;
    assert_int_equal(pthread_create(&t, NULL, end_session, &request), 0);
    in_time = hxt_until(session_has_ended, NULL, 20);
    kill(pd, SIGKILL); /* so that this test ends, too */
    pthread_join(t, NULL);
    assert_true(in_time);
    assert_int_equal(end_result, AEE_SUCCESS);
    assert_int_equal(threads_of_this_process(), threads);
    expect_read("hxt_host.txt", 0, false, "of the host");
}

static void test_a_session_of_a_stopped_pd_can_be_closed(void **state)
{
    (void)state;
    end_a_stopped_pd(FASTRPC_SESSION_CLOSE);
}

static void test_a_stopped_pd_can_be_killed(void **state)
{
    (void)state;
    end_a_stopped_pd(FASTRPC_REMOTE_PROCESS_KILL);
}

/* A child has the file, but not the thread: its end leaves the parent's listener alone. */
static void test_a_childs_end_leaves_the_listener(void **state)
{
    pid_t pid = fork();
    int status = -1;

    (void)state;
    assert_true(pid >= 0);
    if (!pid)
        exit(0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    expect_read("hxt_host.txt", 0, false, "of the host");
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fopen_reads_the_hosts_file),
        cmocka_unit_test(test_a_skels_open_may_read_already),
        cmocka_unit_test(test_the_folder_of_the_domain_goes_first),
        cmocka_unit_test(test_what_is_not_beneath_a_folder_is_refused),
        cmocka_unit_test(test_a_part_of_the_domain_that_becomes_a_link_leads_nowhere),
        cmocka_unit_test(test_another_current_folder_and_another_name_change_nothing),
        cmocka_unit_test(test_folders_for_reading_are_not_written),
        cmocka_unit_test(test_a_folder_for_writing_is),
        cmocka_unit_test(test_streams_are_libcs),
        cmocka_unit_test(test_large_files_come_whole),
        cmocka_unit_test(test_folders_are_listed),
        cmocka_unit_test(test_open_files_have_a_limit),
        cmocka_unit_test(test_the_environment_is_the_hosts_own),
        cmocka_unit_test(test_memory_of_the_host_is_mapped),
        cmocka_unit_test(test_memory_ends_with_the_addresses_of_the_pd_and_comes_back),
        cmocka_unit_test(test_names_and_handles_that_the_host_does_not_have),
        cmocka_unit_test(test_what_the_dsp_says_is_plain_text),
        cmocka_unit_test(test_threads_share_the_listener),
        cmocka_unit_test(test_only_skels_that_ask_have_a_listener),
        cmocka_unit_test(test_memory_comes_to_the_pd_that_asks),
        cmocka_unit_test(test_a_session_of_a_stopped_pd_can_be_closed),
        cmocka_unit_test(test_a_stopped_pd_can_be_killed),
        cmocka_unit_test(test_a_childs_end_leaves_the_listener),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, start, stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
