/* Protects: which rig a program finds, and where one may start: a rig that HEXRIG_DEVICE names, rigs of other users at the
 * default mount, mount points, long paths, what killed rigs and other programs left. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "e2e.h"
#include "other_users.h"
#include "own_rig.h"

enum { NOBODY = 65534 };

static void expect(const char *words, int code, const char *part)
{
    struct hxt_result r;

    e2e_run(&r, words);
    if (r.exit_code != code || !strstr(r.err, part))
        fail_msg("hexrig %s: want exit %d and '%s', got exit %d: %s", words, code, part, r.exit_code, r.err);
    hxt_result_free(&r);
}

static void expect_gone(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0)
        fail_msg("%s is left", path);
}

/* hxt_path()'s text lives for a few more calls only. */
static const char *keep(const char *path)
{
    static char kept[8][600];
    static unsigned next;

    return strcpy(kept[next++ % HXT_LEN(kept)], path);
}

/* From here on mounts of this process and its children are theirs alone. */
static void need_own_mounts(void)
{
    static bool own;

    if (!own && hxt_own_mounts())
        hxt_skip_test("no mount namespace of one's own");
    own = true;
}

static int is_mounted(const char *dir)
{
    char *mounts = hxt_read_file("/proc/self/mounts", NULL);
    int yes = mounts && strstr(mounts, hxt_path(" %s ", dir));

    free(mounts);
    return yes;
}

/* The rig's mount has gone, or nobody serves it any more. */
static int is_dead(void *dir)
{
    struct stat st;

    return !is_mounted(dir) || (stat(dir, &st) && errno == ENOTCONN);
}

/* --- HEXRIG_DEVICE ------------------------------------------------------------------------------------------------ */

static void run_on(struct hxt_result *res, const char *device, const char *words)
{
    struct e2e_run r;

    e2e_command(&r, words);
    r.envs[1] = hxt_path("HEXRIG_DEVICE=%s", device);
    assert_int_equal(hxt_run(res, &r.cmd), 0);
}

static void test_named_device_is_used_and_must_have_the_profile_asked_for(void **state)
{
    const char *dir = keep(hxt_path("%s/named", hxt_tmpdir())), *device = keep(hxt_path("%s/fastrpc-cdsp", dir));
    struct hxt_result r;

    (void)state;
    expect(hxt_path("up --mount %s --front-end socket --profile s22u-sync", dir), 0, "");
    run_on(&r, device, "run -p PROMPT -n 1 --profile s22u-sync");
    assert_int_equal(r.exit_code, 0);
    hxt_result_free(&r);
    e2e_run(&r, hxt_path("status --mount %s", dir));
    hxt_result_free(&r);
    run_on(&r, device, "run -p PROMPT -n 1 --profile s22u-577");
    assert_int_equal(r.exit_code, 1);
    assert_non_null(strstr(r.err, "profile=s22u-sync: not what was asked for: profile=s22u-577"));
    hxt_result_free(&r);
    run_on(&r, device, "run -p PROMPT -n 1 --front-end fuse");
    assert_int_equal(r.exit_code, 1);
    assert_non_null(strstr(r.err, "front_end=socket"));
    hxt_result_free(&r);
    expect(hxt_path("down --mount %s", dir), 0, "");
    run_on(&r, device, "run -p PROMPT -n 1");
    assert_int_equal(r.exit_code, 1); /* named by a person: no other will do */
    assert_non_null(strstr(r.err, device));
    hxt_result_free(&r);
    e2e_clean();
}

/* --- paths -------------------------------------------------------------------------------------------------------- */

