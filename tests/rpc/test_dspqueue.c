/* Protects: dspqueue from the host's end and from a skel's, through the public headers, against a real rig on both front
 * ends. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "dspqueue_shared.h"
#include "queue_client.h"

static uint64_t stat(dspqueue_t q, int which)
{
    uint64_t v = 0;

    assert_int_equal(dspqueue_get_stat(q, (enum dspqueue_stat)which, &v), 0);
    return v;
}

/* Writes n bytes derived from `seed` and reads the same back. */
static void echo_once(dspqueue_t q, uint32_t n, uint8_t seed)
{
    static uint8_t out[DSPQUEUE_MAX_MESSAGE_SIZE], in[DSPQUEUE_MAX_MESSAGE_SIZE];
    uint32_t flags = 0, len = 0, bufs = 9;

    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint8_t)(seed + i);
    assert_int_equal(dspqueue_write(q, 0, 0, NULL, n, n ? out : NULL, HXQ_PATIENCE_US), 0);
    assert_int_equal(dspqueue_read(q, &flags, 0, &bufs, NULL, sizeof(in), &len, in, HXQ_PATIENCE_US), 0);
    assert_int_equal(len, n);
    assert_int_equal(bufs, 0);
    assert_int_equal(flags & DSPQUEUE_PACKET_FLAG_MESSAGE, n ? DSPQUEUE_PACKET_FLAG_MESSAGE : 0);
    if (n)
        hxt_same_bytes(in, out, n);
}

/* --- packets ------------------------------------------------------------------------------------------------------ */

static void test_messages_of_all_sizes_come_back(void **state)
{
    uint64_t id;
    dspqueue_t q = open_queue(1 << 20, 1 << 20, HXQ_ECHO, &id);
    uint8_t big[1] = {0};

    (void)state;
    for (uint32_t n = 0; n < 70; n++)
        echo_once(q, n, (uint8_t)n);
    for (uint32_t n = 0; n < 60; n++) /* wraps around several times */
        echo_once(q, 60000 + n, (uint8_t)n);
    echo_once(q, DSPQUEUE_MAX_MESSAGE_SIZE, 1);
    assert_int_equal(dspqueue_write_noblock(q, 0, 0, NULL, DSPQUEUE_MAX_MESSAGE_SIZE + 1, big), AEE_EBADPARM);
    assert_int_equal(dspqueue_write_noblock(q, 0, 0, NULL, 1, NULL), AEE_EBADPARM);
    assert_int_equal(dspqueue_write_noblock(q, 0, 65, (struct dspqueue_buffer *)big, 0, NULL), AEE_EBADPARM);
    assert_int_equal(stat(q, DSPQUEUE_STAT_HEXRIG_PACKETS_WRITTEN), 131);
    assert_int_equal(stat(q, DSPQUEUE_STAT_HEXRIG_PACKETS_READ), 131);
    assert_int_equal(stat(q, DSPQUEUE_STAT_READ_QUEUE_PACKETS), 0);
    assert_int_equal(stat(q, DSPQUEUE_STAT_WRITE_QUEUE_PACKETS), 0);
    assert_int_equal(stat(q, DSPQUEUE_STAT_SIGNALING_PERF), DSPQUEUE_SIGNALING_PERF_OPTIMIZED_SIGNALING);
    close_queue(q, id);
}

static void *write_patiently(void *q)
{
    uint8_t m[48] = {0};

    return (void *)(intptr_t)dspqueue_write(q, 0, 0, NULL, sizeof(m), m, HXQ_PATIENCE_US);
}

static void test_a_full_queue_waits_times_out_and_goes_on(void **state)
{
    pthread_t t;
    void *written;
    uint64_t id;
    dspqueue_t q = open_queue(256, 256, 0, &id); /* nobody reads */
    uint8_t m[48] = {0};
    uint32_t out[2], n = 0;
    int rc;

    (void)state;
    while ((rc = dspqueue_write_noblock(q, 0, 0, NULL, sizeof(m), m)) == 0)
        n++;
    assert_int_equal(rc, AEE_EWOULDBLOCK);
    assert_int_equal(n, 4); /* 56 bytes each, 8 stay free */
    assert_int_equal(stat(q, DSPQUEUE_STAT_WRITE_QUEUE_PACKETS), 4);
    assert_int_equal(stat(q, DSPQUEUE_STAT_WRITE_QUEUE_BYTES), 4 * 56);
    assert_int_equal(dspqueue_write(q, 0, 0, NULL, sizeof(m), m, 20000), AEE_EEXPIRED);
    assert_int_equal(dspqueue_write_noblock(q, 0, 0, NULL, 248, m), AEE_EBADPARM); /* never */
    assert_int_equal(pthread_create(&t, NULL, write_patiently, q), 0);
    for (uint32_t i = 0; i < 5; i++) { /* the writer gets room, and its packet comes, too */
        assert_int_equal(call_queue_skel(HXQ_READ, id, HXQ_PATIENCE_US, out), 0);
        assert_int_equal(out[0], 0);
        assert_int_equal(out[1], 48);
    }
    pthread_join(t, &written);
    assert_null(written);
    assert_int_equal(stat(q, DSPQUEUE_STAT_WRITE_QUEUE_BYTES), 0);
    close_queue(q, id);
}

