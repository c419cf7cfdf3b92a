/* Protects: the wall clock of calls that overlap: threads that hand work over are added up, threads side by side are not; what calls hold
 * at the same virtual time makes the others wait; a caller on its own waits for nothing. */
#include "hxt.h"

#include "core/driver.h"

/* --- who waits for whom ------------------------------------------------------------------------------------------ */

/* A whole call of `thread` that takes ns; returns when it began. */
static uint64_t turn(struct hx_callers *c, uint32_t thread, uint64_t ns)
{
    uint64_t start;
    const unsigned i = hx_callers_begin(c, thread, &start);

    hx_callers_reach(c, i, start + ns);
    hx_callers_end(c, i);
    return start;
}

static void test_threads_that_take_turns_are_added_up(void **state)
{
    struct hx_callers c = {0};

    (void)state;
    assert_int_equal(turn(&c, 7, 100), 0);
    assert_int_equal(turn(&c, 8, 30), 100);
    assert_int_equal(turn(&c, 7, 5), 130);
    assert_int_equal(turn(&c, 9, 1), 135);
    assert_int_equal(hx_callers_latest(&c), 136);
}

static void test_threads_whose_calls_have_met_are_independent_and_others_wait_for_both(void **state)
{
    struct hx_callers c = {0};
    uint64_t a, b;
    unsigned ia, ib;

    (void)state;
    turn(&c, 1, 50); /* the main thread, before it starts the others */
    ia = hx_callers_begin(&c, 2, &a);
    ib = hx_callers_begin(&c, 3, &b);
    assert_true(a == 50 && b == 50);
    hx_callers_reach(&c, ia, 150);
    hx_callers_end(&c, ia);
    hx_callers_reach(&c, ib, 1050);
    hx_callers_end(&c, ib);
    assert_int_equal(turn(&c, 2, 100), 150); /* not behind thread 3's call */
    assert_int_equal(turn(&c, 3, 100), 1050);
    assert_int_equal(turn(&c, 1, 1), 1150); /* the main thread joined them */
    assert_int_equal(turn(&c, 2, 1), 1151); /* and gives them more to do */
}

static void test_a_thread_with_a_clock_of_its_own_waits_for_nobody(void **state)
{
    struct hx_callers c = {0};

    (void)state;
    turn(&c, 1, 50);
    hx_callers_own_clock(&c, 2);
    hx_callers_own_clock(&c, 3);
    assert_int_equal(turn(&c, 2, 1000), 50);
    assert_int_equal(turn(&c, 3, 10), 50);
    assert_int_equal(turn(&c, 3, 10), 60);
    assert_int_equal(turn(&c, 1, 1), 1050);
    hx_callers_reach_all(&c, 5000);
    assert_int_equal(turn(&c, 3, 10), 5000);
}

static void test_more_threads_than_there_is_room_for_lose_no_time(void **state)
{
    struct hx_callers c = {0};
    uint64_t start, sum = 0;

    (void)state;
    for (uint32_t t = 1; t <= 3 * HX_CALLERS; t++) {
        assert_int_equal(turn(&c, t, t), sum);
        sum += t;
    }
    for (uint32_t t = 1000; t < 1000 + 2 * HX_CALLERS; t++) { /* all in flight at once */
        unsigned i = hx_callers_begin(&c, t, &start);

        assert_true(i < HX_CALLERS && start <= sum);
    }
    assert_int_equal(hx_callers_latest(&c), sum);
}

/* --- what there is only so much of ------------------------------------------------------------------------------- */

static void test_a_newcomer_gets_the_first_gap_that_is_wide_and_long_enough(void **state)
{
    struct hx_holds h = {0};

    (void)state;
    assert_int_equal(hx_holds_fit(&h, 5, 10, 1, 1), 5);
    hx_holds_add(&h, 10, 10, 1);
    hx_holds_add(&h, 30, 10, 2);
    assert_int_equal(hx_holds_fit(&h, 0, 10, 1, 1), 0);
    assert_int_equal(hx_holds_fit(&h, 5, 10, 1, 1), 20); /* between the two ... */
    assert_int_equal(hx_holds_fit(&h, 5, 11, 1, 1), 40); /* ... there are 10 */
    assert_int_equal(hx_holds_fit(&h, 0, 15, 1, 2), 0);
    assert_int_equal(hx_holds_fit(&h, 25, 15, 1, 2), 40);
    assert_int_equal(hx_holds_fit(&h, 25, 15, 1, 3), 25);
    assert_int_equal(hx_holds_fit(&h, 12, 5, 9, 2), 20); /* more than there are: all */
    assert_int_equal(hx_holds_fit(&h, 12, 5, 0, 2), 12);
    assert_int_equal(hx_holds_fit(&h, 12, 0, 1, 1), 12);
}

