/* Protects the user, other sessions and the rig from skels: what tests/skel/hxt_escape/ tries is refused, as root's rig and
 * as nobody's, beside the PD of another client.  Part of the isolation suite (tests/lib/isolation.h). */
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "hxt_proc.h"
#include "isolation.h"
#include "other_users.h"
#include "own_rig.h"
#include "remote.h"
#include "remote_scalars.h"
#include "skel/hxt_escape.h"

enum { ATTEMPTS_LEAST = 400 };

#define THEIR_SKEL "libhxt_theirs_skel.so" /* in a folder and with a mode that keep everybody but its owner out */

static const char precious[] = "precious";

static void connect_skel(remote_handle64 *h, int32_t *pid)
{
    remote_arg out = {.buf = {pid, sizeof(*pid)}};
    struct remote_rpc_control_unsigned_module u = {.domain = CDSP_DOMAIN_ID, .enable = 1};

    remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u));
    assert_int_equal(remote_handle64_open(HXT_ESCAPE_URI CDSP_DOMAIN, h), 0);
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
    remote_handle64 h;
    int life, status;
    int32_t pid;
    pid_t sibling;

    (void)state;
    snprintf(in.file, sizeof(in.file), "%s/file", hxt_tmpdir());
    snprintf(in.skel_file, sizeof(in.skel_file), "%s/skels/file", hxt_tmpdir());
    snprintf(in.link, sizeof(in.link), "%s/skels/link", hxt_tmpdir());
    snprintf(in.node, sizeof(in.node), "%s", own_rig_path("fastrpc-cdsp"));
    sibling = start_sibling(&in.pid[HXE_SIBLING], &life);
    connect_skel(&h, &pid);
    assert_true(pid != in.pid[HXE_SIBLING]);
    for (;; in.index++) {
        struct hxe_out out;
        remote_arg args[2] = {{.buf = {&in, sizeof(in)}}, {.buf = {&out, sizeof(out)}}};

        assert_int_equal(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(HXE_TRY, 1, 1), args), 0);
        if (!*out.name)
            break;
        iso_attempt(out.name, out.expected, out.error);
    }
    iso_end("skel", ATTEMPTS_LEAST);
    expect_intact(in.file);
    expect_intact(in.skel_file);
    close(life);
    assert_int_equal(waitpid(sibling, &status, 0), sibling);
    assert_int_equal(status, 0); /* its session has lived through all that */
    assert_int_equal(remote_handle64_close(h), 0);
}

/* One of the masks in /proc/PID/status. */
static uint64_t capabilities(pid_t pid, const char *set)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/status", pid), NULL), *line;
    uint64_t mask;

    assert_non_null(text);
    line = strstr(text, hxt_path("\n%s:\t", set));
    assert_non_null(line);
    mask = strtoull(line + strlen(set) + 3, NULL, 16);
    free(text);
    return mask;
}

/* The one that a rig of root's is left with, and why: test_roots_rig_loads_skels_from_anybodys_folder. */
static void expect_no_capabilities(pid_t pid)
{
    const uint64_t may = geteuid() == 0 ? 1ull << CAP_DAC_READ_SEARCH : 0;

    assert_int_equal(capabilities(pid, "CapEff"), may);
    assert_int_equal(capabilities(pid, "CapPrm"), may);
    assert_int_equal(capabilities(pid, "CapInh"), 0);
    assert_int_equal(capabilities(pid, "CapAmb"), 0);
    if (geteuid() == 0) /* others cannot change it */
        assert_int_equal(capabilities(pid, "CapBnd"), may);
    assert_int_equal(capabilities(pid, "NoNewPrivs"), 1);
}

static void test_the_dsp_has_none_of_roots_capabilities(void **state)
{
    remote_handle64 h;
    int32_t pid;

    (void)state;
    connect_skel(&h, &pid);
    expect_no_capabilities(pid);
    expect_no_capabilities(own_rig_dsp());
    assert_int_equal(remote_handle64_close(h), 0);
}

static void test_roots_rig_loads_skels_from_anybodys_folder(void **state)
{
    remote_handle64 h;

    (void)state;
    assert_int_equal(remote_handle64_open("file:///" THEIR_SKEL "?hxt_escape_skel_handle_invoke&_modver=1.0&_dom=cdsp", &h), 0);
    assert_int_equal(remote_handle64_close(h), 0);
}

/* seccomp knows that entry by its architecture, and ends who takes it: the PD, and nobody else. */
static void test_a_system_call_of_another_architecture_ends_the_pd(void **state)
{
    const int dsp = own_rig_dsp();
    remote_handle64 h;
    int32_t pid;

    (void)state;
    connect_skel(&h, &pid);
    assert_int_equal((unsigned)remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(HXE_I386, 0, 0), NULL), 0x80000430);
    remote_handle64_close(h);
    connect_skel(&h, &pid);
    assert_int_equal(remote_handle64_close(h), 0);
    assert_int_equal(own_rig_dsp(), dsp);
}

static int make_their_skel(const char *from)
{
    char *folder = strdup(hxt_path("%s/theirs", hxt_tmpdir())), *skel = strdup(hxt_path("%s/" THEIR_SKEL, folder));
    size_t n = 0;
    char *bytes = hxt_read_file(hxt_path("%.*s/libhxt_escape_skel.so", (int)strcspn(from, ":;"), from), &n);
    int rc = !bytes || mkdir(folder, 0700);

    if (!rc)
        hxt_write_file(skel, bytes, n);
    rc = rc || chmod(skel, 0600) || chown(skel, HXT_NOBODY, HXT_NOBODY) || chown(folder, HXT_NOBODY, HXT_NOBODY);
    free(bytes);
    free(skel);
    free(folder);
    return rc ? -1 : 0;
}

static int start(void **state)
{
    const char *skels = getenv("DSP_LIBRARY_PATH");
    char *folders = strdup(hxt_path("%s:%s/skels:%s/theirs", skels ? skels : HXT_BUILD "/tests", hxt_tmpdir(),
                                    hxt_tmpdir()));

    if (geteuid() == 0 && make_their_skel(skels ? skels : HXT_BUILD "/tests"))
        return -1;
    if (mkdir(hxt_path("%s/skels", hxt_tmpdir()), 0755))
        return -1;
    hxt_write_file(hxt_path("%s/file", hxt_tmpdir()), precious, sizeof(precious));
    hxt_write_file(hxt_path("%s/skels/file", hxt_tmpdir()), precious, sizeof(precious));
    if (symlink("../file", hxt_path("%s/skels/link", hxt_tmpdir())))
        return -1;
    setenv("DSP_LIBRARY_PATH", folders, 1);
    free(folders);
    return own_rig_start(state);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_skel_gets_nothing_but_what_it_may),
        cmocka_unit_test(test_the_dsp_has_none_of_roots_capabilities),
        cmocka_unit_test(test_a_system_call_of_another_architecture_ends_the_pd),
        cmocka_unit_test(test_roots_rig_loads_skels_from_anybodys_folder), /* the last one: root's alone */
    };

    own_rig_front_end = front_end;
    return hxt_run_group(front_end, tests, HXT_LEN(tests) - (geteuid() != 0), start, own_rig_stop);
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
    return iso_run(run);
}
