/* Protects: the limit of a fuzz target's input: what computes or sleeps for ever ends, what only waits for a CPU or for a machine that
 * stood still does not, and an input that has ended is left alone. */
#include "hxt.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "input_limit.h"

enum { OTHERS = 3 };

static volatile sig_atomic_t is_over;

static void over(void)
{
    is_over = 1;
}

static void begin(double seconds)
{
    is_over = 0;
    input_limit_begin(seconds, over);
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_what_computes_for_ever_ends(void **state)
{
    (void)state;
    begin(0.05);
    while (!is_over)
        ;
}

static void test_what_sleeps_for_ever_ends(void **state)
{
    const struct timespec nap = {.tv_nsec = 1000000};

    (void)state;
    begin(0.05);
    while (!is_over)
        nanosleep(&nap, NULL);
}

static void test_an_input_that_has_ended_is_left_alone(void **state)
{
    const double until = seconds_of(CLOCK_MONOTONIC) + 0.2;

    (void)state;
    begin(0.05);
    input_limit_end();
    while (seconds_of(CLOCK_MONOTONIC) < until)
        assert_false(is_over);
}

static pid_t start_other(void)
{
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        ;
}

/* All of this process's CPU time is the input's, so the limit is reached when that is, and not in a fourth of it. */
static void test_time_in_which_others_have_the_cpu_does_not_count(void **state)
{
    const double limit_s = 0.2;
    pid_t other[OTHERS];
    cpu_set_t all, one;
    double cpu_s;

    (void)state;
    if (access("/proc/self/schedstat", R_OK))
        hxt_skip_test("this kernel tells nothing of waiting for a processor (/proc/self/schedstat)");
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    for (int i = 0; i < OTHERS; i++)
        other[i] = start_other();
    cpu_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    begin(limit_s);
    while (!is_over)
        ;
    cpu_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
    for (int i = 0; i < OTHERS; i++) {
        kill(other[i], SIGKILL);
        assert_int_equal(waitpid(other[i], NULL, 0), other[i]);
    }
    sched_setaffinity(0, sizeof(all), &all);
    assert_true(cpu_s > 0.75 * limit_s);
}

/* No tick comes for longer than the limit, as on a machine that stands still. */
static void stand_still(const sigset_t *alarm_only, const struct timespec *time)
{
    sigprocmask(SIG_BLOCK, alarm_only, NULL);
    nanosleep(time, NULL);
    sigprocmask(SIG_UNBLOCK, alarm_only, NULL);
    sigprocmask(SIG_BLOCK, alarm_only, NULL);
}

static void test_a_machine_that_stood_still_does_not_count(void **state)
{
    const struct timespec time = {.tv_nsec = 300 * 1000 * 1000};
    sigset_t alarm_only;

    (void)state;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    begin(0.2);
    for (int i = 0; i < 3; i++)
        stand_still(&alarm_only, &time);
    assert_false(is_over);
    input_limit_end();
    sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_computes_for_ever_ends),
        cmocka_unit_test(test_what_sleeps_for_ever_ends),
        cmocka_unit_test(test_an_input_that_has_ended_is_left_alone),
        cmocka_unit_test(test_time_in_which_others_have_the_cpu_does_not_count),
        cmocka_unit_test(test_a_machine_that_stood_still_does_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
