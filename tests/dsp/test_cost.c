/* The cost model: packets of a listing, virtual time; memory is test_cost_memory.c. */
#include <pthread.h>

#include "hxt.h"

#include "cost/code_check.h"
#include "cost/cost.h"
#include "hexrig_hvx_count.h"
#include "cost/listing.h"
#include "base/machine.h"
#include "cost/queue_cost.h"
#include "cost/vtime.h"

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .hvx_contexts = 2,
    .cost = {.packet_pcycles = 2, .load_pcycles = 3, .mpy_pcycles = 5, .hvx_pcycles = 4,
             .vtcm_pcycles = 6, .l2_pcycles = 20, .ddr_pcycles = 100, .dma_bytes_per_pcycle = 8,
             .l1_kib = 1, .l2_kib = 64, .spill_pcycles = 30, .l2_vector_pcycles = 20, .ddr_line_pcycles = 50,
             .ddr_page_pcycles = 40, .ddr_pages = 64},
};

static int setup(void **state)
{
    (void)state;
    return hx_machine ? 0 : hx_machine_init(&profile);
}

/* --- listings -------------------------------------------------------------------------------------------------- */

static double trip(const struct hx_vliw_packet *p, unsigned n, int is_loop)
{
    const struct hx_code_level level = {.packet = p, .packets = (uint16_t)n};

    return hx_listing_time(&level, is_loop, &profile.cost).trip;
}

#define PLAIN {{0}, 0, 0}
#define VECTOR(...) {{__VA_ARGS__}, 1, 0}

static void test_independent_packets_take_one_issue_each(void **state)
{
    const struct hx_vliw_packet p[3] = {PLAIN, PLAIN, PLAIN};

    (void)state;
    assert_true(trip(p, 3, 0) == 6);
    assert_true(trip(p, 3, 1) == 6);
}

static void test_a_packet_waits_for_the_unit_that_makes_its_operand(void **state)
{
    const struct hx_vliw_packet far[3] = {PLAIN, PLAIN, {{HX_WAIT(HX_UNIT_MPY, 0, 2)}, 0, 0}};
    const struct hx_vliw_packet both[3] = {PLAIN, PLAIN, {{HX_WAIT(HX_UNIT_MPY, 0, 2), HX_WAIT(HX_UNIT_LOAD, 0, 1)}, 0, 0}};
    const struct hx_vliw_packet slow[2] = {PLAIN, {{HX_WAIT(HX_UNIT_FLOAT, 0, 1)}, 0, 0}};
    const struct hx_vliw_packet spill[2] = {PLAIN, {{HX_WAIT(HX_UNIT_SPILL, 0, 1)}, 0, 0}};

    (void)state;
    assert_true(trip(far, 3, 0) == 5 + 2);
    assert_true(trip(both, 3, 0) == 5 + 2); /* the later of the two: 5 after the first, 3 after the second */
    assert_true(trip(slow, 2, 0) == 7 + 2); /* a packet more than a multiply */
    assert_true(trip(spill, 2, 0) == 30 + 2);
}

/* Scalar packets by the packet, those with vector instructions by the context cycle. */
static void test_a_context_issues_once_per_context_cycle(void **state)
{
    const struct hx_vliw_packet vectors[3] = {VECTOR(0), VECTOR(0), VECTOR(0)};
    const struct hx_vliw_packet mixed[4] = {VECTOR(0), PLAIN, VECTOR(0), PLAIN};
    const struct hx_vliw_packet unaligned[2] = {{{0}, 2, 1}, VECTOR(0)};

    (void)state;
    assert_true(trip(vectors, 3, 0) == 12);
    assert_true(trip(vectors, 3, 1) == 12);
    assert_true(trip(mixed, 4, 1) == 8); /* the scalar ones fit in between */
    assert_true(trip(unaligned, 2, 1) == 12);
}

static void test_early_sources_stall_one_issue_more(void **state)
{
    const struct hx_vliw_packet late[2] = {VECTOR(0), VECTOR(HX_WAIT(HX_UNIT_HVX, 0, 1))};
    const struct hx_vliw_packet early[2] = {VECTOR(0), VECTOR(HX_WAIT(HX_UNIT_HVX, 1, 1))};
    const struct hx_vliw_packet apart[3] = {VECTOR(0), VECTOR(0), VECTOR(HX_WAIT(HX_UNIT_HVX, 1, 2))};
    const struct hx_vliw_packet address[2] = {PLAIN, {{HX_WAIT(HX_UNIT_ALU, 1, 1)}, 0, 0}};

    (void)state;
    assert_true(trip(late, 2, 0) == 8);
    assert_true(trip(early, 2, 0) == 12);
    assert_true(trip(apart, 3, 0) == 12); /* the packet in between hides it */
    assert_true(trip(address, 2, 0) == 6);
}

