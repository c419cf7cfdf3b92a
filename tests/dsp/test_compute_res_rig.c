/* Protects what skels in several PDs of one rig share, through the driver: VTCM contention, what a killed client held,
 * threads that outlive their call or their client.  Raw ioctls on the FUSE device. */
#include <pthread.h>

#include "driver_client.h"

enum { PATIENCE_US = 100000000 }; /* of a wait that will succeed: longer than any machine stands still */

static struct hxt_grant acquire(int fd, uint32_t h, uint32_t bytes, int32_t timeout_us)
{
    struct hxt_grant g;

    assert_int_equal(
        drv_call1(fd, h, HXT_ACQUIRE, (struct hxt_in){timeout_us, bytes}, &g, sizeof(g)), 0);
    return g;
}

static void test_two_clients_contend_for_vtcm(void **state)
{
    uint32_t h, h2;
    int fd = drv_connect(&h), fd2 = drv_connect(&h2);
    struct hxt_grant a = acquire(fd, h, 4 << 20, 0), b = acquire(fd2, h2, 4 << 20, 0), c;
    double start;

    (void)state;
    assert_true(a.context && b.context && a.address != b.address);
    start = drv_now();
    c = acquire(fd2, h2, 1 << 20, 100000);
    assert_int_equal(c.context, 0);
    assert_true(drv_now() - start >= 0.1);
    /* Not its own. */
    assert_int_not_equal(drv_call0(fd2, h2, HXT_RELEASE, (struct hxt_in){0, a.context}), 0);
    assert_int_equal(drv_call0(fd, h, HXT_RELEASE, (struct hxt_in){0, a.context}), 0);
    c = acquire(fd2, h2, 1 << 20, 100000);
    assert_true(c.address == a.address);
    assert_int_equal(c.asked, 0); /* all are as urgent */
    close(fd);
    close(fd2);
}

struct caller {
    int fd;
    uint32_t handle;
    struct hxt_grant got;
};

static void *acquire_all(void *arg)
{
    struct caller *c = arg;

    c->got = acquire(c->fd, c->handle, 8 << 20, PATIENCE_US);
    return NULL;
}

static void hold_all(int ready)
{
    uint32_t h;
    int fd = drv_connect(&h);

    if (acquire(fd, h, 8 << 20, 0).context)
        (void)!write(ready, "x", 1);
    for (;;)
        pause();
}

static void test_a_waiting_call_gets_what_a_killed_client_held(void **state)
{
    struct caller c = {.fd = drv_connect(&c.handle)};
    pid_t pid = drv_fork(hold_all);
    pthread_t t;
    int status;

    (void)state;
    assert_int_equal(acquire(c.fd, c.handle, 256 << 10, 0).context, 0);
    assert_int_equal(pthread_create(&t, NULL, acquire_all, &c), 0);
    usleep(200000);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    pthread_join(t, NULL);
    assert_int_not_equal(c.got.context, 0);
    close(c.fd);
}

/* A client that leaves while its call waits does not disturb who waits, holds or comes later. */
static void test_a_waiting_client_can_be_killed(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h), status;
    struct hxt_grant g = acquire(fd, h, 8 << 20, 0);

    (void)state;
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            struct caller c = {.fd = drv_connect(&c.handle)};

            acquire_all(&c);
            _exit(0);
        }
        assert_true(pid > 1);
        usleep(200000);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(drv_call0(fd, h, HXT_RELEASE, (struct hxt_in){0, g.context}), 0);
        g = acquire(fd, h, 8 << 20, PATIENCE_US);
        assert_int_not_equal(g.context, 0);
    }
    close(fd);
}

static void test_a_pool_works_in_a_pd(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h);

    (void)state;
    for (uint32_t n = 1; n <= 64; n *= 4)
        assert_int_equal(drv_call0(fd, h, HXT_POOL, (struct hxt_in){0, n}), n * (n + 1) / 2);
    close(fd);
}

static void test_threads_do_not_keep_a_pd_alive(void **state)
{
    uint32_t h, h2;
    int fd = drv_connect(&h), fd2 = drv_connect(&h2);
    int32_t r[4];

    (void)state;
    /* One of them spins with an HVX context. */
    assert_int_equal(drv_call0(fd, h, HXT_THREADS, (struct hxt_in){7, 8}), 7);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){3, 10}), 3);
    close(fd);
    for (int i = 0; i < 3; i++) { /* both contexts can be had in the end */
        assert_int_equal(drv_call1(fd2, h2, HXT_HVX_TWICE, (struct hxt_in){0, 0}, r, sizeof(r)), 0);
        assert_int_equal(r[0], 0);
    }
    close(fd2);
    assert_true(hxt_until(own_rig_idle, NULL, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_clients_contend_for_vtcm),
        cmocka_unit_test(test_a_waiting_call_gets_what_a_killed_client_held),
        cmocka_unit_test(test_a_waiting_client_can_be_killed),
        cmocka_unit_test(test_a_pool_works_in_a_pd),
        cmocka_unit_test(test_threads_do_not_keep_a_pd_alive),
    };

    return DRV_RUN(tests);
}
