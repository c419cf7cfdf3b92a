/* Protects the order among the threads of a call: figures that repeat however the host runs the threads, a core that is shared by
 * more threads than it has room for, contexts and VTCM by virtual time, and that nobody waits for ever for a thread that waits for
 * something else. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "hx_profile.h"
#include "base/machine.h"
#include "cost/turns.h"
#include "HAP_vtcm_mgr.h"
#include "qurt.h"
#include "qurt_threads.h"

enum { HANDOFF = 100, HW_THREADS = 6, THREADS = 16, RUNS = 20 };

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .hvx_contexts = 2,
    .hw_threads = HW_THREADS,
    .cost = {.packet_pcycles = 1, .handoff_pcycles = HANDOFF, .l2_pcycles = 25}};

static qurt_thread_t ids[THREADS];

static unsigned slow_us; /* CPU time that the host takes to make a thread, beside what it really takes */

static void be_slow(void)
{
    struct timespec t;
    int64_t end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    end = t.tv_sec * 1000000000 + t.tv_nsec + slow_us * 1000;
    while (slow_us && t.tv_sec * 1000000000 + t.tv_nsec < end)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
}

/* Runs n threads to their ends and returns the pcycles of the call. */
static uint64_t run_threads(unsigned n, void (*body)(void *), void *args, size_t arg_bytes)
{
    const uint64_t t0 = begin();
    uint64_t t;

    for (unsigned i = 0; i < n; i++) {
        be_slow();
        ids[i] = start(i, body, (char *)args + i * arg_bytes);
    }
    for (unsigned i = 0; i < n; i++)
        join(ids[i]);
    t = hx_vt_now() - t0;
    hx_vt_call_end();
    return t;
}

/* --- the same figures however threads really run */

static qurt_mutex_t mutex;
static qurt_barrier_t barrier;
static struct {
    unsigned seed;      /* of the real delays, 0: none */
    unsigned next_job;  /* plain memory, that the threads share */
    uint64_t trail;     /* who did what, in which order */
} shared;

/* Really loses some time, which must not show. */
static void dawdle(unsigned *seed)
{
    if (!*seed)
        return;
    *seed = *seed * 1664525 + 1013904223;
    if (*seed >> 30 == 0)
        usleep(*seed >> 22 & 255);
    else if (*seed >> 30 == 1)
        sched_yield();
}

/* As take_job(): a thread that has computed for long runs beside the others, so what it does to plain memory is announced. */
static void note(unsigned who)
{
    hx_vt_share();
    shared.trail = (shared.trail ^ who) * 0x100000001b3u;
}

/* The next of `n`, from plain memory, as a traced skel would take it; n: none is left. */
static unsigned take_job(unsigned n)
{
    hx_vt_share();
    return shared.next_job < n ? shared.next_job++ : n;
}

static void do_jobs(void *arg)
{
    const unsigned who = *(unsigned *)arg;
    unsigned seed = shared.seed ? shared.seed + who : 0, job;

    for (int round = 0; round < 6; round++) {
        dawdle(&seed);
        work(100 * (who % 3) + 700);
        qurt_mutex_lock(&mutex);
        note(who);
        work(90);
        dawdle(&seed);
        qurt_mutex_unlock(&mutex);
        while ((job = take_job(40 * (unsigned)(round + 1))) < 40 * (unsigned)(round + 1)) {
            note(job * THREADS + who);
            work(1000 + job % 5 * 300);
            dawdle(&seed);
        }
        qurt_hvx_lock(QURT_HVX_MODE_128B);
        dawdle(&seed);
        work(400);
        qurt_hvx_unlock();
        qurt_barrier_wait(&barrier);
    }
}

/* Pcycles of the call, and in *trail who did what. */
static uint64_t do_all_jobs(unsigned n, unsigned seed, uint64_t *trail)
{
    unsigned who[THREADS];
    uint64_t t;

    for (unsigned i = 0; i < n; i++)
        who[i] = i;
    shared.seed = seed;
    shared.next_job = 0;
    shared.trail = 0xcbf29ce484222325u;
    qurt_mutex_init(&mutex);
    qurt_barrier_init(&barrier, n);
    t = run_threads(n, do_jobs, who, sizeof(who[0]));
    *trail = shared.trail;
    return t;
}

