/* User DMA on the virtual clock, dsp/include/hexrig/hexrig_dma.h. */
#include "hxt.h"

#include <sys/mman.h>

#include "HAP_vtcm_mgr.h"
#include "machine/dma.h"
#include "hexrig_dma.h"
#include "base/low_memory.h"
#include "base/machine.h"
#include "cost/vtime.h"

enum { BYTES = 4096, SETUP = 100 };

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .hvx_contexts = 2,
    .cost = {.packet_pcycles = 1, .hvx_pcycles = 1, .dma_setup_pcycles = SETUP, .dma_bytes_per_pcycle = 8},
};

/* Descriptors as compiled for 64 bits: `next` is a pointer. */
struct wide_1d {
    void *next;
    uint32_t length : 24, type : 2, dlbc : 2, bypass : 2, order : 1, done : 1;
    uint32_t src, dst;
};
struct wide_2d {
    void *next;
    uint32_t dst_stride_24 : 24, type : 2, dlbc : 2, bypass : 2, order : 1, done : 1;
    uint32_t src, dst;
    uint32_t kind : 8, reserved : 24;
    union {
        struct {
            uint16_t width, rows, src_stride, dst_stride, src_offset, dst_offset;
        } of_16_bits;
        struct {
            uint32_t width : 24, rows_low : 8, rows_high : 8, src_stride : 24, offset;
        } of_24_bits;
    };
};
_Static_assert(sizeof(struct wide_1d) == 24 && sizeof(struct wide_2d) == 40, "what dma-queue.h of llama.cpp has on x86-64");

static struct memory {
    uint8_t src[4 * BYTES], dst[4 * BYTES];
    struct hx_dma_type0 d0[4];
    struct hx_dma_type1 d1[2];
    struct wide_2d ring[4]; /* every other one at a multiple of 8 only */
} *m;

static int setup(void **state)
{
    (void)state;
    if (!hx_machine && hx_machine_init(&profile))
        return -1;
    m = hx_low_map(sizeof(*m), -1);
    return m ? 0 : -1;
}

static uint32_t low(const void *p)
{
    return (uint32_t)(uintptr_t)p;
}

static int fresh(void **state)
{
    (void)state;
    memset(m, 0, sizeof(*m));
    for (unsigned i = 0; i < sizeof(m->src); i++)
        m->src[i] = (uint8_t)(i * 7 + i / 256);
    hx_vt_call_begin(0, 0);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    hx_dma_end();
    hx_vt_call_end();
    return 0;
}

static struct hx_dma_type0 *linear(unsigned i, uint32_t length)
{
    m->d0[i] = (struct hx_dma_type0){.length = length & 0xffffff, .src = low(m->src + i * BYTES),
                                     .dst = low(m->dst + i * BYTES)};
    return &m->d0[i];
}

static void test_bytes_arrive_with_the_wait_and_not_before(void **state)
{
    uint64_t start;

    (void)state;
    Q6_dmstart_A(linear(0, BYTES));
    start = hx_vt_now();
    assert_int_equal(m->dst[1], 0);
    assert_int_equal(Q6_R_dmpoll() & HX_DMA_STATUS_MASK, HX_DMA_RUNNING);
    assert_int_equal(m->dst[1], 0);
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE);
    assert_memory_equal(m->dst, m->src, BYTES);
    assert_int_equal(m->d0[0].done, 1);
    assert_int_equal(hx_vt_now() - start, SETUP + BYTES / 8);
}

static void test_work_that_overlaps_hides_the_transfer(void **state)
{
    uint64_t start;

    (void)state;
    Q6_dmstart_A(linear(0, BYTES));
    hx_vt_spend(HX_VT_CODE, 10000);
    start = hx_vt_now();
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE);
    assert_int_equal(hx_vt_now() - start, 1); /* the packet of dmwait */
}

static void test_a_source_overwritten_too_early_is_sent_overwritten(void **state)
{
    (void)state;
    Q6_dmstart_A(linear(0, BYTES));
    m->src[5] = 0xee;
    Q6_R_dmwait();
    assert_int_equal(m->dst[5], 0xee);
}

static void test_a_chain_runs_in_order_and_rows_keep_their_strides(void **state)
{
    const uint32_t longest = (1 << 24) - 1;

    (void)state;
    m->d1[0] = (struct hx_dma_type1){.type = 1, .src = low(m->src), .dst = low(m->dst + BYTES), .roi_width = 10,
                                     .roi_height = 3, .src_stride = 100, .dst_stride = 50};
    linear(0, 64)->next = low(&m->d1[0]);
    Q6_dmstart_A(&m->d0[0]);
    Q6_dmlink_AA(&m->d1[0], linear(2, 16)); /* while it runs */
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE);
    assert_true(m->d0[0].done && m->d1[0].done && m->d0[2].done);
    for (int r = 0; r < 3; r++)
        assert_memory_equal(m->dst + BYTES + r * 50, m->src + r * 100, 10);
    assert_int_equal(m->dst[BYTES + 10], 0);
    Q6_dmlink_AA(&m->d0[2], linear(3, 16)); /* starts the idle engine again */
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE);
    assert_memory_equal(m->dst + 3 * BYTES, m->src + 3 * BYTES, 16);
    assert_int_equal(linear(0, longest)->length, longest);
}

