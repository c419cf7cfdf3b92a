/* Protects: bytes that DSP code moves are counted once, where they were found, for what their skel says that they are for, and in the
 * call that moved them. */
#include "hxt.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "AEEStdErr.h"
#include "HAP_vtcm_mgr.h"
#include "base/machine.h"
#include "cost/cost.h"
#include "cost/purpose.h"
#include "cost/traffic.h"
#include "cost/vtime.h"
#include "hexrig_dma.h"
#include "hexrig_purpose.h"
#include "hexrig_scalar_mem.h"

enum { LINE = 128, MIB = 1 << 20 };

static struct hx_profile profile;
static uint8_t *data; /* MIB, page-aligned, below 4 GiB, nobody's stack */

static int setup(void **state)
{
    char why[256];

    (void)state;
    if (hx_profile_load(&profile, HXT_SRC "/dsp/profiles", "s22u-sync", why, sizeof(why)))
        fail_msg("%s", why);
    data = mmap((void *)0x60000000, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED || (!hx_machine && hx_machine_init(&profile));
}

static uint64_t moved(enum hx_purpose purpose, enum hx_traffic_place place)
{
    return hx_traffic_spent().bytes[purpose][place];
}

static uint64_t all(enum hx_traffic_place place)
{
    const struct hx_traffic t = hx_traffic_spent();

    return hx_traffic_at(&t, place);
}

static void load(const void *p)
{
    hx_cost_access(p, LINE, 0);
}

static void test_a_line_is_counted_where_it_was_found(void **state)
{
    (void)state;
    hx_vt_call_begin(0, 0);
    load(data);                                   /* from DDR */
    load(data);                                   /* from L2 */
    hx_cost_access(data + 4 * LINE, LINE, 1);     /* written to DDR */
    hx_cost_access(data + 8 * LINE + 4, 4, 0);    /* a word: its line comes from DDR, */
    hx_cost_access(data + 8 * LINE + 64, 4, 0);   /* and another part of that goes from L2 to L1 */
    hx_cost_access(data + 8 * LINE + 68, 4, 0);   /* where it stays */
    assert_int_equal(all(HX_PLACE_DDR), 3 * LINE);
    assert_int_equal(all(HX_PLACE_L2), LINE + 32);
    assert_int_equal(all(HX_PLACE_VTCM), 0);
    assert_int_equal(all(HX_PLACE_DMA), 0);
    hx_vt_call_end();
    hx_vt_call_begin(0, 0); /* the next one begins at 0, with empty caches */
    assert_int_equal(all(HX_PLACE_DDR), 0);
    load(data);
    assert_int_equal(all(HX_PLACE_DDR), LINE);
    hx_vt_call_end();
}

static void test_what_is_prefetched_comes_from_ddr_once(void **state)
{
    (void)state;
    hx_vt_call_begin(0, 0);
    hx_prefetch((uintptr_t)data, LINE, 16, LINE);
    assert_int_equal(all(HX_PLACE_DDR), 16 * LINE);
    hx_prefetch((uintptr_t)data, LINE, 16, LINE);
    for (int i = 0; i < 16; i++)
        load(data + i * LINE);
    assert_int_equal(all(HX_PLACE_DDR), 16 * LINE);
    assert_int_equal(all(HX_PLACE_L2), 16 * LINE);
    hx_vt_call_end();
}

static void test_vtcm_and_dma_have_places_of_their_own(void **state)
{
    struct hx_dma_type0 *d = (void *)(data + MIB / 2);
    uint8_t *vtcm;

    (void)state;
    hx_vt_call_begin(0, 0);
    vtcm = HAP_request_VTCM(256 << 10, 0);
    assert_non_null(vtcm);
    *d = (struct hx_dma_type0){.length = 1000, .src = (uint32_t)(uintptr_t)data, .dst = (uint32_t)(uintptr_t)vtcm};
    Q6_dmstart_A(d);
    assert_int_equal(Q6_R_dmwait() & HX_DMA_STATUS_MASK, HX_DMA_IDLE);
    assert_int_equal(all(HX_PLACE_DMA), 1000);
    load(vtcm);
    hx_cost_access(vtcm + LINE, LINE, 1);
    hx_cost_access(vtcm + 2 * LINE, 4, 0);
    assert_int_equal(all(HX_PLACE_VTCM), 2 * LINE + 4);
    assert_int_equal(all(HX_PLACE_DDR) + all(HX_PLACE_L2), 0);
    HAP_release_VTCM(vtcm);
    hx_vt_call_end();
}

static void check_purpose(const void *at, enum hx_purpose want)
{
    assert_int_equal(hx_purpose_of((uintptr_t)at).purpose, want);
}

static void test_memory_is_for_what_was_said_last(void **state)
{
    (void)state;
    assert_int_equal(hx_purpose_set(data, 1000, HX_PURPOSE_WEIGHTS), AEE_SUCCESS);
    assert_int_equal(hx_purpose_set(data + 400, 100, HX_PURPOSE_TABLES), AEE_SUCCESS); /* within */
    check_purpose(data, HX_PURPOSE_WEIGHTS);
    check_purpose(data + 399, HX_PURPOSE_WEIGHTS);
    check_purpose(data + 400, HX_PURPOSE_TABLES);
    check_purpose(data + 499, HX_PURPOSE_TABLES);
    check_purpose(data + 500, HX_PURPOSE_WEIGHTS);
    check_purpose(data + 1000, HX_PURPOSE_OTHER);
    assert_int_equal(hx_purpose_set(data + 450, 1000, HX_PURPOSE_KV), AEE_SUCCESS); /* over several */
    check_purpose(data + 449, HX_PURPOSE_TABLES);
    check_purpose(data + 999, HX_PURPOSE_KV);
    check_purpose(data + 1449, HX_PURPOSE_KV);
    assert_int_equal(hx_purpose_set(data, 2000, HX_PURPOSE_OTHER), AEE_SUCCESS);
    check_purpose(data + 450, HX_PURPOSE_OTHER);
    assert_int_equal(hx_purpose_set(data, 10, HX_PURPOSES), AEE_EBADPARM);
    assert_int_equal(hx_purpose_set(data, SIZE_MAX, HX_PURPOSE_KV), AEE_EBADPARM);
    assert_int_equal(hx_purpose_set(data, 0, HX_PURPOSE_KV), AEE_SUCCESS);
    check_purpose(data, HX_PURPOSE_OTHER);
}

static void test_more_pieces_than_there_is_room_for_stay_unknown(void **state)
{
    int rc = AEE_SUCCESS, n = 0;

    (void)state;
    for (; !rc && n < 1000; n++)
        rc = hx_purpose_set(data + n * 256, 128, HX_PURPOSE_KV);
    assert_int_equal(rc, AEE_ENOMEMORY);
    assert_int_equal(n, 257);
    check_purpose(data + 256 * 256, HX_PURPOSE_OTHER);
    check_purpose(data, HX_PURPOSE_KV);
    assert_int_equal(hx_purpose_set(data, MIB, HX_PURPOSE_OTHER), AEE_SUCCESS);
}

static void test_bytes_go_to_the_purpose_of_the_memory(void **state)
{
    struct hx_dma_type0 *d = (void *)(data + MIB / 2);
    uint8_t *vtcm;

    (void)state;
    hx_vt_call_begin(0, 0);
    hx_purpose_set(data, 4 * LINE, HX_PURPOSE_WEIGHTS);
    load(data);
    load(data + 4 * LINE);
    assert_int_equal(moved(HX_PURPOSE_WEIGHTS, HX_PLACE_DDR), LINE);
    assert_int_equal(moved(HX_PURPOSE_OTHER, HX_PLACE_DDR), LINE);
    hx_purpose_set(data, 4 * LINE, HX_PURPOSE_TABLES); /* from now on */
    load(data);
    assert_int_equal(moved(HX_PURPOSE_WEIGHTS, HX_PLACE_DDR), LINE);
    assert_int_equal(moved(HX_PURPOSE_TABLES, HX_PLACE_L2), LINE);
    vtcm = HAP_request_VTCM(256 << 10, 0);
    hx_purpose_set(vtcm, 256 << 10, HX_PURPOSE_KV);
    for (int i = 0; i < 2; i++) { /* a source that is known, one that is not */
        *d = (struct hx_dma_type0){.length = LINE, .src = (uint32_t)(uintptr_t)(data + i * MIB / 4),
                                   .dst = (uint32_t)(uintptr_t)vtcm};
        Q6_dmstart_A(d);
        Q6_R_dmwait();
    }
    assert_int_equal(moved(HX_PURPOSE_TABLES, HX_PLACE_DMA), LINE);
    assert_int_equal(moved(HX_PURPOSE_KV, HX_PLACE_DMA), LINE);
    hx_purpose_set(vtcm, 256 << 10, HX_PURPOSE_OTHER);
    hx_purpose_set(data, MIB, HX_PURPOSE_OTHER);
    HAP_release_VTCM(vtcm);
    hx_vt_call_end();
}

static void *worker(void *origin)
{
    hx_vt_thread_begin(origin);
    for (int i = 0; i < 100; i++)
        load(data + (1000 + i) * LINE);
    hx_purpose_needed(10, 20);
    hx_cost_end();
    return NULL;
}

static void test_other_threads_of_a_call_are_in_its_sums(void **state)
{
    struct hx_vt_origin origin;
    pthread_t t;

    (void)state;
    hx_vt_call_begin(0, 0);
    load(data);
    hx_purpose_needed(1, 2);
    origin = hx_vt_origin();
    assert_int_equal(pthread_create(&t, NULL, worker, &origin), 0);
    pthread_join(t, NULL);
    assert_int_equal(all(HX_PLACE_DDR), 101 * LINE);
    assert_int_equal(hx_traffic_spent().hit_bytes, 11);
    assert_int_equal(hx_traffic_spent().miss_bytes, 22);
    hx_vt_call_end();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_line_is_counted_where_it_was_found),
    cmocka_unit_test(test_what_is_prefetched_comes_from_ddr_once),
    cmocka_unit_test(test_vtcm_and_dma_have_places_of_their_own),
    cmocka_unit_test(test_memory_is_for_what_was_said_last),
    cmocka_unit_test(test_more_pieces_than_there_is_room_for_stay_unknown),
    cmocka_unit_test(test_bytes_go_to_the_purpose_of_the_memory),
    cmocka_unit_test(test_other_threads_of_a_call_are_in_its_sums),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, setup, NULL);
}
