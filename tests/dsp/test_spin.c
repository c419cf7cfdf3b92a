/* Protects what dsp/qurt/qurt_spin.h promises of loops with pause and without: who waits sees a change at the time at which it is made, to
 * the end of that pause or round, and in the same order in every run.  The accesses tell of themselves here as a skel's do that has the
 * trace flags. */
#include "qurt_threads.h"

#include "base/machine.h"
#include "cost/pending.h"
#include "qurt/qurt_spin.h"
#include "qurt_futex.h"

enum { HANDOFF = 100, CYCLES = 255, PAUSE = CYCLES + 8 };

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .hvx_contexts = 2,
    .hw_threads = 6,
    .cost = {.packet_pcycles = 1, .hvx_pcycles = 1, .handoff_pcycles = HANDOFF, .dma_bytes_per_pcycle = 8},
};

static int setup(void **state)
{
    (void)state;
    return hx_machine ? 0 : hx_machine_init(&profile);
}

static int read_word(_Atomic int *p)
{
    hx_spin_access(p, sizeof(*p), 0, 0);
    return atomic_load(p);
}

static void write_word(_Atomic int *p, int value)
{
    hx_spin_access(p, sizeof(*p), 1, 0);
    atomic_store(p, value);
}

static int count_down(_Atomic int *p)
{
    hx_spin_access(p, sizeof(*p), 1, 0);
    return atomic_fetch_sub(p, 1) - 1;
}

/* Waits until the word is no longer `old`; when that was. */
static uint64_t spin_while(_Atomic int *p, int old)
{
    while (read_word(p) == old)
        hx_spin_pause(CYCLES);
    return hx_vt_now();
}

static _Atomic int flag, left, phase;
static _Atomic int ended, answered;
static uint64_t seen_at[16];

/* What a loop reads is known from its second pause on.  Before, threads meet in the steps of turns.h. */
static int setup_known(void **state)
{
    _Atomic int *const words[] = {&flag, &left, &phase, &ended, &answered};

    if (setup(state))
        return -1;
    begin();
    for (size_t i = 0; i < HXT_LEN(words); i++)
        for (int k = 0; k < 2; k++) {
            read_word(words[i]);
            hx_spin_pause(CYCLES);
        }
    hx_vt_call_end();
    return 0;
}

static void wait_for_flag(void *arg)
{
    *(uint64_t *)arg = spin_while(&flag, 0);
}

static void test_a_change_is_seen_at_the_end_of_the_pause_in_which_it_is_made(void **state)
{
    static const double works[] = {1000, 5000, 60000, 1000000};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(works); i++) {
        const uint64_t began = begin();
        uint64_t written;
        qurt_thread_t id;

        atomic_store(&flag, 0);
        id = start(0, wait_for_flag, &seen_at[0]);
        work(works[i]);
        written = hx_vt_now();
        write_word(&flag, 1);
        join(id);
        assert_int_equal(written - began, works[i]);
        assert_in_range(seen_at[0], written + 1, written + PAUSE);
        assert_int_equal((seen_at[0] - began - HANDOFF) % PAUSE, 0);
        hx_vt_call_end();
    }
}

/* A word that is known: written at a later time than it is read, it has not been written yet, whoever really comes first. */
static void write_late(void *arg)
{
    (void)arg;
    work(3000); /* less than a step of turns.h */
    write_word(&flag, 2);
}

static void test_what_is_written_later_is_not_seen_before(void **state)
{
    qurt_thread_t id;
    int seen;

    (void)state;
    for (int i = 0; i < 20; i++) {
        begin();
        write_word(&flag, 1);
        id = start(0, write_late, NULL);
        pause_ms(i % 4 ? 0 : 2);
        work(2000);
        seen = read_word(&flag);
        work(2000);
        assert_int_equal(seen, 1);
        assert_int_equal(read_word(&flag), 2);
        join(id);
        hx_vt_call_end();
    }
}

/* --- a barrier */

enum { THREADS = 4, ROUNDS = 30 };

static double share_of(unsigned who, int round)
{
    return 500 + (double)((who * 37 + (unsigned)round * 101) % 29) * 700;
}

static void meet(void)
{
    const int now = read_word(&phase);

    if (count_down(&left) == 0) {
        write_word(&left, THREADS);
        write_word(&phase, now + 1);
    } else {
        spin_while(&phase, now);
    }
}

static void take_part(void *arg)
{
    const unsigned who = (unsigned)(uintptr_t)arg;

    for (int i = 0; i < ROUNDS; i++) {
        work(share_of(who, i));
        meet();
    }
    seen_at[who] = hx_vt_now();
}

static void test_a_barrier_of_counters_takes_the_slowest_share_in_every_run(void **state)
{
    uint64_t first[THREADS] = {0};
    double slowest = 0;

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        double most = 0;

        for (unsigned who = 0; who < THREADS; who++)
            most = share_of(who, i) > most ? share_of(who, i) : most;
        slowest += most;
    }
    for (int run = 0; run < 6; run++) {
        const uint64_t began = begin();
        qurt_thread_t id[THREADS];

        atomic_store(&left, THREADS);
        atomic_store(&phase, 0);
        for (unsigned who = 1; who < THREADS; who++)
            id[who] = start(who, take_part, (void *)(uintptr_t)who);
        take_part(NULL);
        for (unsigned who = 1; who < THREADS; who++)
            join(id[who]);
        for (unsigned who = 0; who < THREADS; who++) {
            const uint64_t took = seen_at[who] - began;

            assert_in_range(took, (uint64_t)slowest, (uint64_t)slowest + ROUNDS * PAUSE + HANDOFF);
            if (run > 0)
                assert_int_equal(took, first[who]);
            first[who] = took;
        }
        hx_vt_call_end();
    }
}

