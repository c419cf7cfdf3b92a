/* Protects: who may use a rig, and how.  A client that forbids to look into it is served all the same, by sockets beside the
 * FUSE mount; nodes have the mode and the owner that were asked for; only the rig's owner writes to `control`.
 *
 * Rigs and clients run as other users, so most of this is for root.  /dev/fuse is often for root alone: the tests work in a
 * mount namespace of their own, in which a device node of their own lies over it. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastrpc_uapi.h"
#include "hx_frame.h"
#include "hx_rig.h"
#include "hxt.h"
#include "hxt_proc.h"
#include "other_users.h"
#include "own_rig.h"
#include "remote.h"
#include "remote_scalars.h"
#include "rpcmem.h"
#include "skel/calculator.h"

enum { NOBODY = HXT_NOBODY, STRANGER = HXT_STRANGER, CLUB = 54321 };

/* --- a rig of a user ---------------------------------------------------------------------------------------------- */

static struct hxt_child rig;
static bool rig_runs;
static char mount_dir[400];
static char build[400] = HXT_BUILD; /* where nobody can see it, too */

/* The last of its nodes takes clients: a socket has its name before it has its owner and mode, and nobody can connect until then. */
static int rig_serves(void *node)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), serves;

    assert_true((size_t)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", (const char *)node) < sizeof(sa.sun_path));
    serves = connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0;
    close(fd);
    return serves;
}

/* Starts hexrig-fuse as `uid` in a folder of its own; more: further arguments, or NULL. */
static void rig_start(uid_t uid, const char *front_end, const char *const *more)
{
    static int n;
    char home[300];
    const char *id = hxt_path("%u", (unsigned)uid);
    const char *argv[24] = {"setpriv", "--reuid", id, "--regid", id, "--clear-groups",
                            hxt_path("%s/libexec/hexrig/hexrig-fuse", build), "--mount", mount_dir,
                            "--front-end", front_end};
    const char *env[] = {hxt_path("DSP_LIBRARY_PATH=%s/tests", build), NULL};
    struct hxt_cmd cmd = {.argv = argv, .env = env, .timeout_s = 120};
    bool sockets = strcmp(front_end, "socket") == 0;

    for (size_t i = 0; more && more[i]; i++)
        argv[11 + i] = more[i];
    assert_int_equal(chmod(hxt_tmpdir(), 0711), 0);
    snprintf(home, sizeof(home), "%s/home%d", hxt_tmpdir(), n++);
    assert_int_equal(mkdir(home, 0755), 0);
    snprintf(mount_dir, sizeof(mount_dir), "%s/rig", home);
    assert_int_equal(mkdir(mount_dir, 0755), 0);
    assert_int_equal(chown(home, uid, uid), 0);
    assert_int_equal(chown(mount_dir, uid, uid), 0);
    assert_int_equal(hxt_start(&rig, &cmd), 0);
    rig_runs = true;
    if (!hxt_until(rig_serves, (void *)hxt_path("%s%s/fastrpc-cdsp-secure", mount_dir, sockets ? "" : ".socket"), 10))
        fail_msg("the rig does not serve");
}

/* After a test that failed half-way. */
static int teardown(void **state)
{
    struct hxt_result r;

    (void)state;
    if (!rig_runs)
        return 0;
    rig_runs = false;
    hxt_signal(&rig, SIGTERM);
    if (hxt_wait(&rig, &r))
        return -1;
    print_error("rig: %s\n", r.err);
    hxt_result_free(&r);
    return 0;
}

/* Ends it; *log (may be NULL) gets what it said, for free(). */
static void rig_stop(char **log)
{
    struct hxt_result r;

    rig_runs = false;
    assert_int_equal(hxt_signal(&rig, SIGTERM), 0);
    assert_int_equal(hxt_wait(&rig, &r), 0);
    if (r.exit_code)
        fail_msg("rig: exit %d signal %d: %s", r.exit_code, r.signal, r.err);
    assert_int_not_equal(access(hxt_path("%s.socket", mount_dir), F_OK), 0);
    if (log)
        *log = strdup(r.err);
    hxt_result_free(&r);
}

/* --- a client of a user ------------------------------------------------------------------------------------------- */

struct client {
    uid_t uid;
    gid_t group; /* supplementary; 0 = none */
    bool dumpable;
    void (*work)(struct client *);
    /* results */
    int rc;
    int sockets; /* that it has open */
    struct hx_session_stats stats;
    char err[1300];
};

