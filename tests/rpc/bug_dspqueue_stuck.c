/* Protects: a write of a packet that an empty queue cannot take, because packets do not wrap, does not wait for ever. */
#include <pthread.h>
#include <time.h>

#include "queue_client.h"

/* Writes n bytes and lets the DSP read them. */
static void through(dspqueue_t q, uint64_t id, uint32_t n)
{
    uint8_t m[256] = {0};
    uint32_t out[2];

    assert_int_equal(dspqueue_write(q, 0, 0, NULL, n, m, DSPQUEUE_TIMEOUT_NONE), 0);
    assert_int_equal(call_queue_skel(HXQ_READ, id, HXQ_PATIENCE_US, out), 0);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], n);
}

/* Packets do not wrap: longer than half of the queue, it fits an empty one only at some positions.  A device hangs. */
static void test_a_packet_that_an_empty_queue_cannot_take_is_told(void **state)
{
    uint64_t id, bytes;
    dspqueue_t q = open_queue(256, 256, 0, &id);
    uint8_t m[160] = {0}; /* 168 bytes in the queue */

    (void)state;
    through(q, id, 48);
    through(q, id, 48); /* now at 112: 144 behind, 104 before */
    assert_int_equal(dspqueue_get_stat(q, DSPQUEUE_STAT_WRITE_QUEUE_BYTES, &bytes), 0);
    assert_int_equal(bytes, 0);
    assert_int_equal(dspqueue_write_noblock(q, 0, 0, NULL, sizeof(m), m), AEE_EWOULDBLOCK);
    assert_int_equal(dspqueue_write(q, 0, 0, NULL, sizeof(m), m, 20000), AEE_EEXPIRED);
    assert_int_equal(dspqueue_write(q, 0, 0, NULL, sizeof(m), m, DSPQUEUE_TIMEOUT_NONE),
                     AEE_ENOMORE);
    through(q, id, 120); /* half of it always fits */
    through(q, id, sizeof(m)); /* at 240 it goes to the start */
    close_queue(q, id);
}

static void *write_long(void *q)
{
    static const uint8_t m[160];

    return (void *)(intptr_t)dspqueue_write(q, 0, 0, NULL, sizeof(m), m, DSPQUEUE_TIMEOUT_NONE);
}

static void test_packets_of_another_thread_help_a_stuck_writer(void **state)
{
    const struct timespec ms50 = {0, 50000000};
    pthread_t t;
    void *written;
    uint64_t id;
    dspqueue_t q = open_queue(256, 256, 0, &id);
    uint32_t out[2];

    (void)state;
    through(q, id, 48);
    through(q, id, 48);
    assert_int_equal(pthread_create(&t, NULL, write_long, q), 0);
    nanosleep(&ms50, NULL);
    through(q, id, 48);
    through(q, id, 48); /* at 224 there is room before */
    pthread_join(t, &written);
    assert_null(written);
    assert_int_equal(call_queue_skel(HXQ_READ, id, HXQ_PATIENCE_US, out), 0);
    assert_int_equal(out[1], 160);
    close_queue(q, id);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_packet_that_an_empty_queue_cannot_take_is_told,
                                        open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_packets_of_another_thread_help_a_stuck_writer,
                                        open_queue_skel, close_queue_skel),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run(run, "socket");
}