/* --- from call to call */

static void serve_spinning(void *arg)
{
    (void)arg;
    for (int seen = 0; !read_word(&ended);) {
        const int now = read_word(&flag);

        if (now == seen) {
            hx_spin_pause(CYCLES);
            continue;
        }
        seen = now;
        work(1000);
        seen_at[0] = hx_vt_seen_ns();
        write_word(&answered, now);
    }
}

static void test_a_thread_that_spins_on_works_for_the_call_that_writes(void **state)
{
    qurt_thread_t id;

    (void)state;
    begin();
    atomic_store(&flag, 0);
    atomic_store(&ended, 0);
    atomic_store(&answered, 0);
    id = start(0, serve_spinning, NULL);
    for (int ms = 1; ms <= 5; ms++) {
        hx_vt_call_end();
        pause_ms(ms % 2 ? 5 : 0);
        hx_vt_call_begin((uint64_t)ms * 1000000, 1000000);
        work(200);
        write_word(&flag, ms);
        spin_while(&answered, ms - 1);
        assert_in_range(seen_at[0], (uint64_t)ms * 1000000 + 1200, (uint64_t)ms * 1000000 + 1200 + PAUSE);
        assert_in_range(hx_vt_seen_ns(), seen_at[0], seen_at[0] + PAUSE + 1);
    }
    write_word(&ended, 1);
    join(id);
    hx_vt_call_end();
}

static void test_a_thread_alone_is_not_taken_far_by_its_pauses(void **state)
{
    const uint64_t began = begin();

    (void)state;
    atomic_store(&flag, 0);
    for (int i = 0; i < 40; i++)
        if (read_word(&flag) == 0)
            hx_spin_pause(CYCLES);
    assert_true(hx_vt_now() - began < 40ull * 16 * PAUSE);
    hx_vt_call_end();
}

/* --- without pause */

enum { ROUND = 5 }; /* pcycles of a round of the loop */

static _Atomic int plain; /* nobody makes it known */

static int read_plain(int is_own)
{
    hx_spin_access(&plain, sizeof(plain), 0, is_own);
    return atomic_load(&plain);
}

static void wait_for_plain(void *arg)
{
    while (read_plain(0) == 0)
        hx_cost_block(ROUND, 0);
    *(uint64_t *)arg = hx_vt_now();
}

/* The first wait makes the word known; before, threads meet in the steps of turns.h. */
static void test_a_loop_without_pause_takes_the_time_of_the_write(void **state)
{
    static const double works[] = {50000, 1000, 3000000};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(works); i++)
        for (int run = 0; run < 3; run++) {
            uint64_t written;
            qurt_thread_t id;

            begin();
            atomic_store(&plain, 0);
            id = start(0, wait_for_plain, &seen_at[0]);
            work(works[i]);
            written = hx_vt_now();
            write_word(&plain, 1);
            join(id);
            assert_in_range(seen_at[0], written, written + 2 * ROUND);
            hx_vt_call_end();
        }
}

static void write_plain(void *arg)
{
    (void)arg;
    work(20000);
    seen_at[1] = hx_vt_now();
    write_word(&plain, 1);
}

static void test_a_thread_waits_so_for_a_word_of_its_own_stack(void **state)
{
    qurt_thread_t id;

    (void)state;
    begin();
    atomic_store(&plain, 0);
    id = start(0, write_plain, NULL);
    while (read_plain(1) == 0)
        hx_cost_block(ROUND, 0);
    assert_in_range(hx_vt_now(), seen_at[1], seen_at[1] + 2 * ROUND);
    join(id);
    hx_vt_call_end();
}

/* A word that is read between other accesses is not what the thread waits for: it takes no longer. */
static void test_rounds_that_do_something_take_their_own_time(void **state)
{
    const uint64_t began = begin();
    _Atomic int other = 0;

    (void)state;
    for (int i = 0; i < 3 * HX_SPIN_POLLS; i++) {
        read_plain(0);
        hx_spin_access(&other, sizeof(other), 1, 1);
        hx_cost_block(ROUND, 0);
    }
    assert_int_equal(hx_vt_now() - began, 3 * HX_SPIN_POLLS * ROUND);
    hx_vt_call_end();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_change_is_seen_at_the_end_of_the_pause_in_which_it_is_made),
        cmocka_unit_test(test_what_is_written_later_is_not_seen_before),
        cmocka_unit_test(test_a_barrier_of_counters_takes_the_slowest_share_in_every_run),
        cmocka_unit_test(test_a_thread_that_spins_on_works_for_the_call_that_writes),
        cmocka_unit_test(test_a_thread_alone_is_not_taken_far_by_its_pauses),
        cmocka_unit_test(test_a_loop_without_pause_takes_the_time_of_the_write),
        cmocka_unit_test(test_a_thread_waits_so_for_a_word_of_its_own_stack),
        cmocka_unit_test(test_rounds_that_do_something_take_their_own_time),
    };

    return HXT_RUN_FIXTURE(tests, setup_known, NULL);
}
