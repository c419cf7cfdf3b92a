/* Protects the thread pool (host/base/pool.h): each part runs exactly once, on no more threads than promised, its writes are seen by
 * the caller, and threads that slept take part again. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hxt.h"
#include "base/pool.h"

enum { PARTS = 300 };

struct count {
    /* not atomic: a part is one thread's, and the caller reads after it */
    unsigned ran[PARTS];
    size_t n_parts[PARTS];
    pthread_t caller;
    atomic_int others;
};

static void count_part(void *arg, size_t part, size_t n_parts)
{
    struct count *c = arg;

    c->ran[part]++;
    c->n_parts[part] = n_parts;
    if (!pthread_equal(pthread_self(), c->caller))
        atomic_fetch_add(&c->others, 1);
}

static void check_run(struct hx_pool *p, size_t n_parts)
{
    struct count c = {.caller = pthread_self()};

    hx_pool_run(p, n_parts, count_part, &c);
    for (size_t i = 0; i < PARTS; i++) {
        assert_int_equal(c.ran[i], i < n_parts);
        assert_int_equal(c.n_parts[i], i < n_parts ? n_parts : 0);
    }
    if (hx_pool_threads(p) == 1 || n_parts < 2)
        assert_int_equal(c.others, 0);
}

static void test_each_part_runs_once(void **state)
{
    static const size_t threads[] = {1, 2, 3, 8};

    (void)state;
    check_run(NULL, 5);
    assert_int_equal(hx_pool_threads(NULL), 1);
    for (size_t t = 0; t < HXT_LEN(threads); t++) {
        struct hx_pool *p;

        assert_int_equal(hx_pool_open(&p, threads[t], NULL), 0);
        assert_int_equal(hx_pool_threads(p), threads[t]);
        for (size_t round = 0; round < 500; round++)
            check_run(p, round % PARTS);
        hx_pool_close(p);
    }
    hx_pool_close(NULL);
}

/* --- all threads take part: each part waits for the others */

struct meeting {
    atomic_size_t here;
    size_t want;
};

/* Returns when `want` parts are under way at once, which takes that many threads.  The bound ends a test that fails. */
static void meet(void *arg, size_t part, size_t n_parts)
{
    struct meeting *m = arg;
    const time_t end = time(NULL) + 120;

    (void)part;
    (void)n_parts;
    atomic_fetch_add(&m->here, 1);
    while (atomic_load(&m->here) < m->want && time(NULL) < end)
        sched_yield();
}

static void check_meeting(struct hx_pool *p, size_t n)
{
    struct meeting m = {.want = n};

    hx_pool_run(p, n, meet, &m);
    assert_int_equal(m.here, n);
}

static void test_threads_work_at_the_same_time_also_after_sleep(void **state)
{
    struct hx_pool *p;

    (void)state;
    assert_int_equal(hx_pool_open(&p, 4, NULL), 0);
    for (int i = 0; i < 5; i++) {
        check_meeting(p, 4);
        nanosleep(&(struct timespec){0, 100000000}, NULL); /* long enough for all to give up spinning */
    }
    hx_pool_close(p);
}

/* --- what parts write and read is ordered by the rounds */

struct relay {
    uint64_t *from, *to;
};

static void relay_part(void *arg, size_t part, size_t n_parts)
{
    const struct relay *r = arg;

    r->to[part] = r->from[(part + 1) % n_parts] + 1;
}

static void test_a_round_sees_what_the_one_before_wrote(void **state)
{
    enum { N = 16, ROUNDS = 4000 };
    uint64_t a[N] = {0}, b[N] = {0};
    struct hx_pool *p;

    (void)state;
    assert_int_equal(hx_pool_open(&p, 3, NULL), 0);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct relay r = {i % 2 ? b : a, i % 2 ? a : b};

        hx_pool_run(p, N, relay_part, &r);
        for (size_t k = 0; k < N; k++)
            assert_int_equal(r.to[k], i + 1);
    }
    hx_pool_close(p);
}

static void test_a_pool_closes_at_once_and_unused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 50; i++) {
        struct hx_pool *p;

        assert_int_equal(hx_pool_open(&p, 1 + i % 5, NULL), 0);
        hx_pool_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_part_runs_once),
        cmocka_unit_test(test_threads_work_at_the_same_time_also_after_sleep),
        cmocka_unit_test(test_a_round_sees_what_the_one_before_wrote),
        cmocka_unit_test(test_a_pool_closes_at_once_and_unused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
