/* Protects: a root PD that does not answer is a subsystem restart within about a second, as a dead one is, and a user PD that a
 * debugger has stopped is none. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "driver_client.h"
#include "hx_ring.h"

enum { SSR_S = 4 }; /* 1.25 s, and a loaded machine */

static int has_restarted(void *restarts)
{
    return own_rig_status("dsp_restarts") == *(int *)restarts && access(own_rig_path("fastrpc-cdsp"), F_OK) == 0;
}

static void expect_restart(int restarts)
{
    uint32_t h;
    int fd;

    restarts++;
    assert_true(hxt_until(has_restarted, &restarts, SSR_S));
    fd = drv_connect(&h);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){4, 0}), 4);
    close(fd);
}

/* The channel that the root PD shares with the driver, mapped here. */
static struct hx_rings *root_rings(void)
{
    int dsp = own_rig_status("dsp_pid");

    for (int i = 3; i < 64; i++) {
        char link[256] = "";
        struct hx_rings *r;
        int fd;

        if (readlink(hxt_path("/proc/%d/fd/%d", dsp, i), link, sizeof(link) - 1) < 0 || !strstr(link, "hexrig-rings"))
            continue;
        fd = open(hxt_path("/proc/%d/fd/%d", dsp, i), O_RDWR | O_CLOEXEC);
        assert_true(fd >= 0);
        r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        assert_true(r != MAP_FAILED);
        return r;
    }
    fail_msg("process %d has no rings", dsp);
    return NULL;
}

/* A call that is under way ends as it does when the DSP dies. */
static void test_a_stopped_root_pd_is_a_restart(void **state)
{
    struct drv_caller c = {.method = HXT_BLOCK, .in = {0, 600000}};
    int restarts = own_rig_status("dsp_restarts");
    pthread_t t;

    (void)state;
    c.fd = drv_connect(&c.handle);
    assert_int_equal(pthread_create(&t, NULL, drv_run_caller, &c), 0);
    assert_true(hxt_until(drv_call_is_under_way, &c.fd, 10));
    assert_int_equal(hxt_stop(own_rig_status("dsp_pid")), 0);
    pthread_join(t, NULL);
    assert_int_equal(c.result, -1);
    assert_int_equal(c.error, EPIPE);
    close(c.fd);
    expect_restart(restarts);
}

static void *create(void *fd)
{
    *(int *)fd = drv_create(*(int *)fd, FASTRPC_MODE_UNSIGNED_MODULE, 0) ? errno : 0;
    return NULL;
}

static void test_a_create_that_is_not_answered_gets_epipe(void **state)
{
    int restarts = own_rig_status("dsp_restarts"), fd = drv_open("fastrpc-cdsp"), file = fd;
    pthread_t t;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(hxt_stop(own_rig_status("dsp_pid")), 0);
    assert_int_equal(pthread_create(&t, NULL, create, &fd), 0);
    pthread_join(t, NULL);
    assert_int_equal(fd, EPIPE);
    close(file);
    expect_restart(restarts);
}

static void break_request_head(struct hx_rings *r)
{
    atomic_fetch_add(&r->request.head, 7);
}

static void break_request_tail(struct hx_rings *r)
{
    atomic_fetch_add(&r->request.tail, 1000);
}

static void break_reply_head(struct hx_rings *r)
{
    atomic_fetch_add(&r->reply.head, 7);
}

static void break_reply_tail(struct hx_rings *r)
{
    atomic_fetch_add(&r->reply.tail, 1000);
}

/* A reply is skipped: nothing is wrong with the indices, but who waits for it would wait for ever. */
static void skip_requests(struct hx_rings *r)
{
    for (unsigned i = 0; i < HX_RING_SLOTS; i++)
        memset(r->request.slot[i], 0x41, sizeof(r->request.slot[i]));
    atomic_store(&r->request.head, 0);
    atomic_store(&r->request.tail, 3);
    atomic_store(&r->reply.head, 0);
    atomic_store(&r->reply.tail, 0);
}

static void test_broken_rings_of_the_root_pd_are_a_restart(void **state)
{
    static void (*const damage[])(struct hx_rings *) = {break_request_head, break_request_tail, break_reply_head,
                                                        break_reply_tail, skip_requests};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(damage); i++) {
        int restarts = own_rig_status("dsp_restarts"), fd;
        struct hx_rings *r = root_rings();

        damage[i](r);
        munmap(r, sizeof(*r));
        fd = drv_open("fastrpc-cdsp"); /* the damage may be seen before that, */
        if (fd >= 0 && drv_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, 0) == 0) /* or a moment later */
            drv_open_skel(fd);
        if (fd >= 0)
            close(fd);
        expect_restart(restarts);
        usleep(2100000); /* five deaths within 2 s of their starts are too many */
    }
}

/* The child of the root PD that serves the only client. */
static pid_t user_pd(void)
{
    int dsp = own_rig_status("dsp_pid");
    char *text = hxt_read_file(hxt_path("/proc/%d/task/%d/children", dsp, dsp), NULL);
    pid_t pid = text ? atoi(text) : 0;

    free(text);
    assert_true(pid > 1);
    return pid;
}

/* Neither while it is stopped nor when its client goes, although its end is the debugger's to see first. */
static void test_a_debugger_may_stop_a_user_pd(void **state)
{
    int restarts = own_rig_status("dsp_restarts"), fd, status;
    uint32_t h;
    pid_t pd;

    (void)state;
    fd = drv_connect(&h);
    pd = user_pd();
    if (ptrace(PTRACE_SEIZE, pd, NULL, NULL) || ptrace(PTRACE_INTERRUPT, pd, NULL, NULL)) {
        close(fd);
        hxt_skip_test("ptrace: %s", strerror(errno));
    }
    assert_int_equal(waitpid(pd, &status, __WALL), pd);
    usleep(2500000);
    assert_int_equal(own_rig_status("dsp_restarts"), restarts);
    close(fd);
    usleep(2500000);
    assert_int_equal(own_rig_status("dsp_restarts"), restarts);
    assert_int_equal(own_rig_status("sessions"), 1); /* its PD is still there */
    fd = drv_connect(&h);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){5, 0}), 5);
    close(fd);
    assert_int_equal(waitpid(pd, &status, __WALL), pd);
    assert_true(hxt_until(own_rig_idle, NULL, 10));
    assert_int_equal(own_rig_status("dsp_restarts"), restarts);
}

static void test_a_debugger_may_stop_the_root_pd(void **state)
{
    int restarts = own_rig_status("dsp_restarts"), dsp = own_rig_status("dsp_pid"), status, fd;
    uint32_t h;

    (void)state;
    if (ptrace(PTRACE_SEIZE, dsp, NULL, NULL) || ptrace(PTRACE_INTERRUPT, dsp, NULL, NULL))
        hxt_skip_test("ptrace: %s", strerror(errno));
    assert_int_equal(waitpid(dsp, &status, __WALL), dsp);
    usleep(2500000);
    assert_int_equal(ptrace(PTRACE_DETACH, dsp, NULL, NULL), 0);
    fd = drv_connect(&h);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){6, 0}), 6);
    close(fd);
    assert_int_equal(own_rig_status("dsp_restarts"), restarts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stopped_root_pd_is_a_restart),
        cmocka_unit_test(test_a_create_that_is_not_answered_gets_epipe),
        cmocka_unit_test(test_broken_rings_of_the_root_pd_are_a_restart),
        cmocka_unit_test(test_a_debugger_may_stop_a_user_pd),
        cmocka_unit_test(test_a_debugger_may_stop_the_root_pd),
    };

    return DRV_RUN(tests);
}
