/* Protects the parts of QuRT that few skels use: pipes, all-signals, values by key, atomics, priority-inheritance mutexes, the performance
 * monitor, and timers' units; above all what they do to virtual time. */
#include <stdlib.h>

#include "HAP_ps.h"
#include "hexagon_sim_timer.h"
#include "hx_profile.h"
#include "base/machine.h"
#include "qurt.h"
#include "qurt_threads.h"

enum { HANDOFF = 100 };

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .hvx_contexts = 2,
    .hw_threads = 4,
    .cost = {.packet_pcycles = 2, .handoff_pcycles = HANDOFF}};

/* --- pipes */

static qurt_pipe_t *pipe_of_two(void)
{
    qurt_pipe_attr_t attr;
    qurt_pipe_t *pipe;

    qurt_pipe_attr_init(&attr);
    qurt_pipe_attr_set_elements(&attr, 2);
    assert_int_equal(qurt_pipe_create(&pipe, &attr), QURT_EOK);
    return pipe;
}

enum { SENT = 6 };

static void send_all(void *arg)
{
    for (int i = 0; i < SENT; i++) {
        work(1000);
        qurt_pipe_send(arg, (qurt_pipe_data_t)i << 40);
    }
}

static void test_a_pipe_keeps_order_and_time(void **state)
{
    qurt_pipe_t *pipe = pipe_of_two();
    uint64_t t0 = begin();
    qurt_thread_t id = start(0, send_all, pipe);

    (void)state;
    for (int i = 0; i < SENT; i++) {
        assert_true(qurt_pipe_receive(pipe) == (qurt_pipe_data_t)i << 40);
        assert_true(hx_vt_now() >= t0 + 1000 * ((uint64_t)i + 1)); /* not before it was sent */
    }
    assert_true(hx_vt_now() <= t0 + 1000 * SENT + (SENT + 2) * 4 * HANDOFF);
    join(id);
    qurt_pipe_delete(pipe);
}

static void test_a_full_pipe_holds_its_sender(void **state)
{
    qurt_pipe_t *pipe = pipe_of_two();
    uint64_t t0 = begin();
    qurt_thread_t id = start(0, send_all, pipe);

    (void)state;
    for (int i = 0; i < SENT; i++) {
        work(5000);
        assert_true(qurt_pipe_receive(pipe) == (qurt_pipe_data_t)i << 40);
    }
    join(id);
    assert_true(hx_vt_now() >= t0 + 5000 * SENT && hx_vt_now() <= t0 + 5000 * SENT + (SENT + 2) * 4 * HANDOFF);
    qurt_pipe_delete(pipe);
}

static void test_tries_do_not_wait(void **state)
{
    qurt_pipe_data_t buffer[1];
    qurt_pipe_attr_t attr;
    qurt_pipe_t pipe;
    int rc;

    (void)state;
    begin();
    qurt_pipe_attr_init(&attr);
    assert_int_equal(qurt_pipe_init(&pipe, &attr), QURT_EINVALID); /* no buffer */
    qurt_pipe_attr_set_buffer(&attr, buffer);
    assert_int_equal(qurt_pipe_init(&pipe, &attr), QURT_EINVALID); /* of no elements */
    qurt_pipe_attr_set_elements(&attr, 1);
    assert_int_equal(qurt_pipe_init(&pipe, &attr), QURT_EOK);
    assert_true(qurt_pipe_is_empty(&pipe));
    qurt_pipe_try_receive(&pipe, &rc);
    assert_int_equal(rc, -1);
    assert_int_equal(qurt_pipe_try_send(&pipe, 7), 0);
    assert_int_equal(qurt_pipe_try_send(&pipe, 8), -1);
    assert_false(qurt_pipe_is_empty(&pipe));
    assert_true(qurt_pipe_try_receive(&pipe, &rc) == 7);
    assert_int_equal(rc, 0);
    qurt_pipe_destroy(&pipe);
}

/* --- all-signals */

static void set_one_after_the_other(void *arg)
{
    work(1000);
    qurt_allsignal_set(arg, 1);
    work(1000);
    qurt_allsignal_set(arg, 4 | 8);
}

static void test_an_allsignal_wakes_when_all_are_set_and_takes_them(void **state)
{
    qurt_allsignal_t signal;
    uint64_t t0 = begin();
    qurt_thread_t id;

    (void)state;
    qurt_allsignal_init(&signal);
    id = start(0, set_one_after_the_other, &signal);
    qurt_allsignal_wait(&signal, 1 | 4);
    assert_true(hx_vt_now() >= t0 + 2000 && hx_vt_now() <= t0 + 2000 + 8 * HANDOFF);
    assert_int_equal(qurt_allsignal_get(&signal), 8);
    join(id);
    qurt_allsignal_wait(&signal, 8); /* set already */
    assert_int_equal(qurt_allsignal_get(&signal), 0);
    qurt_allsignal_destroy(&signal);
}

