/* Protects: the prefetch buffer's order and counts, and its way back from wrong plans and failed reads. */
#include "prefetch_gate.h"

/* --- order and counts */

static void test_the_plan_is_read_in_order_again_and_again(void **state)
{
    struct hx_prefetch *p = open_gate(ALL, four, 3);
    struct hx_prefetch_stats s;

    (void)state;
    expect_reads(4);
    for (uint64_t i = 0; i < 30; i++) {
        get_put(p, i % 3);
        expect_reads(5 + (int)i);
    }
    for (int i = 0; i < 34; i++) {
        assert_int_equal(gate.offset[i], (uint64_t)(i % 3) * ITEM);
        assert_int_not_equal(gate.reader[i], gettid());
    }
    expect_stats(p, 30, 0, 0, 0, 0, 0);
    hx_prefetch_stats(p, &s);
    assert_int_equal(s.bytes_read, 34 * ITEM);
    hx_prefetch_close(p);
}

static void test_sixteen_slots_and_no_more(void **state)
{
    struct hx_prefetch *p = open_gate(ALL, anywhere, ITEMS);
    const void *held[HX_PREFETCH_SLOTS];

    (void)state;
    expect_reads(16);
    for (uint64_t i = 0; i < 16; i++)
        held[i] = get(p, i);
    get_fails(p, 16, -EBUSY, "all 16 slots are held");
    hx_prefetch_put(p, held[7]);
    expect_reads(17);
    held[7] = get(p, 16);
    for (int i = 0; i < 16; i++)
        hx_prefetch_put(p, held[i]);
    expect_reads(33);
    expect_stats(p, 17, 0, 0, 0, 0, 0);
    hx_prefetch_close(p);
}

static void test_a_get_before_the_bytes_are_there_waits_for_the_reader(void **state)
{
    struct hx_prefetch *p = open_gate(0, four, 8);
    struct hx_prefetch_stats s;
    pthread_t opener;

    (void)state;
    assert_true(hxt_until(read_waits, NULL, 20));
    pthread_create(&opener, NULL, opens_when_asked, NULL);
    get_put(p, 0);
    pthread_join(opener, NULL);
    expect_stats(p, 0, 1, 0, 0, 0, 0);
    hx_prefetch_stats(p, &s);
    assert_true(s.stall.max > 1000000); /* the opener looked for 20 ms */
    expect_reads(5);
    get_put(p, 1);
    expect_stats(p, 1, 1, 0, 0, 0, 0);
    hx_prefetch_close(p);
}

static void test_without_a_reader_every_get_is_a_miss(void **state)
{
    struct hx_prefetch_cfg cfg = {.no_reader = 1};
    struct hx_prefetch *p = open_gate(ALL, cfg, 3);

    (void)state;
    assert_true(hxt_until(no_readers, NULL, 30));
    for (uint64_t i = 0; i < 7; i++)
        get_put(p, i % 3);
    expect_reads(7);
    assert_int_equal(gate.reader[6], gettid());
    expect_stats(p, 0, 0, 7, 0, 0, 0);
    hx_prefetch_close(p);
}

/* --- wrong plans */

static void test_a_skip_inside_the_buffer_drops_what_was_skipped(void **state)
{
    struct hx_prefetch *p = open_gate(ALL, four, 8);

    (void)state;
    expect_reads(4);
    get_put(p, 0); /* 1 2 3 4 */
    expect_reads(5);
    get_put(p, 3); /* 4 5 6 7 */
    expect_stats(p, 2, 0, 0, 1, 2, 0);
    expect_reads(8);
    get_put(p, 4);
    expect_stats(p, 3, 0, 0, 1, 2, 0);
    hx_prefetch_close(p);
}

static void test_what_was_being_read_when_it_was_skipped_is_dropped(void **state)
{
    struct hx_prefetch *p = open_gate(1, four, 8);
    struct hx_prefetch_stats s;
    pthread_t opener;

    (void)state;
    get_put(p, 0);
    assert_true(hxt_until(read_waits, NULL, 20)); /* item 1 */
    pthread_create(&opener, NULL, opens_when_asked, NULL);
    get_put(p, 3);
    pthread_join(opener, NULL);
    expect_reads(7); /* 0, 1, 3, and 4 to 7 ahead */
    hx_prefetch_stats(p, &s);
    assert_int_equal(s.dropped, 1);
    assert_int_equal(s.misses, 1);
    get_put(p, 4);
    hx_prefetch_clear_stats(p);
    for (uint64_t i = 5; i < 8; i++)
        get_put(p, i);
    expect_stats(p, 3, 0, 0, 0, 0, 0);
    hx_prefetch_close(p);
}

