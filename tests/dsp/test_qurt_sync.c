/* Protects what QuRT threads wait with: conditions, barriers, semaphores, signals, futexes, timers, worker pools; above all
 * that virtual time does not depend on how the threads really run. */
#include "hx_profile.h"
#include "kept_log.h"
#include "base/machine.h"
#include "qurt.h"
#include "qurt_threads.h"
#include "worker_pool.h"

enum { HANDOFF = 100 };

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .hvx_contexts = 2,
    .hw_threads = 4,
    .cost = {.packet_pcycles = 1, .handoff_pcycles = HANDOFF}};

static qurt_mutex_t mutex;

/* --- conditions, barriers, semaphores, signals */

static qurt_cond_t cond;
static int ready;

static void make_ready(void *arg)
{
    (void)arg;
    work(7000);
    qurt_mutex_lock(&mutex);
    ready = 1;
    qurt_cond_broadcast(&cond);
    qurt_mutex_unlock(&mutex);
}

static void test_a_condition_carries_its_time(void **state)
{
    uint64_t t0 = begin();
    qurt_thread_t id;

    (void)state;
    qurt_mutex_init(&mutex);
    qurt_cond_init(&cond);
    ready = 0;
    qurt_mutex_lock(&mutex);
    id = start(0, make_ready, NULL);
    while (!ready)
        qurt_cond_wait(&cond, &mutex);
    qurt_mutex_unlock(&mutex);
    assert_true(hx_vt_now() >= t0 + HANDOFF + 7000);
    assert_true(hx_vt_now() <= t0 + 7000 + 4 * HANDOFF);
    join(id);
    log_begin();
    qurt_cond_wait(&cond, &mutex);
    log_end("does not hold mutex");
    qurt_cond_destroy(&cond);
}

struct arrival {
    qurt_barrier_t *b;
    double work;
    uint64_t left;
};

static void arrive(void *arg)
{
    struct arrival *a = arg;

    work(a->work);
    qurt_barrier_wait(a->b);
    a->left = hx_vt_now();
}

static void test_a_barrier_opens_when_the_last_one_comes(void **state)
{
    struct arrival a[3] = {{.work = 500}, {.work = 9000}, {.work = 20}};
    uint64_t t0 = begin();
    qurt_barrier_t b;
    qurt_thread_t id[3];

    (void)state;
    assert_int_equal(qurt_barrier_init(&b, 0), QURT_EINVALID);
    assert_int_equal(qurt_barrier_init(&b, 3), 0);
    for (unsigned i = 0; i < 3; i++) {
        a[i].b = &b;
        id[i] = start(i, arrive, &a[i]);
    }
    for (unsigned i = 0; i < 3; i++)
        join(id[i]);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(a[i].left - t0, HANDOFF + 9000 + (i == 1 ? 0 : HANDOFF));
    qurt_barrier_destroy(&b);
}

static qurt_sem_t full, empty;

static void produce(void *arg)
{
    (void)arg;
    for (int i = 0; i < 12; i++) {
        qurt_sem_down(&empty);
        work(1000);
        qurt_sem_up(&full);
    }
}

/* Time of a pipeline with two slots; `lag` ms make one side really slower. */
static uint64_t pipeline(int lag)
{
    uint64_t t0 = begin(), t;
    qurt_thread_t id;

    qurt_sem_init_val(&full, 0);
    qurt_sem_init_val(&empty, 2);
    id = start(0, produce, NULL);
    for (int i = 0; i < 12; i++) {
        pause_ms(lag);
        qurt_sem_down(&full);
        work(i % 3 * 900);
        qurt_sem_up(&empty);
    }
    t = hx_vt_now() - t0;
    join(id);
    qurt_sem_destroy(&full);
    return t;
}

static void test_a_pipeline_takes_the_same_time_however_threads_really_run(void **state)
{
    uint64_t t = pipeline(0);

    (void)state;
    assert_true(t >= 12 * 1000 && t < 24 * 1000); /* work overlaps */
    for (int i = 0; i < 20; i++)
        assert_int_equal(pipeline(0), t);
    assert_int_equal(pipeline(5), t);
}