/* --- values by key */

static int key, destroyed;

static void count_destroyed(void *value)
{
    destroyed += value == &key;
}

static void look_at_key(void *arg)
{
    *(void **)arg = qurt_tls_get_specific(key);
    qurt_tls_set_specific(key, &key);
}

static void test_each_thread_has_its_own_value(void **state)
{
    void *seen = &destroyed;

    (void)state;
    begin();
    assert_int_equal(qurt_tls_create_key(&key, count_destroyed), QURT_EOK);
    assert_null(qurt_tls_get_specific(key));
    assert_int_equal(qurt_tls_set_specific(key, &profile), QURT_EOK);
    join(start(0, look_at_key, &seen));
    assert_null(seen);
    assert_int_equal(destroyed, 1);
    assert_ptr_equal(qurt_tls_get_specific(key), &profile);
    assert_int_equal(qurt_tls_delete_key(key), QURT_EOK);
    assert_int_equal(qurt_tls_delete_key(key), QURT_EINVALID);
    assert_int_equal(qurt_tls_set_specific(-1, &key), QURT_EINVALID);
    assert_null(qurt_tls_get_specific(-1));
}

/* --- atomics, mutexes */

static void test_atomics_do_what_their_names_say(void **state)
{
    unsigned int word[2] = {5, 0};
    unsigned long long wide[2] = {1ull << 40, 0};

    (void)state;
    assert_int_equal(qurt_atomic_add_return(&word[0], 3), 8);
    assert_int_equal(qurt_atomic_sub_return(&word[0], 2), 6);
    assert_int_equal(qurt_atomic_inc_return(&word[0]), 7);
    assert_int_equal(qurt_atomic_dec_return(&word[0]), 6);
    assert_int_equal(qurt_atomic_or_return(&word[0], 9), 15);
    assert_int_equal(qurt_atomic_and_return(&word[0], 12), 12);
    assert_int_equal(qurt_atomic_xor_return(&word[0], 4), 8);
    assert_int_equal(qurt_atomic_compare_and_set(&word[0], 7, 1), 0);
    assert_int_equal(qurt_atomic_compare_and_set(&word[0], 8, 1), 1);
    assert_int_equal(qurt_atomic_add_unless(&word[0], 5, 1), 0);
    assert_int_equal(qurt_atomic_add_unless(&word[0], 5, 2), 1);
    assert_int_equal(word[0], 6);
    qurt_atomic_set_bit(word, 33);
    qurt_atomic_clear_bit(word, 1);
    qurt_atomic_change_bit(word, 3);
    assert_int_equal(word[0], 12);
    assert_int_equal(word[1], 2);
    assert_true(qurt_atomic64_add_return(&wide[0], 1) == (1ull << 40) + 1);
    qurt_atomic64_set_bit(wide, 127);
    assert_true(wide[1] == 1ull << 63);
    assert_int_equal(qurt_atomic64_compare_and_set(&wide[1], 1ull << 63, 3), 1);
    assert_int_equal(qurt_atomic_set(&word[0], 77), 77);
}

static void try_it(void *mutex)
{
    qurt_thread_exit(qurt_pimutex_try_lock(mutex) != 0);
}

static void test_a_pimutex_is_recursive(void **state)
{
    qurt_mutex_t mutex;

    (void)state;
    begin();
    qurt_pimutex_init(&mutex);
    qurt_pimutex_lock(&mutex);
    assert_int_equal(qurt_pimutex_try_lock(&mutex), 0);
    qurt_pimutex_unlock(&mutex);
    assert_int_equal(join(start(0, try_it, &mutex)), 1);
    qurt_pimutex_unlock(&mutex);
    assert_int_equal(mutex.holder, 0);
    qurt_pimutex_destroy(&mutex);
}

/* --- time */

static void test_a_busy_wait_is_execution(void **state)
{
    const uint64_t t0 = begin(), exec = hx_vtime_spent().exec_pcycles;

    (void)state;
    qurt_busywait(5);
    assert_true(hx_vt_now() == t0 + 5000);
    assert_true(hx_vtime_spent().exec_pcycles == exec + 5000 && hx_vtime_spent().idle_pcycles == 0);
}

static void test_ticks_are_of_19_2_mhz(void **state)
{
    (void)state;
    begin();
    assert_true(qurt_timer_timetick_to_us(192) == 10 && qurt_timer_timetick_from_us(10) == 192);
    assert_true(qurt_timer_timetick_to_us(~0ull) == 960767920505705813ull); /* no overflow on the way */
    work(1e6);
    assert_true(qurt_timer_timetick_to_us(qurt_sysclock_get_hw_ticks()) >= 1000);
    assert_true(qurt_sysclock_get_hw_ticks() == qurt_timer_get_ticks());
}