static int open_sockets(void)
{
    struct stat st;
    int n = 0;

    for (int fd = 3; fd < 64; fd++)
        n += fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
    return n;
}

/* Runs c->work in a process of that user; what it leaves in *c comes back. */
static void run_client(struct client *c)
{
    char device[440];
    int p[2], status;
    pid_t pid;

    snprintf(device, sizeof(device), "%s/fastrpc-cdsp", mount_dir);
    assert_int_equal(pipe(p), 0);
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("HEXRIG_DEVICE", device, 1);
        alarm(300);
        if (setgroups(c->group ? 1 : 0, &c->group) || setresgid(c->uid, c->uid, c->uid) ||
            setresuid(c->uid, c->uid, c->uid) || prctl(PR_SET_DUMPABLE, c->dumpable))
            _exit(1);
        c->work(c);
        _exit(write(p[1], c, sizeof(*c)) == sizeof(*c) ? 0 : 1);
    }
    close(p[1]);
    if (poll(&(struct pollfd){.fd = p[0], .events = POLLIN}, 1, 240000) <= 0) {
        hxt_signal(&rig, SIGKILL); /* a client inside a rig that does not answer cannot be killed */
        fail_msg("the rig does not answer");
    }
    assert_int_equal(read(p[0], c, sizeof(*c)), sizeof(*c));
    close(p[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int sum(remote_handle64 h, int32_t *v, uint32_t n)
{
    int64_t s = -1, want = 0;
    remote_arg pra[3] = {{.buf = {&n, sizeof(n)}}, {.buf = {v, n * sizeof(*v)}}, {.buf = {&s, sizeof(s)}}};
    int rc;

    for (uint32_t i = 0; i < n; i++) {
        v[i] = (int32_t)(i * 2654435761u);
        want += v[i];
    }
    rc = remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(CALC_SUM, 2, 1), pra);
    return rc ? rc : s == want ? 0 : -1;
}

enum { REGISTERED = 2000 /* numbers */ };

/* Of memory that the client has mapped by itself, from its file's second page on, and begins in the third. */
static int sum_registered(remote_handle64 h)
{
    int fd = memfd_create("registered", MFD_CLOEXEC), rc;
    int32_t *v;

    if (fd < 0 || ftruncate(fd, 5 * 4096))
        return AEE_ENOMEMORY;
    v = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
    if (v == MAP_FAILED)
        return AEE_ENOMEMORY;
    remote_register_buf(v, 4 * 4096, fd);
    rc = sum(h, v + 1024, REGISTERED);
    remote_register_buf(v, 4 * 4096, -1);
    return rc;
}

/* Calls with copied and with shared buffers. */
static void calculate(struct client *c)
{
    int32_t local[1000], *shared = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 1 << 20);
    remote_handle64 h;

    c->rc = shared ? remote_handle64_open(calculator_URI CDSP_DOMAIN, &h) : AEE_ENOMEMORY;
    if (c->rc == 0)
        c->rc = sum(h, local, 1000);
    if (c->rc == 0)
        c->rc = sum(h, shared, 1 << 18);
    if (c->rc == 0)
        c->rc = sum(h, shared + 13, 4096);
    if (c->rc == 0)
        c->rc = sum_registered(h);
    if (c->rc == 0)
        c->rc = hx_rig_session_stats(&c->stats);
    c->sockets = open_sockets();
}

/* An ioctl of its own, twice; rc = what came of it. */
static void invoke_raw(struct client *c)
{
    struct fastrpc_init_create create = {.filefd = -1, .attrs = FASTRPC_MODE_UNSIGNED_MODULE};
    uint32_t n = 1;
    struct fastrpc_invoke_args args[1] = {{.ptr = (uintptr_t)&n, .length = sizeof(n), .fd = -1}};
    struct fastrpc_invoke inv = {.sc = REMOTE_SCALARS_MAKE(0, 1, 0), .args = (uintptr_t)args};
    int fd = open(getenv("HEXRIG_DEVICE"), O_RDWR);

    if (fd < 0 || ioctl(fd, FASTRPC_IOCTL_INIT_CREATE, &create)) {
        c->rc = -1;
        return;
    }
    for (int i = 0; i < 2; i++)
        c->rc = ioctl(fd, FASTRPC_IOCTL_INVOKE, &inv) ? errno : 0;
    close(fd);
}

