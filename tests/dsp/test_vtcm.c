/* Protects grants of VTCM: sizes, pages, queries, which memory can be touched, what a request costs and what the log says when it
 * fails. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "HAP_compute_res.h"
#include "HAP_vtcm_mgr.h"
#include "hx_profile.h"
#include "hxt.h"
#include "kept_log.h"
#include "base/machine.h"
#include "cost/vtime.h"

enum { MIB = 1 << 20, KIB = 1 << 10 };

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .hvx_contexts = 2,
    .hw_threads = 4,
    .cost = {.packet_pcycles = 1, .vtcm_request_pcycles = 70, .vtcm_release_pcycles = 30}};

/* Where the grant begins, in KiB from the base. */
static long at_kib(const void *p)
{
    return p ? (long)((const uint8_t *)p - hx_vtcm) / KIB : -1;
}

static int each_test(void **state)
{
    unsigned range;

    (void)state;
    HAP_query_avail_VTCM(&range, NULL, NULL);
    assert_int_equal(range, 8 * MIB); /* nothing is left from the last one */
    hx_vt_call_end();
    hx_vt_call_begin(0, 1000000);
    return 0;
}

static void test_pages_are_granted_whole(void **state)
{
    static const struct {
        unsigned bytes, single;
        long first, size; /* KiB: where and how much, when the first 256 are taken */
    } want[] = {{1, 1, 256, 256},           {256 * KIB, 1, 256, 256}, {257 * KIB, 0, 256, 512},
                {257 * KIB, 1, 1024, 1024}, {MIB + 1, 1, 4096, 4096}, {MIB + 1, 0, 256, 1280},
                {5057024, 0, 256, 5120},    {5057024, 1, -1, 0},      {7936 * KIB, 0, 256, 7936},
                {8 * MIB, 0, -1, 0}};
    void *one = HAP_request_VTCM(10, 1);
    unsigned range;

    (void)state;
    assert_int_equal(at_kib(one), 0);
    assert_int_equal(HAP_query_avail_VTCM(&range, NULL, NULL), 0);
    assert_int_equal(range, 7936 * KIB); /* as published for V69 */
    for (unsigned i = 0; i < HXT_LEN(want); i++) {
        void *p = HAP_request_VTCM(want[i].bytes, want[i].single);

        if (at_kib(p) != want[i].first)
            fail_msg("%u bytes, single %u: at %ld KiB", want[i].bytes, want[i].single, at_kib(p));
        for (long k = 0; p && k < want[i].size; k += 256) /* all of it is taken */
            assert_int_equal(hx_machine->vtcm[want[i].first / 256 + k / 256].client, -1);
        if (p) {
            assert_int_equal(HAP_release_VTCM((char *)p + 256 * KIB), AEE_EBADPARM);
            assert_int_equal(HAP_release_VTCM(p), AEE_SUCCESS);
            assert_int_equal(HAP_release_VTCM(p), AEE_EBADPARM);
        }
    }
    assert_int_equal(HAP_release_VTCM(one), AEE_SUCCESS);
}

static void test_queries_tell_pages(void **state)
{
    compute_res_vtcm_page_t total, avail;
    unsigned range, page, n, all, left;
    void *one, *two;

    (void)state;
    assert_int_equal(HAP_query_total_VTCM(&page, &n), 0);
    assert_true(page == 8 * MIB && n == 1); /* as published for V69 */
    assert_int_equal(HAP_query_avail_VTCM(&range, &page, &n), 0);
    assert_true(range == 8 * MIB && page == 8 * MIB && n == 1);
    one = HAP_request_VTCM(1, 1);
    two = HAP_request_VTCM(4 * MIB, 1);
    assert_int_equal(at_kib(two), 4096);
    HAP_query_avail_VTCM(&range, &page, &n);
    assert_true(range == 3840 * KIB && page == MIB && n == 3);
    assert_int_equal(HAP_compute_res_query_VTCM(0, &all, &total, &left, &avail), 0);
    assert_true(all == 8 * MIB && total.block_size == all && total.page_list_len == 1);
    assert_true(total.page_list[0].page_size == 8 * MIB && total.page_list[0].num_pages == 1);
    assert_true(left == range && avail.page_list_len == 2);
    assert_true(avail.page_list[0].page_size == MIB && avail.page_list[0].num_pages == 3);
    assert_true(avail.page_list[1].page_size == 256 * KIB && avail.page_list[1].num_pages == 3);
    assert_int_equal(HAP_compute_res_query_VTCM(7, NULL, NULL, NULL, NULL), 0);
    HAP_release_VTCM(one);
    HAP_release_VTCM(two);
}

