/* dspqueue as skels see it: import and close, and the thread that runs packet callbacks. */
#pragma GCC visibility push(default)
#include "dspqueue.h"
#pragma GCC visibility pop

#include "HAP_farf.h"
#include "dspqueue_slots.h"
#include "base/low_memory.h"
#include "base/machine.h"
#include "cost/queue_cost.h"
#include "pd/settle_in.h"

enum { STACK_BYTES = 256 << 10 };

static void *run_callbacks(void *arg)
{
    struct dspqueue *d = arg;
    uint32_t seen = 0;
    int error_reported = 0;

    hx_settle_in();
    hx_hvx_lazy();
    sem_post(&d->ready);
    while (hx_dspq_wait_packets(&d->q, &seen) == AEE_SUCCESS) {
        hx_queue_cost_callback_begin();
        d->packet_callback(d, AEE_SUCCESS, d->callback_context);
        hx_queue_cost_callback_end();
        if (!error_reported && d->error_callback && atomic_load(&d->q.broken)) {
            error_reported = 1;
            d->error_callback(d, AEE_EBADITEM, d->callback_context);
        }
    }
    hx_hvx_release_leaked();
    hx_settle_out();
    return NULL;
}

static int start_thread(struct dspqueue *d)
{
    pthread_attr_t attr;
    int rc;

    d->stack = hx_low_map(STACK_BYTES, -1);
    if (!d->stack)
        return AEE_ENOMEMORY;
    sem_init(&d->ready, 0, 0);
    pthread_attr_init(&attr);
    rc = pthread_attr_setstack(&attr, d->stack, STACK_BYTES);
    if (!rc)
        rc = pthread_create(&d->thread, &attr, run_callbacks, d);
    pthread_attr_destroy(&attr);
    while (!rc && sem_wait(&d->ready))
        ;
    sem_destroy(&d->ready);
    if (rc) {
        hx_low_unmap(d->stack, STACK_BYTES);
        d->stack = NULL;
        FARF(ERROR, "dspqueue: callback thread: errno %d", rc);
    }
    return rc ? AEE_ENOMEMORY : AEE_SUCCESS;
}

AEEResult dspqueue_import(uint64_t queue_id, dspqueue_callback_t packet_callback,
                          dspqueue_callback_t error_callback, void *callback_context,
                          dspqueue_t *queue)
{
    struct dspqueue *d;
    int rc;

    if (!queue)
        return AEE_EBADPARM;
    d = hx_slots_import(queue_id, &rc);
    if (!d)
        return rc;
    d->packet_callback = packet_callback;
    d->error_callback = error_callback;
    d->callback_context = callback_context;
    d->stack = NULL;
    atomic_store(&d->q.ended, 0);
    /* before the thread: its first callback may come before this function returns */
    *queue = d;
    if (packet_callback)
        rc = start_thread(d);
    if (rc) {
        *queue = NULL;
        hx_slots_release(d);
    }
    return rc;
}

AEEResult dspqueue_close(dspqueue_t d)
{
    if (!d || !d->imported)
        return AEE_EBADPARM;
    if (d->stack && pthread_equal(d->thread, pthread_self()))
        return AEE_EBADSTATE;
    hx_dspq_end(&d->q, AEE_EINTERRUPTED);
    if (d->stack) {
        pthread_join(d->thread, NULL);
        hx_low_unmap(d->stack, STACK_BYTES);
        d->stack = NULL;
    }
    hx_dspq_quiesce(&d->q);
    hx_slots_release(d);
    return AEE_SUCCESS;
}

AEEResult dspqueue_create(int domain, uint32_t flags, uint32_t req_queue_size,
                          uint32_t resp_queue_size, dspqueue_callback_t packet_callback,
                          dspqueue_callback_t error_callback, void *callback_context,
                          dspqueue_t *queue)
{
    (void)domain;
    (void)flags;
    (void)req_queue_size;
    (void)resp_queue_size;
    (void)packet_callback;
    (void)error_callback;
    (void)callback_context;
    (void)queue;
    return AEE_EUNSUPPORTED; /* queues are made on the host */
}

AEEResult dspqueue_export(dspqueue_t d, uint64_t *queue_id)
{
    (void)d;
    (void)queue_id;
    return AEE_EUNSUPPORTED; /* likewise */
}

#define HX_DSPQ_ENTER() hx_queue_cost_enter()
#include "hx_dspq_api.inc"
