/* Protects the life of sessions and PDs behind the driver: what a PD has, many at a time, signals, kills, crashes and
 * restarts.  Raw ioctls on the FUSE device. */
#include <pthread.h>
#include <sys/ioctl.h>

#include "driver_client.h"
#include "hx_reverse.h"

static void test_attached_clients_and_static_pds_serve_calls(void **state)
{
    char name[FASTRPC_NAMELEN_MAX + 1] = "audiopd";
    struct fastrpc_init_create_static c = {.namelen = 8, .name = (uintptr_t)name};
    int fd = drv_open("fastrpc-cdsp");

    (void)state;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_ATTACH), 0);
    assert_int_equal(drv_call0(fd, drv_open_skel(fd), HXT_BLOCK, (struct hxt_in){6, 0}), 6);
    close(fd);
    fd = drv_open("fastrpc-cdsp");
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_ATTACH_SNS), 0);
    close(fd);
    fd = drv_open("fastrpc-cdsp"); /* static PDs are not asked whether they are signed */
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_CREATE_STATIC, &c), 0);
    close(fd);
    fd = drv_open("fastrpc-cdsp-secure");
    c.namelen = FASTRPC_NAMELEN_MAX + 1;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_CREATE_STATIC, &c), -1);
    assert_int_equal(errno, EINVAL);
    c.namelen = 8;
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_INIT_CREATE_STATIC, &c), 0);
    assert_int_equal(drv_call0(fd, drv_open_skel(fd), HXT_BLOCK, (struct hxt_in){7, 0}), 7);
    close(fd);
}

/* The long poll of the client's reverse-RPC thread: it ends when the process says that it exits. */
static int next2(int fd, uint32_t handle, unsigned method)
{
    struct hx_next_in in = {0, -1, 0, 0};
    struct hx_next_out out;
    struct fastrpc_invoke_args args[4] = {drv_arg(&in, sizeof(in)), drv_arg(NULL, 0), drv_arg(&out, sizeof(out)), drv_arg(NULL, 0)};

    return drv_invoke(fd, handle, REMOTE_SCALARS_MAKE(method, 2, 2), args);
}

static void test_next2_waits_until_exit(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    assert_int_equal((unsigned)drv_invoke(fd, FASTRPC_HANDLE_LISTENER1, REMOTE_SCALARS_MAKE(6, 0, 0), NULL), 0x8000040e);
    assert_int_equal(drv_invoke(fd, FASTRPC_HANDLE_LISTENER1, REMOTE_SCALARS_MAKE(5, 0, 0), NULL), 0);
    assert_int_equal(drv_invoke(fd, FASTRPC_HANDLE_CURRENT_PROCESS, REMOTE_SCALARS_MAKE(2, 0, 0), NULL), 0);
    assert_int_equal((unsigned)next2(fd, FASTRPC_HANDLE_LISTENER1, HX_LISTENER1_NEXT2), 0x8000040d);
    assert_int_equal((unsigned)next2(fd, FASTRPC_HANDLE_LISTENER, HX_LISTENER_NEXT2), 0x8000040d);
    close(fd);
}

static void test_what_a_skel_sees_lies_below_4_gib(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    uint64_t at[4];

    (void)state;
    assert_int_equal(drv_call1(fd, h, HXT_ADDRESSES, (struct hxt_in){0, 0}, at, sizeof(at)), 0);
    for (int i = 0; i < 4; i++) {
#ifdef __SANITIZE_ADDRESS__
        if (i == 1)
            continue; /* the sanitizer's loader places libraries itself */
#endif
        if (at[i] >= 1ull << 32)
            print_error("address %d is 0x%llx\n", i, (unsigned long long)at[i]);
        assert_true(at[i] < 1ull << 32);
    }
    close(fd);
}

static void test_the_heap_ends_below_4_gib_and_the_pd_goes_on(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    hxt_skip_test("the sanitizer has a heap of its own");
#else
    const struct hxt_in blocks_of_1_mib = {0, 1 << 20};
    struct hxt_heap first, again;
    uint32_t h;
    int fd = drv_connect(&h);

    assert_int_equal(drv_call1(fd, h, HXT_HEAP, blocks_of_1_mib, &first, sizeof(first)), 0);
    if (first.highest >> 32 || first.blocks < 500)
        print_error("%u MiB, up to 0x%llx\n", first.blocks, (unsigned long long)first.highest);
    assert_true(first.highest < 1ull << 32);
    assert_true(first.blocks >= 500);
    assert_int_equal(drv_call1(fd, h, HXT_HEAP, blocks_of_1_mib, &again, sizeof(again)), 0);
    assert_int_equal(again.blocks, first.blocks);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){8, 0}), 8);
    close(fd);
#endif
}

struct pd_call {
    int fd;
    uint32_t handle;
};

static int whole_vtcm_is_free(void *pd)
{
    const struct pd_call *c = pd;
    struct hxt_vtcm v;

    return drv_call1(c->fd, c->handle, HXT_VTCM, (struct hxt_in){0, 8 << 20}, &v, sizeof(v)) == 0 && v.address != 0;
}