static void test_blocking_reads_time_out_on_both_ends(void **state)
{
    uint64_t id;
    dspqueue_t q = open_queue(0, 0, 0, &id);
    uint32_t out[2], len = 0, flags = 0, bufs = 0;
    uint8_t m[16];

    (void)state;
    assert_int_equal(dspqueue_read_noblock(q, NULL, 0, NULL, NULL, 0, NULL, NULL), AEE_EWOULDBLOCK);
    assert_int_equal(dspqueue_read(q, NULL, 0, NULL, NULL, 0, NULL, NULL, 10000), AEE_EEXPIRED);
    assert_int_equal(dspqueue_peek(q, NULL, NULL, NULL, 10000), AEE_EEXPIRED);
    assert_int_equal(dspqueue_peek_noblock(q, NULL, NULL, NULL), AEE_EWOULDBLOCK);
    assert_int_equal(call_queue_skel(HXQ_READ, id, 10000, out), 0);
    assert_int_equal(out[0], AEE_EEXPIRED);
    assert_int_equal(call_queue_skel(HXQ_WRITE, id, 13, out), 0);
    assert_int_equal(dspqueue_peek(q, &flags, &bufs, &len, HXQ_PATIENCE_US), 0);
    assert_int_equal(len, 13);
    assert_int_equal(stat(q, DSPQUEUE_STAT_READ_QUEUE_PACKETS), 1);
    assert_int_equal(stat(q, DSPQUEUE_STAT_READ_QUEUE_BYTES), 24);
    assert_int_equal(dspqueue_read_noblock(q, NULL, 0, NULL, NULL, 12, NULL, m), AEE_EBADPARM); /* it stays */
    assert_int_equal(dspqueue_read_noblock(q, NULL, 0, NULL, NULL, sizeof(m), &len, m), 0);
    assert_int_equal(len, 13);
    assert_int_equal(m[12], 0x5a);
    close_queue(q, id);
}

static void test_an_early_wakeup_is_swallowed_and_counted(void **state)
{
    uint64_t id, v;
    dspqueue_t q = open_queue(0, 0, 0, &id);
    uint32_t len = 0;
    uint8_t m[16];

    (void)state;
    assert_int_equal(call_queue_skel(HXQ_WAKEUP, id, 500, NULL), 0);
    assert_int_equal(dspqueue_read(q, NULL, 0, NULL, NULL, sizeof(m), &len, m, HXQ_PATIENCE_US), 0);
    assert_int_equal(len, 8);
    assert_string_equal((char *)m, "wakeup!");
    assert_int_equal(dspqueue_write_early_wakeup_noblock(q, 0, 0), 0);
    assert_int_equal(call_queue_skel(HXQ_READ, id, 20000, (uint32_t *)m), 0);
    assert_int_equal(*(uint32_t *)m, AEE_EEXPIRED);
    assert_int_equal(dspqueue_get_stat(q, DSPQUEUE_STAT_EARLY_WAKEUP_MISSES, &v), 0);
    assert_int_equal(dspqueue_get_stat(q, DSPQUEUE_STAT_EARLY_WAKEUP_WAIT_TIME, &v), 0);
    assert_int_equal(dspqueue_get_stat(q, (enum dspqueue_stat)99, &v), AEE_EBADPARM);
    close_queue(q, id);
}