static void test_polling_ends(void **state)
{
    int polls = 0;

    (void)state;
    Q6_dmstart_A(linear(0, 800));
    while ((Q6_R_dmpoll() & HX_DMA_STATUS_MASK) == HX_DMA_RUNNING)
        assert_true(++polls < 1000);
    assert_true(polls > 100); /* SETUP pcycles and 832 / 8, a packet each */
    assert_memory_equal(m->dst, m->src, 800);
}

static void test_pause_keeps_the_rest_for_resume(void **state)
{
    int rest;

    (void)state;
    linear(0, 64)->next = low(linear(1, BYTES));
    Q6_dmstart_A(&m->d0[0]);
    hx_vt_spend(HX_VT_CODE, SETUP + 8);
    rest = Q6_R_dmpause();
    assert_int_equal(rest, low(&m->d0[1]) | HX_DMA_RUNNING);
    hx_vt_spend(HX_VT_CODE, 100000);
    assert_int_equal(Q6_R_dmpoll() & HX_DMA_STATUS_MASK, HX_DMA_RUNNING);
    assert_int_equal(m->dst[BYTES + 1], 0);
    Q6_dmresume_A((void *)(uintptr_t)(uint32_t)rest);
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE);
    assert_memory_equal(m->dst + BYTES, m->src + BYTES, BYTES);
}

/* --- descriptors of 64-bit code ---------------------------------------------------------------------------------- */

static struct wide_2d *wide_linear(unsigned i, uint32_t length)
{
    struct wide_1d *d = (struct wide_1d *)&m->ring[i];

    m->ring[i] = (struct wide_2d){.kind = 0};
    *d = (struct wide_1d){.length = length & 0xffffff, .bypass = 3, .src = low(m->src + i * BYTES), .dst = low(m->dst + i * BYTES)};
    return &m->ring[i];
}

static void test_a_ring_whose_next_is_a_pointer_is_read_and_takes_the_same_time(void **state)
{
    uint64_t start;

    (void)state;
    Q6_dmlink_AA(&m->ring[3], wide_linear(0, BYTES)); /* to a tail that was never filled in, as the first of a ring is */
    start = hx_vt_now();
    Q6_dmlink_AA(&m->ring[0], wide_linear(1, 100));
    m->ring[2] = (struct wide_2d){.type = 1, .src = low(m->src + 2 * BYTES), .dst = low(m->dst + 2 * BYTES),
                                  .of_16_bits = {.width = 10, .rows = 3, .src_stride = 100, .dst_stride = 50}};
    Q6_dmlink_AA(&m->ring[1], &m->ring[2]);
    assert_ptr_equal(m->ring[0].next, &m->ring[1]);
    assert_int_equal(m->ring[0].done, 0);
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE);
    assert_int_equal(hx_vt_now() - start, 3 * SETUP + BYTES / 8 + 128 / 8 + 3 * 64 / 8);
    assert_true(m->ring[0].done && m->ring[1].done && m->ring[2].done);
    assert_memory_equal(m->dst, m->src, BYTES);
    assert_memory_equal(m->dst + BYTES, m->src + BYTES, 100);
    assert_int_equal(m->dst[BYTES + 100], 0);
    for (int r = 0; r < 3; r++)
        assert_memory_equal(m->dst + 2 * BYTES + r * 50, m->src + 2 * BYTES + r * 100, 10);
    assert_int_equal(m->dst[2 * BYTES + 10], 0);
}

static void test_wide_and_narrow_ones_go_into_one_chain(void **state)
{
    (void)state;
    m->d0[1].next = 0;
    Q6_dmstart_A(wide_linear(0, 64));
    Q6_dmlink_AA(&m->ring[0], linear(1, 64));
    Q6_dmlink_AA(&m->d0[1], wide_linear(2, 64));
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE);
    assert_true(m->ring[0].done && m->d0[1].done && m->ring[2].done);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(m->dst + i * BYTES, m->src + i * BYTES, 64);
}

static void test_rows_and_strides_of_24_bits(void **state)
{
    (void)state;
    m->ring[0] = (struct wide_2d){.type = 1, .kind = 9, .src = low(m->src), .dst = low(m->dst), .dst_stride_24 = 8,
                                  .of_24_bits = {.width = 4, .rows_low = 300 & 0xff, .rows_high = 300 >> 8, .src_stride = 16}};
    m->d1[0] = (struct hx_dma_type1){.length = 20, .type = 1, .src = low(m->src), .dst = low(m->dst + 2 * BYTES), .allocation = 9,
                                     .roi_width = 7, .roi_height = 2 << 8, .src_stride = 30 << 8};
    Q6_dmstart_A(&m->ring[0]);
    Q6_dmlink_AA(&m->ring[0], &m->d1[0]);
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE);
    for (int r = 0; r < 300; r++)
        assert_memory_equal(m->dst + r * 8, m->src + r * 16, 4);
    assert_int_equal(m->dst[4], 0);
    assert_int_equal(m->dst[300 * 8], 0);
    for (int r = 0; r < 2; r++)
        assert_memory_equal(m->dst + 2 * BYTES + r * 20, m->src + r * 30, 7);
    m->ring[0].of_24_bits.offset = 1;
    Q6_dmstart_A(&m->ring[0]);
    assert_int_equal(Q6_R_dmwait() & HX_DMA_STATUS_MASK, HX_DMA_ERROR);
}