static void test_a_semaphore_counts(void **state)
{
    qurt_sem_t s;

    (void)state;
    begin();
    qurt_sem_init(&s);
    assert_int_equal(qurt_sem_get_val(&s), 1);
    assert_int_equal(qurt_sem_try_down(&s), 0);
    assert_int_equal(qurt_sem_try_down(&s), -1);
    qurt_sem_add(&s, 65535);
    log_begin();
    assert_int_equal(qurt_sem_add(&s, 1), QURT_EFAILED);
    log_end("would count beyond");
    assert_int_equal(qurt_sem_get_val(&s), 65535);
}

static qurt_signal_t sig;

static void set_three(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 3; i++) {
        work(1000);
        qurt_signal_set(&sig, 1u << i);
    }
}

static void test_each_signal_has_its_own_time(void **state)
{
    unsigned set = 0;
    qurt_thread_t id;
    uint64_t t0;

    (void)state;
    for (int lag = 0; lag < 40; lag += 30) { /* before and after the signals are really set */
        t0 = begin();
        qurt_signal_init(&sig);
        id = start(0, set_three, NULL);
        pause_ms(lag);
        assert_true(qurt_signal_wait_any(&sig, 2 | 4) & 2);
        assert_int_equal(hx_vt_now() - t0, HANDOFF + 2000 + HANDOFF);
        assert_int_equal(qurt_signal_wait_all(&sig, 1 | 4) & 5, 5);
        assert_int_equal(hx_vt_now() - t0, HANDOFF + 3000 + HANDOFF);
        join(id);
        assert_int_equal(qurt_signal_get(&sig), 7);
        qurt_signal_clear(&sig, 5);
        assert_int_equal(qurt_signal_get(&sig), 2);
    }
    assert_int_equal(qurt_anysignal_set(&sig, 1), 2);
    assert_int_equal(qurt_anysignal_clear(&sig, 3), 3);
    assert_int_equal(qurt_signal_wait_timed(&sig, 1, QURT_SIGNAL_ATTR_WAIT_ANY, &set, 10),
                     QURT_EINVALID);
    t0 = hx_vt_now();
    assert_int_equal(qurt_anysignal_wait_timed(&sig, 1, &set, 200), QURT_ETIMEDOUT);
    assert_int_equal(hx_vt_now() - t0, 200000);
    qurt_signal_destroy(&sig);
}

static void test_signals_of_64_bits(void **state)
{
    qurt_signal_64_t s;

    (void)state;
    begin();
    qurt_signal_64_init(&s);
    qurt_signal_64_set(&s, 1ull << 40 | 1);
    assert_true(qurt_signal_64_wait(&s, 1ull << 40, QURT_SIGNAL_ATTR_WAIT_ALL) == (1ull << 40 | 1));
    qurt_signal_64_clear(&s, 1);
    assert_true(qurt_signal_64_get(&s) == 1ull << 40);
    qurt_signal_64_destroy(&s);
}

/* --- futexes */

static _Atomic int word;

static void change_word(void *arg)
{
    work(*(double *)arg);
    word = 1;
    qurt_futex_wake(&word, 1);
}

static void test_a_futex_carries_the_time_of_its_wake(void **state)
{
    double pcycles = 4000;
    qurt_thread_t id;
    uint64_t t0;

    (void)state;
    for (int lag = 0; lag < 40; lag += 30) { /* before and after the change really comes */
        t0 = begin();
        word = 0;
        id = start(0, change_word, &pcycles);
        pause_ms(lag);
        qurt_futex_wait(&word, 0);
        assert_int_equal(hx_vt_now() - t0, HANDOFF + 4000 + HANDOFF);
        join(id);
        t0 = begin();
        word = 0;
        id = start(0, change_word, &pcycles);
        work(10000); /* too late to wait */
        assert_int_equal(qurt_futex_wait(&word, 0), -1);
        assert_int_equal(hx_vt_now() - t0, 10000);
        join(id);
    }
    assert_int_equal(qurt_futex_wake(&word, 5), 0);
}

static void change_word_first(void *arg)
{
    (void)arg;
    work(4000);
    word = 2;
    qurt_sem_up(&full);
    pause_ms(1);
    work(1000);
    qurt_futex_wake(&word, 0); /* nobody's turn, but the change is known */
}

