/* Protects: everybody, when all 255 contexts are taken by calls whose PD does not read its ring.  Who comes then is refused at once with
 * ENOSPC, nobody is killed, nothing is lost: each call gets its own result when the PD reads again, and what was held comes back
 * when its client dies instead. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "driver_client.h"

enum { CONTEXTS = FASTRPC_CTX_MAX - 1, WATCHED_S = 2 };

static unsigned survived;

/* The user PD of the only session. */
static int user_pd(void)
{
    int dsp = own_rig_status("dsp_pid");
    char *text = hxt_read_file(hxt_path("/proc/%d/task/%d/children", dsp, dsp), NULL);
    int pid = text ? atoi(text) : 0;

    free(text);
    assert_true(pid > 1);
    return pid;
}

struct crowd {
    int fd;
    uint32_t handle;
    pthread_t thread[CONTEXTS];
    struct drv_caller caller[CONTEXTS];
};

static int are_under_way(void *crowd)
{
    return drv_stats(((struct crowd *)crowd)->fd).invokes >= CONTEXTS + 1; /* the first one opened the skel */
}

static void start_callers(struct crowd *c)
{
    for (int i = 0; i < CONTEXTS; i++) {
        c->caller[i] = (struct drv_caller){.fd = c->fd, .handle = c->handle, .method = HXT_BLOCK, .in = {i + 1, 0}};
        assert_int_equal(pthread_create(&c->thread[i], NULL, drv_run_caller, &c->caller[i]), 0);
    }
    assert_true(hxt_until(are_under_way, c, 20));
}

static void expect_results(struct crowd *c)
{
    for (int i = 0; i < CONTEXTS; i++) {
        pthread_join(c->thread[i], NULL);
        if (c->caller[i].result != i + 1)
            fail_msg("call %d: %d, %s", i + 1, c->caller[i].result, strerror(c->caller[i].error));
        survived++;
    }
}

/* Of a session that is there, and of one that is not yet. */
static void expect_refusals(int fd, uint32_t h)
{
    struct fastrpc_req_mmap m = {.flags = ADSP_MMAP_ADD_PAGES, .size = 4096};
    int fresh = drv_open("fastrpc-cdsp");

    assert_true(fresh >= 0);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){7, 0}), -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MMAP, &m), -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(drv_create(fresh, FASTRPC_MODE_UNSIGNED_MODULE, 0), -1);
    assert_int_equal(errno, ENOSPC);
    close(fresh);
    survived += 3;
}

static void test_a_full_ring_refuses_and_loses_nothing(void **state)
{
    static struct crowd c;
    int restarts = own_rig_status("dsp_restarts"), pd, other, leaver;
    struct fastrpc_req_mmap m = {.flags = ADSP_MMAP_ADD_PAGES, .size = 4096};
    uint32_t h, h2;
    double start;

    (void)state;
    c.fd = drv_connect(&c.handle);
    pd = user_pd();
    other = drv_connect(&h);
    leaver = drv_connect(&h2);
    assert_int_equal(hxt_stop(pd), 0);
    start_callers(&c);
    for (start = drv_now(); drv_now() - start < WATCHED_S; usleep(50000)) /* for as long as the watchdogs need to look */
        expect_refusals(other, h);
    close(leaver); /* its end needs a context */
    assert_int_equal(kill(pd, SIGCONT), 0);
    expect_results(&c);
    assert_int_equal(drv_call0(other, h, HXT_BLOCK, (struct hxt_in){7, 0}), 7);
    assert_int_equal(ioctl(other, FASTRPC_IOCTL_MMAP, &m), 0);
    close(other);
    close(c.fd);
    assert_true(hxt_until(own_rig_idle, NULL, 30));
    assert_int_equal(own_rig_status("dsp_restarts"), restarts);
}

static void fill_and_wait(int ready)
{
    static struct crowd c;

    c.fd = drv_connect(&c.handle);
    hxt_stop(user_pd());
    start_callers(&c);
    (void)!write(ready, "x", 1);
    for (;;)
        pause();
}

static void test_a_killed_client_gives_all_contexts_back(void **state)
{
    int restarts = own_rig_status("dsp_restarts"), status, fd;
    uint32_t h;

    (void)state;
    for (int i = 0; i < 3; i++) {
        pid_t pid = drv_fork(fill_and_wait);

        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(hxt_until(own_rig_idle, NULL, 30));
        fd = drv_connect(&h);
        assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){7, 0}), 7);
        close(fd);
        assert_true(hxt_until(own_rig_idle, NULL, 30));
        survived += CONTEXTS;
    }
    assert_int_equal(own_rig_status("dsp_restarts"), restarts);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_ring_refuses_and_loses_nothing),
        cmocka_unit_test(test_a_killed_client_gives_all_contexts_back),
    };
    int rc;

    own_rig_seconds = 120;
    rc = DRV_RUN(tests);
    printf("full ring: faults %u survived, %u lost\n", survived, rc != 0);
    return rc;
}
