/* Protects what docs/dspqueue.md promises of skels whose threads read packets themselves, spin, and never return: a packet is charged what
 * was done for it, by all threads, no more and no less, and the same in every run. */
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "dspqueue.h"
#include "hx_rig.h"
#include "hxt_reader.h"
#include "own_rig.h"
#include "remote.h"
#include "skel/hxt_reader/job.h"

enum {
    QUEUE_BYTES = 4096,
    VTCM = 1 << 20,
    PATIENCE_US = 100000000, /* longer than any machine stands still */
    PAUSE_PCYCLES = 263,
    GLUE_PCYCLES = 5000,     /* of a packet, before and behind what its skel measures */
    LOOP_NS = 10,            /* from the last answer to the next look for a packet: the reader may be told to end before it looks */
};

#define TICK_PCYCLES (1200 / 19.2)

static remote_handle64 skel;
static dspqueue_t queue;

static void open_reader(int threads)
{
    uint64_t id;

    assert_int_equal(hxt_reader_open(hxt_reader_URI "&_dom=cdsp", &skel), AEE_SUCCESS);
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, QUEUE_BYTES, QUEUE_BYTES, NULL, NULL, NULL, &queue), AEE_SUCCESS);
    assert_int_equal(dspqueue_export(queue, &id), AEE_SUCCESS);
    assert_int_equal(hxt_reader_start(skel, id, threads, VTCM), AEE_SUCCESS);
}

static void close_reader(void)
{
    assert_int_equal(hxt_reader_stop(skel), AEE_SUCCESS);
    assert_int_equal(dspqueue_close(queue), AEE_SUCCESS);
    assert_int_equal(hxt_reader_close(skel), AEE_SUCCESS);
}

static struct reader_done ask(const struct reader_job *job)
{
    struct reader_done done;
    uint32_t flags, len;

    assert_int_equal(dspqueue_write(queue, 0, 0, NULL, sizeof(*job), (const uint8_t *)job, PATIENCE_US), AEE_SUCCESS);
    assert_int_equal(dspqueue_read(queue, &flags, 0, NULL, NULL, sizeof(done), &len, (uint8_t *)&done, PATIENCE_US), AEE_SUCCESS);
    assert_int_equal(len, sizeof(done));
    return done;
}

static struct hx_session_stats stats(void)
{
    struct hx_session_stats s;

    assert_int_equal(hx_rig_session_stats(&s), 0);
    return s;
}

static void needs_traces(void)
{
#ifdef __SANITIZE_ADDRESS__
    hxt_skip_test("this build's skels are not traced");
#endif
}

static void near(double got, double want, double most)
{
    if (!(got >= want - most && got <= want + most))
        fail_msg("%.0f pcycles, not %.0f +- %.0f", got, want, most);
}

/* --- one packet ---------------------------------------------------------------------------------------------------- */

static const struct reader_job mixed = {.rounds = 3, .alone = 20, .share = {40, 10, 25}, .dma_bytes = 128 << 10};

static void test_a_packet_is_charged_what_its_skel_measures(void **state)
{
    struct hx_session_stats before, after;
    struct reader_done done;
    uint64_t exec;

    (void)state;
    needs_traces();
    open_reader(3);
    ask(&mixed); /* in a new PD DDR is slower */
    before = stats();
    done = ask(&mixed);
    after = stats();
    exec = (after.exec_ns - before.exec_ns) * 12 / 10;
    assert_int_equal(after.packets - before.packets, 1);
    assert_int_equal(after.invokes, before.invokes);
    assert_int_equal(done.units, 3 * (20 + 40 + 10 + 25));
    assert_int_equal(after.hvx_ops - before.hvx_ops, done.units * READER_UNIT_OPS);
    assert_in_range(exec, done.pcycles, done.pcycles + GLUE_PCYCLES);
    near((double)done.pcycles, (double)done.ticks * TICK_PCYCLES, 2 * TICK_PCYCLES);
    assert_int_equal(after.traffic.bytes[HX_PURPOSE_OTHER][HX_PLACE_DMA] - before.traffic.bytes[HX_PURPOSE_OTHER][HX_PLACE_DMA],
                     3 * mixed.dma_bytes);
    close_reader();
}

