/* Protects: a healthy rig from its clocks.  Somebody sets the time of day, or the whole machine pauses for an hour, while calls, maps
 * and waits are under way in every place: none fails, none hangs, and no watchdog ends what is well.  tests/fail/clock.c moves the
 * clocks of driver, root PD and user PDs. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>

#include "driver_client.h"
#include "moved_clocks.h"

enum { DAY = 86400, HOUR = 3600, LIMIT_S = 10 };

static struct hxt_clock *clocks;
static unsigned survived;

static const struct jump {
    const char *name;
    int64_t realtime_s, monotonic_s;
} jumps[] = {
    {"a day forward", DAY, 0},       {"a day back", -DAY, 0},          {"to 1970", -1700000000, 0},
    {"an hour's pause", HOUR, HOUR}, {"a day's pause", DAY, DAY},      {"a pause, and the time set back", -DAY, HOUR},
};

static void jump(const struct jump *j)
{
    atomic_fetch_add(&clocks->realtime_s, j->realtime_s);
    atomic_fetch_add(&clocks->monotonic_s, j->monotonic_s);
}

/* --- what is under way */

static int map_and_unmap(int fd)
{
    struct fastrpc_req_mmap m = {.flags = ADSP_MMAP_ADD_PAGES, .size = 4096};
    struct fastrpc_req_munmap u = {.size = 4096};

    if (ioctl(fd, FASTRPC_IOCTL_MMAP, &m))
        return -1;
    u.vaddrout = m.vaddrout;
    return ioctl(fd, FASTRPC_IOCTL_MUNMAP, &u);
}

/* A client that maps, calls, and opens sessions until it is told to stop. */
struct worker {
    pthread_t thread;
    _Atomic int stop;
    int fd, failed; /* failed: the step that did, from 1 */
    int error;
    uint32_t handle;
    _Atomic unsigned rounds;
};

static void *work(void *arg)
{
    struct worker *w = arg;

    while (!w->failed && !atomic_load(&w->stop)) {
        int fd = drv_open("fastrpc-cdsp");

        if (drv_call0(w->fd, w->handle, HXT_BLOCK, (struct hxt_in){5, 1}) != 5)
            w->failed = 1;
        else if (map_and_unmap(w->fd))
            w->failed = 2;
        else if (fd < 0 || drv_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, 0))
            w->failed = 3;
        w->error = errno;
        close(fd);
        atomic_fetch_add(&w->rounds, 1);
    }
    return NULL;
}

struct progress {
    struct worker *w;
    unsigned n;
};

static int has_progressed(void *arg)
{
    struct progress *p = arg;

    return p->w->failed || atomic_load(&p->w->rounds) >= p->n;
}

static void more_rounds(struct worker *w, const char *when)
{
    struct progress p = {w, atomic_load(&w->rounds) + 3};

    if (!hxt_until(has_progressed, &p, LIMIT_S))
        fail_msg("%s: nothing moves for %d s", when, LIMIT_S);
    if (w->failed)
        fail_msg("%s: step %d failed: %s", when, w->failed, strerror(w->error));
}

static void test_no_jump_hurts_what_is_under_way(void **state)
{
    struct worker w = {.fd = drv_connect(&w.handle)};
    int restarts = own_rig_status("dsp_restarts");

    (void)state;
    assert_true(atomic_load(&clocks->reads) > 0); /* else nothing is moved */
    assert_int_equal(pthread_create(&w.thread, NULL, work, &w), 0);
    for (size_t i = 0; i < HXT_LEN(jumps); i++) {
        struct drv_caller c = {.method = HXT_BLOCK, .in = {9, 400}};
        pthread_t t;

        c.fd = drv_connect(&c.handle);
        more_rounds(&w, "before a jump");
        assert_int_equal(pthread_create(&t, NULL, drv_run_caller, &c), 0);
        assert_true(hxt_until(drv_call_is_under_way, &c.fd, 10));
        jump(&jumps[i]);
        pthread_join(t, NULL);
        if (c.result != 9)
            fail_msg("%s: the call that was under way: %d, %s", jumps[i].name, c.result, strerror(c.error));
        more_rounds(&w, jumps[i].name);
        close(c.fd);
        survived++;
    }
    atomic_store(&w.stop, 1);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.failed, 0);
    close(w.fd);
    assert_int_equal(own_rig_status("dsp_restarts"), restarts);
    assert_true(hxt_until(own_rig_idle, NULL, 30));
}

