/* Protects the user, other sessions and the rig from skels: what tests/skel/hxt_escape_skel.c tries is refused, as root's rig and
 * as nobody's, beside the PD of another client. */
#include <grp.h>
#include <linux/landlock.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "hxt_proc.h"
#include "own_rig.h"
#include "remote.h"
#include "remote_scalars.h"
#include "skel/hxt_escape.h"

enum { NOBODY = 65534, ATTEMPTS_LEAST = 200 };

static const char precious[] = "precious";

static void connect_skel(remote_handle64 *h, int32_t *pid)
{
    remote_arg out = {.buf = {pid, sizeof(*pid)}};
    struct remote_rpc_control_unsigned_module u = {.domain = CDSP_DOMAIN_ID, .enable = 1};

    remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u));
    assert_int_equal(remote_handle64_open(HXT_ESCAPE_URI, h), 0);
    assert_int_equal(remote_handle64_invoke(*h, REMOTE_SCALARS_MAKE(HXE_PID, 0, 1), &out), 0);
    assert_true(*pid > 1);
}

/* Another client, in a process of its own: its PD's id comes through one pipe, it ends when the other one closes. */
static pid_t start_sibling(int32_t *pd, int *life)
{
    int ready[2], end[2];
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        remote_handle64 h;
        int32_t mine;
        char c;

        close(end[1]);
        connect_skel(&h, &mine);
        (void)!write(ready[1], &mine, sizeof(mine));
        (void)!read(end[0], &c, 1);
        remote_handle64_close(h);
        _exit(0);
    }
    close(ready[1]);
    close(end[0]);
    assert_int_equal(read(ready[0], pd, sizeof(*pd)), sizeof(*pd));
    close(ready[0]);
    *life = end[1];
    return pid;
}

static void expect_intact(const char *path)
{
    size_t n = 0;
    char *text = hxt_read_file(path, &n);

    assert_non_null(text);
    assert_int_equal(n, sizeof(precious));
    assert_memory_equal(text, precious, n);
    free(text);
    assert_int_not_equal(access(hxt_path("%s.new", path), F_OK), 0);
}

static void test_a_skel_gets_nothing_but_what_it_may(void **state)
{
    struct hxe_in in = {.pid = {[HXE_DRIVER] = own_rig_child.pid, [HXE_ROOT_PD] = own_rig_dsp()}};
    int wrong = 0, life, status;
    remote_handle64 h;
    int32_t pid;
    pid_t sibling;

    (void)state;
    snprintf(in.file, sizeof(in.file), "%s/file", hxt_tmpdir());
    snprintf(in.skel_file, sizeof(in.skel_file), "%s/skels/file", hxt_tmpdir());
    sibling = start_sibling(&in.pid[HXE_SIBLING], &life);
    connect_skel(&h, &pid);
    assert_true(pid != in.pid[HXE_SIBLING]);
    for (;; in.index++) {
        struct hxe_out out;
        remote_arg args[2] = {{.buf = {&in, sizeof(in)}}, {.buf = {&out, sizeof(out)}}};

        assert_int_equal(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(HXE_TRY, 1, 1), args), 0);
        if (!*out.name)
            break;
        if (out.error != out.expected) {
            print_error("%s: %s, not %s\n", out.name, strerror(out.error), strerror(out.expected));
            wrong++;
        }
    }
    assert_true(in.index >= ATTEMPTS_LEAST);
    assert_int_equal(wrong, 0);
    expect_intact(in.file);
    expect_intact(in.skel_file);
    close(life);
    assert_int_equal(waitpid(sibling, &status, 0), sibling);
    assert_int_equal(status, 0); /* its session has lived through all that */
    assert_int_equal(remote_handle64_close(h), 0);
}

static int start(void **state)
{
    const char *skels = getenv("DSP_LIBRARY_PATH");
    char *folders = strdup(hxt_path("%s:%s/skels", skels ? skels : HXT_BUILD "/tests", hxt_tmpdir()));

    if (mkdir(hxt_path("%s/skels", hxt_tmpdir()), 0755))
        return -1;
    hxt_write_file(hxt_path("%s/file", hxt_tmpdir()), precious, sizeof(precious));
    hxt_write_file(hxt_path("%s/skels/file", hxt_tmpdir()), precious, sizeof(precious));
    setenv("DSP_LIBRARY_PATH", folders, 1);
    free(folders);
    return own_rig_start(state);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_skel_gets_nothing_but_what_it_may)};

    own_rig_front_end = front_end;
    return hxt_run_group(front_end, tests, HXT_LEN(tests), start, own_rig_stop);
}

/* The build may lie where only root may go, so nobody gets to see it elsewhere. */
static int show_the_build(const char *at)
{
    char *build = strdup(hxt_path("%s/build", at));
    int rc = mkdir(build, 0755) || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
             mount(HXT_BUILD, build, NULL, MS_BIND, NULL);

    setenv("HEXRIG_LIBEXEC", hxt_path("%s/libexec/hexrig", build), 1);
    setenv("DSP_LIBRARY_PATH", hxt_path("%s/tests", build), 1);
    free(build);
    return rc ? -errno : 0;
}

/* In a process of its own; `folder` is made for it. */
static int run_as_nobody(const char *folder)
{
    if (show_the_build(folder)) {
        printf("skip: nobody's rig: no mount namespace: %s\n", strerror(errno));
        return 0;
    }
    setenv("TMPDIR", folder, 1);
    if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
        prctl(PR_SET_DUMPABLE, 1))
        return 1;
    if (access(folder, W_OK | X_OK)) {
        printf("skip: nobody's rig: TMPDIR is not for everybody: %s: %s\n", folder, strerror(errno));
        return 0;
    }
    return run("socket");
}

static int run_for_nobody(void)
{
    const char *parent = getenv("TMPDIR");
    char folder[4096];
    int rc;

    if (geteuid() != 0) {
        printf("skip: nobody's rig: only root can start it\n");
        return 0;
    }
    snprintf(folder, sizeof(folder), "%s/hxt-nobody-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder) || chown(folder, NOBODY, NOBODY))
        return 1;
    rc = own_rig_run(run_as_nobody, folder);
    hxt_remove_tree(folder);
    return rc;
}

static int has_landlock(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    hxt_skip_all("a sanitizer needs more of the system than the sandbox leaves");
#endif
    if (!has_landlock())
        hxt_skip_all("the kernel has no landlock: %s", strerror(errno));
    return own_rig_run_both(run) | run_for_nobody();
}