static void test_the_simulators_timer_sums_what_lies_between(void **state)
{
    char text[64] = "";
    FILE *out = fmemopen(text, sizeof(text), "w");

    (void)state;
    begin();
    hexagon_sim_init_timer();
    for (int i = 0; i < 2; i++) {
        hexagon_sim_start_timer();
        work(1500);
        hexagon_sim_stop_timer();
        work(700);
    }
    hexagon_sim_show_timer(out);
    fclose(out);
    assert_string_equal(text, "pcycles=3000\n");
    assert_true(hexagon_sim_read_pcycles() == hx_vt_now());
}

/* --- the performance monitor */

static void count_in_another_thread(void *arg)
{
    unsigned *counted = arg;

    counted[0] = qurt_pmu_get(QURT_PMUCNT0);
    work(200);
    counted[1] = qurt_pmu_get(QURT_PMUCNT0) - counted[0];
}

static void test_packets_are_counted_and_nothing_else_is(void **state)
{
    unsigned counts[8], counted[2] = {0};

    (void)state;
    begin();
    qurt_pmu_set(QURT_PMUCFG, 1 << 2); /* counter 1: event 0x103 */
    qurt_pmu_set(QURT_PMUEVTCFG, 3 << 24 | 7 << 16 | 3 << 8 | 3);
    qurt_pmu_set(QURT_PMUEVTCFG1, 3);
    qurt_pmu_enable(1);
    work(1000); /* of 2 pcycles each */
    assert_int_equal(qurt_pmu_get_pmucnt(counts), QURT_EOK);
    assert_int_equal(counts[0], 500);
    assert_int_equal(counts[1], 0);
    assert_int_equal(counts[2], 0);
    assert_int_equal(counts[3], 500);
    assert_int_equal(counts[4], 500);
    assert_int_equal(qurt_pmu_get(QURT_PMUCNT4), 500);
    hx_vt_spend(HX_VT_STALL, 4000); /* no packets */
    assert_int_equal(qurt_pmu_get(QURT_PMUCNT0), 500);
    qurt_pmu_enable(0);
    work(100);
    assert_int_equal(qurt_pmu_get(QURT_PMUCNT0), 500);
    qurt_pmu_enable(1);
    work(100);
    assert_int_equal(qurt_pmu_get(QURT_PMUCNT0), 550);
    begin(); /* the next call goes on */
    work(20);
    assert_int_equal(qurt_pmu_get(QURT_PMUCNT0), 560);
    qurt_pmu_set(QURT_PMUCNT0, 7);
    assert_int_equal(qurt_pmu_get(QURT_PMUCNT0), 7);
    join(start(0, count_in_another_thread, counted));
    assert_int_equal(counted[1], 100);
    qurt_pmu_set(QURT_PMUEVTCFG, 3);
    assert_int_equal(qurt_pmu_get(QURT_PMUCNT0), 0);
    assert_int_equal(qurt_pmu_get(QURT_PMUEVTCFG), 3);
    assert_int_equal(qurt_pmu_get(99), 0);
}

/* --- the PD */

static void test_every_thread_that_there_is_may_be_signalled_early(void **state)
{
    (void)state;
    begin();
    assert_int_equal(HAP_send_early_signal(qurt_thread_get_id(), 100), AEE_SUCCESS);
    assert_int_equal(HAP_send_early_signal(9999, 100), AEE_EINVALIDTHREAD);
    assert_int_equal(HAP_get_thread_priority_ceiling(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pipe_keeps_order_and_time),
        cmocka_unit_test(test_a_full_pipe_holds_its_sender),
        cmocka_unit_test(test_tries_do_not_wait),
        cmocka_unit_test(test_an_allsignal_wakes_when_all_are_set_and_takes_them),
        cmocka_unit_test(test_each_thread_has_its_own_value),
        cmocka_unit_test(test_atomics_do_what_their_names_say),
        cmocka_unit_test(test_a_pimutex_is_recursive),
        cmocka_unit_test(test_a_busy_wait_is_execution),
        cmocka_unit_test(test_ticks_are_of_19_2_mhz),
        cmocka_unit_test(test_the_simulators_timer_sums_what_lies_between),
        cmocka_unit_test(test_packets_are_counted_and_nothing_else_is),
        cmocka_unit_test(test_every_thread_that_there_is_may_be_signalled_early),
    };

    if (hx_machine_init(&profile))
        hxt_skip_all("no VTCM in this process");
    return HXT_RUN(tests);
}
