/* Protects: whatever call of the driver, the root PD or a user PD fails, once or for a while, `up` says so and leaves nothing, or
 * the rig serves the next clients as if nothing had been; nobody hangs.  tests/fail makes calls fail.  A sample, or all with
 * HXT_FAIL_ALL=1. */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "driver_client.h"
#include "nth_failure.h"

static const char *const programs[] = {"hexrig-fuse", "hexrig-dsp", HXT_FAIL_PD};

enum { NO_RIG, CLIENT_FAILED }; /* columns of the table */
enum { CLIENT_S = 60, RECOVER_S = 120 };

/* In a child: no assertion here.  0: everything worked. */
static int use_rig(void)
{
    static char uri[] = HXT_SKEL_URI;
    uint32_t open_in[2] = {sizeof(uri), 256};
    struct {
        uint32_t handle;
        int32_t error;
    } opened = {0, -1};
    char dlerr[256];
    struct fastrpc_invoke_args a[4] = {drv_arg(open_in, sizeof(open_in)), drv_arg(uri, sizeof(uri)),
                                       drv_arg(&opened, sizeof(opened)), drv_arg(dlerr, sizeof(dlerr))};
    struct fastrpc_req_mmap m = {.flags = ADSP_MMAP_ADD_PAGES, .size = 4096};
    int fd = drv_open("fastrpc-cdsp");

    if (fd < 0 || drv_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, 0) ||
        drv_invoke(fd, FASTRPC_HANDLE_REMOTECTL1, 0x02020200, a) || opened.error)
        return 1;
    if (drv_call0(fd, opened.handle, HXT_BLOCK, (struct hxt_in){7, 0}) != 7 || ioctl(fd, FASTRPC_IOCTL_MMAP, &m))
        return 1;
    return close(fd);
}

/* 0 worked, 1 failed, 2 hung. */
static int client(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        alarm(CLIENT_S);
        _exit(use_rig());
    }
    assert_true(pid > 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

/* A client that fails may have come in a restart. */
static int client_in_time(void)
{
    double start = drv_now();
    int rc;

    do {
        rc = client();
        if (rc == 1)
            usleep(100000);
    } while (rc == 1 && drv_now() - start < RECOVER_S);
    return rc;
}

/* A rig without memory says so. */
static int is_there(void)
{
    return access(own_rig_path("status"), F_OK) == 0 || errno == ENOMEM;
}

static int has_come_or_gone(void *child)
{
    struct hxt_child *c = child;
    siginfo_t info = {0};

    return is_there() ||
           (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid);
}

static int nothing_is_left(void *unused)
{
    char *mounts = hxt_read_file("/proc/self/mounts", NULL);
    int mounted = mounts && strstr(mounts, own_rig_path("") + strlen(hxt_tmpdir())) && strstr(mounts, hxt_tmpdir());

    (void)unused;
    free(mounts);
    return !mounted && access(hxt_path("%s/rig.socket", hxt_tmpdir()), F_OK) != 0;
}

static int start_rig(const char *program)
{
    const char *argv[] = {HXT_BUILD "/libexec/hexrig/hexrig-fuse", "--mount", hxt_path("%s/rig", hxt_tmpdir()),
                          "--front-end", "fuse", NULL};
    const char *env[] = {"DSP_LIBRARY_PATH=" HXT_BUILD "/tests", NULL, NULL, NULL, NULL};
    struct hxt_cmd cmd = {.argv = argv, .env = env, .timeout_s = 120};

    nth_env(env + 1, program);
    if (hxt_start(&own_rig_child, &cmd) || !hxt_until(has_come_or_gone, &own_rig_child, 15))
        return -1;
    return is_there();
}

/* After five quick deaths of the DSP: half a minute, which a sample does not wait for. */
static int rests(void)
{
    char *status = hxt_read_file(own_rig_path("status"), NULL);
    int yes = status && strstr(status, "state=dsp-down") && strstr(status, "next attempt after 30 s");

    free(status);
    return yes;
}

/* Says what is wrong, or NULL. */
static const char *check(void *unused, struct nth_row *row)
{
    const char *wrong = NULL;
    struct hxt_result r;
    int serves = start_rig(row->program), rc;

    (void)unused;
    if (serves < 0)
        wrong = "neither serves nor ends";
    if (serves > 0) {
        rc = client();
        row->seen[CLIENT_FAILED] += rc != 0;
        if (rc == 2)
            wrong = "the first client hangs";
    }
    row->seen[NO_RIG] += serves == 0;
    nth_disarm();
    for (int i = 0; i < 2 && serves > 0 && !wrong && (nth_everything() || !rests()); i++)
        if (client_in_time())
            wrong = "a later client does not work";
    if (serves > 0 && !wrong && !hxt_until(own_rig_idle, NULL, 30))
        wrong = "a session is left";
    hxt_signal(&own_rig_child, SIGTERM);
    if (hxt_wait(&own_rig_child, &r))
        return "no result";
    if (!wrong && serves > 0 && r.exit_code)
        wrong = "its end fails";
    if (!wrong && serves == 0 && !*r.err)
        wrong = "it does not say why it ends";
    if (!wrong && !hxt_until(nothing_is_left, NULL, 30))
        wrong = "something is left";
    if (wrong || getenv("HXT_VERBOSE"))
        print_error("%s\n", r.err);
    hxt_result_free(&r);
    return wrong;
}

static void test_what_fails_is_told_and_got_over(void **unused)
{
    unsigned bad = 0;

    (void)unused;
    nth_begin();
    assert_int_equal(mkdir(hxt_path("%s/rig", hxt_tmpdir()), 0700), 0);
    nth_print_head("no rig", "client failed");
    for (size_t p = 0; p < HXT_LEN(programs); p++)
        bad += nth_program(programs[p], check, NULL);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_fails_is_told_and_got_over),
    };

#ifdef __SANITIZE_ADDRESS__
    hxt_skip_all("the sanitizer has a malloc of its own");
#endif
    if (access("/dev/fuse", R_OK | W_OK))
        hxt_skip_all("/dev/fuse: %s", strerror(errno));
    return HXT_RUN(tests);
}