/* A message that is marked as an early wakeup would be swallowed; bits without a meaning have to be zero. */
static void test_a_write_takes_only_the_flags_of_a_packet(void **state)
{
    uint64_t id;
    dspqueue_t q = open_queue(0, 0, 0, &id);
    uint32_t out[2];
    uint8_t m[4] = {1, 2, 3, 4};

    (void)state;
    for (unsigned bit = 0; bit < 32; bit++) {
        int good = bit != 2 && bit < 5; /* 2: DSPQUEUE_PACKET_FLAG_WAKEUP */

        assert_int_equal(dspqueue_write(q, 1u << bit, 0, NULL, sizeof(m), m, HXQ_PATIENCE_US), good ? 0 : AEE_EBADPARM);
        assert_int_equal(call_queue_skel(HXQ_READ, id, good ? HXQ_PATIENCE_US : 0, out), 0);
        assert_int_equal(out[0], good ? 0 : AEE_EWOULDBLOCK);
    }
    assert_int_equal(dspqueue_write_early_wakeup_noblock(q, 0, 1u << 16), AEE_EBADPARM);
    assert_int_equal(dspqueue_write_early_wakeup_noblock(q, 0, DSPQUEUE_PACKET_FLAG_WAKEUP), 0);
    close_queue(q, id);
}

/* --- buffers ------------------------------------------------------------------------------------------------------ */

static void test_buffers_are_shared_referenced_and_checked(void **state)
{
    uint64_t id;
    dspqueue_t q = open_queue(0, 0, HXQ_ECHO, &id);
    uint8_t *p = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 8192);
    uint32_t fd = (uint32_t)rpcmem_to_fd(p), n = 0, len = 0;
    struct dspqueue_buffer b[64], got[64];

    (void)state;
    memset(b, 0, sizeof(b));
    b[0].fd = fd;
    assert_int_equal(dspqueue_write_noblock(q, 0, 1, b, 0, NULL), AEE_ENOSUCHMAP);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, (int)fd, p, 0, 8192, FASTRPC_MAP_FD), 0);
    b[0].flags = DSPQUEUE_BUFFER_FLAG_REF | DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER |
                 DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT;
    assert_int_equal(dspqueue_write(q, 0, 1, b, 4, (const uint8_t *)"abc", 0), 0);
    assert_int_equal(dspqueue_read(q, NULL, 64, &n, got, 4, &len, (uint8_t *)b, HXQ_PATIENCE_US), 0);
    assert_int_equal(n, 1);
    assert_int_equal(got[0].fd, fd);
    assert_ptr_equal(got[0].ptr, p);
    assert_int_equal(got[0].size, 8192); /* the whole, filled in by the readers */
    assert_int_equal(p[0], 1);
    assert_int_equal(p[8191], 1);
    memset(b, 0, sizeof(b));
    for (int i = 0; i < 64; i++)
        b[i] = (struct dspqueue_buffer){.fd = fd, .size = 16, .offset = (uint32_t)i * 16};
    assert_int_equal(dspqueue_write(q, 0, 64, b, 0, NULL, 0), 0);
    assert_int_equal(dspqueue_read(q, NULL, 64, &n, got, 0, &len, NULL, HXQ_PATIENCE_US), 0);
    assert_int_equal(n, 64);
    assert_int_equal(p[1023], 2);
    assert_int_equal(p[1024], 1);
    assert_ptr_equal(got[63].ptr, p + 63 * 16);

    b[0].flags = DSPQUEUE_BUFFER_FLAG_DEREF; /* came back with DEREF already: nothing is held */
    assert_int_equal(dspqueue_write(q, 0, 1, b, 0, NULL, 0), AEE_EBADPARM);
    b[0] = (struct dspqueue_buffer){.fd = fd, .size = 8192, .offset = 1};
    assert_int_equal(dspqueue_write(q, 0, 1, b, 0, NULL, 0), AEE_EBADPARM);
    b[0] = (struct dspqueue_buffer){.fd = fd, .flags = DSPQUEUE_BUFFER_FLAG_REF};
    b[1] = (struct dspqueue_buffer){.fd = 9999};
    assert_int_equal(dspqueue_write(q, 0, 2, b, 0, NULL, 0), AEE_ENOSUCHMAP); /* and the first one's undone */
    assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, (int)fd, p, 8192), 0);
    close_queue(q, id);
    rpcmem_free(p);
}

