/* Heat: the RC model against its formula, and a sustained load through the cost filter that heats, throttles, cools and
 * recovers, to the same figures each time. */
#include "hxt.h"

#include <errno.h>
#include <math.h>

#include "core/driver.h"

static const struct hx_profile profile = {
    .name = "t", .dispatch_us = 100, .clock_mhz = 1000, .clock_low_mhz = 400, .clock_levels = 4,
    .power_idle_w = 1, .power_active_w = 8, .rth_k_per_w = 10, .tau_s = 20, .ambient_c = 20,
    .throttle_c = 80, .recover_c = 60, .throttle_ms = 100,
};

static uint64_t s(double seconds)
{
    return (uint64_t)(seconds * 1e9);
}

/* --- the model --------------------------------------------------------------------------------------------------- */

static void test_levels_are_spaced_evenly_and_cost_f_v_squared(void **state)
{
    (void)state;
    assert_true(hx_level_mhz(&profile, 0) == 400 && hx_level_mhz(&profile, 1) == 600);
    assert_true(hx_level_mhz(&profile, 3) == 1000 && hx_level_mhz(&profile, 9) == 1000);
    assert_true(hx_level_watt(&profile, 3) == 8);
    assert_true(fabs(hx_level_watt(&profile, 0) - 8 * 0.4 * 0.7 * 0.7) < 1e-12);
}

static void test_temperature_follows_the_exponential(void **state)
{
    struct hx_thermal t = {0};

    (void)state;
    hx_thermal_busy(&t, &profile, 0, s(5), 3, 1);
    assert_true(fabs(t.rise_k - 90 * (1 - exp(-5 / 20.0))) < 1e-9);
    assert_true(fabs(t.energy_j - 45) < 1e-9);
    hx_thermal_idle(&t, &profile, s(45));
    assert_true(fabs(t.rise_k - (10 + (90 * (1 - exp(-0.25)) - 10) * exp(-2))) < 1e-9);
    assert_int_equal(t.busy_ns, s(5));
    hx_thermal_idle(&t, &profile, s(40)); /* past already */
    assert_int_equal(t.now_ns, s(45));
}

static void test_the_way_does_not_depend_on_how_time_is_cut(void **state)
{
    struct hx_thermal whole = {0}, parts = {0};

    (void)state;
    hx_thermal_busy(&whole, &profile, 0, s(6), 3, 1);
    for (int i = 0; i < 600; i++)
        hx_thermal_busy(&parts, &profile, s(i * 0.01), s((i + 1) * 0.01), 3, 1);
    assert_true(fabs(whole.rise_k - parts.rise_k) < 1e-9 && whole.now_ns == parts.now_ns);
    assert_int_equal(whole.taken, parts.taken);
}

static void test_calls_that_overlap_both_heat(void **state)
{
    struct hx_thermal one = {0}, two = {0};

    (void)state;
    hx_thermal_busy(&one, &profile, 0, s(1), 3, 1);
    hx_thermal_busy(&two, &profile, 0, s(1), 3, 1);
    hx_thermal_busy(&two, &profile, s(0.5), s(1), 3, 1);
    assert_true(fabs(two.rise_k - one.rise_k - 8 * 0.5 * 10 / 20) < 1e-9);
    assert_true(fabs(two.energy_j - one.energy_j - 4) < 1e-9);
    assert_int_equal(two.now_ns, one.now_ns);
}

static void test_the_governor_takes_a_level_per_call_while_it_warms_and_gives_back_while_it_cools(void **state)
{
    struct hx_thermal t = {.rise_k = 61}; /* 81 degrees */

    (void)state;
    hx_thermal_busy(&t, &profile, 0, s(0.099), 3, 1);
    assert_int_equal(t.taken, 0);
    hx_thermal_busy(&t, &profile, s(0.099), s(0.15), 3, 1);
    assert_int_equal(t.taken, 1);
    hx_thermal_busy(&t, &profile, s(0.15), s(3), 2, 1); /* 28 looks, but one call at one clock */
    assert_int_equal(t.taken, 2);
    t.rise_k = 62;
    t.looked_k = 63;
    hx_thermal_busy(&t, &profile, s(3), s(3.4), 0, 1); /* hot, but cooling: that will do */
    assert_int_equal(t.taken, 2);
    t.rise_k = t.looked_k = 30; /* 50 degrees */
    hx_thermal_busy(&t, &profile, s(3.4), s(3.6), 3, 1); /* cool, but warming */
    assert_int_equal(t.taken, 2);
    hx_thermal_idle(&t, &profile, s(3.7));
    assert_int_equal(t.taken, 1);
    hx_thermal_idle(&t, &profile, s(1e7)); /* too long to look at step by step */
    assert_int_equal(t.taken, 0);
    assert_true(fabs(t.rise_k - 10) < 1e-9);
}