/* The device itself as a buffer. */
static void invoke_with_the_device(struct client *c)
{
    struct fastrpc_init_create create = {.filefd = -1, .attrs = FASTRPC_MODE_UNSIGNED_MODULE};
    int fd = open(getenv("HEXRIG_DEVICE"), O_RDWR);
    uint32_t n = 1;
    struct fastrpc_invoke_args args[1] = {{.ptr = (uintptr_t)&n, .length = sizeof(n), .fd = fd}};
    struct fastrpc_invoke inv = {.sc = REMOTE_SCALARS_MAKE(0, 1, 0), .args = (uintptr_t)args};

    c->rc = fd < 0 || ioctl(fd, FASTRPC_IOCTL_INIT_CREATE, &create) ? -1
            : ioctl(fd, FASTRPC_IOCTL_INVOKE, &inv)                 ? errno
                                                                    : 0;
    close(fd);
}

/* --- a /dev/fuse for everybody ------------------------------------------------------------------------------------ */

static bool nobody_can_run(void)
{
    const char *argv[] = {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c",
                          hxt_path("test -x %s/libexec/hexrig/hexrig-fuse -a -r %s/tests/libcalculator_skel.so", build, build),
                          NULL};

    return hxt_succeeds(&(struct hxt_cmd){.argv = argv});
}

static void need_users(void)
{
    if (geteuid() != 0)
        hxt_skip_test("only root can run a rig as another user");
    if (!nobody_can_run())
        hxt_skip_test("nobody cannot read %s", build);
}

static void need_fuse(void)
{
    static int state; /* 1: there, -1: not to be had */

    need_users();
    if (access("/dev/fuse", R_OK | W_OK))
        hxt_skip_test("no /dev/fuse");
    if (!state)
        state = hxt_own_mounts() || hxt_fuse_with_mode(hxt_tmpdir(), 0666) ? -1 : 1;
    if (state < 0)
        hxt_skip_test("no mount namespace for a /dev/fuse with mode 0666");
}

/* --- clients that may not be looked into -------------------------------------------------------------------------- */

static void test_restricted_client_works_and_counts_like_any_other(void **state)
{
    struct client open = {.uid = NOBODY, .dumpable = true, .work = calculate};
    struct client shut = {.uid = NOBODY, .dumpable = false, .work = calculate};

    (void)state;
    need_fuse();
    rig_start(NOBODY, "fuse", NULL);
    run_client(&open);
    run_client(&shut);
    rig_stop(NULL);
    assert_int_equal(open.rc, 0);
    assert_int_equal(open.sockets, 0);
    assert_int_equal(shut.rc, 0);
    assert_int_equal(shut.sockets, 1);
    assert_int_equal(shut.stats.bytes_shared, ((1 << 18) + 4096 + REGISTERED) * sizeof(int32_t));
    assert_memory_equal(&open.stats, &shut.stats, sizeof(open.stats));
}

static void test_restricted_client_with_ioctls_of_its_own_is_told_in_the_log(void **state)
{
    struct client c = {.uid = NOBODY, .dumpable = false, .work = invoke_raw};
    char *log, *line;

    (void)state;
    need_fuse();
    rig_start(NOBODY, "fuse", NULL);
    run_client(&c);
    rig_stop(&log);
    assert_int_equal(c.rc, EFAULT);
    line = strstr(log, "PR_SET_DUMPABLE");
    assert_non_null(line);
    assert_null(strstr(line + 1, "prctl(PR_SET_DUMPABLE"));
    free(log);
}

static void test_rig_of_root_looks_into_everybody(void **state)
{
    struct client c = {.uid = NOBODY, .dumpable = false, .work = calculate};

    (void)state;
    need_fuse();
    rig_start(0, "fuse", (const char *[]){"--mode", "0666", NULL});
    run_client(&c);
    rig_stop(NULL);
    assert_int_equal(c.rc, 0);
    assert_int_equal(c.sockets, 0);
}

/* The rig would have to ask its own mount about it. */
static void test_device_as_a_buffer_is_refused_and_the_rig_goes_on(void **state)
{
    struct client bad = {.uid = NOBODY, .dumpable = true, .work = invoke_with_the_device};
    struct client good = {.uid = NOBODY, .dumpable = true, .work = calculate};

    (void)state;
    need_fuse();
    rig_start(NOBODY, "fuse", NULL);
    run_client(&bad);
    run_client(&good);
    rig_stop(NULL);
    assert_int_equal(bad.rc, EINVAL);
    assert_int_equal(good.rc, 0);
}