static void test_a_loop_waits_for_its_trip_before(void **state)
{
    const struct hx_vliw_packet sum[1] = {{{HX_WAIT(HX_UNIT_MPY, 0, 1)}, 0, 0}};

    (void)state;
    assert_true(trip(sum, 1, 1) == 5);
    assert_true(trip(sum, 1, 0) == 2); /* straight code has none */
}

static void test_loads_tell_how_far_their_use_is(void **state)
{
    const struct hx_vliw_packet late[4] = {{{0}, 1, 1}, {{0}, 1, 1}, PLAIN, VECTOR(HX_WAIT(HX_UNIT_VLOAD, 0, 2))};
    const struct hx_vliw_packet early[4] = {{{0}, 1, 1}, {{0}, 1, 1}, PLAIN, VECTOR(HX_WAIT(HX_UNIT_VLOAD, 1, 2))};
    struct hx_code_level level = {.packet = late, .packets = 4};
    struct hx_listing_time t = hx_listing_time(&level, 1, &profile.cost);

    (void)state;
    assert_int_equal(t.vector_loads, 2);
    assert_true(t.load_to_use == 6); /* vtcm_pcycles: the use waited */
    assert_true(t.trip == 4 + 6 + 4);
    level.packet = early;
    t = hx_listing_time(&level, 1, &profile.cost);
    assert_true(t.load_to_use == 6); /* it issues a context cycle later, and needs the value as early as before */
    assert_true(t.trip == 4 + 6 + 4 + 4);
}

/* --- both together --------------------------------------------------------------------------------------------- */

static const struct hx_vliw_packet body[2] = {{{0}, 1, 1}, {{HX_WAIT(HX_UNIT_VLOAD, 0, 1)}, 0, 0}};
static const struct hx_vliw_packet straight[1] = {PLAIN};
static const struct hx_code_level levels[2] = {{straight, 1, 0, 0}, {body, 2, 1, 0}};
static const struct hx_code hx_code_sample = {"sample", 2, {levels, levels}};
static _Alignas(512) uint8_t memory[4 * 128]; /* in one page */

static uint64_t exec(void)
{
    return hx_vtime_spent().exec_pcycles;
}

static void sample(unsigned trips)
{
    HX_CODE(sample);
    HX_TRIPS(1, trips);
    for (unsigned i = 0; i < trips; i++)
        hx_cost_access(memory + i % 4 * 128, 128, 0);
}

static void test_a_function_costs_its_packets_and_the_stalls_of_its_loads(void **state)
{
    (void)state;
    hx_vt_call_begin(0, 0);
    sample(0);
    assert_int_equal(exec(), 2);
    sample(5); /* one trip is peeled; four lines from DDR, of a new page, one from L2, each load hides 6 */
    assert_int_equal(exec(), 2 + 2 + 4 * 8 + 40 + 4 * (100 - 6) + (20 - 6));
    hx_vt_call_begin(0, 0); /* the caches are empty again */
    sample(1);
    assert_int_equal(exec(), 2 + 40 + (100 - 6));
}

static void test_hvx_operations_outside_of_listings_have_a_price(void **state)
{
    (void)state;
    hx_vt_call_begin(0, 0);
    hx_hvx_counts.op[HX_SLOT_VX_DV] += 10; /* one and a quarter context cycles of 4 each */
    hx_hvx_counts.op[HX_SLOT_GATHER_DV] += 4; /* two each */
    assert_int_equal(exec(), 90);
    assert_int_equal(exec(), 90); /* charged once */
    {
        HX_CODE(sample);
        hx_hvx_counts.op[HX_SLOT_VX_DV] += 1000; /* the listing has them */
    }
    assert_int_equal(exec(), 92);
}

/* --- loops that are not told, and that there are not --- */

static const struct hx_vliw_packet one_packet[1] = {PLAIN};
/* loop 2 inside loop 1, and loop 3 behind */
static const struct hx_code_level nest_levels[4] = {
    {one_packet, 1, 0, 0}, {one_packet, 1, 0, 0}, {one_packet, 1, 0, 1}, {one_packet, 1, 0, 0}};

#define NEST(n) static const struct hx_code hx_code_nest##n = {"nest" #n, 4, {nest_levels, nest_levels}}
NEST(1);
NEST(2);
NEST(3);
NEST(4);