static void test_the_log_says_how_much_is_free(void **state)
{
    void *p[4];

    (void)state;
    setenv("HEXRIG_FARF", "HIGH", 1);
    for (unsigned i = 0; i < 4; i++)
        p[i] = HAP_request_VTCM(MIB, 1);
    HAP_release_VTCM(p[0]); /* 1 MiB at the start and 4 at the end */
    log_begin();
    assert_null(HAP_request_VTCM(6 * MIB, 0));
    log_end("vtcm: need 6291456 bytes, 5242880 free, 4194304 of them in one range");
    log_begin();
    assert_null(HAP_request_VTCM(4 * MIB + 1, 1));
    log_end("vtcm: need 4194305 bytes in one page, 5242880 free");
    unsetenv("HEXRIG_FARF");
    for (unsigned i = 1; i < 4; i++)
        HAP_release_VTCM(p[i]);
}

static void test_nine_mib_fail_at_once_and_say_why(void **state)
{
    uint64_t now = hx_vt_now();

    (void)state;
    log_begin();
    assert_null(HAP_request_async_VTCM(9 * MIB, 0, 1000000));
    log_end("need 9437184 bytes, there are 8388608 in all");
    assert_int_equal(hx_vt_now(), now); /* nobody waited */
    assert_null(HAP_request_VTCM(0, 0));
}

static void test_requests_and_releases_cost_what_the_profile_says(void **state)
{
    uint64_t t0 = hx_vt_now();
    void *p = HAP_request_VTCM(8 * MIB, 1);

    (void)state;
    assert_int_equal(hx_vt_now() - t0, 70);
    assert_null(HAP_request_async_VTCM(1, 0, 300)); /* waits, and nobody releases */
    assert_int_equal(hx_vt_now() - t0, 2 * 70 + 300000);
    assert_int_equal(hx_vtime_spent().queue_pcycles, 300000);
    assert_int_equal(HAP_release_VTCM(p), AEE_SUCCESS);
    assert_int_equal(hx_vt_now() - t0, 2 * 70 + 300000 + 30);
    assert_int_equal(HAP_release_VTCM(p), AEE_EBADPARM); /* what was not held was not released */
    assert_int_equal(hx_vt_now() - t0, 2 * 70 + 300000 + 30);
    assert_int_equal(hx_machine->vtcm[0].free_at, hx_vt_now());
}

/* The kernel can read it, so a load would not fault. */
static int can_be_touched(const void *p)
{
    static int pipe_fd[2];
    char c;

    if (!pipe_fd[1])
        assert_int_equal(pipe(pipe_fd), 0);
    if (write(pipe_fd[1], p, 1) == 1)
        return read(pipe_fd[0], &c, 1) == 1;
    assert_int_equal(errno, EFAULT);
    return 0;
}

static void test_what_is_granted_can_be_touched_and_has_nothing_of_others(void **state)
{
    uint8_t *p = HAP_request_VTCM(2 * 256 * KIB, 0);
    compute_res_attr_t a;
    unsigned context;

    (void)state;
    assert_true(can_be_touched(p) && can_be_touched(p + 2 * 256 * KIB - 1));
    assert_false(can_be_touched(p + 2 * 256 * KIB));
    memset(p, 0x5a, 2 * 256 * KIB);
    assert_int_equal(HAP_release_VTCM(p), AEE_SUCCESS);
    assert_false(can_be_touched(p) || can_be_touched(p + 2 * 256 * KIB - 1));
    HAP_compute_res_attr_init(&a);
    HAP_compute_res_attr_set_vtcm_param(&a, 256 * KIB, 1);
    HAP_compute_res_attr_set_cache_mode(&a, 1);
    context = HAP_compute_res_acquire(&a, 0);
    assert_ptr_equal(HAP_compute_res_attr_get_vtcm_ptr(&a), p);
    assert_false(can_be_touched(p)); /* it has a place, but does not hold it */
    assert_int_equal(HAP_compute_res_acquire_cached(context, 0), 0);
    assert_int_equal(p[0] & p[256 * KIB - 1], 0x5a); /* nobody else has held it */
    assert_int_equal(HAP_compute_res_release_cached(context), 0);
    assert_false(can_be_touched(p));
    hx_pd_client = 7; /* another PD */
    assert_ptr_equal(HAP_request_VTCM(1, 0), p);
    assert_int_equal(HAP_release_VTCM(p), AEE_SUCCESS);
    hx_pd_client = 0;
    assert_int_equal(HAP_compute_res_acquire_cached(context, 0), 0);
    assert_int_equal(p[0] | p[256 * KIB - 1], 0);
    assert_int_equal(HAP_compute_res_release(context), 0);
    assert_false(can_be_touched(p));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, each_test)
    const struct CMUnitTest tests[] = {
        TEST(test_pages_are_granted_whole),
        TEST(test_queries_tell_pages),
        TEST(test_the_log_says_how_much_is_free),
        TEST(test_nine_mib_fail_at_once_and_say_why),
        TEST(test_what_is_granted_can_be_touched_and_has_nothing_of_others),
        TEST(test_requests_and_releases_cost_what_the_profile_says),
    };

    if (hx_machine_init(&profile))
        hxt_skip_all("no VTCM in this process");
    return HXT_RUN(tests);
}