static void test_a_long_poll_ends_with_its_transfer(void **state)
{
    const uint64_t start = hx_vt_now();
    int polls = 0;

    (void)state;
    m->ring[0] = (struct wide_2d){.type = 1, .src = low(m->src), .dst = low(m->dst), .of_16_bits = {.width = 64, .rows = 60000}};
    Q6_dmstart_A(&m->ring[0]);
    while (!((volatile struct wide_2d *)&m->ring[0])->done) {
        Q6_R_dmpoll();
        assert_true(++polls < 200);
    }
    assert_int_equal(hx_vt_now() - start, 1 + SETUP + 60000 * 64 / 8); /* dmstart's packet before it */
}

/* --- errors -------------------------------------------------------------------------------------------------------- */

static void expect_error(void *descriptor)
{
    int rc;

    Q6_dmstart_A(descriptor);
    rc = Q6_R_dmwait();
    assert_int_equal(rc & HX_DMA_STATUS_MASK, HX_DMA_ERROR);
    assert_int_equal((uint32_t)rc & ~3u, low(descriptor) & ~3u);
}

static void test_bad_descriptors_stop_the_engine(void **state)
{
    uint8_t *hole = hx_low_map(8192, -1);
    void *vtcm;

    (void)state;
    assert_int_equal(munmap(hole, 8192), 0);
    expect_error((uint8_t *)linear(0, 64) + 8);
    linear(0, 64)->type = 2;
    expect_error(&m->d0[0]);
    linear(0, 64)->src_dlbc = 1;
    expect_error(&m->d0[0]);
    linear(0, 64)->src = low(hole);
    expect_error(&m->d0[0]);
    linear(0, 64)->dst = 0xffffffe0; /* runs over 4 GiB */
    expect_error(&m->d0[0]);
    linear(0, 64)->dst = low(hx_vtcm); /* nobody asked for it */
    expect_error(&m->d0[0]);
    hole = hx_low_map(4096, -1);
    assert_int_equal(mprotect(hole, 4096, PROT_READ), 0);
    linear(0, 64)->dst = low(hole);
    expect_error(&m->d0[0]);
    linear(0, 64)->src = low(hole); /* may be read */
    Q6_dmstart_A(&m->d0[0]);
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE);
    vtcm = HAP_request_VTCM(64, 1);
    assert_non_null(vtcm);
    linear(0, 64)->dst = low(vtcm);
    Q6_dmstart_A(&m->d0[0]); /* clears the error */
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE);
    assert_memory_equal(vtcm, m->src, 64);
    HAP_release_VTCM(vtcm);
}

static void test_misuse_is_an_error_or_a_line_in_the_log(void **state)
{
    (void)state;
    assert_int_equal(Q6_R_dmwait(), HX_DMA_IDLE); /* nothing was started */
    Q6_dmstart_A(linear(0, BYTES));
    Q6_dmstart_A(linear(1, BYTES));
    assert_int_equal(Q6_R_dmwait() & HX_DMA_STATUS_MASK, HX_DMA_ERROR);
    linear(2, 64)->next = low(&m->d0[2]); /* a ring */
    expect_error(&m->d0[2]);
    Q6_dmstart_A(linear(0, BYTES));
    hx_dma_end(); /* as when the call returns */
    assert_memory_equal(m->dst, m->src, BYTES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, finish)
    const struct CMUnitTest tests[] = {
        TEST(test_bytes_arrive_with_the_wait_and_not_before),
        TEST(test_work_that_overlaps_hides_the_transfer),
        TEST(test_a_source_overwritten_too_early_is_sent_overwritten),
        TEST(test_a_chain_runs_in_order_and_rows_keep_their_strides),
        TEST(test_polling_ends),
        TEST(test_a_ring_whose_next_is_a_pointer_is_read_and_takes_the_same_time),
        TEST(test_wide_and_narrow_ones_go_into_one_chain),
        TEST(test_rows_and_strides_of_24_bits),
        TEST(test_a_long_poll_ends_with_its_transfer),
        TEST(test_pause_keeps_the_rest_for_resume),
        TEST(test_bad_descriptors_stop_the_engine),
        TEST(test_misuse_is_an_error_or_a_line_in_the_log),
    };

    return HXT_RUN_FIXTURE(tests, setup, NULL);
}