static void test_a_change_can_be_seen_before_its_wake(void **state)
{
    qurt_thread_t id;
    uint64_t t0 = begin();

    (void)state;
    word = 1;
    qurt_sem_init_val(&full, 0);
    id = start(0, change_word_first, NULL);
    qurt_sem_down(&full);
    assert_int_equal(qurt_futex_wait(&word, 1), -1);
    assert_int_equal(hx_vt_now() - t0, HANDOFF + 5000 + HANDOFF);
    join(id);
    t0 = hx_vt_now();
    word = 3; /* without a wake */
    assert_int_equal(qurt_futex_wait(&word, 2), -1);
    assert_int_equal(hx_vt_now(), t0);
}

/* --- timers */

static void test_sleep_moves_the_virtual_clock_only(void **state)
{
    uint64_t t0 = begin(), ticks = qurt_timer_get_ticks();

    (void)state;
    alarm(50); /* not for real */
    qurt_timer_sleep(60000000);
    alarm(0);
    assert_int_equal(hx_vt_now() - t0, 60000000000ull);
    assert_int_equal(qurt_timer_get_ticks() - ticks, 60ull * 19200000);
    assert_int_equal(qurt_get_core_pcycles(), hx_vt_now());
    assert_int_equal(hx_vtime_spent().exec_pcycles, 60000000000ull);
}

static void test_a_timer_sets_its_signal(void **state)
{
    qurt_timer_attr_t a;
    qurt_timer_t t, u;
    uint64_t t0 = begin();

    (void)state;
    qurt_signal_init(&sig);
    qurt_timer_attr_init(&a);
    qurt_timer_attr_set_duration(&a, 5);
    assert_int_equal(qurt_timer_create(&t, &a, &sig, 1), QURT_EINVALID);
    qurt_timer_attr_set_duration(&a, 2000);
    assert_int_equal(qurt_timer_create(&t, &a, &sig, 1), QURT_EOK);
    qurt_timer_attr_set_type(&a, QURT_TIMER_PERIODIC);
    assert_int_equal(qurt_timer_create(&u, &a, &sig, 2), QURT_EOK);
    qurt_anysignal_wait(&sig, 1);
    assert_int_equal(hx_vt_now() - t0, 2000000 + HANDOFF);
    for (unsigned i = 1; i <= 3; i++) {
        qurt_anysignal_wait(&sig, 2);
        assert_true(hx_vt_now() - t0 >= i * 2000000);
        qurt_anysignal_clear(&sig, 2);
    }
    assert_int_equal(qurt_timer_delete(u), QURT_EOK);
    assert_int_equal(qurt_timer_delete(u), QURT_EINVALID);
    qurt_signal_clear(&sig, 1);
    t0 = hx_vt_now();
    assert_int_equal(qurt_timer_restart(t, 100), QURT_EOK);
    qurt_anysignal_wait(&sig, 1);
    assert_int_equal(hx_vt_now() - t0, 100000 + HANDOFF);
    assert_int_equal(qurt_timer_delete(t), QURT_EOK);
}

/* --- calls and pools */

static _Atomic int stop_server;
static qurt_sem_t question, answer;
static uint64_t server_ns;

static void serve(void *arg)
{
    (void)arg;
    for (;;) {
        qurt_sem_down(&question);
        if (stop_server)
            return;
        work(100);
        server_ns = hx_vt_seen_ns();
        qurt_sem_up(&answer);
    }
}

static void test_a_thread_that_stays_works_for_the_call_that_wakes_it(void **state)
{
    qurt_thread_t id;

    (void)state;
    begin();
    qurt_sem_init_val(&question, 0);
    qurt_sem_init_val(&answer, 0);
    stop_server = 0;
    id = start(0, serve, NULL);
    for (uint64_t ms = 1; ms <= 3; ms++) {
        hx_vt_call_end(); /* when the server waits */
        hx_vt_call_begin(ms * 1000000, 1000000);
        qurt_sem_up(&question);
        qurt_sem_down(&answer);
        assert_int_equal(server_ns, ms * 1000000 + HANDOFF + 100);
    }
    hx_vt_call_end();
    stop_server = 1;
    qurt_sem_up(&question);
    join(id);
}