static void test_a_referenced_buffer_cannot_be_unmapped(void **state)
{
    uint64_t id;
    dspqueue_t q = open_queue(0, 0, 0, &id);
    uint8_t *p = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 4096);
    struct dspqueue_buffer b = {.fd = (uint32_t)rpcmem_to_fd(p), .flags = DSPQUEUE_BUFFER_FLAG_REF};

    (void)state;
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, (int)b.fd, p, 0, 4096, FASTRPC_MAP_FD), 0);
    assert_int_equal(dspqueue_write_noblock(q, 0, 1, &b, 0, NULL), 0);
    assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, (int)b.fd, p, 4096), AEE_EBADPARM);
    b.flags = DSPQUEUE_BUFFER_FLAG_DEREF;
    assert_int_equal(dspqueue_write_noblock(q, 0, 1, &b, 0, NULL), 0);
    assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, (int)b.fd, p, 4096), 0);
    close_queue(q, id);
    rpcmem_free(p);
}

/* --- callbacks, many queues, speed ---------------------------------------------------------------------------------- */

static _Atomic int packets, wrong;

static void count_packets(dspqueue_t q, AEEResult error, void *context)
{
    uint32_t len, value;

    (void)error;
    while (dspqueue_read_noblock(q, NULL, 0, NULL, NULL, sizeof(value), &len, (uint8_t *)&value) == 0) {
        if (value != (uint32_t)packets || context != &packets)
            wrong++;
        packets++;
    }
    if (dspqueue_close(q) != AEE_EBADSTATE) /* not from here */
        wrong++;
}

static int have_packets(void *n)
{
    return packets == *(int *)n;
}

static void test_callbacks_see_every_packet_in_order(void **state)
{
    int n = 5000;
    dspqueue_t q;
    uint64_t id;

    (void)state;
    assert_int_equal(dspqueue_create(-1, 0, 4096, 512, count_packets, NULL, (void *)&packets, &q), 0);
    assert_int_equal(dspqueue_export(q, &id), 0);
    assert_int_equal(call_queue_skel(HXQ_START, id, HXQ_ECHO, NULL), 0);
    assert_int_equal(call_queue_skel(HXQ_START, id, HXQ_ECHO, NULL), AEE_EITEMBUSY);
    assert_int_equal(dspqueue_close(q), AEE_EBADPARM); /* imported */
    for (uint32_t i = 0; i < (uint32_t)n; i++)
        assert_int_equal(dspqueue_write(q, 0, 0, NULL, sizeof(i), (uint8_t *)&i, HXQ_PATIENCE_US), 0);
    assert_true(hxt_until(have_packets, &n, 30));
    assert_int_equal(wrong, 0);
    close_queue(q, id);
}

enum { WRITERS = 4, EACH = 500 };

static void *write_many(void *q)
{
    for (uint32_t i = 1; i <= EACH; i++)
        if (dspqueue_write(q, 0, 0, NULL, sizeof(i), (uint8_t *)&i, HXQ_PATIENCE_US))
            return q;
    return NULL;
}

static void test_threads_share_a_queue(void **state)
{
    pthread_t t[WRITERS];
    uint64_t id, sum = 0;
    dspqueue_t q = open_queue(512, 512, HXQ_ECHO, &id);
    void *bad;

    (void)state;
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, write_many, q), 0);
    for (int i = 0; i < WRITERS * EACH; i++) {
        uint32_t value = 0;

        assert_int_equal(dspqueue_read(q, NULL, 0, NULL, NULL, sizeof(value), NULL, (uint8_t *)&value,
                                       HXQ_PATIENCE_US), 0);
        sum += value;
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(t[i], &bad);
        assert_null(bad);
    }
    assert_int_equal(sum, (uint64_t)WRITERS * EACH * (EACH + 1) / 2);
    close_queue(q, id);
}

static void test_64_queues_and_no_more(void **state)
{
    static dspqueue_t q[65];
    static uint64_t id[65];

    (void)state;
    for (int i = 0; i < 64; i++)
        q[i] = open_queue(1024, 1024, HXQ_ECHO, &id[i]);
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, &q[64]), AEE_EBADPARM);
    assert_null(q[64]);
    for (int i = 0; i < 64; i++)
        echo_once(q[i], 100, (uint8_t)i);
    for (int i = 0; i < 64; i++)
        close_queue(q[i], id[i]);
    q[0] = open_queue(0, 0, HXQ_ECHO, &id[0]); /* slots come back */
    echo_once(q[0], 8, 0);
    close_queue(q[0], id[0]);
}

