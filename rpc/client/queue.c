/* One queue to one session: opened and closed; hx_dspq.c moves the packets. */
#include "hx_export.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "hx_map_table.h"
#include "hx_queues.h"
#include "hx_stage.h"

static _Atomic uint32_t queue_count; /* queues that this process has ever made */

static int ref_buffer(void *ctx, uint32_t fd, int delta, void **va, uint64_t *size)
{
    struct dspqueue *d = ctx;

    return fd > INT32_MAX
               ? AEE_ENOSUCHMAP
               : hx_map_ref(d->index, d->generation, (int)fd, delta, va, size);
}

static void *run_callbacks(void *arg)
{
    struct dspqueue *d = arg;
    uint32_t seen = 0;
    int reported = 0;

    while (hx_dspq_wait_packets(&d->q, &seen) == AEE_SUCCESS) {
        d->packet_callback(d, AEE_SUCCESS, d->callback_context);
        if (!reported && d->error_callback && atomic_load(&d->q.broken)) {
            reported = 1;
            d->error_callback(d, AEE_EBADITEM, d->callback_context);
        }
    }
    return NULL;
}

/* Asks for the queue in a slot.  A process that is stopped inside an INVOKE and goes on makes its kernel send the call again, and
 * then it is its own first one, whose answer is lost, that has the slot. */
static int create_in_slot(struct dspqueue *d, const struct dspqueue_header *h)
{
    int rc;

    do {
        struct {
            uint32_t slot;
            int32_t fd;
            uint32_t count;
        } in = {d->slot, d->block_fd, h->queue_count};

        rc = hx_service_call(d, HX_QUEUE_CREATE, &in, sizeof(in), &d->dsp_id, sizeof(d->dsp_id));
    } while (rc == (int)AEE_DSP(AEE_EITEMBUSY) && hx_service_next_slot(d));
    return rc;
}

/* Asks the service to take the block.  First with an impossible version: a service that accepts that one checks nothing. */
static int handshake(struct dspqueue *d, struct dspqueue_header *h)
{
    uint32_t version = h->version;
    int rc;

    h->version = UINT32_MAX;
    rc = create_in_slot(d, h);
    if (rc == AEE_SUCCESS) {
        hx_service_call(d, HX_QUEUE_DESTROY, &d->dsp_id, sizeof(d->dsp_id), NULL, 0);
        return AEE_EUNSUPPORTED;
    }
    if (rc != AEE_EUNSUPPORTED && rc != AEE_DSP(AEE_EUNSUPPORTED))
        return rc;
    h->version = version;
    return create_in_slot(d, h);
}

enum { DESTROY_TRIES = 3 };

static uint32_t round_up(uint32_t bytes, uint32_t def)
{
    return bytes ? (bytes + 7) & ~7u : def;
}

/* The block: allocated, mapped into the PD, formatted.  On failure nothing of it is left. */
static int make_block(struct dspqueue *d, uint32_t req_bytes, uint32_t resp_bytes)
{
    struct hx_dspq_cfg cfg = {.ref = ref_buffer, .ctx = d};
    struct dspqueue_header *h;
    int rc;

    cfg.block_bytes = hx_dspq_block_bytes(req_bytes, resp_bytes);
    d->block = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS | RPCMEM_HEAP_NOREG,
                             cfg.block_bytes);
    if (!d->block)
        return AEE_ENOMEMORY;
    cfg.block = h = d->block;
    d->block_fd = rpcmem_to_fd(d->block);
    hx_dspq_format(h, req_bytes, resp_bytes);
    h->queue_count = atomic_fetch_add(&queue_count, 1);
    rc = fastrpc_mmap(hx_session_domain(d->index), d->block_fd, d->block, 0, cfg.block_bytes,
                      FASTRPC_MAP_FD);
    hx_stage_at("client.queue.mapped");
    if (rc == AEE_SUCCESS)
        rc = handshake(d, h);
    if (rc == AEE_SUCCESS)
        rc = hx_dspq_init(&d->q, &cfg);
    if (rc)
        rpcmem_free(d->block); /* unmaps, too */
    return rc;
}

/* A call that cannot be made now is tried again: while the DSP has not heard of it, the queue's place there is taken. */
static int destroy_there(struct dspqueue *d)
{
    int rc = AEE_ENOMEMORY;

    for (int i = 0; i < DESTROY_TRIES && rc == AEE_ENOMEMORY; i++)
        rc = hx_service_call(d, HX_QUEUE_DESTROY, &d->dsp_id, sizeof(d->dsp_id), NULL, 0);
    return rc;
}

static int open_queue(unsigned index, const struct dspqueue *want, uint32_t req_bytes,
                      uint32_t resp_bytes, dspqueue_t *queue)
{
    struct dspqueue *d = malloc(sizeof(*d));
    int rc;

    if (!d)
        return AEE_ENOMEMORY;
    *d = *want;
    d->index = index;
    rc = hx_service_join(index, d);
    if (rc) {
        free(d);
        return rc;
    }
    rc = make_block(d, round_up(req_bytes, DSPQUEUE_DEFAULT_REQ_SIZE),
                    round_up(resp_bytes, DSPQUEUE_DEFAULT_RESP_SIZE));
    if (rc) {
        hx_service_leave(d);
        return rc;
    }
    *queue = d; /* before the thread, which may call back at once */
    if (d->packet_callback && pthread_create(&d->thread, NULL, run_callbacks, d)) {
        *queue = NULL;
        destroy_there(d);
        rpcmem_free(d->block);
        hx_service_leave(d);
        return AEE_ENOMEMORY;
    }
    hx_service_publish(d);
    hx_stage_at("client.queue.created");
    return AEE_SUCCESS;
}

int hx_queue_create(int domain, const struct dspqueue *want, uint32_t req_bytes,
                    uint32_t resp_bytes, dspqueue_t *queue)
{
    unsigned index;
    int rc;

    if (req_bytes > DSPQUEUE_MAX_QUEUE_SIZE || resp_bytes > DSPQUEUE_MAX_QUEUE_SIZE)
        return AEE_EBADPARM;
    rc = hx_domain_session(domain, &index);
    return rc ? rc : open_queue(index, want, req_bytes, resp_bytes, queue);
}

int hx_queue_close(struct dspqueue *d)
{
    int32_t imported = 0;
    int rc = AEE_SUCCESS;

    if (d->packet_callback && pthread_equal(d->thread, pthread_self()))
        return AEE_EBADSTATE;
    if (!hx_service_state(d->index))
        rc = hx_service_call(d, HX_QUEUE_IS_IMPORTED, &d->dsp_id, sizeof(d->dsp_id), &imported, sizeof(imported));
    if (rc == AEE_ENOMEMORY)
        return rc;
    if (!rc && imported)
        return AEE_EBADPARM;
    hx_stage_at("client.queue.close");
    if (destroy_there(d) == AEE_ENOMEMORY)
        return AEE_ENOMEMORY;
    hx_dspq_end(&d->q, AEE_EINTERRUPTED);
    if (d->packet_callback)
        pthread_join(d->thread, NULL);
    hx_dspq_quiesce(&d->q);
    hx_service_withdraw(d); /* the thread that learns of the PD's end rings bells, which lie in the block */
    rpcmem_free(d->block);
    hx_service_leave(d);
    return AEE_SUCCESS;
}
