/* A call with a descriptor that its PD had not been told of got EINVAL, as if the descriptor were wrong, when the PD died after the call
 * had been made and before the driver had been told: its control socket was broken.  Every such call gets 0x80000430. */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "driver_client.h"

static struct caller {
    int fd, shared;
    uint32_t handle;
    _Atomic pid_t tid;
    int rc;
} c;

static void *call_with_a_new_buffer(void *unused)
{
    struct hxt_in in = {0, 0};
    char out[64];
    struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)), {0, sizeof(out), c.shared, 0}, drv_arg(out, sizeof(out))};

    (void)unused;
    c.tid = (pid_t)syscall(SYS_gettid);
    c.rc = drv_invoke(c.fd, c.handle, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a);
    return NULL;
}

/* The thread sleeps in its ioctl, so the request is in the queue. */
static int call_waits(void *unused)
{
    char *text = c.tid ? hxt_read_file(hxt_path("/proc/self/task/%d/syscall", c.tid), NULL) : NULL;
    int waits = text && strtol(text, NULL, 10) == SYS_ioctl && strncmp(text, "running", 7) != 0;

    (void)unused;
    free(text);
    return waits;
}

static int is_gone(void *pid)
{
    return access(hxt_path("/proc/%d", *(pid_t *)pid), F_OK) != 0;
}

static void test_a_new_buffer_for_a_pd_that_has_just_died_gets_the_pds_error(void **state)
{
    pthread_t thread;
    pid_t pd = 0;

    (void)state;
    c.fd = drv_connect(&c.handle);
    c.shared = memfd_create("t", MFD_CLOEXEC);
    assert_int_equal(ftruncate(c.shared, 4096), 0);
    assert_int_equal(hxt_children(own_rig_dsp(), &pd, 1), 1);
    hxt_signal(&own_rig_child, SIGSTOP);
    assert_int_equal(pthread_create(&thread, NULL, call_with_a_new_buffer, NULL), 0);
    assert_true(hxt_until(call_waits, NULL, 10));
    kill(pd, SIGKILL);
    assert_true(hxt_until(is_gone, &pd, 10));
    hxt_signal(&own_rig_child, SIGCONT);
    pthread_join(thread, NULL);
    assert_int_equal((unsigned)c.rc, 0x80000430);
    close(c.shared);
    close(c.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_buffer_for_a_pd_that_has_just_died_gets_the_pds_error),
    };

    return DRV_RUN(tests);
}
