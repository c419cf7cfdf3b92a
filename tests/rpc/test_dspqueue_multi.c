/* Protects: dspqueue_request(), one queue handle for several sessions, against a real rig on both front ends. */
#include "queue_client.h"

enum { SESSIONS = 2 };

static uint32_t domain_ids[SESSIONS] = {CDSP_DOMAIN_ID + 8, CDSP_DOMAIN_ID};

static uint64_t make_context(uint32_t n)
{
    fastrpc_context_create c = {domain_ids, n, 0, 0};

    assert_int_equal(remote_session_control(FASTRPC_CONTEXT_CREATE, &c, sizeof(c)), AEE_SUCCESS);
    return c.ctx;
}

static void end_context(uint64_t ctx)
{
    fastrpc_context_destroy d = {ctx, 0};

    assert_int_equal(remote_session_control(FASTRPC_CONTEXT_DESTROY, &d, sizeof(d)), AEE_SUCCESS);
}

static dspqueue_t make_queue(uint64_t ctx, uint64_t *ids, uint32_t n_ids)
{
    dspqueue_request_payload r = {DSPQUEUE_CREATE, {{.ctx = ctx, .ids = ids, .num_ids = n_ids}}};

    assert_int_equal(dspqueue_request(&r), AEE_SUCCESS);
    assert_non_null(r.create.queue);
    return r.create.queue;
}

/* The queue skel in the session of domain_ids[i], told something about queue `id`. */
static remote_handle64 skels[SESSIONS];

static void open_skels(void)
{
    assert_int_equal(remote_handle64_open(HXT_QUEUE_URI CDSP_DOMAIN "&_session=1", &skels[0]), AEE_SUCCESS);
    assert_int_equal(remote_handle64_open(HXT_QUEUE_URI CDSP_DOMAIN, &skels[1]), AEE_SUCCESS);
}

static void tell_session(int i, uint32_t method, uint64_t id, uint32_t flags)
{
    queue_skel = skels[i];
    assert_int_equal(call_queue_skel(method, id, flags, NULL), AEE_SUCCESS);
}

static void close_skels(void)
{
    for (int i = 0; i < SESSIONS; i++)
        assert_int_equal(remote_handle64_close(skels[i]), AEE_SUCCESS);
}

struct reading {
    dspqueue_t q;
    int n;
};

/* For hxt_until(): reads what is there; true when `n` packets are in. */
static int all_read(void *arg)
{
    struct reading *r = arg;
    uint8_t message[16];
    uint32_t flags, len = 0, bufs = 0;

    while (dspqueue_read_noblock(r->q, &flags, 0, &bufs, NULL, sizeof(message), &len, message) == AEE_SUCCESS) {
        assert_int_equal(len, 5);
        assert_memory_equal(message, "hello", 5);
        r->n--;
    }
    return r->n == 0;
}

static void test_a_packet_goes_to_every_session_and_every_answer_comes(void **state)
{
    uint64_t ctx = make_context(SESSIONS), ids[3] = {1, 1, 1}, value;
    dspqueue_t q = make_queue(ctx, ids, 3);
    struct reading r = {q, 3 * SESSIONS};
    uint32_t flags, len, bufs;

    (void)state;
    assert_int_equal(ids[2], 0);
    open_skels();
    for (int i = 0; i < SESSIONS; i++)
        tell_session(i, HXQ_START, ids[i], HXQ_ECHO);
    assert_int_equal(dspqueue_peek_noblock(q, &flags, &bufs, &len), AEE_EWOULDBLOCK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(dspqueue_write(q, 0, 0, NULL, 5, (const uint8_t *)"hello", HXQ_PATIENCE_US), AEE_SUCCESS);
    assert_true(hxt_until(all_read, &r, 10));
    assert_int_equal(dspqueue_peek(q, &flags, &bufs, &len, 1000), AEE_EUNSUPPORTED);
    assert_int_equal(dspqueue_read(q, &flags, 0, &bufs, NULL, 0, &len, NULL, 1000), AEE_EUNSUPPORTED);
    assert_int_equal(dspqueue_get_stat(q, DSPQUEUE_STAT_READ_QUEUE_PACKETS, &value), AEE_EUNSUPPORTED);
    assert_int_equal(dspqueue_export(q, &value), AEE_EUNSUPPORTED);
    assert_int_equal(dspqueue_write_noblock(q, 0, 0, NULL, 1, NULL), AEE_EBADSTATE);
    for (int i = 0; i < SESSIONS; i++)
        tell_session(i, HXQ_STOP, ids[i], 0);
    assert_int_equal(dspqueue_close(q), AEE_SUCCESS);
    close_skels();
    end_context(ctx);
}

static void test_with_one_session_it_waits_and_counts(void **state)
{
    uint64_t ctx = make_context(1), id, value = 9;
    dspqueue_t q = make_queue(ctx, &id, 1);
    uint8_t message[8];
    uint32_t flags, len = 0, bufs;

    (void)state;
    open_skels();
    tell_session(0, HXQ_START, id, HXQ_ECHO);
    assert_int_equal(dspqueue_write_noblock(q, 0, 0, NULL, 2, (const uint8_t *)"ab"), AEE_SUCCESS);
    assert_int_equal(dspqueue_read(q, &flags, 0, &bufs, NULL, sizeof(message), &len, message, HXQ_PATIENCE_US), AEE_SUCCESS);
    assert_int_equal(len, 2);
    assert_int_equal(dspqueue_get_stat(q, DSPQUEUE_STAT_READ_QUEUE_PACKETS, &value), AEE_SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(dspqueue_write_early_wakeup_noblock(q, 1, 0), AEE_SUCCESS);
    tell_session(0, HXQ_STOP, id, 0);
    assert_int_equal(dspqueue_close(q), AEE_SUCCESS);
    close_skels();
    end_context(ctx);
}

static void test_what_cannot_be_asked_for_is_refused(void **state)
{
    uint64_t ctx = make_context(SESSIONS), ids[2];
    dspqueue_request_payload good = {DSPQUEUE_CREATE, {{.ctx = ctx, .ids = ids, .num_ids = 2}}}, bad;

    (void)state;
    assert_int_equal(dspqueue_request(NULL), AEE_EBADPARM);
    bad = good, bad.id = (dspqueue_request_req_id)1;
    assert_int_equal(dspqueue_request(&bad), AEE_EUNSUPPORTED);
    bad = good, bad.create.ctx = 0;
    assert_int_equal(dspqueue_request(&bad), AEE_EBADPARM);
    bad = good, bad.create.num_ids = 1;
    assert_int_equal(dspqueue_request(&bad), AEE_EBADPARM);
    bad = good, bad.create.ids = NULL;
    assert_int_equal(dspqueue_request(&bad), AEE_EBADPARM);
    bad = good, bad.create.flags = 1;
    assert_int_equal(dspqueue_request(&bad), AEE_EBADPARM);
    bad = good, bad.create.priority = 1;
    assert_int_equal(dspqueue_request(&bad), AEE_EBADPARM);
    bad = good, bad.create.resp_queue_size = DSPQUEUE_TIMEOUT_NONE;
    assert_int_equal(dspqueue_request(&bad), AEE_EBADPARM);
    assert_null(bad.create.queue);
    end_context(ctx);
    assert_int_equal(dspqueue_request(&good), AEE_EBADPARM); /* the context is gone */
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_packet_goes_to_every_session_and_every_answer_comes),
        cmocka_unit_test(test_with_one_session_it_waits_and_counts),
        cmocka_unit_test(test_what_cannot_be_asked_for_is_refused),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
