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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_entries_come_out_in_order_and_whole),
    cmocka_unit_test(test_pop_from_empty_ring_returns_eagain),
    cmocka_unit_test(test_push_to_full_ring_returns_eagain),
    cmocka_unit_test(test_indices_may_wrap_around_32_bits),
    cmocka_unit_test(test_impossible_indices_are_a_protocol_error),
    cmocka_unit_test(test_two_threads_lose_nothing),
};

int main(void)
{
    return HXT_RUN(tests);
}