static void test_runs_repeat_however_the_host_runs_the_threads(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= THREADS; n *= 2) {
        uint64_t trail, again, t = do_all_jobs(n, 0, &trail);

        for (unsigned i = 1; i < RUNS; i++) {
            work(i * 37); /* nor does it matter when a call begins */
            assert_int_equal(do_all_jobs(n, i, &again), t);
            assert_true(again == trail);
        }
    }
}

/* --- sharing the core */

static void compute(void *pcycles)
{
    for (int i = 0; i < 10; i++)
        work(*(double *)pcycles / 10);
}

static void test_more_threads_than_the_core_has_share_it(void **state)
{
    double pcycles[THREADS];
    uint64_t t;

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        pcycles[i] = 120000;
    for (unsigned n = 1; n <= HW_THREADS; n++) /* each as fast as one alone */
        assert_int_equal(run_threads(n, compute, pcycles, sizeof(double)), HANDOFF + 120000 + HANDOFF);
    t = run_threads(THREADS, compute, pcycles, sizeof(double));
    assert_true(t >= 120000.0 * THREADS / HW_THREADS && t < 1.02 * 120000 * THREADS / HW_THREADS);
    slow_us = 400; /* none of them begins before all are there */
    for (int i = 0; i < 4; i++)
        assert_int_equal(run_threads(THREADS, compute, pcycles, sizeof(double)), t);
    slow_us = 0;

    /* A long one is alone once the others have ended. */
    pcycles[3] = 600000;
    t = run_threads(THREADS, compute, pcycles, sizeof(double));
    assert_true(t > 0.98 * (120000.0 * THREADS / HW_THREADS + 480000) && t < 1.02 * (120000.0 * THREADS / HW_THREADS + 480000));
}

/* A caller that has computed beside others runs beside those that it makes, too: they begin when all are there none the less. */
static void test_who_computed_in_company_makes_threads_as_anybody_does(void **state)
{
    double pcycles[THREADS];
    qurt_thread_t other;
    uint64_t t;

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        pcycles[i] = 120000;
    t = run_threads(THREADS, compute, pcycles, sizeof(double));
    begin();
    other = start(0, compute, pcycles);
    for (int i = 0; i < 100; i++)
        work(5000);
    join(other);
    hx_vt_call_end();
    slow_us = 400;
    assert_int_equal(run_threads(THREADS, compute, pcycles, sizeof(double)), t);
    slow_us = 0;
}

static void compute_at_once(void *pcycles)
{
    work(*(double *)pcycles);
}

static void test_code_that_is_charged_in_one_piece_shares_as_well(void **state)
{
    double pcycles[THREADS];
    uint64_t t;

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        pcycles[i] = i ? 100000 : 1000000;
    t = run_threads(THREADS, compute_at_once, pcycles, sizeof(double));
    assert_true(t > 0.98 * (100000.0 * THREADS / HW_THREADS + 900000) && t < 1.06 * (100000.0 * THREADS / HW_THREADS + 900000));
}

/* --- contexts and VTCM */

static void hold_context(void *order)
{
    static unsigned n;

    work(10);
    if (qurt_hvx_lock(QURT_HVX_MODE_128B))
        return;
    *(unsigned *)order = ++n;
    work(10000);
    qurt_hvx_unlock();
}

static void test_contexts_go_to_whoever_asked_first_and_waiting_is_queue(void **state)
{
    unsigned order[8] = {0};
    struct hx_vtime spent;
    qurt_thread_t id[8];

    (void)state;
    begin();
    for (unsigned i = 0; i < 8; i++) {
        id[i] = start(i, hold_context, &order[i]);
        work(50);
    }
    for (unsigned i = 0; i < 8; i++)
        join(id[i]);
    spent = hx_vtime_spent();
    for (unsigned i = 1; i < 8; i++)
        assert_int_equal(order[i], order[i - 1] + 1);
    /* The last pair begins after three others, and of that most is waiting. */
    assert_true(spent.queue_pcycles > 29000 && spent.queue_pcycles < 30000);
    assert_true(spent.exec_pcycles > 10000 && spent.exec_pcycles < 11500);
    hx_vt_call_end();
}

