/* Protects: what a PD says about its dspqueue packets becomes counts and modelled time of its client, once, and what cannot be
 * changes nothing. */
#include <stdlib.h>

#include "core/driver.h"
#include "hxt.h"

static const struct hx_profile profile = {
    .name = "t", .dispatch_us = 100, .packet_us = 40, .marshal_us_per_kib = 2,
    .share_us_per_buffer = 3, .dsp_wake_us = 7, .clock_mhz = 1000,
    .clock_low_mhz = 1000, .clock_levels = 1, .tau_s = 1, .throttle_c = 1000, .throttle_ms = 1,
};

struct rig {
    struct hx_driver driver;
    struct hx_session session;
    struct hx_packet_sums *sums; /* of the PD */
};

static void open_rig(struct rig *r, const char *cost)
{
    char err[128];

    memset(r, 0, sizeof(*r));
    r->driver.profile = profile;
    assert_int_equal(hx_filter_push(&r->driver.filters, "count", &profile, err, sizeof(err)), 0);
    assert_int_equal(hx_filter_push(&r->driver.filters, cost, &profile, err, sizeof(err)), 0);
    r->session.driver = &r->driver;
    r->session.channel.rings = aligned_alloc(128, sizeof(struct hx_rings));
    assert_non_null(r->session.channel.rings);
    memset(r->session.channel.rings, 0, sizeof(struct hx_rings));
    r->sums = &r->session.channel.rings->packets;
}

static void close_rig(struct rig *r)
{
    hx_filter_unload(&r->driver.filters);
    free(r->session.channel.rings);
}

static void add(struct rig *r, uint64_t packets)
{
    atomic_fetch_add(&r->sums->packets, packets);
    atomic_fetch_add(&r->sums->buffers, 2 * packets);
    atomic_fetch_add(&r->sums->bytes_copied, 1024 * packets);
    atomic_fetch_add(&r->sums->bytes_shared, 500 * packets);
    atomic_fetch_add(&r->sums->exec_pcycles, 9000 * packets);
    atomic_fetch_add(&r->sums->queue_pcycles, 2000 * packets);
    atomic_fetch_add(&r->sums->hvx_ops, 77 * packets);
    for (size_t i = 0; i < HXT_LEN(r->sums->traffic); i++)
        atomic_fetch_add(&r->sums->traffic[i], (i + 1) * packets);
    atomic_fetch_add(&r->sums->slow_path_packets, packets - 1);
}

static void test_packets_cost_what_the_profile_says(void **state)
{
    struct rig r;
    const struct hx_session_stats *s = &r.session.stats;

    (void)state;
    open_rig(&r, "cost");
    add(&r, 3);
    hx_queue_stats_collect(&r.session);
    hx_queue_stats_collect(&r.session); /* nothing is new */
    assert_int_equal(s->invokes, 0);
    assert_int_equal(s->packets, 3);
    assert_int_equal(s->bytes_copied, 3 * 1024);
    assert_int_equal(s->bytes_shared, 3 * 500);
    assert_int_equal(s->hvx_ops, 3 * 77);
    for (size_t i = 0; i < HXT_LEN(r.sums->traffic); i++)
        assert_int_equal(((const uint64_t *)&s->traffic)[i], 3 * (i + 1));
    assert_int_equal(s->slow_path_calls, 2);
    assert_int_equal(s->dispatch_ns, 3 * 40000);
    assert_int_equal(s->marshal_ns, 3 * (2000 + 2 * 3000));
    assert_int_equal(s->exec_ns, 3 * 9000);
    assert_int_equal(s->queue_ns, 3 * 2000);
    assert_int_equal(s->clock_ns, 3 * (40000 + 8000 + 9000 + 2000));
    add(&r, 1);
    hx_queue_stats_collect(&r.session);
    assert_int_equal(s->packets, 4);
    assert_int_equal(s->clock_ns, 4 * (40000 + 8000 + 9000 + 2000));
    assert_true(r.driver.thermal.busy_ns > 0);
    close_rig(&r);
}

static void test_without_a_model_packets_are_counted_only(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r, "cost:time=off");
    add(&r, 5);
    hx_queue_stats_collect(&r.session);
    assert_int_equal(r.session.stats.packets, 5);
    assert_int_equal(r.session.stats.dispatch_ns, 0);
    assert_int_equal(r.session.stats.clock_ns, 0);
    close_rig(&r);
}

static void test_a_pd_that_counts_backwards_gets_nothing(void **state)
{
    struct rig r;
    struct hx_session_stats before;

    (void)state;
    open_rig(&r, "cost");
    add(&r, 10);
    hx_queue_stats_collect(&r.session);
    before = r.session.stats;
    memset(r.sums, 0, sizeof(*r.sums));
    hx_queue_stats_collect(&r.session);
    hxt_same_bytes(&r.session.stats, &before, sizeof(before));
    add(&r, 1); /* and from there on forwards */
    hx_queue_stats_collect(&r.session);
    assert_int_equal(r.session.stats.packets, 11);
    close_rig(&r);
}

static void test_a_session_without_a_pd_has_none(void **state)
{
    struct rig r;
    struct hx_rings *rings;

    (void)state;
    open_rig(&r, "cost");
    rings = r.session.channel.rings;
    r.session.channel.rings = NULL;
    hx_queue_stats_collect(&r.session);
    assert_int_equal(r.session.stats.packets, 0);
    r.session.channel.rings = rings;
    close_rig(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_packets_cost_what_the_profile_says),
    cmocka_unit_test(test_without_a_model_packets_are_counted_only),
    cmocka_unit_test(test_a_pd_that_counts_backwards_gets_nothing),
    cmocka_unit_test(test_a_session_without_a_pd_has_none),
};

int main(void)
{
    return HXT_RUN(tests);
}
