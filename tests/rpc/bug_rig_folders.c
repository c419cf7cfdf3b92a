/* Protects: a rig starts only in an empty folder of one's own, and a rig that was stopped makes nobody wait for ever. */
#include <sys/socket.h>
#include <sys/wait.h>

#include "e2e.h"

static void test_up_refuses_a_folder_with_something_in_it(void **state)
{
    const char *dir = hxt_path("%s/full", hxt_tmpdir());

    (void)state;
    assert_int_equal(mkdir(dir, 0700), 0);
    hxt_write_file(hxt_path("%s/status", dir), "x\n", 2);
    e2e_refused(hxt_path("up --mount %s", dir), 1, "is not empty");
    e2e_refused(hxt_path("down --mount %s", dir), 1, "no rig runs there");
}

static void test_stopped_rig_is_named_by_its_pid(void **state)
{
    struct hxt_result res;
    char want[64];
    pid_t pid;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    hxt_skip_test("at exit the leak checker stops all threads, and one waits for the stopped rig");
#endif
    e2e_run(&res, "up");
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    pid = e2e_find("hexrig-fuse");
    assert_true(pid > 1);
    snprintf(want, sizeof(want), "kill -9 %d", (int)pid); /* hxt_stop() may need all buffers of hxt_path() */
    assert_int_equal(hxt_stop(pid), 0);
    e2e_run(&res, "status");
    kill(pid, SIGCONT);
    assert_int_equal(res.exit_code, 1);
    assert_non_null(strstr(res.err, want));
    hxt_result_free(&res);
    e2e_run(&res, "down");
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    e2e_clean();
}

static void test_of_two_ups_at_once_one_is_refused(void **state)
{
    struct hxt_child c[2];
    struct hxt_result res[2];
    struct e2e_run r[2];
    int failed = 0;

    (void)state;
    for (int i = 0; i < 2; i++) {
        e2e_command(&r[i], "up");
        assert_int_equal(hxt_start(&c[i], &r[i].cmd), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hxt_wait(&c[i], &res[i]), 0);
        if (res[i].exit_code) {
            assert_non_null(strstr(res[i].err, "a rig runs there already"));
            failed++;
        }
        hxt_result_free(&res[i]);
    }
    assert_int_equal(failed, 1);
    e2e_run(&res[0], "down");
    assert_int_equal(res[0].exit_code, 0);
    hxt_result_free(&res[0]);
    e2e_clean();
}

/* The default folder may have been made by somebody else, to listen in. */
static void test_default_folder_of_another_user_is_refused(void **state)
{
    static const char *const commands[] = {"up", "status", "down"};
    const char *dir = hxt_path("%s/hexrig", e2e_dir());
    struct hxt_result res;

    (void)state;
    if (geteuid() != 0)
        hxt_skip_test("only root can make a folder that belongs to another user");
    assert_int_equal(mkdir(dir, 0755), 0);
    assert_int_equal(chown(dir, 65534, 65534), 0);
    for (size_t i = 0; i < HXT_LEN(commands); i++) {
        e2e_run(&res, commands[i]);
        assert_int_equal(res.exit_code, 1);
        if (!strstr(res.err, "belongs to user 65534"))
            fail_msg("%s: '%s'", commands[i], res.err);
        hxt_result_free(&res);
    }
    assert_int_equal(rmdir(dir), 0);
    e2e_clean();
}

/* Right after its fork it still has the driver's name. */
static int dsp_is_there(void *pid)
{
    return (*(pid_t *)pid = e2e_find("hexrig-dsp")) > 1;
}

/* The device nodes are away during a subsystem restart; the rig is not. */
static void test_rig_whose_dsp_restarts_is_still_there(void **state)
{
    struct hxt_result res;
    pid_t dsp = 0;

    (void)state;
    e2e_run(&res, "up");
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    assert_true(hxt_until(dsp_is_there, &dsp, 10));
    assert_int_equal(kill(dsp, SIGKILL), 0);
    e2e_run(&res, "status");
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    e2e_run(&res, "down");
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    e2e_clean();
}

/* Opening a FIFO waits until somebody reads it. */
static void test_a_log_that_is_no_file_of_ours_is_refused_at_once(void **state)
{
    char log[512];
    struct hxt_child reader;
    struct hxt_result res;
    const char *argv[] = {"cat", log, NULL};
    struct hxt_cmd cmd = {.argv = argv};

    (void)state;
    snprintf(log, sizeof(log), "%s/hexrig.log", e2e_dir());
    unlink(log); /* of other tests */
    assert_int_equal(mkfifo(log, 0600), 0);
    e2e_refused("up", 1, "not a file");
    assert_int_equal(hxt_start(&reader, &cmd), 0);
    usleep(100000);
    e2e_refused("up", 1, "not a file");
    hxt_signal(&reader, SIGKILL);
    hxt_wait(&reader, &res);
    hxt_result_free(&res);
    unlink(log);
    assert_int_equal(symlink("/dev/null", log), 0);
    e2e_refused("up", 1, "hexrig.log");
    unlink(log);
    if (geteuid() == 0) {
        hxt_write_file(log, "", 0);
        assert_int_equal(chown(log, 65534, 65534), 0);
        e2e_refused("up", 1, "belongs to user 65534");
        unlink(log);
    }
}