static void hold_vtcm(void *arg)
{
    unsigned *order = arg;
    static unsigned n;
    void *p = HAP_request_async_VTCM(5 << 20, 1, 10000000); /* two do not fit */

    if (!p)
        return;
    *order = ++n;
    work(7000);
    HAP_release_VTCM(p);
}

static void test_vtcm_goes_to_whoever_asked_first(void **state)
{
    unsigned order[4];
    uint64_t t0;

    (void)state;
    for (int run = 0; run < 5; run++) {
        memset(order, 0, sizeof(order));
        t0 = begin();
        for (unsigned i = 0; i < 4; i++) {
            ids[i] = start(i, hold_vtcm, &order[i]);
            work(50);
        }
        for (unsigned i = 0; i < 4; i++)
            join(ids[i]);
        assert_int_equal(hx_vt_now() - t0, HANDOFF + 4 * 7000 + HANDOFF);
        for (unsigned i = 1; i < 4; i++)
            assert_int_equal(order[i], order[i - 1] + 1);
        assert_true(hx_vtime_spent().queue_pcycles >= 3 * 7000 - 200);
        hx_vt_call_end();
    }
}

/* --- waits that end by the clock */

static int won;

static void signal_at_5000(void *signals)
{
    usleep(120000); /* longer than a wait has patience for */
    work(5000);
    qurt_signal_set(signals, 1);
}