static void test_mount_path_that_is_too_long_is_refused_with_its_length(void **state)
{
    static const char *const commands[] = {"up", "status", "down", "filter"};
    char path[1001];

    (void)state;
    memset(path, 'a', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    for (size_t i = 0; i < HXT_LEN(commands); i++)
        expect(hxt_path("%s --mount %s%s", commands[i], path, i == 3 ? " list" : ""), 1,
               "mount: a path of 1000 bytes, at most 991");
    expect_gone(path);
}

/* A socket's address has 107 bytes. */
static void test_mount_path_longer_than_an_address_works(void **state)
{
    static const char *const front_ends[] = {"socket", "fuse"};
    char name[121];

    (void)state;
    memset(name, 'b', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (size_t i = 0; i < HXT_LEN(front_ends); i++) {
        const char *dir = keep(hxt_path("%s/%s", hxt_tmpdir(), name));

        if (i == 1 && !e2e_have_fuse())
            break;
        expect(hxt_path("up --mount %s --front-end %s", dir, front_ends[i]), 0, "");
        expect(hxt_path("filter --mount %s +delay:us=1", dir), 0, "");
        expect(hxt_path("down --mount %s", dir), 0, "");
        expect_gone(dir);
        expect_gone(hxt_path("%s.socket", dir));
    }
    e2e_clean();
}

/* --- other users -------------------------------------------------------------------------------------------------- */

static int there(void *path)
{
    return access(path, F_OK) == 0;
}

/* What user nobody runs. */
static char build[4096];
static int nobody_can_run;

/* Runs argv as nobody, with our runtime folder. */
static void as_nobody(struct hxt_cmd *cmd, const char **argv, const char **env)
{
    static const char *const su[] = {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"};

    for (size_t i = 8; i-- > 0;) /* gcc takes a memmove() for one beyond argv */
        argv[HXT_LEN(su) + i] = argv[i];
    memcpy(argv, su, sizeof(su));
    env[0] = hxt_path("XDG_RUNTIME_DIR=%s", e2e_dir());
    env[1] = "HEXRIG_DEVICE";
    *cmd = (struct hxt_cmd){.argv = argv, .env = env, .timeout_s = 60};
}

static void need_nobody(void)
{
    if (geteuid() != 0)
        hxt_skip_test("only root can run a rig as another user");
    assert_int_equal(chmod(hxt_tmpdir(), 0711), 0);
    assert_int_equal(chmod(e2e_dir(), 0777), 0);
    if (!nobody_can_run)
        hxt_skip_test("nobody cannot run %s/bin/hexrig, and there is no mount namespace to show it", HXT_BUILD);
}

static void test_live_rig_of_another_user_at_the_default_mount_is_left_alone(void **state)
{
    static const char *const commands[] = {"up", "status", "down", "filter +delay:us=1"};
    const char *dir = keep(hxt_path("%s/hexrig", e2e_dir())), *env[3] = {NULL};
    const char *argv[16] = {keep(hxt_path("%s/libexec/hexrig/hexrig-fuse", build)), "--mount", dir, "--front-end", "socket"};
    struct hxt_child rig;
    struct hxt_result r;
    struct hxt_cmd cmd;

    (void)state;
    need_nobody();
    assert_int_equal(mkdir(dir, 0755), 0);
    assert_int_equal(chown(dir, NOBODY, NOBODY), 0);
    as_nobody(&cmd, argv, env);
    assert_int_equal(hxt_start(&rig, &cmd), 0);
    assert_true(hxt_until(there, (void *)hxt_path("%s/fastrpc-cdsp-secure", dir), 10));
    for (size_t i = 0; i < HXT_LEN(commands); i++)
        expect(commands[i], 1, "belongs to user 65534");
    e2e_run(&r, "run -p PROMPT -n 1");
    assert_int_equal(r.exit_code, 0);
    assert_non_null(strstr(r.err, "belongs to user 65534"));
    assert_non_null(strstr(r.err, "going on without that rig"));
    hxt_result_free(&r);
    hxt_signal(&rig, SIGTERM);
    assert_int_equal(hxt_wait(&rig, &r), 0);
    assert_int_equal(r.exit_code, 0); /* it was still there */
    hxt_result_free(&r);
    assert_int_equal(rmdir(dir), 0);
    e2e_clean();
}

static void test_live_fuse_rig_of_root_is_refused_to_nobody(void **state)
{
    const char *argv[16] = {keep(hxt_path("%s/bin/hexrig", build)), "status", NULL}, *env[3] = {NULL};
    struct hxt_cmd cmd;
    struct hxt_result r;

    (void)state;
    need_nobody();
    if (!e2e_have_fuse())
        hxt_skip_test("no /dev/fuse");
    expect("up --front-end fuse", 0, "");
    as_nobody(&cmd, argv, env);
    assert_int_equal(hxt_run(&r, &cmd), 0);
    assert_int_equal(r.exit_code, 1);
    assert_non_null(strstr(r.err, "belongs to user 0"));
    hxt_result_free(&r);
    expect("down", 0, "");
    e2e_clean();
}

/* --- what lies there ---------------------------------------------------------------------------------------------- */

static void test_up_on_a_mount_point_is_refused(void **state)
{
    const char *dir = keep(hxt_path("%s/mounted", hxt_tmpdir()));

    (void)state;
    need_own_mounts();
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(mount("hxt", dir, "tmpfs", 0, NULL), 0);
    e2e_refused(hxt_path("up --mount %s", dir), 1, "is a mount point");
    assert_int_equal(umount(dir), 0);
    assert_int_equal(rmdir(dir), 0);
}

/* Its name tries to pass as a rig of somebody else's. */
static void test_dead_mount_of_another_program_is_neither_taken_nor_unmounted(void **state)
{
    const char *dir = keep(hxt_path("%s/hexrig", e2e_dir()));
    int fd = open("/dev/fuse", O_RDWR);

    (void)state;
    if (fd < 0)
        hxt_skip_test("no /dev/fuse");
    need_own_mounts();
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(mount("user_id=65534", dir, "fuse", MS_NOSUID | MS_NODEV,
                           hxt_path("fd=%d,rootmode=40000,user_id=%u,group_id=0", fd, (unsigned)geteuid())), 0);
    close(fd);
    expect("status", 1, "has died");
    expect("down", 1, "not this user's rig");
    expect("up", 1, "has died");
    assert_true(is_mounted(dir));
    assert_int_equal(umount2(dir, MNT_DETACH), 0);
    assert_int_equal(rmdir(dir), 0);
    e2e_clean();
}

static void test_down_and_up_clear_what_a_killed_fuse_rig_left(void **state)
{
    const char *dir = keep(hxt_path("%s/killed", hxt_tmpdir())), *beside = keep(hxt_path("%s.socket", dir));

    (void)state;
    if (!e2e_have_fuse())
        hxt_skip_test("no /dev/fuse");
    for (int again = 0; again < 2; again++) {
        pid_t pid;

        expect(hxt_path("up --mount %s --front-end fuse", dir), 0, "");
        pid = e2e_find("hexrig-fuse");
        assert_true(pid > 1);
        assert_int_equal(kill(pid, SIGKILL), 0);
        /* libfuse's helper mostly unmounts; where it looks before the kernel has cut the connection, it leaves that to us */
        assert_true(hxt_until(is_dead, (void *)dir, 20));
        assert_true(there((void *)beside));
        if (again)
            expect(hxt_path("up --mount %s --front-end fuse", dir), 0, "");
        expect(hxt_path("down --mount %s", dir), 0, "");
        expect_gone(beside);
        assert_false(is_mounted(dir));
    }
    rmdir(dir);
    e2e_clean();
}

static int rig_is_there(void *pid)
{
    return (*(pid_t *)pid = e2e_find("hexrig-fuse")) > 1;
}

static int rig_is_gone(void *pid)
{
    return kill(*(pid_t *)pid, 0) != 0;
}

static void test_down_after_a_kill_removes_only_folders_that_up_has_made(void **state)
{
    static const char *const front_ends[] = {"socket", "fuse"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        const char *dir = keep(hxt_path("%s/%s-%d", hxt_tmpdir(), front_ends[i / 2], i)), *more = i % 2 ? " --mode 0666" : "";
        pid_t pid = 0;

        if (i / 2 == 1 && !e2e_have_fuse())
            break;
        for (int made = 0; made < 2; made++) {
            if (!made)
                assert_int_equal(mkdir(dir, 0755), 0);
            expect(hxt_path("up --mount %s --front-end %s%s", dir, front_ends[i / 2], more), 0, "");
            assert_true(hxt_until(rig_is_there, &pid, 10));
            assert_int_equal(kill(pid, SIGKILL), 0);
            assert_true(hxt_until(rig_is_gone, &pid, 10));
            expect(hxt_path("down --mount %s", dir), 0, "");
            if (made)
                expect_gone(dir);
            else
                assert_int_equal(rmdir(dir), 0);
        }
    }
    e2e_clean();
}

/* Another rig of this user, which writes to the same log all the time. */
static void *write_foreign_lines(void *log)
{
    for (;;) {
        int fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

        if (fd < 0 || write(fd, "hexrig-fuse[1]: foreign\n", 24) != 24)
            return "";
        close(fd);
        usleep(500);
    }
    return NULL;
}

static void test_log_tells_rigs_apart_and_up_shows_its_own_lines(void **state)
{
    const char *log = keep(hxt_path("%s/hexrig.log", e2e_dir()));
    struct hxt_result r;
    pthread_t t;
    char *text;

    (void)state;
    unlink(log);
    assert_int_equal(pthread_create(&t, NULL, write_foreign_lines, (void *)log), 0);
    e2e_run(&r, "up --front-end socket --filter log");
    pthread_cancel(t);
    pthread_join(t, NULL);
    assert_int_equal(r.exit_code, 0);
    if (*r.err)
        fail_msg("'%.200s'", r.err);
    hxt_result_free(&r);
    e2e_run(&r, "run -p PROMPT -n 1");
    assert_int_equal(r.exit_code, 0);
    hxt_result_free(&r);
    text = hxt_read_file(log, NULL);
    assert_non_null(text);
    if (!strstr(text, "foreign") || !strstr(text, hxt_path("hexrig-fuse[%d]: log: ", (int)e2e_find("hexrig-fuse"))))
        fail_msg("'%.2000s'", text);
    free(text);
    expect("down", 0, "");
    e2e_clean();
}

static void test_mounts_that_cannot_be_are_refused_with_the_reason(void **state)
{
    const char *link = keep(hxt_path("%s/link", hxt_tmpdir()));

    (void)state;
    e2e_refused("up --mount=", 1, "mount '': No such file or directory");
    assert_int_equal(symlink("/tmp", link), 0);
    e2e_refused(hxt_path("up --mount %s", link), 1, "link: is a symbolic link; name the folder that it leads to");
}

static void test_bad_values_of_up_are_wrong_usage(void **state)
{
    static const struct {
        const char *words, *part;
    } bad[] = {
        {"up --profile zork", "zork"},
        {"up --profile /etc", "profile: /etc: Is a directory"},
        {"up --filter zork:x=1", "unknown filter 'zork'"},
        {"up --mode rw", "--mode 'rw'"},
        {"up --mode 0777", "--mode '0777'"},
        {"up --mode 0668", "--mode '0668'"},
        {"up --owner no-such-user", "there is no user 'no-such-user'"},
        {"up --owner 1:no-such-group", "there is no group 'no-such-group'"},
        {"up --owner 1:", "not UID, UID:GID or :GID"},
        {"up --owner 99999999999", "--owner '99999999999'"},
        {"filter", "no filter"},
        {"filter list more", "unexpected argument 'more'"},
        {"filter delay:us=1", "'delay:us=1' is not"},
        {"filter --zork", "--zork"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        e2e_refused(bad[i].words, 2, bad[i].part);
}

static void test_filter_adds_removes_and_lists_on_every_front_end(void **state)
{
    static const char *const front_ends[] = {"socket", "fuse"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(front_ends); i++) {
        struct hxt_result r;

        if (i == 1 && !e2e_have_fuse())
            break;
        expect(hxt_path("up --front-end %s", front_ends[i]), 0, "");
        e2e_run(&r, "filter +delay:us=5 +error:nth=1000000,code=EPIPE -delay");
        assert_int_equal(r.exit_code, 0);
        assert_string_equal(r.out, "count\ncost\nerror\n");
        hxt_result_free(&r);
        e2e_run(&r, "filter --json list");
        assert_non_null(strstr(r.out, "\"error\""));
        hxt_result_free(&r);
        expect("filter -cost", 1, "cost");
        expect("filter +zork:x=1", 2, "unknown filter 'zork'");
        expect("down", 0, "");
    }
    expect("filter list", 1, "no rig runs there");
    expect("filter +delay:us=5", 1, "no rig runs there");
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_named_device_is_used_and_must_have_the_profile_asked_for),
    cmocka_unit_test(test_mount_path_that_is_too_long_is_refused_with_its_length),
    cmocka_unit_test(test_mount_path_longer_than_an_address_works),
    cmocka_unit_test(test_live_rig_of_another_user_at_the_default_mount_is_left_alone),
    cmocka_unit_test(test_live_fuse_rig_of_root_is_refused_to_nobody),
    cmocka_unit_test(test_up_on_a_mount_point_is_refused),
    cmocka_unit_test(test_dead_mount_of_another_program_is_neither_taken_nor_unmounted),
    cmocka_unit_test(test_down_and_up_clear_what_a_killed_fuse_rig_left),
    cmocka_unit_test(test_down_after_a_kill_removes_only_folders_that_up_has_made),
    cmocka_unit_test(test_log_tells_rigs_apart_and_up_shows_its_own_lines),
    cmocka_unit_test(test_mounts_that_cannot_be_are_refused_with_the_reason),
    cmocka_unit_test(test_bad_values_of_up_are_wrong_usage),
    cmocka_unit_test(test_filter_adds_removes_and_lists_on_every_front_end),
};

/* The build is shown in a mount namespace of this process, which must not be the one that removes the folder. */
static int run(const char *folder)
{
    nobody_can_run = hxt_build_for_nobody(folder, build, sizeof(build));
    return HXT_RUN(tests);
}

int main(void)
{
    return own_rig_run(run, hxt_tmpdir());
}