static void test_only_the_newest_holds_are_kept(void **state)
{
    struct hx_holds h = {0};

    (void)state;
    for (uint64_t i = 0; i < HX_HOLDS + 1; i++)
        hx_holds_add(&h, i * 10, 10, 1);
    assert_int_equal(hx_holds_fit(&h, 0, 10, 1, 1), 0);
    assert_int_equal(hx_holds_fit(&h, 10, 10, 1, 1), (HX_HOLDS + 1) * 10);
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

struct rig {
    struct hx_driver driver;
    struct hx_session session;
};

static void open_rig(struct rig *r)
{
    char why[300] = "";

    memset(r, 0, sizeof(*r));
    if (hx_profile_load(&r->driver.profile, HXT_SRC "/dsp/profiles", "s22u-sync", why, sizeof(why)) ||
        hx_filter_push(&r->driver.filters, "count", &r->driver.profile, why, sizeof(why)) ||
        hx_filter_push(&r->driver.filters, "cost", &r->driver.profile, why, sizeof(why)))
        fail_msg("%s", why);
    r->session.driver = &r->driver;
    r->session.state = HX_SESSION_UP;
    r->driver.session[0] = &r->session;
}

static double us(uint64_t ns)
{
    return (double)ns / 1e3;
}

/* `calls` calls of each of n threads, in the order of virtual time: wall, in us. */
static double wall(unsigned n, unsigned calls, double exec_us, unsigned contexts)
{
    uint64_t now[16] = {0}, before;
    unsigned made[16] = {0};
    struct rig r;

    open_rig(&r);
    for (unsigned t = 0; t < n; t++)
        hx_callers_own_clock(&r.session.callers, t + 1);
    for (unsigned i = 0; i < n * calls; i++) {
        struct hx_call call = {.driver = &r.driver, .session = &r.session};
        unsigned t = n;
        int result = 0;

        for (unsigned k = 0; k < n; k++)
            if (made[k] < calls && (t == n || now[k] < now[t]))
                t = k;
        made[t]++;
        call.thread = t + 1;
        hx_filter_send(&r.driver.filters, &call);
        call.inv.exec_pcycles = (uint64_t)(exec_us * r.driver.profile.clock_mhz);
        call.inv.hvx_contexts = contexts;
        hx_filter_end(&r.driver.filters, &call, &result);
        hx_filter_done(&r.driver.filters, &call, result);
        now[t] = call.inv.arrive_ns + call.inv.queue_ns + call.inv.exec_ns + call.inv.return_ns;
    }
    before = r.session.stats.dispatch_ns + r.session.stats.marshal_ns + r.session.stats.queue_ns + r.session.stats.exec_ns;
    assert_true(r.session.stats.clock_ns <= before && (n > 1 || r.session.stats.clock_ns == before));
    assert_true(n > 1 || r.session.stats.queue_ns == 0);
    before = r.session.stats.clock_ns;
    hx_filter_unload(&r.driver.filters);
    return us(before);
}

/* How much faster n callers get their calls done than one that makes all of them. */
static double speedup(unsigned n, double exec_us, unsigned contexts)
{
    return wall(1, 40 * n, exec_us, contexts) / wall(n, 40, exec_us, contexts);
}

static void test_two_callers_win_with_long_calls_up_to_what_the_dsp_has(void **state)
{
    const double shorter = speedup(2, 1, 0), longer = speedup(2, 5000, 1), two_each = speedup(2, 5000, 2);

    (void)state;
    assert_true(longer > 1.9 && longer <= 2.05);
    assert_true(shorter > 1 && shorter < longer);
    assert_true(two_each > 1 && two_each < 1.2); /* one executes while the other is on its way */
    assert_true(speedup(4, 5000, 1) < 2.2);      /* two contexts */
    assert_true(speedup(12, 5000, 0) < 6.6);     /* six hardware threads */
    assert_true(speedup(14, 1, 0) < 6);         /* the channel */
}

static void test_the_channel_is_waited_for_and_the_loser_has_to_be_woken(void **state)
{
    struct hx_call call[2];
    struct rig r;

    (void)state;
    open_rig(&r);
    for (unsigned i = 0; i < 2; i++) {
        call[i] = (struct hx_call){.driver = &r.driver, .session = &r.session, .thread = i + 1};
        hx_filter_send(&r.driver.filters, &call[i]);
    }
    assert_true(call[0].inv.lock_ns == 0);
    assert_true(us(call[1].inv.lock_ns) == r.driver.profile.serial_us + r.driver.profile.handover_us);
    hx_filter_unload(&r.driver.filters);
}

/* An INVOKE that a signal ended has no end, but its thread is free again. */
static void test_a_call_that_was_interrupted_is_in_flight_no_more(void **state)
{
    struct hx_call call = {0};
    struct rig r;

    (void)state;
    open_rig(&r);
    call = (struct hx_call){.driver = &r.driver, .session = &r.session, .thread = 5};
    hx_filter_send(&r.driver.filters, &call);
    assert_int_equal(r.session.callers.at[0].in_flight, 1);
    hx_filter_done(&r.driver.filters, &call, -4);
    assert_int_equal(r.session.callers.at[0].in_flight, 0);
    hx_filter_unload(&r.driver.filters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_that_take_turns_are_added_up),
        cmocka_unit_test(test_threads_whose_calls_have_met_are_independent_and_others_wait_for_both),
        cmocka_unit_test(test_a_thread_with_a_clock_of_its_own_waits_for_nobody),
        cmocka_unit_test(test_more_threads_than_there_is_room_for_lose_no_time),
        cmocka_unit_test(test_a_newcomer_gets_the_first_gap_that_is_wide_and_long_enough),
        cmocka_unit_test(test_only_the_newest_holds_are_kept),
        cmocka_unit_test(test_two_callers_win_with_long_calls_up_to_what_the_dsp_has),
        cmocka_unit_test(test_the_channel_is_waited_for_and_the_loser_has_to_be_woken),
        cmocka_unit_test(test_a_call_that_was_interrupted_is_in_flight_no_more),
    };

    return HXT_RUN(tests);
}