/* All threads of the process stand still for longer than anybody is waited for. */
static void pause_all(void)
{
    const pid_t self = getpid(), child = fork();
    int status;

    if (child == 0) {
        kill(self, SIGSTOP);
        usleep(1500000);
        _exit(kill(self, SIGCONT) != 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void signal_after_pause(void *signals)
{
    usleep(120000); /* the other thread looks before and after */
    pause_all();
    usleep(20000);
    work(5000);
    qurt_signal_set(signals, 1);
}

/* For a signal that comes at pcycle 5000, long before the limit of 1000 us. */
static void wait_for(void (*body)(void *))
{
    unsigned now = 0;
    qurt_signal_t s;
    uint64_t t0;

    t0 = begin();
    qurt_signal_init(&s);
    ids[0] = start(0, body, &s);
    assert_int_equal(qurt_signal_wait_timed(&s, 1, QURT_SIGNAL_ATTR_WAIT_ANY, &now, 1000), QURT_EOK);
    assert_int_equal(hx_vt_now() - t0, HANDOFF + 5000 + HANDOFF);
    join(ids[0]);
    hx_vt_call_end();
}

static void test_a_limit_waits_for_slow_threads_that_are_not_there_yet(void **state)
{
    (void)state;
    wait_for(signal_at_5000);
}

static void test_a_pause_of_the_machine_is_nobodys_fault(void **state)
{
    (void)state;
    wait_for(signal_after_pause);
}

static void try_lock_again_and_again(void *arg)
{
    (void)arg;
    while (qurt_mutex_try_lock(&mutex))
        ;
    won++;
    qurt_mutex_unlock(&mutex);
}

static void sleep_and_look(void *arg)
{
    while (!atomic_load((atomic_int *)arg))
        qurt_timer_sleep(200);
    won++;
}

static void test_polling_lets_time_pass(void **state)
{
    atomic_int flag = 0;
    uint64_t t0, t[2];

    (void)state;
    won = 0;
    for (int i = 0; i < 2; i++) {
        t0 = begin();
        atomic_store(&flag, 0);
        qurt_mutex_init(&mutex);
        qurt_mutex_lock(&mutex);
        ids[0] = start(0, try_lock_again_and_again, NULL);
        ids[1] = start(1, sleep_and_look, &flag);
        work(1000000);
        qurt_mutex_unlock(&mutex);
        atomic_store(&flag, 1);
        join(ids[0]);
        join(ids[1]);
        t[i] = hx_vt_now() - t0;
        hx_vt_call_end();
    }
    assert_int_equal(won, 4);
    assert_int_equal(t[0], t[1]);
    assert_true(t[0] >= 1000000 && t[0] < 1500000);
}

/* --- threads that wait for something that is not seen */

static atomic_int passed_on;

static void spin_for(void *value)
{
    while (atomic_load(&passed_on) != *(int *)value)
        ;
    qurt_mutex_lock(&mutex);
    atomic_fetch_add(&passed_on, 1);
    qurt_mutex_unlock(&mutex);
}

static pthread_mutex_t plain_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t plain_cond = PTHREAD_COND_INITIALIZER;

static void wait_plainly_for(void *value)
{
    qurt_mutex_lock(&mutex);
    qurt_mutex_unlock(&mutex);
    pthread_mutex_lock(&plain_lock);
    while (atomic_load(&passed_on) != *(int *)value)
        pthread_cond_wait(&plain_cond, &plain_lock);
    atomic_fetch_add(&passed_on, 1);
    pthread_cond_broadcast(&plain_cond);
    pthread_mutex_unlock(&plain_lock);
    qurt_mutex_lock(&mutex);
    qurt_mutex_unlock(&mutex);
}

/* The first thread waits for the last one, the second for the first: against the order of all turns. */
static void test_threads_that_wait_unseen_keep_nobody_for_ever(void **state)
{
    int value[] = {3, 2, 1, 0};

    (void)state;
    qurt_mutex_init(&mutex);
    atomic_store(&passed_on, 0);
    run_threads(4, spin_for, value, sizeof(value[0]));
    assert_int_equal(atomic_load(&passed_on), 4);
    atomic_store(&passed_on, 0);
    run_threads(4, wait_plainly_for, value, sizeof(value[0]));
    assert_int_equal(atomic_load(&passed_on), 4);
    /* And it is forgotten: order is what it was. */
    test_contexts_go_to_whoever_asked_first_and_waiting_is_queue(state);
}

static void compute_uncharged(void *arg)
{
    atomic_int *beside = arg;

    atomic_fetch_add(beside, 1);
    while (atomic_load(beside) < 3) /* that ends only when all three run at a time */
        ;
}

static void test_threads_that_nothing_is_charged_for_run_side_by_side(void **state)
{
    atomic_int beside = 0;

    (void)state;
    assert_int_equal(run_threads(3, compute_uncharged, &beside, 0), 2 * HANDOFF);
}

/* --- callers */

static void *call(void *spent)
{
    for (int i = 0; i < 50; i++) {
        hx_vt_call_begin(0, 0);
        work(1000);
        usleep(100);
        *(uint64_t *)spent += hx_vtime_spent().exec_pcycles;
        hx_vt_call_end();
    }
    return NULL;
}

static void test_callers_do_not_wait_for_each_other(void **state)
{
    uint64_t spent[4] = {0};
    pthread_t t[4];

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, call, &spent[i]), 0);
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(spent[i], 50 * 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_repeat_however_the_host_runs_the_threads),
        cmocka_unit_test(test_more_threads_than_the_core_has_share_it),
        cmocka_unit_test(test_who_computed_in_company_makes_threads_as_anybody_does),
        cmocka_unit_test(test_code_that_is_charged_in_one_piece_shares_as_well),
        cmocka_unit_test(test_contexts_go_to_whoever_asked_first_and_waiting_is_queue),
        cmocka_unit_test(test_vtcm_goes_to_whoever_asked_first),
        cmocka_unit_test(test_a_limit_waits_for_slow_threads_that_are_not_there_yet),
        cmocka_unit_test(test_a_pause_of_the_machine_is_nobodys_fault),
        cmocka_unit_test(test_polling_lets_time_pass),
        cmocka_unit_test(test_threads_that_nothing_is_charged_for_run_side_by_side),
        cmocka_unit_test(test_threads_that_wait_unseen_keep_nobody_for_ever),
        cmocka_unit_test(test_callers_do_not_wait_for_each_other),
    };

    if (hx_machine_init(&profile))
        hxt_skip_all("no VTCM in this process");
    return HXT_RUN(tests);
}
