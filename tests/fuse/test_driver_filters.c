/* Protects the filters in front of the ioctl core: faults, delays and traces that come and go while a rig runs. */
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "driver_client.h"

static void test_filters_come_and_go_while_the_rig_runs(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    assert_int_equal(own_rig_control("filter +error:method=4,code=0x8000040e\n"), 0); /* HXT_BLOCK */
    assert_int_equal((unsigned)drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){3, 0}), 0x8000040e);
    assert_int_equal(own_rig_control("filter -error"), 0);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){3, 0}), 3);
    assert_int_equal(own_rig_control("filter +error:ops=MAP,code=ENOMEM"), 0);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &(struct fastrpc_mem_map){.fd = 999}), -1);
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(own_rig_control("filter -error"), 0);
    assert_int_equal(own_rig_control("filter -error"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(own_rig_control("filter -count"), -1);
    assert_int_equal(own_rig_control("filter +nope"), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(own_rig_control("make coffee"), -1);
    close(fd);
}

static int call_extended(int fd, uint32_t h, uint32_t method)
{
    uint32_t in[2] = {method, 0};
    struct fastrpc_invoke_args a[1] = {drv_arg(in, sizeof(in))};

    return drv_invoke(fd, h, REMOTE_SCALARS_MAKE(31, 1, 0), a);
}

/* Methods from 31 on have their number in the first in buffer. */
static void test_filters_know_extended_methods(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    assert_int_equal(own_rig_control("filter +error:method=40,code=0x8000040e"), 0);
    assert_int_equal((unsigned)call_extended(fd, h, 40), 0x8000040e);
    assert_int_not_equal((unsigned)call_extended(fd, h, 41), 0x8000040e);
    assert_int_not_equal((unsigned)call_extended(fd, h, 31), 0x8000040e);
    assert_int_equal(own_rig_control("filter -error"), 0);
    close(fd);
}

static void test_error_filter_knows_every_errno_by_name(void **state)
{
    static const struct {
        const char *name;
        int value;
    } some[] = {{"EINTR", EINTR}, {"ENOENT", ENOENT}, {"ECONNRESET", ECONNRESET}, {"ENOTTY", ENOTTY},
                {"EAGAIN", EAGAIN}, {"EWOULDBLOCK", EAGAIN}, {"ECHRNG", ECHRNG}, {"EOVERFLOW", EOVERFLOW},
                {"ENOTSUP", EOPNOTSUPP}, {"EPERM", EPERM}, {"EHWPOISON", EHWPOISON}};
    int fd = drv_open("fastrpc-cdsp");

    (void)state;
    for (size_t i = 0; i < HXT_LEN(some); i++) {
        assert_int_equal(own_rig_control(hxt_path("filter +error:ops=MAP,code=%s", some[i].name)), 0);
        assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &(struct fastrpc_mem_map){.fd = 999}), -1);
        assert_int_equal(errno, some[i].value);
        assert_int_equal(own_rig_control("filter -error"), 0);
    }
    assert_int_equal(own_rig_control("filter +error:code=EFROB"), -1);
    assert_int_equal(own_rig_control("filter +error:code=0"), -1);
    close(fd);
}

/* A mapping of the file would end the driver with SIGBUS. */
static void test_corrupting_a_buffer_that_its_client_truncated_ends_nobody(void **state)
{
    enum { PAGE = 4096 };
    uint32_t h;
    int fd = drv_connect(&h), mem = memfd_create("t", MFD_CLOEXEC);
    struct hxt_in in = {0, 0};
    int32_t *p;

    (void)state;
    assert_int_equal(ftruncate(mem, 3 * PAGE), 0);
    p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
    struct fastrpc_invoke_args a[2] = {drv_arg(&in, sizeof(in)), {(uintptr_t)p, 3 * PAGE, mem, 0}};
    assert_int_equal(own_rig_control("filter +error:method=8,corrupt=all"), 0); /* HXT_HVX_TWICE: writes 16 bytes */
    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_HVX_TWICE, 1, 1), a), 0);
    assert_int_equal(p[0], ~0);
    assert_int_equal(p[3 * PAGE / 4 - 1], ~0);
    assert_int_equal(ftruncate(mem, PAGE), 0);
    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_HVX_TWICE, 1, 1), a), 0);
    assert_int_equal(p[0], ~0);
    assert_int_equal(p[PAGE / 4 - 1], 0); /* for the second time */
    assert_int_equal(own_rig_control("filter -error"), 0);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){3, 0}), 3);
    munmap(p, 3 * PAGE);
    close(mem);
    close(fd);
}

