/* Shared-memory ring, see hx_ring.h. */
#include "hx_ring.h"

#include <errno.h>
#include <string.h>

int hx_ring_push(struct hx_ring_shared *r, const void *entry)
{
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    /* acquire: the consumer is done reading the slot we are about to fill; pairs with the release in hx_ring_pop() */
    uint32_t head = atomic_load_explicit(&r->head, memory_order_acquire);

    if (tail - head > HX_RING_SLOTS)
        return -EPROTO;
    if (tail - head == HX_RING_SLOTS)
        return -EAGAIN;
    memcpy(r->slot[tail & (HX_RING_SLOTS - 1)], entry, HX_RING_ENTRY_BYTES);
    /* Publishes the slot: pairs with the acquire load in hx_ring_pop(). */
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
    return 0;
}

int hx_ring_pop(struct hx_ring_shared *r, void *entry)
{
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    /* acquire: sees the slot that the producer published in hx_ring_push() */
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);

    if (tail - head > HX_RING_SLOTS)
        return -EPROTO;
    if (tail == head)
        return -EAGAIN;
    memcpy(entry, r->slot[head & (HX_RING_SLOTS - 1)], HX_RING_ENTRY_BYTES);
    /* Gives the slot back: pairs with the acquire load in hx_ring_push(). */
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    return 0;
}
