/* Protects what docs/filters.md promises: the figures of a caller, whatever threads its skel has, are the same in every run, on
 * either front end, beside whatever else the host does; and callers that share a handle do not change each other's work. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "hx_rig.h"
#include "hxt_threads.h"
#include "own_rig.h"

enum { RUNS = 20, HW_THREADS = 6, CONTEXTS = 2 };

static remote_handle64 skel;

static int open_skel(void **state)
{
    (void)state;
    return hxt_threads_open(hxt_threads_URI "&_dom=cdsp", &skel);
}

static int close_skel(void **state)
{
    (void)state;
    return hxt_threads_close(skel);
}

/* All that a call shows. */
struct figures {
    int64_t pcycles, trail;
    uint64_t exec_ns, queue_ns;
};

static struct figures run(hxt_work what, int threads, int rounds)
{
    struct hx_session_stats before, after;
    struct figures f;

    assert_int_equal(hx_rig_session_stats(&before), 0);
    assert_int_equal(hxt_threads_run(skel, what, threads, rounds, &f.pcycles, &f.trail), AEE_SUCCESS);
    assert_int_equal(hx_rig_session_stats(&after), 0);
    f.exec_ns = after.exec_ns - before.exec_ns;
    f.queue_ns = after.queue_ns - before.queue_ns;
    return f;
}

/* Keeps a core of the host busy until it is killed; its process. */
static pid_t start_busy_loop(void)
{
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (!pid) {
        alarm(100);
        for (atomic_int i = 0;; i++)
            ;
    }
    return pid;
}

/* What the first run has found, by the number of threads; for both front ends, whose tests run one after the other in processes of
 * their own. */
static struct figures *found;
enum { COUNTS = 5 };

/* DDR is slower in a new PD, for some ms of the DSP's time. */
static void warm_up(void)
{
    for (int i = 0; i < 4; i++)
        run(HXT_SCALAR, 1, 64);
}

static void check_runs(struct figures *want, int threads)
{
    for (int i = 0; i < RUNS; i++) {
        const struct figures f = run(HXT_MIXED, threads, 3);

        if (!want->pcycles)
            *want = f;
        assert_int_equal(f.pcycles, want->pcycles);
        assert_true(f.trail == want->trail);
        assert_int_equal(f.exec_ns, want->exec_ns);
        assert_int_equal(f.queue_ns, want->queue_ns);
    }
}

static void test_runs_repeat_with_any_number_of_threads_beside_a_busy_loop(void **state)
{
    const pid_t busy = start_busy_loop();

    (void)state;
    warm_up();
    for (int i = 0; i < COUNTS; i++)
        check_runs(&found[i], 1 << i);
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
}

static void test_scalar_threads_share_the_hardware_threads(void **state)
{
    const struct figures one = run(HXT_SCALAR, 1, 8), six = run(HXT_SCALAR, HW_THREADS, 8), all = run(HXT_SCALAR, 16, 8);

    (void)state;
    if (one.pcycles < 20000)
        hxt_skip_test("this build's skels are not traced");
    assert_true(six.pcycles < 2 * one.pcycles); /* the same but for what they share, the way to DDR in the first round */
    assert_true(all.pcycles * HW_THREADS >= 0.98 * 16 * one.pcycles);
}

static void test_threads_that_wait_for_contexts_show_it_as_queue(void **state)
{
    const struct figures two = run(HXT_VECTOR, CONTEXTS, 20), eight = run(HXT_VECTOR, 8, 20);

    (void)state;
    if (run(HXT_SCALAR, 1, 8).pcycles < 20000)
        hxt_skip_test("this build's skels are not traced");
    assert_int_equal(two.queue_ns, 0);
    assert_true(eight.queue_ns > eight.exec_ns);
}

static void test_threads_that_wait_for_each_other_unseen_come_to_an_end(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        run(HXT_UNSEEN, 5, 1);
}

/* --- two callers */

enum { CALLS = 12 };

static void *call(void *pcycles)
{
    int64_t *p = pcycles, trail;

    for (int i = 0; i < CALLS; i++)
        if (hxt_threads_run(skel, HXT_SCALAR, 2, 4, &p[i], &trail))
            return pcycles;
    return NULL;
}

static void test_callers_on_one_handle_do_the_work_that_each_does_alone(void **state)
{
    const struct figures alone = run(HXT_SCALAR, 2, 4);
    int64_t pcycles[2][CALLS];
    pthread_t t[2];

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&t[i], NULL, call, pcycles[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *failed;

        pthread_join(t[i], &failed);
        assert_null(failed);
    }
    /* Lines of the cache that both callers use are all that they share. */
    for (int i = 0; i < CALLS; i++)
        for (int k = 0; k < 2; k++)
            assert_true(pcycles[k][i] <= 1.25 * alone.pcycles && pcycles[k][i] >= 0.75 * alone.pcycles);
}

static int run_on(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs_repeat_with_any_number_of_threads_beside_a_busy_loop, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_scalar_threads_share_the_hardware_threads, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_threads_that_wait_for_contexts_show_it_as_queue, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_callers_on_one_handle_do_the_work_that_each_does_alone, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_threads_that_wait_for_each_other_unseen_come_to_an_end, open_skel, close_skel),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    found = mmap(NULL, COUNTS * sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return found == MAP_FAILED ? 1 : own_rig_run_both(run_on);
}