static void test_a_load_settles_on_neighbouring_levels_however_it_is_cut(void **state)
{
    static const double cut[] = {0.005, 0.05, 0.2, 1};
    const unsigned top = profile.clock_levels - 1;

    (void)state;
    for (size_t k = 0; k < HXT_LEN(cut); k++) {
        struct hx_thermal t = {0};
        unsigned least = top, most = 0;

        for (double at = 0; at < 300; at += cut[k]) {
            hx_thermal_busy(&t, &profile, s(at), s(at + cut[k]), top - t.taken, 1);
            if (at > 200) {
                least = top - t.taken < least ? top - t.taken : least;
                most = top - t.taken > most ? top - t.taken : most;
            }
        }
        assert_true(most - least <= 1 && most < top);
        assert_true(hx_thermal_celsius(&t, &profile) < profile.throttle_c + 1);
    }
}

/* A skel may say that it took centuries: the time of the governor's next look is then no time of the clock's any more. */
static void test_the_end_of_the_clock_is_passed(void **state)
{
    const uint64_t end = UINT64_MAX, period = 100000000;
    struct hx_thermal t = {0};

    (void)state;
    hx_thermal_idle(&t, &profile, end - 3 * period);
    hx_thermal_idle(&t, &profile, end);
    assert_true(t.now_ns == end);
    hx_thermal_idle(&t, &profile, end / 2);
    assert_true(t.now_ns == end);
}

static void test_a_call_that_sleeps_half_of_the_time_heats_half(void **state)
{
    struct hx_thermal half = {0};

    (void)state;
    hx_thermal_busy(&half, &profile, 0, s(5), 3, 0.5);
    assert_true(fabs(half.rise_k - (10 + 40) * (1 - exp(-5 / 20.0))) < 1e-9);
}

/* --- through the filter ------------------------------------------------------------------------------------------ */

struct run {
    struct hx_driver driver;
    struct hx_session session;
};

static void setup_run(struct run *r, const char *cost)
{
    char err[300] = "";

    memset(r, 0, sizeof(*r));
    r->driver.profile = profile;
    r->session.driver = &r->driver;
    r->session.state = HX_SESSION_UP;
    r->driver.session[0] = &r->session;
    if (hx_filter_push(&r->driver.filters, "count", &r->driver.profile, err, sizeof(err)) ||
        hx_filter_push(&r->driver.filters, cost, &r->driver.profile, err, sizeof(err)))
        fail_msg("%s", err);
}

/* A call of 100 M pcycles: 0.1 s at the top. */
static struct hx_invoke_view call(struct run *r)
{
    struct hx_call c = {.driver = &r->driver, .session = &r->session};
    int result = 0;

    hx_filter_send(&r->driver.filters, &c);
    c.inv.exec_pcycles = 100000000;
    c.inv.active = 1;
    hx_filter_end(&r->driver.filters, &c, &result);
    return c.inv;
}

static void reconfigure(struct run *r, const char *cost)
{
    char err[300];

    assert_int_equal(hx_filter_push(&r->driver.filters, cost, &r->driver.profile, err,
                                    sizeof(err)), 0);
    assert_int_equal(r->driver.filters.n, 2); /* it changed the one that is there */
}

struct story {
    uint64_t first_ns, slowest_ns, after_ns;
    double hot_c, cool_c, joule;
    uint64_t calls_to_throttle;
};

static struct story sustained(void)
{
    struct story y = {0};
    struct run r;

    setup_run(&r, "cost");
    y.first_ns = call(&r).exec_ns;
    for (uint64_t i = 1; i < 3000; i++) {
        uint64_t ns = call(&r).exec_ns;

        if (ns > y.first_ns && !y.calls_to_throttle)
            y.calls_to_throttle = i;
        y.slowest_ns = ns > y.slowest_ns ? ns : y.slowest_ns;
    }
    y.hot_c = hx_thermal_celsius(&r.driver.thermal, &profile);
    reconfigure(&r, "cost:host_us=100000000"); /* the host works for 100 s before the next call */
    y.after_ns = call(&r).exec_ns;
    y.cool_c = hx_thermal_celsius(&r.driver.thermal, &profile);
    y.joule = r.driver.thermal.energy_j;
    hx_filter_unload(&r.driver.filters);
    return y;
}

static void test_a_sustained_load_throttles_and_recovers_when_the_host_pauses(void **state)
{
    struct story y = sustained();

    (void)state;
    assert_int_equal(y.first_ns, 100000000);
    assert_true(y.slowest_ns > 120000000); /* 800 MHz and less */
    assert_true(y.calls_to_throttle > 100); /* 22 s: tau ln(90 / 30) */
    assert_true(y.calls_to_throttle < 230);
    assert_true(y.hot_c > 60 && y.hot_c < 82);
    assert_int_equal(y.after_ns, y.first_ns);
    assert_true(y.cool_c < 35);
}

static void test_the_same_load_gives_the_same_figures(void **state)
{
    struct story a = sustained(), b = sustained();

    (void)state;
    assert_memory_equal(&a, &b, sizeof(a));
}