/* --- mode and owner ----------------------------------------------------------------------------------------------- */

static void check_nodes(const char *dir, mode_t mode, uid_t uid, gid_t gid)
{
    static const char *const nodes[] = {"fastrpc-cdsp", "fastrpc-cdsp-secure"};
    struct stat st;

    for (size_t i = 0; i < HXT_LEN(nodes); i++) {
        assert_int_equal(stat(hxt_path("%s/%s", dir, nodes[i]), &st), 0);
        assert_int_equal(st.st_mode & 07777, mode);
        assert_int_equal(st.st_uid, uid);
        assert_int_equal(st.st_gid, gid);
    }
}

/* The owner and who is in the group come in, others do not. */
static void check_access(const char *front_end)
{
    struct client owner = {.uid = NOBODY, .dumpable = true, .work = calculate};
    struct client member = {.uid = STRANGER, .group = CLUB, .dumpable = true, .work = calculate};
    struct client other = {.uid = STRANGER, .dumpable = true, .work = calculate};

    rig_start(0, front_end, (const char *[]){"--owner", hxt_path("%d:%d", NOBODY, CLUB), NULL});
    check_nodes(mount_dir, 0660, NOBODY, CLUB);
    if (strcmp(front_end, "fuse") == 0)
        check_nodes(hxt_path("%s.socket", mount_dir), 0660, NOBODY, CLUB);
    run_client(&owner);
    run_client(&member);
    run_client(&other);
    rig_stop(NULL);
    assert_int_equal(owner.rc, 0);
    assert_int_equal(member.rc, 0);
    assert_int_not_equal(other.rc, 0);
}

static void test_fuse_nodes_honour_owner_group_and_mode(void **state)
{
    (void)state;
    need_fuse();
    check_access("fuse");
}

static void test_sockets_honour_owner_group_and_mode(void **state)
{
    (void)state;
    need_users();
    check_access("socket");
}

static void test_fuse_rig_without_them_is_for_its_owner(void **state)
{
    struct client other = {.uid = STRANGER, .dumpable = true, .work = calculate};
    struct stat st;

    (void)state;
    need_fuse();
    rig_start(NOBODY, "fuse", NULL);
    assert_int_equal(stat(hxt_path("%s.socket", mount_dir), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    run_client(&other);
    rig_stop(NULL);
    assert_int_not_equal(other.rc, 0);
}

/* --- control ------------------------------------------------------------------------------------------------------ */

static void add_filter(struct client *c)
{
    c->rc = hx_rig_write(mount_dir, "control", "filter +delay:us=1", c->err, sizeof(c->err));
}

static void remove_filter(struct client *c)
{
    c->rc = hx_rig_write(mount_dir, "control", "filter -delay\n", c->err, sizeof(c->err));
}

static void write_nonsense(struct client *c)
{
    c->rc = hx_rig_write(mount_dir, "control", "filter +zork:x=1", c->err, sizeof(c->err));
}

static void write_status(struct client *c)
{
    c->rc = hx_rig_write(mount_dir, "status", "x", c->err, sizeof(c->err));
}

static void expect_filters(const char *want)
{
    char *status = NULL;

    assert_int_equal(hx_rig_read(mount_dir, "status", &status), 0);
    if (!strstr(status, hxt_path("\nfilters=%s\n", want)))
        fail_msg("want filters=%s: %s", want, status);
    free(status);
}

/* Without the library, at the file. */
static void open_control(struct client *c)
{
    int fd = open(hxt_path("%s/control", mount_dir), O_WRONLY | O_TRUNC);

    c->rc = fd < 0 ? -errno : 0;
    if (fd >= 0)
        close(fd);
}

static void check_control(const char *front_end, uid_t uid)
{
    struct client owner = {.uid = uid, .dumpable = true, .work = add_filter};
    struct client other = {.uid = STRANGER, .dumpable = true, .work = remove_filter};
    struct client root = {.uid = 0, .dumpable = true, .work = remove_filter};

    rig_start(uid, front_end, (const char *[]){"--mode", "0666", NULL});
    run_client(&owner);
    assert_int_equal(owner.rc, 0);
    expect_filters("count+cost+delay");
    run_client(&other);
    assert_int_equal(other.rc, -EACCES);
    assert_non_null(strstr(other.err, "not for user 65533"));
    expect_filters("count+cost+delay");
    other.work = open_control;
    run_client(&other);
    assert_int_equal(other.rc, strcmp(front_end, "fuse") == 0 ? -EACCES : -ENOENT);
    run_client(&root);
    assert_int_equal(root.rc, 0);
    expect_filters("count+cost");
    owner.work = write_nonsense;
    run_client(&owner);
    assert_int_equal(owner.rc, -EINVAL);
    assert_non_null(strstr(owner.err, "unknown filter 'zork'"));
    owner.work = write_status;
    run_client(&owner);
    assert_int_equal(owner.rc, -ENOENT);
    rig_stop(NULL);
}

/* One WRITE frame with these bytes; the result of its reply. */
static int write_frame(const void *arg, uint32_t n)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    struct hx_frame f = {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_WRITE, .id = 7, .arg_bytes = n,
                         .body_bytes = n};
    struct hx_frame_reply r[2] = {0}; /* the greeting, the answer */
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), dir = open(mount_dir, O_PATH), text = 0;
    char c;

    /* the path itself may be too long */
    snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/fastrpc-cdsp", dir);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    close(dir);
    assert_int_equal(send(fd, &f, sizeof(f), 0), sizeof(f));
    assert_int_equal(send(fd, arg, n, 0), n);
    assert_int_equal(recv(fd, r, sizeof(r), MSG_WAITALL), sizeof(r));
    while ((uint32_t)text < r[1].arg_bytes && recv(fd, &c, 1, 0) == 1)
        text++;
    assert_int_equal(r[1].id, 7);
    assert_int_equal(r[1].body_bytes, text);
    close(fd);
    return r[1].result;
}