/* The reply of a kernel call has not been sent yet when the machine pauses: that it took an hour is not the DSP's fault. */
static void *map_late(void *arg)
{
    struct worker *w = arg;

    if (map_and_unmap(w->fd)) {
        w->failed = 2;
        w->error = errno;
    }
    return NULL;
}

static int kernel_call_is_under_way(void *arg)
{
    struct progress *p = arg;

    return drv_stats(p->w->fd).kernel_calls > p->n;
}

static int parent_of(int pid)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/stat", pid), NULL), *at = text ? strrchr(text, ')') : NULL;
    int parent = 0;

    if (at)
        sscanf(at + 1, " %*c %d", &parent);
    free(text);
    return parent;
}

/* The user PD of the only session. */
static int user_pd(void)
{
    int dsp = own_rig_status("dsp_pid");
    char *text = hxt_read_file(hxt_path("/proc/%d/task/%d/children", dsp, dsp), NULL);
    int pid = text ? atoi(text) : 0;

    free(text);
    assert_true(pid > 1 && parent_of(pid) == dsp);
    return pid;
}

static void test_a_map_that_is_not_answered_yet_outlives_a_pause(void **state)
{
    struct worker w = {.fd = drv_connect(&w.handle)};
    struct progress p = {&w, (unsigned)drv_stats(w.fd).kernel_calls};
    int pd = user_pd();

    (void)state;
    assert_int_equal(hxt_stop(pd), 0);
    assert_int_equal(pthread_create(&w.thread, NULL, map_late, &w), 0);
    assert_true(hxt_until(kernel_call_is_under_way, &p, 10));
    jump(&jumps[3]);
    assert_true(own_rig_status("sessions") == 1); /* the driver has looked at its clock since */
    assert_int_equal(kill(pd, SIGCONT), 0);
    pthread_join(w.thread, NULL);
    if (w.failed)
        fail_msg("a map fails after a pause: %s", strerror(w.error));
    survived++;
    close(w.fd);
}

/* A DSP that hangs is still found out, and soon. */
static int has_restarted(void *restarts)
{
    return own_rig_status("dsp_restarts") > *(int *)restarts && access(own_rig_path("fastrpc-cdsp"), F_OK) == 0;
}

static void test_a_dead_dsp_comes_back_whatever_the_clocks_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(jumps); i += 3) {
        int restarts = own_rig_status("dsp_restarts"), pid = own_rig_status("dsp_pid");
        uint32_t h;
        int fd;

        assert_true(pid > 1);
        assert_int_equal(i ? kill(pid, SIGKILL) : hxt_stop(pid), 0);
        jump(&jumps[i]);
        if (!hxt_until(has_restarted, &restarts, LIMIT_S))
            fail_msg("%s: no restart within %d s", jumps[i].name, LIMIT_S);
        fd = drv_connect(&h);
        assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){4, 0}), 4);
        close(fd);
        survived++;
    }
}

static int start(void **state)
{
    int rc = -1;

    clocks = moved_clocks_begin();
    if (clocks)
        rc = own_rig_start(state);
    moved_clocks_end();
    return rc;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_jump_hurts_what_is_under_way),
        cmocka_unit_test(test_a_map_that_is_not_answered_yet_outlives_a_pause),
        cmocka_unit_test(test_a_dead_dsp_comes_back_whatever_the_clocks_do),
    };
    int rc;

#ifdef __SANITIZE_ADDRESS__
    hxt_skip_all("the sanitizer has to be loaded first");
#endif
    if (access("/dev/fuse", R_OK | W_OK))
        hxt_skip_all("/dev/fuse: %s", strerror(errno));
    rc = HXT_RUN_FIXTURE(tests, start, own_rig_stop);
    printf("clocks: faults %u survived, %u lost\n", survived, rc != 0);
    return rc;
}