static void test_bad_arguments_of_create(void **state)
{
    dspqueue_t q = NULL;

    (void)state;
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, NULL), AEE_EBADPARM);
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 1, 0, 0, NULL, NULL, NULL, &q), AEE_EBADPARM);
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, DSPQUEUE_MAX_QUEUE_SIZE + 1, 0, NULL, NULL, NULL, &q),
                     AEE_EBADPARM);
    assert_int_equal(dspqueue_create(ADSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, &q), AEE_EBADDOMAIN);
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID + 24, 0, 13, 13, NULL, NULL, NULL, &q), 0); /* session 3 */
    assert_int_equal(dspqueue_close(q), 0);
    assert_int_equal(dspqueue_close(NULL), AEE_EBADPARM);
}

struct hot {
    dspqueue_t q;
    uint32_t bytes; /* of a message */
    uint64_t sleeps, rings; /* of the last round */
};

static int round_without_sleep(void *arg)
{
    struct hot *h = arg;
    uint64_t sleeps = stat(h->q, DSPQUEUE_STAT_HEXRIG_SLEEPS), rings = stat(h->q, DSPQUEUE_STAT_HEXRIG_RINGS);

    for (int i = 0; i < 50; i++)
        echo_once(h->q, h->bytes, (uint8_t)i);
    h->sleeps = stat(h->q, DSPQUEUE_STAT_HEXRIG_SLEEPS) - sleeps;
    h->rings = stat(h->q, DSPQUEUE_STAT_HEXRIG_RINGS) - rings;
    return h->rings == 0 && h->sleeps == 0;
}

static int hot_at_last(void *arg)
{
    for (int i = 0; i < 200; i++)
        if (round_without_sleep(arg))
            return 1;
    return 0;
}

/* While nobody else wants our two CPUs a packet costs no system call: a round of echoes without one sleep and one ring shows
 * it.  A busy machine gets time for it. */
static void test_a_hot_queue_does_not_sleep(void **state)
{
    struct hot h = {.bytes = 64};
    cpu_set_t cpus;
    uint64_t id;

    (void)state;
#ifdef __SANITIZE_THREAD__
    hxt_skip_test("ThreadSanitizer makes this end too slow to stay hot");
#endif
    assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    if (CPU_COUNT(&cpus) < 2)
        hxt_skip_test("one CPU: polling is switched off");
    h.q = open_queue(0, 0, HXQ_ECHO, &id);
    assert_true(hxt_until(hot_at_last, &h, 60));
    close_queue(h.q, id);
}

static void pin(pid_t pid, int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(pid, sizeof(one), &one), 0);
}

/* Each end has one CPU, but not the same one: polling pays. */
static void test_ends_pinned_to_two_cpus_stay_hot(void **state)
{
    cpu_set_t all;
    int cpu[2], n = 0;
    struct hot h = {.bytes = 8192}; /* takes the DSP so long that we wait, one way or the other */
    uint64_t id;

#ifdef __SANITIZE_THREAD__
    hxt_skip_test("ThreadSanitizer makes this end too slow to stay hot");
#endif
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &all))
            cpu[n++] = i;
    if (n < 2)
        hxt_skip_test("one CPU: polling is switched off");
    assert_int_not_equal(own_rig_dsp(), 0);
    pin(own_rig_dsp(), cpu[1]); /* and with it the PD that is made next */
    pin(0, cpu[0]);
    assert_int_equal(open_queue_skel(state), 0);
    h.q = open_queue(1 << 20, 1 << 20, HXQ_ECHO, &id);
    assert_true(hxt_until(hot_at_last, &h, 60));
    close_queue(h.q, id);
    close_queue_skel(state);
    sched_setaffinity(own_rig_dsp(), sizeof(all), &all);
    sched_setaffinity(0, sizeof(all), &all);
}

/* --- ends ----------------------------------------------------------------------------------------------------------- */

static _Atomic int error_code;

static void on_error(dspqueue_t q, AEEResult error, void *context)
{
    *(dspqueue_t *)context = q;
    error_code = error;
}

static int error_came(void *unused)
{
    (void)unused;
    return error_code != 0;
}

static void *read_forever(void *q)
{
    return (void *)(intptr_t)dspqueue_read(q, NULL, 0, NULL, NULL, 0, NULL, NULL, DSPQUEUE_TIMEOUT_NONE);
}

