/* dspqueue as host programs see it (rpc/include/dspqueue.h): a handle is one queue (queue.c) or several (dspqueue_multi.c). */
#include "hx_export.h"

#include "hx_dspqueue_multi.h"

AEEResult dspqueue_create(int domain, uint32_t flags, uint32_t req_queue_size,
                          uint32_t resp_queue_size, dspqueue_callback_t packet_callback,
                          dspqueue_callback_t error_callback, void *callback_context,
                          dspqueue_t *queue)
{
    const struct dspqueue want = {.packet_callback = packet_callback,
                                  .error_callback = error_callback,
                                  .callback_context = callback_context};

    if (!queue)
        return AEE_EBADPARM;
    *queue = NULL;
    return flags ? AEE_EBADPARM
                 : hx_queue_create(domain, &want, req_queue_size, resp_queue_size, queue);
}

AEEResult dspqueue_close(dspqueue_t d)
{
    if (!d)
        return AEE_EBADPARM;
    return d->multi ? hx_multi_close(d) : hx_queue_close(d);
}

AEEResult dspqueue_export(dspqueue_t d, uint64_t *queue_id)
{
    if (!d || !queue_id)
        return AEE_EBADPARM;
    if (d->multi)
        return AEE_EUNSUPPORTED; /* dspqueue_request() gave the ids */
    *queue_id = d->dsp_id;
    return AEE_SUCCESS;
}

AEEResult dspqueue_import(uint64_t queue_id, dspqueue_callback_t packet_callback,
                          dspqueue_callback_t error_callback, void *callback_context,
                          dspqueue_t *queue)
{
    (void)queue_id;
    (void)packet_callback;
    (void)error_callback;
    (void)callback_context;
    (void)queue;
    return AEE_EUNSUPPORTED; /* the DSP's end imports */
}

#define HX_DSPQ_HOST
#include "hx_dspq_api.inc"