/* What a job takes when its packet is not the first one. */
static double pcycles_of(const struct reader_job *job)
{
    ask(job);
    return (double)ask(job).pcycles;
}

static void test_threads_that_spin_take_as_long_as_the_slowest_of_them(void **state)
{
    static const struct reader_job one = {.rounds = 20, .share = {50}}, other = {.rounds = 20, .share = {0, 50}},
                                   both = {.rounds = 20, .share = {50, 50}}, uneven = {.rounds = 20, .share = {50, 200}},
                                   after = {.rounds = 20, .alone = 50, .share = {0, 50}}, longer = {.rounds = 20, .share = {200}};
    const double pauses = 20.0 * 2 * PAUSE_PCYCLES;
    double alone;

    (void)state;
    needs_traces();
    open_reader(2);
    alone = pcycles_of(&one);
    near(pcycles_of(&other), alone, pauses);
    near(pcycles_of(&both), alone, pauses);
    near(pcycles_of(&uneven), pcycles_of(&longer), pauses);
    near(pcycles_of(&after), 2 * alone, 2 * pauses);
    close_reader();
}

static void test_dma_takes_its_time(void **state)
{
    static const struct reader_job without = {.rounds = 1}, with = {.rounds = 1, .dma_bytes = 512 << 10},
                                   twice = {.rounds = 1, .dma_bytes = 1024 << 10};
    double first, second;

    (void)state;
    needs_traces();
    open_reader(1);
    first = pcycles_of(&with) - pcycles_of(&without);
    second = pcycles_of(&twice) - pcycles_of(&without);
    assert_true(first > (512 << 10) / 8.55 && first < (512 << 10) / 8.55 * 1.5);
    near(second, 2 * first, first / 10);
    close_reader();
}

/* --- many ---------------------------------------------------------------------------------------------------------- */

/* Keeps a core of the host busy until it is killed, or this process ends; its process. */
static pid_t start_busy_loop(void)
{
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(600);
        for (atomic_int i = 0;; i++)
            ;
    }
    return pid;
}

/* A session's figures when its reader has ended.  pause_us: more after each packet, so that it polls, sleeps, and is waited for. */
static struct hx_session_stats figures(int threads, int packets, unsigned pause_us, uint64_t *pcycles)
{
    struct hx_session_stats all;

    open_reader(threads);
    for (int i = 0; i < packets; i++) {
        pcycles[i] = ask(&mixed).pcycles;
        usleep(pause_us * (unsigned)i);
    }
    assert_int_equal(hxt_reader_stop(skel), AEE_SUCCESS);
    all = stats();
    assert_int_equal(dspqueue_close(queue), AEE_SUCCESS);
    assert_int_equal(hxt_reader_close(skel), AEE_SUCCESS);
    return all;
}

static void test_figures_repeat_whatever_the_host_does(void **state)
{
    enum { PACKETS = 5, RUNS = 4 };
    static const unsigned pauses[RUNS] = {0, 30, 0, 12000};
    uint64_t pcycles[RUNS][PACKETS];
    struct hx_session_stats s[RUNS];
    pid_t busy = 0;

    (void)state;
    needs_traces();
    for (int i = 0; i < RUNS; i++) {
        if (i == RUNS / 2)
            busy = start_busy_loop();
        s[i] = figures(3, PACKETS, pauses[i], pcycles[i]);
        for (int k = 0; k < PACKETS; k++)
            assert_int_equal(pcycles[i][k], pcycles[0][k]);
        assert_int_equal(s[i].packets, PACKETS);
        assert_int_equal(s[i].invokes, s[0].invokes);
        assert_int_equal(s[i].hvx_ops, s[0].hvx_ops);
        assert_in_range(s[i].exec_ns, s[0].exec_ns - LOOP_NS, s[0].exec_ns + LOOP_NS);
        assert_int_equal(s[i].queue_ns, s[0].queue_ns);
        assert_int_equal(s[i].dispatch_ns, s[0].dispatch_ns);
        hxt_same_bytes(&s[i].traffic, &s[0].traffic, sizeof(s[0].traffic));
    }
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
}