static _Atomic int tick, seen_tick;

/* Serves ticks; is busy with other things for 30 ms, so that it finds some of them late. */
static void serve_ticks(void *arg)
{
    (void)arg;
    for (int seen = 0;;) {
        qurt_futex_wait(&tick, seen);
        if (tick < 0)
            return;
        if (tick == seen)
            continue;
        seen = tick;
        server_ns = hx_vt_seen_ns();
        seen_tick = seen;
        qurt_futex_wake(&seen_tick, 1);
        pause_ms(seen % 2 ? 30 : 0);
    }
}

static void test_a_late_thread_works_for_the_call_that_woke_it(void **state)
{
    qurt_thread_t id;

    (void)state;
    begin();
    id = start(0, serve_ticks, NULL);
    for (int ms = 1; ms <= 4; ms++) {
        hx_vt_call_end();
        hx_vt_call_begin((uint64_t)ms * 1000000, 1000000);
        tick = ms;
        qurt_futex_wake(&tick, 1);
        while (seen_tick != ms)
            qurt_futex_wait(&seen_tick, ms - 1);
        assert_int_equal(server_ns, ms * 1000000 + HANDOFF);
    }
    tick = -1;
    qurt_futex_wake(&tick, 1);
    join(id);
}

struct part {
    double pcycles;
    worker_synctoken_t *done;
};

static void do_part(void *arg)
{
    struct part *p = arg;

    work(p->pcycles);
    worker_pool_synctoken_jobdone(p->done);
}

static void test_a_pool_runs_jobs_side_by_side(void **state)
{
    worker_pool_context_t pool;
    worker_synctoken_t done;
    struct part part[8];
    unsigned prio;
    uint64_t t0;

    (void)state;
    begin();
    assert_int_equal(worker_pool_init(&pool), AEE_SUCCESS);
    assert_int_equal(worker_pool_available(pool), 1);
    for (int round = 0; round < 5; round++) {
        t0 = begin();
        worker_pool_synctoken_init(&done, 8);
        /* Two jobs each for four workers; the longest pair takes 3 + 7. */
        for (int i = 0; i < 8; i++) {
            part[i] = (struct part){1000.0 * i, &done};
            assert_int_equal(worker_pool_submit(pool, (worker_pool_job_t){do_part, &part[i]}),
                             AEE_SUCCESS);
        }
        worker_pool_synctoken_wait(&done);
        assert_int_equal(hx_vt_now() - t0, HANDOFF + 10000 + HANDOFF);
        hx_vt_call_end();
    }
    assert_int_equal(worker_pool_get_thread_priority(pool, &prio), AEE_SUCCESS);
    assert_int_equal(prio, 192);
    assert_int_equal(worker_pool_set_thread_priority(pool, 0), AEE_EBADPARM);
    assert_int_equal(worker_pool_set_thread_priority(pool, 100), AEE_SUCCESS);
    worker_pool_deinit(&pool);
    assert_null(pool);
    assert_int_equal(worker_pool_submit(pool, (worker_pool_job_t){do_part, NULL}), AEE_EBADPARM);
    worker_pool_deinit(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_condition_carries_its_time),
        cmocka_unit_test(test_a_barrier_opens_when_the_last_one_comes),
        cmocka_unit_test(test_a_pipeline_takes_the_same_time_however_threads_really_run),
        cmocka_unit_test(test_a_semaphore_counts),
        cmocka_unit_test(test_each_signal_has_its_own_time),
        cmocka_unit_test(test_signals_of_64_bits),
        cmocka_unit_test(test_a_futex_carries_the_time_of_its_wake),
        cmocka_unit_test(test_a_change_can_be_seen_before_its_wake),
        cmocka_unit_test(test_sleep_moves_the_virtual_clock_only),
        cmocka_unit_test(test_a_timer_sets_its_signal),
        cmocka_unit_test(test_a_thread_that_stays_works_for_the_call_that_wakes_it),
        cmocka_unit_test(test_a_late_thread_works_for_the_call_that_woke_it),
        cmocka_unit_test(test_a_pool_runs_jobs_side_by_side),
    };

    if (hx_machine_init(&profile))
        hxt_skip_all("no VTCM in this process");
    return HXT_RUN(tests);
}