static void test_a_jump_beyond_the_buffer_is_a_miss_and_the_reader_follows(void **state)
{
    struct hx_prefetch *p = open_gate(ALL, four, ITEMS);

    (void)state;
    expect_reads(4);
    get_put(p, 0);
    expect_reads(5);
    get_put(p, 20);
    expect_stats(p, 1, 0, 1, 1, 4, 0);
    expect_reads(10);
    assert_int_equal(gate.reader[0], gate.reader[9]);
    for (uint64_t i = 21; i < 25; i++)
        get_put(p, i);
    expect_stats(p, 5, 0, 1, 1, 4, 0);
    expect_reads(14);
    get_put(p, 2); /* back is forward, round the end of the plan */
    expect_stats(p, 5, 0, 2, 2, 8, 0);
    expect_reads(19);
    get_put(p, 3);
    expect_stats(p, 6, 0, 2, 2, 8, 0);
    hx_prefetch_close(p);
}

static void test_an_item_outside_the_plan_is_a_miss_and_the_plan_stays(void **state)
{
    struct hx_prefetch *p = open_gate(ALL, four, 8);

    (void)state;
    expect_reads(4);
    get_put(p, 0);
    expect_reads(5);
    get_put(p, 30); /* in the place of 4, the furthest */
    assert_int_equal(gate.offset[5], 30 * ITEM);
    assert_int_equal(gate.reader[5], gettid());
    expect_reads(7);
    assert_int_equal(gate.offset[6], 4 * ITEM);
    for (uint64_t i = 1; i < 5; i++)
        get_put(p, i);
    expect_stats(p, 5, 0, 1, 1, 1, 0);
    hx_prefetch_close(p);
}

static void test_held_items_leave_no_room_for_a_miss(void **state)
{
    struct hx_prefetch_cfg two = {.slots = 2};
    struct hx_prefetch *p = open_gate(ALL, two, 8);
    const void *a, *b;

    (void)state;
    expect_reads(2);
    a = get(p, 0);
    b = get(p, 30); /* takes the place of item 1 */
    get_fails(p, 1, -EBUSY, "all 2 slots are held");
    hx_prefetch_put(p, a);
    hx_prefetch_put(p, b);
    get_put(p, 1);
    hx_prefetch_close(p);
}

/* --- reads that go wrong */

static void test_short_and_interrupted_reads_are_completed(void **state)
{
    struct hx_prefetch *p = open_gate(0, four, 3);
    struct hx_prefetch_stats s;

    (void)state;
    gate.chunk = 777; /* seven reads per item */
    gate.interrupts = 3;
    gate_open(ALL);
    expect_reads(4 * 7 + 3);
    for (uint64_t i = 0; i < 4; i++)
        get_put(p, i % 3);
    expect_reads(8 * 7 + 3);
    hx_prefetch_stats(p, &s);
    assert_int_equal(s.bytes_read, 8 * ITEM);
    hx_prefetch_close(p);
}

static void test_a_file_that_ends_too_early_is_an_error_of_its_item_alone(void **state)
{
    struct hx_prefetch *p = open_gate(0, four, 3);

    (void)state;
    gate.end = 2 * ITEM + 100;
    gate_open(ALL);
    expect_reads(5); /* the third item takes two: 100 bytes, then nothing */
    get_put(p, 0);
    get_put(p, 1);
    get_fails(p, 2, -EIO, "gate: truncated: 5000 bytes at 10000 are needed, the file ends at 10100");
    expect_stats(p, 2, 0, 0, 0, 0, 1);
    hx_prefetch_close(p);
}

static void test_a_failed_read_ahead_is_a_miss_and_tells_its_own_error(void **state)
{
    struct hx_prefetch *p = open_gate(0, four, 8);

    (void)state;
    gate_error(1, -ENXIO);
    gate_open(ALL);
    expect_reads(4);
    get_put(p, 0);
    expect_reads(5);
    get_fails(p, 1, -ENXIO, "gate: 5000 bytes at 5000: No such device or address");
    expect_reads(7); /* the reader has tried again, once */
    assert_int_equal(gate.reader[5], gettid());
    assert_int_equal(gate.offset[6], ITEM);
    gate_error(1, 0);
    get_put(p, 1);
    get_put(p, 2);
    expect_stats(p, 2, 0, 1, 0, 0, 1);
    hx_prefetch_close(p);
}

static void test_a_failed_miss_is_reported_and_may_be_tried_again(void **state)
{
    struct hx_prefetch *p = open_gate(ALL, four, ITEMS);

    (void)state;
    expect_reads(4);
    gate_error(20, -EIO);
    get_fails(p, 20, -EIO, "gate: 5000 bytes at 100000: Input/output error");
    gate_error(20, 0);
    get_put(p, 20);
    get_put(p, 21);
    gate_error(39, -EIO);
    get_fails(p, 39, -EIO, "Input/output error");
    hx_prefetch_close(p);
}

/* --- storage that is modelled */

