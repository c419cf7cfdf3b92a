/* The host's end of test queues. */
#include "queue_client.h"

remote_handle64 queue_skel;

int open_queue_skel(void **state)
{
    (void)state;
    return remote_handle64_open(HXT_QUEUE_URI CDSP_DOMAIN, &queue_skel);
}

int close_queue_skel(void **state)
{
    (void)state;
    remote_handle64_close(queue_skel);
    return 0;
}

int call_queue_skel(uint32_t method, uint64_t id, uint32_t flags, uint32_t *out)
{
    struct hxq_start in = {id, flags, 0};
    remote_arg pra[2] = {{.buf = {&in, sizeof(in)}}, {.buf = {out, 8}}};

    return remote_handle64_invoke(queue_skel, REMOTE_SCALARS_MAKE(method, 1, out != NULL), pra);
}

dspqueue_t open_queue(uint32_t req, uint32_t resp, uint32_t skel_flags, uint64_t *id)
{
    dspqueue_t q = NULL;

    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, req, resp, NULL, NULL, NULL, &q), 0);
    assert_int_equal(dspqueue_export(q, id), 0);
    assert_int_equal(call_queue_skel(HXQ_START, *id, skel_flags, NULL), 0);
    return q;
}

void close_queue(dspqueue_t q, uint64_t id)
{
    assert_int_equal(call_queue_skel(HXQ_STOP, id, 0, NULL), 0);
    assert_int_equal(dspqueue_close(q), 0);
}