static void test_malformed_writes_are_refused(void **state)
{
    char huge[4000] = "control";

    (void)state;
    memset(huge + 8, 'f', sizeof(huge) - 8);
    need_users();
    rig_start(0, "socket", NULL);
    assert_int_equal(write_frame("", 0), -ENOENT);
    assert_int_equal(write_frame("", 1), -ENOENT);
    assert_int_equal(write_frame("control", 7), -ENOENT); /* no end of the name */
    assert_int_equal(write_frame("control", 8), -EINVAL);
    assert_int_equal(write_frame("control\0filter +", 16), -EINVAL);
    assert_int_equal(write_frame("control\0filter -", 16), -ENOENT);
    assert_int_equal(write_frame(huge, sizeof(huge)), -E2BIG);
    assert_int_equal(write_frame("control\0filter +delay:us=1", 26), 0);
    expect_filters("count+cost+delay");
    rig_stop(NULL);
}

static void test_only_the_owner_controls_a_socket_rig(void **state)
{
    (void)state;
    need_users();
    check_control("socket", NOBODY);
}

static void test_only_the_owner_controls_a_fuse_rig(void **state)
{
    (void)state;
    need_fuse();
    check_control("fuse", 0);
}

#define USERS_TEST(f) cmocka_unit_test_teardown(f, teardown)

static const struct CMUnitTest tests[] = {
    USERS_TEST(test_sockets_honour_owner_group_and_mode),
    USERS_TEST(test_only_the_owner_controls_a_socket_rig),
    USERS_TEST(test_only_the_owner_controls_a_fuse_rig),
    USERS_TEST(test_malformed_writes_are_refused),
    USERS_TEST(test_restricted_client_works_and_counts_like_any_other),
    USERS_TEST(test_restricted_client_with_ioctls_of_its_own_is_told_in_the_log),
    USERS_TEST(test_device_as_a_buffer_is_refused_and_the_rig_goes_on),
    USERS_TEST(test_rig_of_root_looks_into_everybody),
    USERS_TEST(test_fuse_nodes_honour_owner_group_and_mode),
    USERS_TEST(test_fuse_rig_without_them_is_for_its_owner),
};

/* The build is shown in a mount namespace of this process, which must not be the one that removes the folder. */
static int run(const char *folder)
{
    hxt_build_for_nobody(folder, build, sizeof(build));
    return HXT_RUN(tests);
}

int main(void)
{
    return own_rig_run(run, hxt_tmpdir());
}