static void test_reads_overlap_in_latency_and_follow_each_other_in_bytes(void **state)
{
    const struct hx_storage flash = {.miss_us = 2, .mb_s = 1000}; /* a byte per nanosecond */
    const struct hx_storage latency = {.miss_us = 2};
    uint64_t busy = 0;

    (void)state;
    assert_int_equal(hx_storage_arrival(&latency, &busy, 100, 1 << 30), 2100);
    busy = 0;
    assert_int_equal(hx_storage_arrival(&flash, &busy, 1000, 500), 3000);
    assert_int_equal(hx_storage_arrival(&flash, &busy, 1001, 500), 3001);
    assert_int_equal(hx_storage_arrival(&flash, &busy, 1002, 5000), 7000);  /* the way is busy until 2000 */
    assert_int_equal(hx_storage_arrival(&flash, &busy, 1003, 1), 7001);
    assert_int_equal(hx_storage_arrival(&flash, &busy, 50000, 1), 52000); /* and free again */
}

static void test_a_miss_takes_as_long_as_the_storage_says(void **state)
{
    const struct hx_prefetch_cfg cfg = {.no_reader = 1, .storage = {.miss_us = 300}};
    struct hx_prefetch *p = open_gate(ALL, cfg, 3);
    struct hx_prefetch_stats s;

    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        get_put(p, i);
    hx_prefetch_stats(p, &s);
    assert_int_equal(s.misses, 3);
    assert_int_equal(s.miss_stall.n, 3);
    assert_true(s.miss_stall.sum >= 3 * 300000);
    assert_int_equal(s.read.n, 3);
    assert_true(s.read.sum >= 3 * 300000);
    hx_prefetch_close(p);
}

/* 1: it was asked for in time, which a test that was put aside for long is not. */
static int was_late(void *arg)
{
    struct hx_prefetch_cfg cfg = {.slots = 4, .storage = {.miss_us = 100000}};
    struct hx_prefetch *p = open_gate(ALL, cfg, 8);
    struct hx_prefetch_stats *s = arg;

    expect_reads(4);
    get_put(p, 0);
    hx_prefetch_stats(p, s);
    hx_prefetch_close(p);
    return s->late == 1;
}

static void test_what_is_read_and_not_there_yet_is_late(void **state)
{
    struct hx_prefetch_stats s;

    (void)state;
    assert_true(hxt_until(was_late, &s, 20));
    assert_int_equal(s.hits + s.misses, 0);
    assert_int_equal(s.stall.n, 1);
    assert_int_equal(s.hit_stall.n + s.miss_stall.n, 0);
    assert_true(s.read.sum >= s.read.n * 100000000);
}

static void test_a_hit_takes_the_time_of_a_hit(void **state)
{
    struct hx_prefetch_cfg cfg = {.slots = 4, .storage = {.hit_us = 200}};
    struct hx_prefetch *p = open_gate(ALL, cfg, 8);
    struct hx_prefetch_stats s;

    (void)state;
    expect_reads(4);
    for (uint64_t i = 0; i < 4; i++)
        get_put(p, i);
    hx_prefetch_stats(p, &s);
    assert_int_equal(s.hits, 4);
    assert_int_equal(s.hit_stall.n, 4);
    assert_true(s.hit_stall.sum >= 4 * 200000);
    hx_prefetch_close(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_reads_overlap_in_latency_and_follow_each_other_in_bytes),
    cmocka_unit_test(test_a_miss_takes_as_long_as_the_storage_says),
    cmocka_unit_test(test_what_is_read_and_not_there_yet_is_late),
    cmocka_unit_test(test_a_hit_takes_the_time_of_a_hit),
    cmocka_unit_test(test_the_plan_is_read_in_order_again_and_again),
    cmocka_unit_test(test_sixteen_slots_and_no_more),
    cmocka_unit_test(test_a_get_before_the_bytes_are_there_waits_for_the_reader),
    cmocka_unit_test(test_without_a_reader_every_get_is_a_miss),
    cmocka_unit_test(test_a_skip_inside_the_buffer_drops_what_was_skipped),
    cmocka_unit_test(test_what_was_being_read_when_it_was_skipped_is_dropped),
    cmocka_unit_test(test_a_jump_beyond_the_buffer_is_a_miss_and_the_reader_follows),
    cmocka_unit_test(test_an_item_outside_the_plan_is_a_miss_and_the_plan_stays),
    cmocka_unit_test(test_held_items_leave_no_room_for_a_miss),
    cmocka_unit_test(test_short_and_interrupted_reads_are_completed),
    cmocka_unit_test(test_a_file_that_ends_too_early_is_an_error_of_its_item_alone),
    cmocka_unit_test(test_a_failed_read_ahead_is_a_miss_and_tells_its_own_error),
    cmocka_unit_test(test_a_failed_miss_is_reported_and_may_be_tried_again),
};

int main(void)
{
    return HXT_RUN(tests);
}