static void test_vtcm_is_8_mib_in_256_kib_grains_and_comes_back_with_the_pd(void **state)
{
    uint32_t h, h2;
    int fd = drv_connect(&h), fd2 = drv_connect(&h2);
    struct hxt_vtcm v;

    (void)state;
    assert_int_equal(drv_call1(fd, h, HXT_VTCM, (struct hxt_in){0, 9 << 20}, &v, sizeof(v)), 0);
    assert_true(v.address == 0);
    assert_int_equal(drv_call1(fd, h, HXT_VTCM, (struct hxt_in){1, 10000}, &v, sizeof(v)), 0);
    assert_true(v.address != 0);
    assert_int_equal(v.avail, (8 << 20) - (256 << 10));
#ifndef __SANITIZE_ADDRESS__
    assert_true(v.address == 0xff000000);
#endif
    assert_int_equal(drv_call1(fd2, h2, HXT_VTCM, (struct hxt_in){0, 8 << 20}, &v, sizeof(v)), 0);
    assert_true(v.address == 0); /* another client holds a grain */
    close(fd);
    assert_true(hxt_until(whole_vtcm_is_free, &(struct pd_call){fd2, h2}, 10)); /* the release is asynchronous */
    close(fd2);
}

static void test_second_hvx_lock_of_a_thread_fails(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    int32_t r[4];

    (void)state;
    assert_int_equal(drv_call1(fd, h, HXT_HVX_TWICE, (struct hxt_in){0, 0}, r, sizeof(r)), 0);
    assert_int_equal(r[0], 0);
    assert_int_equal(r[1], -1);
    assert_int_equal(r[2], 0);
    assert_int_equal(r[3], -1);
    close(fd);
}

static void test_hvx_without_a_context_is_the_devices_error(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    assert_int_equal(drv_call0(fd, h, HXT_HVX_BARE, (struct hxt_in){.code = 5, .value = 0}), 0);
    assert_int_equal((unsigned)drv_call0(fd, h, HXT_HVX_BARE, (struct hxt_in){.code = 0, .value = 1}),
                     0x8000040d);
    assert_int_equal((unsigned)drv_call0(fd, h, HXT_HVX_BARE, (struct hxt_in){.code = 5, .value = 1}),
                     0x8000040d);
    assert_int_equal(drv_call0(fd, h, HXT_HVX_BARE, (struct hxt_in){.code = 1, .value = 0}), 0);
    close(fd);
}

static void test_waiting_for_dma_that_was_not_started_returns_idle(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);
    int32_t status = -1;

    (void)state;
    assert_int_equal(drv_call1(fd, h, HXT_DMA_WAIT, (struct hxt_in){0, 0}, &status, sizeof(status)), 0);
    assert_int_equal(status, 0);
    close(fd);
}

static void test_fifteenth_session_gives_ebusy(void **state)
{
    int fd[FASTRPC_MAX_SESSIONS];

    (void)state;
    assert_true(hxt_until(own_rig_idle, NULL, 10));
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        assert_true((fd[i] = drv_open("fastrpc-cdsp")) >= 0);
    assert_int_equal(drv_open("fastrpc-cdsp"), -1);
    assert_int_equal(errno, EBUSY);
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        close(fd[i]);
    assert_true(hxt_until(own_rig_idle, NULL, 10));
}

static void test_calls_of_several_threads_run_in_parallel(void **state)
{
    enum { THREADS = 20 };
    struct drv_caller c[THREADS];
    pthread_t t[THREADS];
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        c[i] = (struct drv_caller){fd, h, HXT_MEET, {0, THREADS}, -1, 0};
        assert_int_equal(pthread_create(&t[i], NULL, drv_run_caller, &c[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(c[i].result, 0);
    }
    close(fd);
}

static void on_signal(int sig)
{
    (void)sig;
}

static void test_a_signal_ends_the_wait_with_eintr(void **state)
{
    struct sigaction sa = {.sa_handler = on_signal};
    struct drv_caller c = {.method = HXT_BLOCK, .in = {0, 600000}};
    pthread_t t;
    double start = drv_now();

    (void)state;
    sigaction(SIGUSR1, &sa, NULL); /* no SA_RESTART */
    c.fd = drv_connect(&c.handle);
    assert_int_equal(pthread_create(&t, NULL, drv_run_caller, &c), 0);
    assert_true(hxt_until(drv_call_is_under_way, &c.fd, 10));
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
    assert_int_equal(c.result, -1);
    assert_int_equal(c.error, EINTR);
    assert_true(drv_now() - start < 300);
    assert_int_equal(drv_call0(c.fd, c.handle, HXT_BLOCK, (struct hxt_in){3, 0}), 3);
    close(c.fd);
}

static void call_for_minutes(int ready)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)!write(ready, "x", 1);
    drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){0, 600000});
}

static void test_a_client_can_be_killed_inside_a_call(void **state)
{
    double start = drv_now();
    pid_t pid = drv_fork(call_for_minutes);
    int status;

    (void)state;
    usleep(50000); /* most likely inside by now; the test holds wherever it is */
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(drv_now() - start < 300);
}

