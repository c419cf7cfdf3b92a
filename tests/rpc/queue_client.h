/* The host's end of test queues: the queue skel (skel/hxt_queue.h) opened, told what to do, and closed. */
#ifndef QUEUE_CLIENT_H
#define QUEUE_CLIENT_H

#include "dspqueue.h"
#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"
#include "skel/hxt_queue.h"

static remote_handle64 skel;

static inline int open_skel(void **state)
{
    (void)state;
    return remote_handle64_open(HXT_QUEUE_URI CDSP_DOMAIN, &skel);
}

static inline int close_skel(void **state)
{
    (void)state;
    remote_handle64_close(skel);
    return 0;
}

static inline int tell(uint32_t method, uint64_t id, uint32_t flags, uint32_t *out)
{
    struct hxq_start in = {id, flags, 0};
    remote_arg pra[2] = {{.buf = {&in, sizeof(in)}}, {.buf = {out, 8}}};

    return remote_handle64_invoke(skel, REMOTE_SCALARS_MAKE(method, 1, out != NULL), pra);
}

static inline dspqueue_t open_queue(uint32_t req, uint32_t resp, uint32_t skel_flags, uint64_t *id)
{
    dspqueue_t q = NULL;

    assert_int_equal(dspqueue_create(CDSP_DOMAIN_ID, 0, req, resp, NULL, NULL, NULL, &q), 0);
    assert_int_equal(dspqueue_export(q, id), 0);
    assert_int_equal(tell(HXQ_START, *id, skel_flags, NULL), 0);
    return q;
}

static inline void close_queue(dspqueue_t q, uint64_t id)
{
    assert_int_equal(tell(HXQ_STOP, id, 0, NULL), 0);
    assert_int_equal(dspqueue_close(q), 0);
}

#endif