/* As it should be; the inner loop has no trips to tell. */
static void run_nest1(void)
{
    HX_CODE(nest1);
    HX_TRIPS(1, 0);
    HX_TRIPS(3, 0);
}

static void test_loops_that_do_not_fit_the_table_are_told_of_once(void **state)
{
    const unsigned before = hx_code_check_kernels();

    (void)state;
    hx_vt_call_begin(0, 0);
    for (int i = 0; i < 2; i++)
        run_nest1();
    {
        HX_CODE(nest1); /* returns before its loops */
    }
    assert_int_equal(hx_code_check_kernels(), before);
    for (int i = 0; i < 2; i++) { /* loop 2, though loop 1 ran */
        HX_CODE(nest2);
        HX_TRIPS(1, 1);
        HX_TRIPS(3, 1);
    }
    assert_int_equal(hx_code_check_kernels(), before + 1);
    for (int i = 0; i < 2; i++) { /* loop 3; what a function inside tells is not this one's */
        HX_CODE(nest3);
        HX_TRIPS(1, 1);
        run_nest1();
        HX_TRIPS(2, 0);
    }
    assert_int_equal(hx_code_check_kernels(), before + 2);
    for (unsigned i = 0; i < 2; i++) { /* loops that there are not */
        HX_CODE(nest4);
        HX_TRIPS(1, 0);
        HX_TRIPS(3, 0);
        assert_int_equal(hx_code_check_kernels(), before + 2 + i);
        HX_TRIPS(4 - 4 * i, 1);
    }
    assert_int_equal(hx_code_check_kernels(), before + 3);
}

/* --- virtual time ---------------------------------------------------------------------------------------------- */

static void test_waiting_reaches_a_time_and_never_goes_back(void **state)
{
    uint64_t start;

    (void)state;
    hx_vt_call_begin(5000, 2000000);
    start = hx_vt_now();
    assert_int_equal(hx_vt_seen_ns(), 5000);
    hx_vt_spend(HX_VT_CODE, 400);
    assert_int_equal(hx_vt_seen_ns(), 5200); /* 2 GHz */
    hx_vt_reach(HX_VT_HVX, start + 1000);
    hx_vt_reach(HX_VT_HVX, start + 10);
    assert_int_equal(hx_vt_now(), start + 1000);
    assert_int_equal(hx_vtime_spent().queue_pcycles, 600);
    assert_int_equal(exec(), 400);
    hx_vt_call_end();
    hx_vt_call_begin(0, 0); /* the machine's counter goes on */
    assert_int_equal(hx_vt_now(), start + 1000);
}

/* The client's next call may come while the packet's callback has not returned. */
static void *begin_call(void *now)
{
    hx_vt_call_begin(0, 0);
    *(uint64_t *)now = hx_vt_now();
    hx_vt_call_end();
    return NULL;
}

static void test_a_call_after_a_packets_response_begins_after_it(void **state)
{
    static struct hx_packet_sums sums;
    uint64_t responded, begun = 0;
    pthread_t client;

    (void)state;
    hx_queue_cost_open(&sums);
    hx_queue_cost_callback_begin();
    hx_queue_cost_note(NULL, 1, 0, NULL, 0);
    hx_vt_spend(HX_VT_CODE, 400);
    responded = hx_vt_now();
    hx_queue_cost_note(NULL, 0, 0, NULL, 0);
    assert_int_equal(pthread_create(&client, NULL, begin_call, &begun), 0);
    assert_int_equal(pthread_join(client, NULL), 0);
    assert_int_equal(begun, responded);
    hx_queue_cost_callback_end();
    assert_int_equal(sums.exec_pcycles, 400);
    hx_queue_cost_open(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_independent_packets_take_one_issue_each),
        cmocka_unit_test(test_a_packet_waits_for_the_unit_that_makes_its_operand),
        cmocka_unit_test(test_a_context_issues_once_per_context_cycle),
        cmocka_unit_test(test_early_sources_stall_one_issue_more),
        cmocka_unit_test(test_a_loop_waits_for_its_trip_before),
        cmocka_unit_test(test_loads_tell_how_far_their_use_is),
        cmocka_unit_test(test_a_function_costs_its_packets_and_the_stalls_of_its_loads),
        cmocka_unit_test(test_hvx_operations_outside_of_listings_have_a_price),
        cmocka_unit_test(test_loops_that_do_not_fit_the_table_are_told_of_once),
        cmocka_unit_test(test_waiting_reaches_a_time_and_never_goes_back),
        cmocka_unit_test(test_a_call_after_a_packets_response_begins_after_it),
    };

    return HXT_RUN_FIXTURE(tests, setup, NULL);
}