/* fusermount3 as a rig starts it; what it sends is left where it is. */
static pid_t mount_without_a_server(const char *dir, int pair[2])
{
    pid_t pid;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    pid = fork();
    if (pid == 0) {
        close(pair[0]);
        setenv("_FUSE_COMMFD", hxt_path("%d", pair[1]), 1);
        execlp("fusermount3", "fusermount3", "-o", "fsname=hexrig,subtype=hexrig,auto_unmount", "--", dir, NULL);
        _exit(127);
    }
    assert_true(pid > 1);
    close(pair[1]);
    return pid;
}

/* A mount that does not answer is in the list, too. */
static int is_mounted(void *dir)
{
    char *text = hxt_read_file("/proc/self/mounts", NULL);
    int is = text && strstr(text, dir);

    free(text);
    return is;
}

struct looker {
    pid_t pid;
    char call[128]; /* the system call that it was in at the last look */
    int looks;      /* so often in a row */
};

/* It stays in one and the same system call. */
static int is_stuck(void *looker)
{
    struct looker *l = looker;
    char *now = hxt_read_file(hxt_path("/proc/%d/syscall", l->pid), NULL);

    l->looks = now && *now >= '0' && *now <= '9' && strncmp(now, l->call, sizeof(l->call) - 1) == 0 ? l->looks + 1 : 0;
    snprintf(l->call, sizeof(l->call), "%s", now ? now : "");
    free(now);
    return l->looks == 10;
}

static int no_child(void *unused)
{
    (void)unused;
    return waitpid(-1, NULL, WNOHANG) < 0;
}

/* A rig whose mount went wrong and that was killed then: a mount that nobody serves, and a fusermount3 that looks at it. */
static void test_down_clears_mounts_that_do_not_answer(void **state)
{
    char dir[512];
    struct looker looker = {0};
    struct hxt_result res;
    int first[2], second[2];

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    hxt_skip_test("at exit the leak checker stops all threads, and one waits for the mount that nobody serves");
#endif
    if (!e2e_have_fuse())
        hxt_skip_test("no FUSE");
    snprintf(dir, sizeof(dir), "%s/unserved", hxt_tmpdir());
    assert_int_equal(mkdir(dir, 0700), 0);
    mount_without_a_server(dir, first);
    assert_true(hxt_until(is_mounted, dir, 10));
    looker.pid = mount_without_a_server(dir, second);
    assert_true(hxt_until(is_stuck, &looker, 10));
    e2e_run(&res, hxt_path("down --mount %s", dir));
    if (res.exit_code)
        print_error("%s\n", res.err);
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    assert_true(hxt_until(no_child, NULL, 30));
    close(first[0]);
    close(second[0]);
    assert_int_equal(rmdir(dir), 0);
}

enum { ROUNDS = 40 };

/* Runs a command ROUNDS times; each works or says what the other one has just done, before it or right after.  Exit code 1:
 * something else. */
static int run_rounds(const char *words, const char *before, const char *after)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct hxt_result res;

        e2e_run(&res, words);
        if (res.exit_code && !strstr(res.err, before) && !strstr(res.err, after)) {
            print_error("%s: exit %d: %s\n", words, res.exit_code, res.err);
            return 1;
        }
        hxt_result_free(&res);
    }
    return 0;
}

static void test_up_and_down_in_two_shells_keep_out_of_each_others_way(void **state)
{
    struct hxt_result res;
    int status;
    pid_t pid;

    (void)state;
    e2e_dir(); /* one for both */
    pid = fork();
    if (pid == 0)
        _exit(run_rounds("down", "no rig runs there", "no rig runs there"));
    assert_true(pid > 1);
    assert_int_equal(run_rounds("up", "a rig runs there already", "came up as process"), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    e2e_run(&res, "down");
    hxt_result_free(&res);
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_up_refuses_a_folder_with_something_in_it),
    cmocka_unit_test(test_of_two_ups_at_once_one_is_refused),
    cmocka_unit_test(test_default_folder_of_another_user_is_refused),
    cmocka_unit_test(test_rig_whose_dsp_restarts_is_still_there),
    cmocka_unit_test(test_a_log_that_is_no_file_of_ours_is_refused_at_once),
    cmocka_unit_test(test_down_clears_mounts_that_do_not_answer),
    cmocka_unit_test(test_up_and_down_in_two_shells_keep_out_of_each_others_way),
    cmocka_unit_test(test_stopped_rig_is_named_by_its_pid),
};

int main(void)
{
    return HXT_RUN(tests);
}
