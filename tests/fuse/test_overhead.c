/* Protects: what a call costs by who was idle for how long: the curve goes one way and passes through the published overheads; one
 * session's sleep is not another's, unless the other keeps the DSP awake; what the wait of the caller adds. */
#include "hxt.h"

#include <math.h>

#include "core/driver.h"
#include "hx_overhead.h"

struct rig {
    struct hx_driver driver;
    struct hx_session session[2];
};

static void open_rig(struct rig *r, const char *profile)
{
    char why[300] = "";

    memset(r, 0, sizeof(*r));
    if (hx_profile_load(&r->driver.profile, HXT_SRC "/dsp/profiles", profile, why, sizeof(why)) ||
        hx_filter_push(&r->driver.filters, "count", &r->driver.profile, why, sizeof(why)) ||
        hx_filter_push(&r->driver.filters, "cost", &r->driver.profile, why, sizeof(why)))
        fail_msg("%s", why);
    for (int i = 0; i < 2; i++) {
        r->session[i].driver = &r->driver;
        r->session[i].state = HX_SESSION_UP;
        r->driver.session[i] = &r->session[i];
    }
}

static void pause_us(struct rig *r, unsigned us)
{
    char why[300], spec[64];

    snprintf(spec, sizeof(spec), "cost:host_us=%u", us);
    assert_int_equal(hx_filter_push(&r->driver.filters, spec, &r->driver.profile, why, sizeof(why)), 0);
}

/* A call of session i that executes for exec_us; returns what it cost beside that. */
static double overhead(struct rig *r, int i, double exec_us)
{
    struct hx_call call = {.driver = &r->driver, .session = &r->session[i]};
    int result = 0;

    hx_filter_send(&r->driver.filters, &call);
    call.inv.exec_pcycles = (uint64_t)(exec_us * r->driver.profile.clock_mhz);
    hx_filter_end(&r->driver.filters, &call, &result);
    return (double)(call.inv.dispatch_ns + call.inv.return_ns) / 1e3;
}

/* In the steady state of calls like it. */
static double steady(struct rig *r, double exec_us)
{
    overhead(r, 0, exec_us);
    return overhead(r, 0, exec_us);
}

/* --- the curve ---------------------------------------------------------------------------------------------------- */

static void test_the_published_overheads_come_out(void **state)
{
    static const struct {
        const char *row;
        unsigned pause_us;
        double exec_us, least, most;
    } rows[] = {
        {"R02", 0, 203, 180, 190},       {"R04", 0, 10, 285, 300},           {"R13", 89, 27, 300, 335},
        {"E10 32", 1419, 864, 400, 470}, {"E10 256", 11173, 6912, 400, 470}, {"K20", 0, 40, 280, 300},
    };
    struct rig r;

    (void)state;
    open_rig(&r, "s22u-sync");
    assert_true(fabs(overhead(&r, 0, 203) - (185 + 157)) < 1); /* R02's first call */
    for (size_t i = 0; i < HXT_LEN(rows); i++) {
        double got;

        pause_us(&r, rows[i].pause_us);
        got = steady(&r, rows[i].exec_us);
        if (got < rows[i].least || got > rows[i].most)
            fail_msg("%s: %.1f us, not %.0f to %.0f", rows[i].row, got, rows[i].least, rows[i].most);
    }
    hx_filter_unload(&r.driver.filters);
}

static void test_longer_pauses_and_longer_waits_never_cost_less(void **state)
{
    static const double exec_us[] = {1, 30, 130, 200, 900, 7000};
    struct rig r;

    (void)state;
    open_rig(&r, "s22u-sync");
    for (size_t i = 0; i < HXT_LEN(exec_us); i++) {
        double last = 0, first = 0;

        for (unsigned us = 0; us <= 2500; us += 5) {
            double got;

            pause_us(&r, us);
            got = steady(&r, exec_us[i]);
            if (!us)
                first = last = got;
            assert_true(got >= last && got - last < 40); /* and it does not jump */
            last = got;
        }
        assert_true(last > first + 40 && last < 185 + 157 + 115 + 1);
    }
    for (double us = 1, last = 0; us < 20000; us *= 1.1) {
        const double got = hx_overhead_host_wake(&r.driver.profile, us);

        assert_true(got >= last && got <= 115 && (us > 250 || got == 0));
        last = got;
    }
    hx_filter_unload(&r.driver.filters);
}