static void test_delay_filter_holds_one_answer_and_nobody_else(void **state)
{
    struct drv_caller c = {.method = HXT_BLOCK, .in = {5, 0}};
    uint32_t h;
    int fd = drv_connect(&h);
    pthread_t t;
    double start;

    (void)state;
    c.fd = drv_connect(&c.handle);
    assert_int_equal(own_rig_control("filter +delay:us=400000,method=4,nth=1"), 0);
    start = drv_now();
    assert_int_equal(pthread_create(&t, NULL, drv_run_caller, &c), 0);
    assert_true(hxt_until(drv_call_is_under_way, &c.fd, 10));
    for (int i = 0; i < 20; i++)
        assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){1, 0}), 1);
    pthread_join(t, NULL);
    assert_int_equal(c.result, 5);
    assert_true(drv_now() - start >= 0.4);
    assert_int_equal(own_rig_control("filter -delay"), 0);
    close(fd);
    close(c.fd);
}

static void on_signal(int sig)
{
    (void)sig;
}

static int is_sent(void *caller)
{
    const struct drv_caller *c = caller;

    return drv_stats(c->fd).invokes > (uint64_t)c->in.value;
}

/* Sends it again, as the call may not have been sleeping. */
static int has_ended_by_a_signal(void *thread)
{
    pthread_t *t = thread;

    pthread_kill(*t, SIGUSR1);
    return pthread_tryjoin_np(*t, NULL) == 0;
}

/* A signal ends the call, which the DSP has answered most likely. */
static void interrupt_a_call(int fd, uint32_t handle)
{
    struct drv_caller c = {.fd = fd, .handle = handle, .method = HXT_ECHO, .in = {0, (uint32_t)drv_stats(fd).invokes}};
    pthread_t t;

    assert_int_equal(pthread_create(&t, NULL, drv_run_caller, &c), 0);
    assert_true(hxt_until(is_sent, &c, 60));
    assert_true(hxt_until(has_ended_by_a_signal, &t, 60));
    assert_int_equal(c.result, -1);
    assert_int_equal(c.error, EINTR);
}

static int has_one_session(void *unused)
{
    char *text = hxt_read_file(own_rig_path("status"), NULL);
    int one = text && strstr(text, "\nsessions=1\n");

    (void)unused;
    free(text);
    return one;
}

/* A delayed call is one that the DSP takes longer for: its id stays taken like that of any call that is interrupted. */
static void test_a_delayed_call_that_is_interrupted_keeps_its_id(void **state)
{
    struct sigaction sa = {.sa_handler = on_signal};
    uint32_t h, other_h;
    int fd = drv_connect(&h), other = drv_connect(&other_h);

    (void)state;
    sigaction(SIGUSR1, &sa, NULL);
    assert_int_equal(own_rig_control("filter +delay:us=10000000,method=2"), 0);
    for (int i = 1; i < FASTRPC_CTX_MAX; i++)
        interrupt_a_call(fd, h);
    assert_int_equal(drv_call0(other, other_h, HXT_BLOCK, (struct hxt_in){0, 0}), -1);
    assert_int_equal(errno, ENOSPC);
    close(fd);
    assert_true(hxt_until(has_one_session, NULL, 60));
    assert_int_equal(drv_call0(other, other_h, HXT_BLOCK, (struct hxt_in){5, 0}), 5);
    assert_int_equal(own_rig_control("filter -delay"), 0);
    close(other);
}

static void test_trace_filter_writes_the_calls_on_the_virtual_clock(void **state)
{
    const char *path = hxt_path("%s/t.json", hxt_tmpdir());
    char *text;
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    assert_int_equal(own_rig_control(hxt_path("filter +trace:file=%s", path)), 0);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){0, 0}), 0);
    assert_int_equal(own_rig_control("filter -trace"), 0);
    text = hxt_read_file(path, NULL);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"traceEvents\": ["));
    assert_non_null(strstr(text, "\"name\": \"hxt method 4\", "));
    assert_non_null(strstr(text, "\"method\": 4, \"result\": \"0x0\", "));
    assert_non_null(strstr(text, "\"name\": \"dispatch\""));
    assert_non_null(strstr(text, "\"dur\": 233.102}")); /* what s22u-577 charges before a call executes ... */
    assert_non_null(strstr(text, "\"name\": \"return\"")); /* ... and the rest after it */
    assert_non_null(strstr(text, "\n], \"otherData\": {\"version\": 1, \"clock\": \"modelled\", \"lost_events\": 0, \"profile\": "));
    free(text);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters_come_and_go_while_the_rig_runs),
        cmocka_unit_test(test_filters_know_extended_methods),
        cmocka_unit_test(test_error_filter_knows_every_errno_by_name),
        cmocka_unit_test(test_corrupting_a_buffer_that_its_client_truncated_ends_nobody),
        cmocka_unit_test(test_delay_filter_holds_one_answer_and_nobody_else),
        cmocka_unit_test(test_a_delayed_call_that_is_interrupted_keeps_its_id),
        cmocka_unit_test(test_trace_filter_writes_the_calls_on_the_virtual_clock),
    };

    return DRV_RUN(tests);
}