static void test_a_crash_ends_its_own_pd_only(void **state)
{
    uint32_t h, other_h;
    int fd = drv_connect(&h), other = drv_connect(&other_h);

    (void)state;
    assert_int_equal((unsigned)drv_call0(fd, h, HXT_CRASH, (struct hxt_in){0, 0}), 0x80000430);
    assert_int_equal((unsigned)drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){0, 0}), 0x80000430);
    assert_int_equal(drv_call0(other, other_h, HXT_BLOCK, (struct hxt_in){9, 0}), 9);
    close(fd);
    close(other);
}

static int dsp_is_back(void *restarts)
{
    return own_rig_status("dsp_restarts") == *(int *)restarts &&
           access(own_rig_path("fastrpc-cdsp"), F_OK) == 0;
}

static void test_killing_the_dsp_is_a_subsystem_restart(void **state)
{
    struct drv_caller c = {.method = HXT_BLOCK, .in = {0, 600000}};
    int restarts = own_rig_status("dsp_restarts") + 1, dsp;
    uint32_t h;
    pthread_t t;

    (void)state;
    c.fd = drv_connect(&c.handle);
    assert_int_equal(pthread_create(&t, NULL, drv_run_caller, &c), 0);
    assert_true(hxt_until(drv_call_is_under_way, &c.fd, 10));
    dsp = own_rig_status("dsp_pid");
    assert_true(dsp > 1); /* kill(-1) would end the machine */
    assert_int_equal(kill(dsp, SIGKILL), 0);
    pthread_join(t, NULL);
    assert_int_equal(c.result, -1);
    assert_int_equal(c.error, EPIPE);
    assert_true(hxt_until(dsp_is_back, &restarts, 10));
    assert_int_equal(drv_call0(c.fd, c.handle, HXT_BLOCK, (struct hxt_in){0, 0}), -1); /* stays dead */
    assert_int_equal(errno, EPIPE);
    close(c.fd);
    c.fd = drv_connect(&h);
    assert_int_equal(drv_call0(c.fd, h, HXT_BLOCK, (struct hxt_in){4, 0}), 4);
    close(c.fd);
}

/* What the PD does not answer, it never will: whoever waits for it is told so. */
static void test_a_goodbye_to_a_stopped_pd_ends_all_calls_of_its_session(void **state)
{
    struct drv_caller c = {.method = HXT_BLOCK, .in = {5, 600000}};
    pid_t before[OWN_RIG_PDS], pd;
    const size_t n = own_rig_pds(before);
    pthread_t t;
    uint32_t h;
    int other;

    (void)state;
    c.fd = drv_connect(&c.handle);
    pd = own_rig_new_pd(before, n);
    assert_true(pd > 1);
    other = drv_connect(&h);
    assert_int_equal(pthread_create(&t, NULL, drv_run_caller, &c), 0);
    assert_true(hxt_until(drv_call_is_under_way, &c.fd, 10));
    assert_int_equal(drv_invoke(c.fd, FASTRPC_HANDLE_CURRENT_PROCESS, REMOTE_SCALARS_MAKE(2, 0, 0), NULL), 0); /* it runs: nothing ends */
    assert_int_equal(hxt_stop(pd), 0);
    assert_int_equal(drv_invoke(c.fd, FASTRPC_HANDLE_CURRENT_PROCESS, REMOTE_SCALARS_MAKE(2, 0, 0), NULL), -1);
    assert_int_equal(errno, ETIMEDOUT);
    pthread_join(t, NULL);
    assert_int_equal(c.result, -1);
    assert_int_equal(c.error, ETIMEDOUT);
    close(c.fd);
    assert_int_equal(drv_call0(other, h, HXT_BLOCK, (struct hxt_in){4, 0}), 4);
    close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attached_clients_and_static_pds_serve_calls),
        cmocka_unit_test(test_next2_waits_until_exit),
        cmocka_unit_test(test_what_a_skel_sees_lies_below_4_gib),
        cmocka_unit_test(test_the_heap_ends_below_4_gib_and_the_pd_goes_on),
        cmocka_unit_test(test_vtcm_is_8_mib_in_256_kib_grains_and_comes_back_with_the_pd),
        cmocka_unit_test(test_second_hvx_lock_of_a_thread_fails),
        cmocka_unit_test(test_hvx_without_a_context_is_the_devices_error),
        cmocka_unit_test(test_waiting_for_dma_that_was_not_started_returns_idle),
        cmocka_unit_test(test_fifteenth_session_gives_ebusy),
        cmocka_unit_test(test_calls_of_several_threads_run_in_parallel),
        cmocka_unit_test(test_a_signal_ends_the_wait_with_eintr),
        cmocka_unit_test(test_a_client_can_be_killed_inside_a_call),
        cmocka_unit_test(test_a_crash_ends_its_own_pd_only),
        cmocka_unit_test(test_a_goodbye_to_a_stopped_pd_ends_all_calls_of_its_session),
        cmocka_unit_test(test_killing_the_dsp_is_a_subsystem_restart),
    };

    return DRV_RUN(tests);
}
