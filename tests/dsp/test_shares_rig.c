/* Protects the bounds of what threads and unrolled loops gain on a rig, with tables of packets and estimated: two threads are never more
 * than twice as fast as one, nor faster than memory, and a stream from DDR is one whatever its loop looks like. */
#include "hxt_threads.h"
#include "own_rig.h"

enum { ESTIMATED, LISTED, PRICES };
static const char *const prices[PRICES] = {"estimated", "listed"};

/* Bytes per pcycle. */
#define OF_A_THREAD_MOST 1.7
#define OF_A_THREAD_LEAST 0.7
#define OF_ALL_MOST (2.29 * 1.01) /* published, of two threads; they pace each other as they go, which is exact to 1 % */
#define OF_ALL_LEAST 2.2

static remote_handle64 skel;

static int64_t ask(hxt_share what, int threads, int unroll, int listed, int64_t *bytes)
{
    int64_t pcycles, loaded;

    assert_int_equal(hxt_threads_share(skel, what, threads, unroll, listed, &pcycles, bytes ? bytes : &loaded), AEE_SUCCESS);
    return pcycles;
}

static double pcycles_of(hxt_share what, int threads, int unroll, int listed)
{
    return (double)ask(what, threads, unroll, listed, NULL);
}

static double rate_of(hxt_share what, int threads, int unroll, int listed)
{
    int64_t bytes;
    const int64_t pcycles = ask(what, threads, unroll, listed, &bytes);

    return (double)bytes / (double)pcycles;
}

/* With a PD that has worked long enough for DDR to be warm. */
static int open_skel(void **state)
{
    (void)state;
    if (hxt_threads_open(hxt_threads_URI "&_dom=cdsp", &skel))
        return -1;
    for (int i = 0; i < 2; i++)
        ask(HXT_DDR, 1, 16, LISTED, NULL);
    return 0;
}

static int close_skel(void **state)
{
    (void)state;
    return hxt_threads_close(skel);
}

static void needs_loads(void)
{
    if (rate_of(HXT_DDR, 1, 1, LISTED) > 8)
        hxt_skip_test("this build's skels are not traced");
}

static void test_two_threads_are_at_most_twice_as_fast_as_one(void **state)
{
    static const struct {
        const char *name;
        hxt_share what;
        double least, most; /* two threads' gain */
    } cases[] = {
        {"scalar arithmetic", HXT_ALU, 1.9, 2.05}, {"vector arithmetic", HXT_HVX, 1.9, 2.05}, {"L2", HXT_L2, 1.7, 2.05},
        {"VTCM", HXT_VTCM, 1.9, 2.05},             {"DDR", HXT_DDR, 1.2, 1.6},                {"prefetched", HXT_FETCHED, 0.95, 2.05},
        {"DMA", HXT_DMA, 0.9, 1.2},
    };

    (void)state;
    needs_loads();
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        for (int listed = 0; listed < PRICES; listed++) {
            const double gain = pcycles_of(cases[i].what, 1, 4, listed) / pcycles_of(cases[i].what, 2, 4, listed);

            if (!(gain >= cases[i].least && gain <= cases[i].most))
                fail_msg("%s, %s: two threads are %.3f times as fast as one, not %g to %g", cases[i].name, prices[listed], gain,
                         cases[i].least, cases[i].most);
        }
}

static void test_threads_get_what_ddr_has_and_no_more(void **state)
{
    (void)state;
    needs_loads();
    for (int listed = 0; listed < PRICES; listed++)
        for (int threads = 2; threads <= 16; threads *= 2) {
            const double rate = rate_of(HXT_DDR, threads, 4, listed);

            if (!(rate >= OF_ALL_LEAST && rate <= OF_ALL_MOST))
                fail_msg("%d threads, %s: %.3f B/pcyc", threads, prices[listed], rate);
        }
}

static void test_unrolling_hardly_changes_a_stream_from_ddr(void **state)
{
    (void)state;
    needs_loads();
    for (int listed = 0; listed < PRICES; listed++) {
        double least = 1e9, most = 0;

        for (int unroll = 1; unroll <= 16; unroll *= 2) {
            const double rate = rate_of(HXT_DDR, 1, unroll, listed);

            if (!(rate >= OF_A_THREAD_LEAST && rate <= OF_A_THREAD_MOST))
                fail_msg("%d loads in a trip, %s: %.3f B/pcyc", unroll, prices[listed], rate);
            least = rate < least ? rate : least;
            most = rate > most ? rate : most;
        }
        if (most > 1.6 * least)
            fail_msg("%s: %.3f to %.3f B/pcyc", prices[listed], least, most);
    }
}

static void test_only_prefetches_and_dma_are_faster(void **state)
{
    (void)state;
    needs_loads();
    for (int listed = 0; listed < PRICES; listed++) {
        assert_true(rate_of(HXT_FETCHED, 1, 4, listed) > OF_A_THREAD_MOST);
        assert_true(rate_of(HXT_DMA, 1, 4, listed) > 2 * OF_A_THREAD_MOST);
    }
}

static void test_questions_that_make_no_sense_are_refused(void **state)
{
    static const int bad[][4] = {{HXT_DMA + 1, 1, 1, 0}, {HXT_DDR, 0, 1, 0}, {HXT_DDR, 3, 1, 0}, {HXT_DDR, 32, 1, 0},
                                 {HXT_DDR, 1, 3, 0},     {HXT_DDR, 1, 32, 0}, {HXT_DDR, 1, 1, 2}};
    int64_t pcycles, bytes;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(hxt_threads_share(skel, (hxt_share)bad[i][0], bad[i][1], bad[i][2], bad[i][3], &pcycles, &bytes),
                         AEE_EBADPARM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_two_threads_are_at_most_twice_as_fast_as_one, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_threads_get_what_ddr_has_and_no_more, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_unrolling_hardly_changes_a_stream_from_ddr, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_only_prefetches_and_dma_are_faster, open_skel, close_skel),
        cmocka_unit_test_setup_teardown(test_questions_that_make_no_sense_are_refused, open_skel, close_skel),
    };

    own_rig_front_end = "socket"; /* figures are the same on either: test_turns_rig.c */
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}