static void test_a_busy_dsp_stays_awake_for_as_long_as_it_worked_and_not_for_ever(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, "s22u-sync");
    r.driver.profile.host_cold_us = r.driver.profile.host_sleep_us = 0;
    pause_us(&r, 400);
    assert_true(steady(&r, 700) == 185); /* 585 us after 700 us of work */
    assert_true(steady(&r, 300) > 290);
    pause_us(&r, 1200);
    assert_true(steady(&r, 100000) > 290); /* linger_us */
    r.session[0].vote.awake = 1;
    assert_true(steady(&r, 1) == 185);
    hx_filter_unload(&r.driver.filters);
}

static void test_the_rate_of_577_already_contained_an_execution_of_one_and_a_half_ms(void **state)
{
    static const double exec_us[] = {0, 1, 800, 1500}; /* and so to within a nanosecond or two */
    struct rig r;

    (void)state;
    open_rig(&r, "s22u-577");
    for (size_t i = 0; i < HXT_LEN(exec_us); i++)
        assert_true(fabs(overhead(&r, 0, exec_us[i]) + exec_us[i] - 1e6 / 577) < 0.01);
    assert_true(fabs(overhead(&r, 0, 5000) - (1e6 / 577 - 1500)) < 0.01);
    hx_filter_unload(&r.driver.filters);
}

/* --- sessions ----------------------------------------------------------------------------------------------------- */

static void test_a_session_gets_its_own_figures_whatever_another_did(void **state)
{
    double alone[6], beside[6];
    struct rig r;

    (void)state;
    open_rig(&r, "s22u-sync");
    for (int i = 0; i < 6; i++)
        alone[i] = overhead(&r, 0, i % 2 ? 5 : 200);
    hx_filter_unload(&r.driver.filters);
    open_rig(&r, "s22u-sync");
    r.session[1].epoch_ns = 1000000000; /* opened a second later: what it does, it does then */
    for (int i = 0; i < 6; i++) {
        overhead(&r, 1, 3000);
        beside[i] = overhead(&r, 0, i % 2 ? 5 : 200);
        overhead(&r, 1, 1);
    }
    hx_filter_unload(&r.driver.filters);
    for (int i = 0; i < 6; i++)
        assert_true(alone[i] == beside[i]);
}

static void test_a_session_finds_the_dsp_awake_while_another_keeps_it_so(void **state)
{
    struct rig r;
    double first;

    (void)state;
    open_rig(&r, "s22u-sync");
    overhead(&r, 1, 10000); /* from 0.3 to 10.3 ms */
    first = overhead(&r, 0, 5);
    assert_true(fabs(first - (185 + 157)) < 1); /* before that has begun, both at 0 */
    assert_true(overhead(&r, 0, 5) == 185 && overhead(&r, 0, 5) == 185);
    pause_us(&r, 20000);
    assert_true(overhead(&r, 0, 5) > 290); /* long after it */
    hx_filter_unload(&r.driver.filters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_published_overheads_come_out),
        cmocka_unit_test(test_longer_pauses_and_longer_waits_never_cost_less),
        cmocka_unit_test(test_a_busy_dsp_stays_awake_for_as_long_as_it_worked_and_not_for_ever),
        cmocka_unit_test(test_the_rate_of_577_already_contained_an_execution_of_one_and_a_half_ms),
        cmocka_unit_test(test_a_session_gets_its_own_figures_whatever_another_did),
        cmocka_unit_test(test_a_session_finds_the_dsp_awake_while_another_keeps_it_so),
    };

    return HXT_RUN(tests);
}