static void test_the_pds_end_is_told_and_ends_reads(void **state)
{
    dspqueue_t q, heard = NULL;
    pthread_t t;
    void *rc;

    (void)state;
    error_code = 0;
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, on_error, &heard, &q), 0);
    assert_int_equal(pthread_create(&t, NULL, read_forever, q), 0);
    assert_int_equal(remote_handle64_invoke(queue_skel, REMOTE_SCALARS_MAKE(HXQ_CRASH, 0, 0), NULL),
                     AEE_DSP(AEE_ECPUEXCEPTION));
    pthread_join(t, &rc);
    assert_int_equal((intptr_t)rc, AEE_ENOSUCH);
    assert_true(hxt_until(error_came, NULL, 10));
    assert_int_equal(error_code, AEE_ENOSUCH);
    assert_ptr_equal(heard, q);
    assert_int_equal(dspqueue_write_noblock(q, 0, 0, NULL, 1, (const uint8_t *)"x"), AEE_ENOSUCH);
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, &heard), AEE_ECONNRESET);
    assert_int_equal(dspqueue_close(q), 0);
    remote_handle64_close(queue_skel);
    assert_int_equal(open_queue_skel(NULL), 0); /* a new PD */
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, &q), 0);
    assert_int_equal(dspqueue_close(q), 0);
}

static void test_closing_ends_a_blocked_read(void **state)
{
    dspqueue_t q;
    pthread_t t;
    void *rc;

    (void)state;
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, &q), 0);
    assert_int_equal(pthread_create(&t, NULL, read_forever, q), 0);
    usleep(20000);
    assert_int_equal(dspqueue_close(q), 0);
    pthread_join(t, &rc);
    assert_int_equal((intptr_t)rc, AEE_EINTERRUPTED);
}

static void test_closing_the_session_under_a_queue(void **state)
{
    struct remote_rpc_session_close c = {CDSP_DOMAIN_ID};
    dspqueue_t q;

    (void)state;
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, &q), 0);
    assert_int_equal(remote_session_control(FASTRPC_SESSION_CLOSE, &c, sizeof(c)), 0);
    assert_int_equal(dspqueue_read(q, NULL, 0, NULL, NULL, 0, NULL, NULL, HXQ_PATIENCE_US), AEE_ECONNRESET);
    assert_int_equal(dspqueue_close(q), 0);
    assert_int_equal(open_queue_skel(NULL), 0);
}

/* --- */

static void test_a_profile_can_switch_it_off(void **state)
{
    dspqueue_t q = (dspqueue_t)1;

    (void)state;
    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, &q), AEE_DSP(AEE_EUNSUPPORTED));
    assert_null(q);
}

static int run(const char *mode)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_messages_of_all_sizes_come_back, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_a_full_queue_waits_times_out_and_goes_on, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_blocking_reads_time_out_on_both_ends, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_an_early_wakeup_is_swallowed_and_counted, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_a_write_takes_only_the_flags_of_a_packet, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_buffers_are_shared_referenced_and_checked, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_a_referenced_buffer_cannot_be_unmapped, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_callbacks_see_every_packet_in_order, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_threads_share_a_queue, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_64_queues_and_no_more, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_bad_arguments_of_create, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_a_hot_queue_does_not_sleep, open_queue_skel, close_queue_skel),
        cmocka_unit_test(test_ends_pinned_to_two_cpus_stay_hot),
        cmocka_unit_test_setup_teardown(test_the_pds_end_is_told_and_ends_reads, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_closing_ends_a_blocked_read, open_queue_skel, close_queue_skel),
        cmocka_unit_test_setup_teardown(test_closing_the_session_under_a_queue, open_queue_skel, close_queue_skel),
    };

    own_rig_front_end = mode;
    packets = wrong = 0;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

static int run_off(const char *front_end)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_profile_can_switch_it_off)};
    static char path[512];
    size_t n;
    char *text = hxt_read_file(HXT_SRC "/dsp/profiles/s22u-577.conf", &n);
    FILE *f;

    snprintf(path, sizeof(path), "%s/off.conf", hxt_tmpdir());
    f = fopen(path, "w");
    if (!text || !f)
        return 1;
    fprintf(f, "%s\ndspqueue = 0\n", text);
    fclose(f);
    free(text);
    own_rig_front_end = front_end;
    own_rig_profile = path;
    int rc = HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
    unlink(path);
    return rc;
}

int main(void)
{
    int rc = own_rig_run(run, "socket") | own_rig_run(run_off, "socket");

    if (access("/dev/fuse", R_OK | W_OK) == 0)
        rc |= own_rig_run(run, "fuse");
    else
        printf("skip: front end fuse: /dev/fuse: %s\n", strerror(errno));
    return rc;
}