static void test_more_threads_than_contexts_wait_for_them(void **state)
{
    static const struct reader_job two = {.rounds = 5, .share = {100, 100}}, four = {.rounds = 5, .share = {100, 100, 100, 100}};
    struct hx_session_stats before, after;
    double side_by_side;

    (void)state;
    needs_traces();
    open_reader(4);
    side_by_side = pcycles_of(&two);
    before = stats();
    ask(&four);
    after = stats();
    assert_true((double)(after.exec_ns - before.exec_ns + after.queue_ns - before.queue_ns) * 1.2 > side_by_side);
    close_reader();
}

/* --- V73 ----------------------------------------------------------------------------------------------------------- */

#define V73_URI "file:///libhxt_v73_skel.so?hxt_v73_skel_handle_invoke&_modver=1.0&_dom=cdsp"

static void test_v69_loads_no_skel_of_v73(void **state)
{
    (void)state;
    assert_int_equal((unsigned)remote_handle64_open(V73_URI, &skel), 0x80000406);
}

static void test_v73_loads_it(void **state)
{
    (void)state;
    assert_int_equal(remote_handle64_open(V73_URI, &skel), AEE_SUCCESS);
    assert_int_equal(remote_handle64_close(skel), AEE_SUCCESS);
}

static void test_v69_has_no_hmx(void **state)
{
    int power, context, lock;

    (void)state;
    assert_int_equal(hxt_reader_open(hxt_reader_URI "&_dom=cdsp", &skel), AEE_SUCCESS);
    assert_int_equal(hxt_reader_hmx(skel, 1, 1, 0, &power, &context, &lock), AEE_SUCCESS);
    assert_int_equal(power, -3);
    assert_int_equal((unsigned)context, 0x80000404);
    assert_int_equal((unsigned)lock, 0x80000404);
    assert_int_not_equal(hxt_reader_hmx(skel, 0, 0, 1, &power, &context, &lock), AEE_SUCCESS); /* the PD has ended */
    hxt_reader_close(skel);
}

static void test_v73_has_hmx_with_power_and_lock(void **state)
{
    int power, context, lock;

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hxt_reader_open(hxt_reader_URI "&_dom=cdsp", &skel), AEE_SUCCESS);
        assert_int_equal(hxt_reader_hmx(skel, 1, 1, 1, &power, &context, &lock), AEE_SUCCESS);
        assert_true(power == 0 && context == 0 && lock == 0);
        if (i < 2) /* without power, without the lock */
            assert_int_not_equal(hxt_reader_hmx(skel, i == 1, i == 0, 1, &power, &context, &lock), AEE_SUCCESS);
        hxt_reader_close(skel);
    }
}

static int run_v69(const char *front_end)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_packet_is_charged_what_its_skel_measures),
        cmocka_unit_test(test_threads_that_spin_take_as_long_as_the_slowest_of_them),
        cmocka_unit_test(test_dma_takes_its_time),
        cmocka_unit_test(test_figures_repeat_whatever_the_host_does),
        cmocka_unit_test(test_more_threads_than_contexts_wait_for_them),
        cmocka_unit_test(test_v69_has_no_hmx),
        cmocka_unit_test(test_v69_loads_no_skel_of_v73),
    };

    own_rig_front_end = front_end;
    own_rig_profile = "s22u-sync";
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

static int run_v73(const char *front_end)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_v73_has_hmx_with_power_and_lock), cmocka_unit_test(test_v73_loads_it)};

    own_rig_front_end = front_end;
    own_rig_profile = "v73-hmx";
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    const int first = own_rig_run(run_v69, "socket"), second = own_rig_run(run_v73, "socket");

    return first ? first : second;
}