/* --- virtual host time ------------------------------------------------------------------------------------------- */

static void test_host_time_moves_the_clients_clock_and_lets_the_dsp_nap(void **state)
{
    struct run r;

    (void)state;
    setup_run(&r, "cost:host_us=500");
    r.driver.profile.dsp_wake_us = 30;
    r.driver.profile.linger_ratio = 1;
    r.driver.profile.linger_us = 600;
    assert_int_equal(call(&r).dispatch_ns, 130000); /* it slept before the first call */
    assert_int_equal(r.session.stats.clock_ns, 500000 + 130000 + 100000000);
    assert_int_equal(call(&r).dispatch_ns, 100000); /* 500 us and the way to the DSP are not longer than 600 */
    reconfigure(&r, "cost:host_us=501");
    assert_int_equal(call(&r).dispatch_ns, 130000);
    r.session.vote.latency_us = 40; /* tolerates the wake-up */
    assert_int_equal(call(&r).dispatch_ns, 130000);
    r.session.vote.latency_us = 29;
    assert_int_equal(call(&r).dispatch_ns, 100000);
    r.session.vote.latency_us = 0;
    r.session.vote.awake = 1;
    assert_int_equal(call(&r).dispatch_ns, 100000);
    r.session.state = HX_SESSION_EXITED; /* a dead PD has no votes */
    assert_int_equal(call(&r).dispatch_ns, 130000);
    hx_filter_unload(&r.driver.filters);
}

static void test_time_off_has_no_figures(void **state)
{
    struct run r;
    struct hx_invoke_view v;

    (void)state;
    setup_run(&r, "cost:time=off,host_us=500");
    v = call(&r);
    assert_int_equal(v.dispatch_ns + v.exec_ns + v.arrive_ns, 0);
    assert_int_equal(v.clock_khz, 1000000);
    assert_int_equal(r.session.stats.clock_ns, 0);
    assert_true(r.driver.thermal.rise_k == 0);
    assert_string_equal(hx_cost_time(&r.driver.filters), "off");
    hx_filter_unload(&r.driver.filters);
}

static void test_time_real_delays_the_answer_by_what_is_left(void **state)
{
    struct run r;
    struct hx_call c = {0};
    int result = 0;

    (void)state;
    setup_run(&r, "cost:time=real");
    c.driver = &r.driver;
    c.session = &r.session;
    hx_filter_send(&r.driver.filters, &c);
    c.inv.exec_pcycles = 5000000000ull; /* 5 s: more than this test can take meanwhile */
    hx_filter_end(&r.driver.filters, &c, &result);
    assert_true(c.delay_us > 4000000 && c.delay_us <= 5000100);
    hx_filter_send(&r.driver.filters, &c);
    c.inv.exec_pcycles = 0;
    c.inv.sent_us -= 1000; /* it took a ms, longer than the model's 100 us */
    c.delay_us = 7;
    hx_filter_end(&r.driver.filters, &c, &result);
    assert_int_equal(c.delay_us, 7);
    hx_filter_unload(&r.driver.filters);
}

static void test_bad_keys_are_refused(void **state)
{
    static const char *const bad[] = {"cost:time=slow", "cost:host_us=-1",
                                      "cost:host_us=1000000001", "cost:x=1"};
    struct run r;
    char err[300];

    (void)state;
    setup_run(&r, "cost:host_us=3");
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(hx_filter_push(&r.driver.filters, bad[i], &r.driver.profile, err,
                                        sizeof(err)), -EINVAL);
    call(&r);
    assert_int_equal(r.session.stats.clock_ns, 3000 + 100000 + 100000000); /* the old keys hold */
    hx_filter_unload(&r.driver.filters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_are_spaced_evenly_and_cost_f_v_squared),
        cmocka_unit_test(test_temperature_follows_the_exponential),
        cmocka_unit_test(test_the_way_does_not_depend_on_how_time_is_cut),
        cmocka_unit_test(test_calls_that_overlap_both_heat),
        cmocka_unit_test(test_the_governor_takes_a_level_per_call_while_it_warms_and_gives_back_while_it_cools),
        cmocka_unit_test(test_a_load_settles_on_neighbouring_levels_however_it_is_cut),
        cmocka_unit_test(test_the_end_of_the_clock_is_passed),
        cmocka_unit_test(test_a_call_that_sleeps_half_of_the_time_heats_half),
        cmocka_unit_test(test_a_sustained_load_throttles_and_recovers_when_the_host_pauses),
        cmocka_unit_test(test_the_same_load_gives_the_same_figures),
        cmocka_unit_test(test_host_time_moves_the_clients_clock_and_lets_the_dsp_nap),
        cmocka_unit_test(test_time_off_has_no_figures),
        cmocka_unit_test(test_time_real_delays_the_answer_by_what_is_left),
        cmocka_unit_test(test_bad_keys_are_refused),
    };

    return HXT_RUN(tests);
}
