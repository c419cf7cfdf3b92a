/* Protects: the message ring between driver and DSP, whose peer may write anything into it. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "hx_ring.h"
#include "hxt.h"

static struct hx_ring_shared *new_ring(void)
{
    struct hx_ring_shared *r = aligned_alloc(128, sizeof(*r));

    assert_non_null(r);
    memset(r, 0, sizeof(*r));
    return r;
}

static struct hx_msg message(uint64_t n)
{
    struct hx_msg m = {.client_id = 1, .tid = 2, .ctx = n, .addr = ~n, .size = n * 3};

    return m;
}

static void test_entries_come_out_in_order_and_whole(void **state)
{
    struct hx_ring_shared *r = new_ring();
    struct hx_msg got;

    (void)state;
    for (uint64_t i = 0; i < 5; i++) {
        struct hx_msg m = message(i);

        assert_int_equal(hx_ring_push(r, &m), 0);
    }
    for (uint64_t i = 0; i < 5; i++) {
        struct hx_msg want = message(i);

        memset(&got, HXT_POISON, sizeof(got));
        assert_int_equal(hx_ring_pop(r, &got), 0);
        assert_memory_equal(&got, &want, sizeof(want));
    }
    free(r);
}

static void test_pop_from_empty_ring_returns_eagain(void **state)
{
    struct hx_ring_shared *r = new_ring();
    struct hx_msg got;

    (void)state;
    memset(&got, HXT_POISON, sizeof(got));
    assert_int_equal(hx_ring_pop(r, &got), -EAGAIN);
    hxt_untouched(&got, sizeof(got));
    free(r);
}

static void test_push_to_full_ring_returns_eagain(void **state)
{
    struct hx_ring_shared *r = new_ring();
    struct hx_msg m = message(1), got;

    (void)state;
    for (unsigned i = 0; i < HX_RING_SLOTS; i++)
        assert_int_equal(hx_ring_push(r, &m), 0);
    assert_int_equal(hx_ring_push(r, &m), -EAGAIN);
    assert_int_equal(hx_ring_pop(r, &got), 0);
    assert_int_equal(hx_ring_push(r, &m), 0);
    free(r);
}

static void test_indices_may_wrap_around_32_bits(void **state)
{
    struct hx_ring_shared *r = new_ring();
    struct hx_msg got;

    (void)state;
    r->head = r->tail = UINT32_MAX - 2;
    for (uint64_t i = 0; i < 8; i++) {
        struct hx_msg m = message(i);

        assert_int_equal(hx_ring_push(r, &m), 0);
    }
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(hx_ring_pop(r, &got), 0);
        assert_int_equal(got.ctx, i);
    }
    assert_int_equal(hx_ring_pop(r, &got), -EAGAIN);
    free(r);
}

static void test_impossible_indices_are_a_protocol_error(void **state)
{
    static const uint32_t bad[] = {HX_RING_SLOTS + 1, 1u << 31, UINT32_MAX};
    struct hx_ring_shared *r = new_ring();
    struct hx_msg m = message(1);

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        r->head = 7;
        r->tail = 7 + bad[i];
        assert_int_equal(hx_ring_push(r, &m), -EPROTO);
        assert_int_equal(hx_ring_pop(r, &m), -EPROTO);
    }
    free(r);
}

#define N_PASSED 200000u

static void *produce(void *arg)
{
    for (uint64_t i = 0; i < N_PASSED;) {
        struct hx_msg m = message(i);

        if (hx_ring_push(arg, &m) == 0)
            i++;
        else
            sched_yield();
    }
    return NULL;
}

static void test_two_threads_lose_nothing(void **state)
{
    struct hx_ring_shared *r = new_ring();
    pthread_t t;

    (void)state;
    assert_int_equal(pthread_create(&t, NULL, produce, r), 0);
    for (uint64_t i = 0; i < N_PASSED;) {
        struct hx_msg got, want = message(i);
        int rc = hx_ring_pop(r, &got);

        if (rc == -EAGAIN) {
            sched_yield();
            continue;
        }
        assert_int_equal(rc, 0);
        assert_memory_equal(&got, &want, sizeof(want));
        i++;
    }
    pthread_join(t, NULL);
    free(r);
}

static void test_only_a_sleeping_consumer_has_to_be_woken(void **state)
{
    struct hx_ring_shared *r = new_ring();
    struct hx_msg m = message(1);

    (void)state;
    assert_int_equal(hx_ring_push(r, &m), 0);
    assert_false(hx_ring_must_wake(r));
    assert_int_equal(hx_ring_pop(r, &m), 0);
    hx_ring_doze(r);
    assert_true(hx_ring_is_empty(r));
    assert_int_equal(hx_ring_push(r, &m), 0);
    assert_true(hx_ring_must_wake(r));
    assert_false(hx_ring_is_empty(r));
    hx_ring_rouse(r);
    assert_false(hx_ring_must_wake(r));
    hx_ring_wait(r); /* there is an entry: must not sleep */
    free(r);
}

