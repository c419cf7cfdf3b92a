/* The memory side of the cost model, with the parameters of the shipped profile: caches, DDR, pages, threads that share them. */
#include "hxt.h"

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/machine.h"
#include "base/stacks.h"
#include "cost/cost.h"
#include "cost/path.h"
#include "cost/vtime.h"
#include "hexrig_scalar_mem.h"

enum { LINE = 128, PAGE = 4096, MIB = 1 << 20 };

static struct hx_profile profile;
static const struct hx_cost *cost = &profile.cost;
static uint8_t *data; /* DATA_BYTES, page-aligned, nobody's stack */
enum { DATA_BYTES = 32 * MIB };

static int setup(void **state)
{
    char why[256];

    (void)state;
    if (hx_profile_load(&profile, HXT_SRC "/dsp/profiles", "s22u-sync", why, sizeof(why)))
        fail_msg("%s", why);
    data = mmap(NULL, DATA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED || (!hx_machine && hx_machine_init(&profile));
}

static double spent(void)
{
    return (double)hx_vtime_spent().exec_pcycles;
}

/* A PD that has worked long enough for DDR to be warm. */
static void begin(void)
{
    hx_vt_call_begin(0, 0);
    hx_vt_spend(HX_VT_CODE, profile.cost.ddr_cold_us * profile.clock_mhz);
    hx_vt_call_end();
    hx_vt_call_begin(0, 0);
}

/* --- the cache ------------------------------------------------------------------------------------------------- */

/* Misses of a pass over n lines, after enough passes that it does not change any more. */
static double cyclic_misses(struct hx_cache *c, unsigned n)
{
    enum { WARM_UP = 60, MEASURED = 40 };
    unsigned misses = 0;

    hx_cache_clear(c);
    for (unsigned pass = 0; pass < WARM_UP + MEASURED; pass++)
        for (unsigned i = 0; i < n; i++)
            misses += !hx_cache_touch(c, (uint64_t)i * LINE) && pass >= WARM_UP;
    return misses / (double)MEASURED / n;
}

static void test_a_cyclic_stream_misses_as_random_replacement_says(void **state)
{
    enum { LINES = 8192 };
    struct hx_cache c;

    (void)state;
    assert_int_equal(hx_cache_init(&c, LINES * LINE, 7, HX_CACHE_BY_LOT), 0);
    assert_true(cyclic_misses(&c, LINES) == 0);
    for (double ratio = 1.2; ratio <= 4; ratio *= 1.25) {
        double m = 1;

        for (int i = 0; i < 1000; i++) /* 1 - m = exp(-m N/C) */
            m = 1 - exp(-m * ratio);
        assert_true(fabs(cyclic_misses(&c, (unsigned)(LINES * ratio)) - m) < 0.06);
    }
    hx_cache_free(&c);
}

static void test_hits_change_nothing(void **state)
{
    struct hx_cache a, b;

    (void)state;
    for (int stay = HX_CACHE_IN_TURN; stay <= HX_CACHE_BY_LOT; stay++) {
        assert_int_equal(hx_cache_init(&a, 64 * LINE, 7, (enum hx_cache_stay)stay), 0);
        assert_int_equal(hx_cache_init(&b, 64 * LINE, 7, (enum hx_cache_stay)stay), 0);
        for (unsigned i = 0; i < 2000; i++) {
            const uint64_t line = i * 7919 % 101 * LINE;

            assert_int_equal(hx_cache_touch(&a, line), hx_cache_touch(&b, line));
            assert_true(hx_cache_touch(&b, line + 5));
        }
        hx_cache_free(&a);
        hx_cache_free(&b);
    }
}

static void test_the_oldest_line_goes_first(void **state)
{
    struct hx_cache c;

    (void)state;
    assert_int_equal(hx_cache_init(&c, 8 * LINE, 7, HX_CACHE_IN_TURN), 0);
    for (uint64_t i = 0; i < 8; i++)
        assert_false(hx_cache_touch(&c, i * LINE));
    assert_true(hx_cache_touch(&c, 5)); /* does not make line 0 younger */
    assert_false(hx_cache_touch(&c, 100 * LINE));
    assert_true(hx_cache_touch(&c, LINE));
    assert_false(hx_cache_touch(&c, 0));
    hx_cache_drop(&c, 100 * LINE);
    assert_false(hx_cache_touch(&c, 100 * LINE));
    hx_cache_clear(&c);
    assert_false(hx_cache_touch(&c, 100 * LINE));
    hx_cache_free(&c);
}

/* --- the path -------------------------------------------------------------------------------------------------- */

static void test_a_path_serves_one_after_the_other_whoever_asks_first(void **state)
{
    struct hx_path p = {0};

    (void)state;
    hx_path_clear(&p);
    assert_true(hx_path_take(&p, 1e6, 1e5) == 1.1e6);
    assert_true(hx_path_take(&p, 100, 50) == 150); /* earlier is still free */
    assert_true(hx_path_take(&p, 1e6, 1e5) >= 1.2e6 - 5000);
    assert_true(hx_path_take(&p, 1e6, 1e5) <= 1.3e6 + 5000);
    hx_path_clear(&p);
    assert_true(hx_path_take(&p, 1e6, 1e5) == 1.1e6);
    hx_path_free(&p);
}

/* Users of a path that want more than there is; each of them as far as it gets, in stretches of 4096 pcycles, the first one first. */
static void test_users_of_a_path_get_even_shares(void **state)
{
    static struct hx_path p;
    struct hx_path_user u[3] = {0};
    double at[3] = {0}, apart[3] = {0};
    unsigned lines[3] = {0};

    (void)state;
    hx_path_clear(&p);
    for (double end = 4096; end <= 100 * 4096; end += 4096)
        for (int i = 0; i < 3; i++)
            while (at[i] < end) { /* the last one wants little: a line of 50 in 1000 */
                apart[i] = hx_path_pace(&p, &u[i], at[i], 50, 6);
                at[i] += i == 2 ? 1000 : fmax(60, apart[i]);
                lines[i]++;
            }
    assert_true(fabs((double)lines[0] / lines[1] - 1) < 0.02);
    assert_true(lines[0] * 50 > 100 * 4096 * 0.4 && lines[0] * 50 < 100 * 4096 * 0.5);
    assert_true(apart[2] < 1000);
    hx_path_clear(&p);
    u[0] = (struct hx_path_user){0};
    assert_true(hx_path_pace(&p, &u[0], 1e6, 50, 6) == 50); /* alone it has all of it */
    assert_true(hx_path_pace(&p, &u[0], 1e6 - 5000, 50, 6) == 50); /* and a clock that goes back makes no second user */
    assert_true(hx_path_pace(&p, &u[0], 1e6 + 5000, 50, 6) == 50);
    hx_path_free(&p);
}

static void test_more_users_than_run_at_a_time_are_as_fast_as_those_that_do(void **state)
{
    struct hx_path p = {0};

    (void)state;
    for (unsigned most = 2; most <= 6; most += 4) {
        struct hx_path_user u[3] = {{0}};

        hx_path_clear(&p);
        for (int i = 0; i < 3 * 60; i++)
            hx_path_pace(&p, &u[i % 3], 10, 50, most);
        assert_true(hx_path_pace(&p, &u[0], 4096 + 10, 50, most) == (most == 2 ? 2 : 3) * 50);
    }
    hx_path_free(&p);
}

/* A loop is charged before it runs, so the moments at which two threads ask may be nearly a stretch apart. */
static void test_users_that_come_at_different_moments_get_no_more_than_there_is(void **state)
{
    enum { END = 200 * 4096 };
    static struct hx_path p;

    (void)state;
    for (double behind = 0; behind < 4096; behind += 512) {
        struct hx_path_user u[2] = {{0}};
        double at[2] = {0};
        unsigned lines = 0;

        hx_path_clear(&p);
        for (double end = 4096; end <= END; end += 4096)
            for (int i = 0; i < 2; i++)
                while (at[i] < end - i * behind) {
                    at[i] += hx_path_pace(&p, &u[i], at[i], 50, 6);
                    lines++;
                }
        assert_true(lines * 50 > 0.97 * END && lines * 50 < 1.03 * END);
    }
    hx_path_free(&p);
}

/* --- streams --------------------------------------------------------------------------------------------------- */

/* `n` loads, each summed up in the packet after it. */
static const struct hx_vliw_packet adds[16] = {
#define ADD {{HX_WAIT(HX_UNIT_HVX, 0, 1), HX_WAIT(HX_UNIT_VLOAD, 0, 1)}, 1, 1}
    ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD,
};
static const struct hx_vliw_packet straight[1] = {{{0}, 0, 0}};

static double stream(const uint8_t *from, unsigned lines, unsigned stride, unsigned unroll)
{
    const struct hx_code_level levels[2] = {{straight, 1, 0, 0}, {adds, (uint16_t)unroll, 0, 0}};
    const struct hx_code hx_code_sum = {"sum", 2, {levels, levels}};
    const double before = spent();

    HX_CODE(sum);
    HX_TRIPS(1, lines / unroll);
    for (unsigned i = 0; i < lines; i++)
        hx_cost_access(from + (size_t)i * stride, LINE, 0);
    return (spent() - before) / lines;
}

static void test_unrolling_hardly_changes_a_stream_from_ddr(void **state)
{
    double least = INFINITY, most = 0;

    (void)state;
    for (unsigned unroll = 1; unroll <= 16; unroll *= 2) {
        begin();
        const double per_line = stream(data, 8 * MIB / LINE, LINE, unroll);

        least = fmin(least, per_line);
        most = fmax(most, per_line);
        assert_true(LINE / per_line >= 0.7 && LINE / per_line <= 1.7);
    }
    assert_true(most <= 1.6 * least);
}

static void test_a_page_that_is_new_takes_longer(void **state)
{
    double four, one; /* lines of each page */

    (void)state;
    begin();
    four = stream(data, 4096, PAGE / 4, 1);
    begin();
    one = stream(data, 4096, PAGE, 1);
    assert_true(fabs(one - four - cost->ddr_page_pcycles * 3 / 4) < 0.1);
}

static void test_ddr_is_cold_at_first(void **state)
{
    const unsigned lines = 2000;
    double first, later;
    pid_t child = fork(); /* a new PD */
    int status;

    (void)state;
    assert_true(child >= 0);
    if (child) {
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        return;
    }
    hx_vt_call_begin(0, 0);
    first = stream(data, lines, LINE, 1);
    hx_vt_call_end();
    begin();
    later = stream(data, lines, LINE, 1);
    _exit(!(first > later * (1 + (cost->ddr_cold - 1) / 2) && first < later * cost->ddr_cold + 0.1));
}

static void test_prefetched_lines_come_as_fast_as_dma(void **state)
{
    enum { BOX = 512 }; /* lines */
    const unsigned lines = 16 * BOX;
    double plain, fetched = 0;

    (void)state;
    begin();
    plain = stream(data, lines, LINE, 2);
    begin();
    hx_prefetch((uintptr_t)data, LINE, BOX, LINE);
    for (unsigned i = 0; i < lines; i += BOX) {
        hx_prefetch((uintptr_t)data + (i + BOX) * LINE, LINE, BOX, LINE); /* the next */
        fetched += stream(data + i * LINE, BOX, LINE, 2) * BOX / lines;
    }
    assert_true(fetched < plain / 1.5);
    assert_true(fetched >= LINE / cost->dma_bytes_per_pcycle);
    begin();
    hx_prefetch((uintptr_t)data, LINE, BOX, LINE);
    fetched = stream(data, BOX, LINE, 2); /* at once: it waits for DDR */
    assert_true(fetched > LINE / cost->dma_bytes_per_pcycle && fetched < plain);
}

static void test_stores_wait_for_nothing_but_the_path(void **state)
{
    const unsigned lines = 20000;

    (void)state;
    begin();
    hx_cost_access(data, LINE, 1);
    assert_true(spent() == 0);
    for (unsigned i = 1; i < lines; i++)
        hx_cost_access(data + i * LINE, LINE, 1);
    assert_true(fabs(spent() / lines - cost->ddr_line_pcycles) < 1);
}

/* --- pieces, words, places ------------------------------------------------------------------------------------- */

static void test_pieces_of_a_vector_cost_what_the_vector_does(void **state)
{
    enum { VECTORS = 4096 };
    double whole = 0;

    (void)state;
    for (unsigned offset = 0; offset < LINE; offset += 20)
        for (unsigned piece = LINE; piece >= 16; piece /= 2) {
            begin();
            for (unsigned i = 0; i < VECTORS; i += 2) /* two that come mixed */
                for (unsigned at = 0; at < LINE; at += piece) {
                    hx_cost_access(data + offset + i * LINE + at, piece, 0);
                    hx_cost_access(data + offset + (i + 1) * LINE + at, piece, 0);
                }
            if (piece == LINE)
                whole = spent();
            assert_true(spent() == whole);
        }
    assert_true(whole > VECTORS * cost->l2_pcycles);
}

static void test_scalar_loads_know_three_places(void **state)
{
    double ddr = cost->ddr_pcycles + cost->ddr_page_pcycles - cost->load_pcycles, l2 = cost->l2_pcycles - cost->load_pcycles;

    (void)state;
    begin();
    hx_cost_access(data, 4, 0);
    assert_true(fabs(spent() - ddr) <= 0.5);
    hx_cost_access(data + 4, 4, 0); /* the same line of L1 */
    assert_true(fabs(spent() - ddr) <= 0.5);
    hx_cost_access(data + 64, 4, 0); /* another one, of the same line of L2 */
    assert_true(fabs(spent() - ddr - l2) <= 0.5);
    hx_cost_access(data, LINE, 1); /* a vector store takes the line out of L1 */
    hx_cost_access(data, 4, 0);
    assert_true(fabs(spent() - ddr - 2 * l2) <= 0.5);
}

static void test_vtcm_is_not_cached_for_scalar_loads(void **state)
{
    enum { WORDS = 100 };
    const double each = cost->vtcm_scalar_pcycles - cost->load_pcycles;

    (void)state;
    begin();
    for (int pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < WORDS; i++) {
            hx_cost_access(hx_vtcm + i * 4, 4, 0);
            hx_cost_access(hx_vtcm + i * 4, 4, 0); /* a compiler has it in a register */
        }
    assert_true(fabs(spent() - 2 * WORDS * each) <= 1);
    hx_cost_access(hx_vtcm + WORDS * 4, 4, 1);
    hx_cost_access(hx_vtcm, LINE, 0);
    assert_true(fabs(spent() - 2 * WORDS * each) <= 1);
}

static void *touch(void *p)
{
    hx_vt_thread_begin(&(struct hx_vt_origin){.call = 0});
    for (unsigned i = 0; i < 64; i++)
        hx_cost_access((uint8_t *)p + i * LINE, LINE, 0);
    *(double *)p = spent();
    hx_cost_end();
    return NULL;
}

static void test_no_thread_pays_for_what_lies_on_a_stack(void **state)
{
    _Alignas(double) uint8_t local[64 * LINE];
    pthread_t t;

    (void)state;
    begin();
    assert_int_equal(pthread_create(&t, NULL, touch, local), 0);
    pthread_join(t, NULL);
    assert_true(*(double *)local == 0);
    assert_true(hx_on_stack(local) && hx_on_any_stack(local) && !hx_on_any_stack(data));
    assert_int_equal(pthread_create(&t, NULL, touch, data), 0);
    pthread_join(t, NULL);
    assert_true(*(double *)data > 0);
}

static void test_static_data_is_in_cache_when_a_call_begins(void **state)
{
    enum { LINES = 3 * MIB / LINE };
    uint8_t *image = mmap((void *)0x1b000000, LINES * LINE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    (void)state;
    assert_ptr_equal(image, (void *)0x1b000000);
    begin();
    for (unsigned i = 0; i < LINES * 4; i++)
        hx_cost_access(image + i * 32, 4, 0);
    assert_true(spent() == 0);
    for (unsigned i = 0; i < LINES * 4; i++)
        hx_cost_access(image + i * 32, 4, 0); /* it does not fit */
    assert_true(spent() > 0.9 * LINES * (cost->ddr_pcycles + 3 * cost->l2_pcycles));
    munmap(image, LINES * LINE);
}

/* --- threads --------------------------------------------------------------------------------------------------- */

/* Threads take turns, a few lines each, as their clocks would have it. */
struct lane {
    struct hx_vt_origin origin;
    const uint8_t *from;
    unsigned lines, passes;
    sem_t *mine, *next;
    double spent;
};

static void *run_lane(void *arg)
{
    enum { TURN = 4 };
    struct lane *l = arg;

    hx_vt_thread_begin(&l->origin);
    for (unsigned i = 0; i < l->lines * l->passes; i += TURN) {
        sem_wait(l->mine);
        stream(l->from + i % l->lines * LINE, TURN, LINE, 1);
        sem_post(l->next);
    }
    l->spent = spent();
    hx_cost_end();
    return NULL;
}

/* Pcycles per line of a thread; `apart`: between what they read.  0: the one whose turn is first fetches for both. */
static double two_threads(unsigned lines, unsigned passes, size_t apart)
{
    sem_t turn[2];
    struct lane lane[2];
    pthread_t t[2];

    begin();
    sem_init(&turn[0], 0, 1);
    sem_init(&turn[1], 0, 0);
    for (unsigned i = 0; i < 2; i++) {
        lane[i] = (struct lane){hx_vt_origin(), data + i * apart, lines, passes, &turn[i], &turn[1 - i], 0};
        assert_int_equal(pthread_create(&t[i], NULL, run_lane, &lane[i]), 0);
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    if (apart)
        assert_true(fabs(lane[0].spent - lane[1].spent) < 0.02 * lane[0].spent);
    return (lane[0].spent + lane[1].spent) / 2 / lines / passes;
}

static double one_thread(unsigned lines, unsigned passes)
{
    double sum = 0;

    begin();
    for (unsigned i = 0; i < lines * passes; i += 4)
        sum += stream(data + i % lines * LINE, 4, LINE, 1) * 4;
    return sum / lines / passes;
}

static void test_two_threads_get_no_more_than_ddr_has(void **state)
{
    const unsigned lines = 4 * MIB / LINE;
    const double one = one_thread(lines, 1), two = two_threads(lines, 1, 8 * MIB);

    (void)state;
    assert_true(fabs(two / (2 * cost->ddr_line_pcycles) - 1) < 0.03);
    assert_true(two > one * 1.2 && two < one * 2);
}

static void test_two_threads_are_never_more_than_twice_one(void **state)
{
    (void)state;
    /* both halves of what one thread reads, around the size of L2 */
    for (unsigned kib = 768; kib <= 3072; kib += 256) {
        const unsigned lines = kib * 1024 / LINE;
        const double one = one_thread(lines, 3) * lines, two = two_threads(lines / 2, 3, (size_t)lines / 2 * LINE) * lines / 2;

        assert_true(one / two <= 2.05);
        assert_true(one / two >= 0.95);
    }
}

static void test_threads_of_a_call_share_l2(void **state)
{
    const unsigned lines = 256;
    const double apart = two_threads(lines, 1, 8 * MIB), together = two_threads(lines, 1, 0);

    (void)state;
    assert_true(together < 0.8 * apart);
}

static void *other_call(void *arg)
{
    (void)arg;
    hx_vt_call_begin(0, 0);
    stream(data, 64, LINE, 1);
    hx_vt_call_end();
    hx_cost_end();
    return NULL;
}

static void test_calls_of_others_change_nothing(void **state)
{
    pthread_t t;
    double alone;

    (void)state;
    begin();
    alone = stream(data, 64, LINE, 1) + stream(data, 64, LINE, 1);
    begin();
    double beside = stream(data, 64, LINE, 1);
    assert_int_equal(pthread_create(&t, NULL, other_call, NULL), 0);
    pthread_join(t, NULL);
    beside += stream(data, 64, LINE, 1); /* in L2 as before */
    assert_true(beside == alone);
}

static void test_dma_and_loads_share_ddr(void **state)
{
    const double rate = cost->dma_bytes_per_pcycle;
    double alone, beside;
    uint64_t now, end;

    (void)state;
    begin();
    alone = stream(data, 1024, LINE, 1);
    begin();
    now = hx_vt_now();
    end = hx_cost_dma(now, 4 * MIB);
    assert_true(fabs((double)(end - now) - 4 * MIB / rate) < 1);
    beside = stream(data, 1024, LINE, 1);
    assert_true(beside > 2 * alone); /* DMA was first */
    begin();
    now = hx_vt_now();
    stream(data, 1024, LINE, 1);
    end = hx_cost_dma(now, MIB);
    assert_true(fabs((double)(end - now) - MIB / rate - 1024 * LINE / rate) < 0.02 * MIB / rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ddr_is_cold_at_first), /* before any other call of this process */
        cmocka_unit_test(test_a_cyclic_stream_misses_as_random_replacement_says),
        cmocka_unit_test(test_hits_change_nothing),
        cmocka_unit_test(test_the_oldest_line_goes_first),
        cmocka_unit_test(test_a_path_serves_one_after_the_other_whoever_asks_first),
        cmocka_unit_test(test_users_of_a_path_get_even_shares),
        cmocka_unit_test(test_more_users_than_run_at_a_time_are_as_fast_as_those_that_do),
        cmocka_unit_test(test_users_that_come_at_different_moments_get_no_more_than_there_is),
        cmocka_unit_test(test_unrolling_hardly_changes_a_stream_from_ddr),
        cmocka_unit_test(test_a_page_that_is_new_takes_longer),
        cmocka_unit_test(test_prefetched_lines_come_as_fast_as_dma),
        cmocka_unit_test(test_stores_wait_for_nothing_but_the_path),
        cmocka_unit_test(test_pieces_of_a_vector_cost_what_the_vector_does),
        cmocka_unit_test(test_scalar_loads_know_three_places),
        cmocka_unit_test(test_vtcm_is_not_cached_for_scalar_loads),
        cmocka_unit_test(test_no_thread_pays_for_what_lies_on_a_stack),
        cmocka_unit_test(test_static_data_is_in_cache_when_a_call_begins),
        cmocka_unit_test(test_two_threads_get_no_more_than_ddr_has),
        cmocka_unit_test(test_two_threads_are_never_more_than_twice_one),
        cmocka_unit_test(test_threads_of_a_call_share_l2),
        cmocka_unit_test(test_calls_of_others_change_nothing),
        cmocka_unit_test(test_dma_and_loads_share_ddr),
    };

    return HXT_RUN_FIXTURE(tests, setup, NULL);
}
