/* Laying out a dspqueue's block of shared memory. */
#include "hx_dspq.h"

static uint32_t align_part(uint32_t n)
{
    return (n + DSPQUEUE_ALIGN - 1) / DSPQUEUE_ALIGN * DSPQUEUE_ALIGN;
}

uint64_t hx_dspq_block_bytes(uint32_t req_bytes, uint32_t resp_bytes)
{
    /* header, two queues, four states, doorbells */
    return 6u * DSPQUEUE_ALIGN + (uint64_t)align_part(req_bytes) + align_part(resp_bytes);
}

static uint32_t format_one(struct dspqueue_packet_queue_header *h, uint32_t at, uint32_t bytes)
{
    h->queue_offset = at;
    h->queue_length = bytes;
    h->read_state_offset = at + align_part(bytes);
    h->write_state_offset = h->read_state_offset + DSPQUEUE_ALIGN;
    return h->write_state_offset + DSPQUEUE_ALIGN;
}

void hx_dspq_format(struct dspqueue_header *h, uint32_t req_bytes, uint32_t resp_bytes)
{
    uint32_t at = format_one(&h->req_queue, DSPQUEUE_ALIGN, req_bytes);

    format_one(&h->resp_queue, at, resp_bytes);
    h->version = DSPQUEUE_HEADER_CURRENT_VERSION;
    h->flags = DSPQUEUE_HEADER_FLAG_WAIT_COUNTS | DSPQUEUE_HEADER_FLAG_HEXRIG_DOORBELLS;
}