enum { N_CONSUMERS = 3, N_WOKEN = 20000 };

struct shift {
    struct hx_ring_shared *r;
    pthread_mutex_t pop;
    uint64_t sum;   /* under pop */
    unsigned taken; /* under pop */
    unsigned ended; /* under pop */
};

static int take(struct shift *s, struct hx_msg *m)
{
    int rc;

    pthread_mutex_lock(&s->pop);
    rc = hx_ring_pop(s->r, m);
    if (rc == 0 && m->ctx) {
        s->taken++;
        s->sum += m->ctx;
    }
    s->ended += rc == 0 && !m->ctx;
    pthread_mutex_unlock(&s->pop);
    return rc;
}

/* Until an entry with ctx 0 comes. */
static void *consume_asleep(void *arg)
{
    struct shift *s = arg;
    struct hx_msg m;

    do {
        while (take(s, &m) == -EAGAIN)
            hx_ring_wait(s->r);
    } while (m.ctx);
    return NULL;
}

static void push_and_wake(struct hx_ring_shared *r, uint64_t n)
{
    struct hx_msg m = message(n);

    while (hx_ring_push(r, &m) == -EAGAIN)
        sched_yield();
    if (hx_ring_must_wake(r))
        hx_ring_wake(r);
}

/* A lost wakeup leaves a thread asleep, and this test never ends. */
static void test_consumers_that_sleep_miss_nothing(void **state)
{
    struct shift s = {.r = new_ring(), .pop = PTHREAD_MUTEX_INITIALIZER};
    pthread_t t[N_CONSUMERS];

    (void)state;
    for (int i = 0; i < N_CONSUMERS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, consume_asleep, &s), 0);
    for (uint64_t i = 1; i <= N_WOKEN; i++) {
        push_and_wake(s.r, i);
        if (i % 7 == 0)
            sched_yield(); /* lets them fall asleep now and then */
    }
    for (int i = 0; i < N_CONSUMERS; i++)
        push_and_wake(s.r, 0);
    for (int i = 0; i < N_CONSUMERS; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(s.taken, N_WOKEN);
    assert_int_equal(s.sum, (uint64_t)N_WOKEN * (N_WOKEN + 1) / 2);
    assert_int_equal(s.ended, N_CONSUMERS);
    assert_false(hx_ring_must_wake(s.r));
    free(s.r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_entries_come_out_in_order_and_whole),
    cmocka_unit_test(test_pop_from_empty_ring_returns_eagain),
    cmocka_unit_test(test_push_to_full_ring_returns_eagain),
    cmocka_unit_test(test_indices_may_wrap_around_32_bits),
    cmocka_unit_test(test_impossible_indices_are_a_protocol_error),
    cmocka_unit_test(test_two_threads_lose_nothing),
    cmocka_unit_test(test_only_a_sleeping_consumer_has_to_be_woken),
    cmocka_unit_test(test_consumers_that_sleep_miss_nothing),
};

int main(void)
{
    return HXT_RUN(tests);
}
