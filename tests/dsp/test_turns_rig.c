/* Protects what docs/filters.md promises: the figures of a caller, whatever threads its skel has, are the same in every run, on
 * either front end, beside whatever else the host does, and of listed code however the skel was compiled; and callers that share a
 * handle do not change each other's work.  HXT_TURNS_RUNS=20 makes more runs, and shows the figures: make check-determinism. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "hx_rig.h"
#include "hxt_threads.h"
#include "own_rig.h"

enum { RUNS = 2, HW_THREADS = 6, CONTEXTS = 2 };

static remote_handle64 skel;

static int runs(void)
{
    const char *text = getenv("HXT_TURNS_RUNS");

    return text ? atoi(text) : RUNS;
}

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

/* Keeps a core of the host busy until it is killed, or this process ends; its process. */
static pid_t start_busy_loop(void)
{
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(600);
        for (atomic_int i = 0;; i++)
            ;
    }
    return pid;
}

/* What the first run has found, by the number of threads; for both front ends, whose tests run one after the other in processes of
 * their own. */
enum { COUNTS = 5 };
static struct found {
    struct figures estimated[COUNTS], listed[COUNTS];
} *found;

/* DDR is slower in a new PD, for some ms of the DSP's time. */
static void warm_up(void)
{
    for (int i = 0; i < 4; i++)
        run(HXT_SCALAR, 1, 64);
}

static void check_runs(hxt_work what, struct figures *want, int threads)
{
    for (int i = 0; i < runs(); i++) {
        const struct figures f = run(what, threads, 3);

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
        check_runs(HXT_MIXED, &found->estimated[i], 1 << i);
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
}

/* --- the same source, compiled at each level of optimisation */

enum { LEVELS = 4 };

static int open_level(int level)
{
    const char *uri = hxt_path("file:///libhxt_threads_O%d_skel.so?hxt_threads_skel_handle_invoke&_modver=1.0&_dom=cdsp", level);

    return hxt_threads_open(uri, &skel);
}

static void check_level(int level)
{
    assert_int_equal(open_level(level), AEE_SUCCESS);
    warm_up();
    for (int i = 0; i < COUNTS; i++)
        check_runs(HXT_LISTED, &found->listed[i], 1 << i);
    assert_int_equal(hxt_threads_close(skel), AEE_SUCCESS);
    if (getenv("HXT_TURNS_RUNS"))
        for (int i = 0; i < COUNTS; i++)
            printf("| %s | -O%d | %2d threads | %d runs | %lld pcycles, exec %llu ns, queue %llu ns |\n", own_rig_front_end, level, 1 << i,
                   runs(), (long long)found->listed[i].pcycles, (unsigned long long)found->listed[i].exec_ns,
                   (unsigned long long)found->listed[i].queue_ns);
}

static void test_listed_code_takes_the_same_however_it_was_compiled(void **state)
{
    pid_t busy;

    (void)state;
    if (access(HXT_BUILD "/tests/libhxt_threads_O0_skel.so", F_OK))
        hxt_skip_test("this build has no skels of other levels");
    busy = start_busy_loop();
    for (int level = 0; level < LEVELS; level++)
        check_level(level);
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
}

/* --- what more threads get */

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
        cmocka_unit_test(test_listed_code_takes_the_same_however_it_was_compiled),
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
    found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return found == MAP_FAILED ? 1 : own_rig_run_both(run_on);
}
