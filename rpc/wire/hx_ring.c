/* The ring of 48-byte messages between driver and DSP.  tests/model/message_ring.pml is its model; in brackets, below, the fault that
 * the model has where the code is otherwise. */
#include "hx_ring.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int hx_ring_push(struct hx_ring_shared *r, const void *entry)
{
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    /* acquire: the consumer is done reading the slot we are about to fill; pairs with the release in hx_ring_pop() [NO_FULL_CHECK] */
    uint32_t head = atomic_load_explicit(&r->head, memory_order_acquire);

    if (tail - head > HX_RING_SLOTS)
        return -EPROTO;
    if (tail - head == HX_RING_SLOTS)
        return -EAGAIN;
    memcpy(r->slot[tail & (HX_RING_SLOTS - 1)], entry, HX_RING_ENTRY_BYTES);
    /* Publishes the slot: pairs with the acquire load in hx_ring_pop().  Sequentially consistent, because the caller then
     * checks whether the other end sleeps: see hx_ring_must_wake().  [NO_RELEASE, NO_FENCE] */
    atomic_store(&r->tail, tail + 1);
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
    /* Gives the slot back: pairs with the acquire load in hx_ring_push().  [EARLY_HEAD] */
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    return 0;
}

/* "Publish, then check whether they sleep" (hx_ring_push(), hx_ring_must_wake()) against "say that I sleep, then look"
 * (hx_ring_wait(), or hx_ring_doze() and hx_ring_is_empty()): all four are sequentially consistent, so at least one side sees
 * the other, and nobody sleeps over an entry. */
bool hx_ring_must_wake(struct hx_ring_shared *r)
{
    return atomic_load(&r->sleepers) != 0;
}

void hx_ring_wake(struct hx_ring_shared *r)
{
    syscall(SYS_futex, &r->tail, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void hx_ring_wait(struct hx_ring_shared *r)
{
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

    if (tail != atomic_load_explicit(&r->head, memory_order_relaxed))
        return;
    atomic_fetch_add(&r->sleepers, 1);
    /* the kernel checks last: it sleeps only if the tail is still this one [NO_RECHECK] */
    syscall(SYS_futex, &r->tail, FUTEX_WAIT, tail, NULL, NULL, 0);
    atomic_fetch_sub_explicit(&r->sleepers, 1, memory_order_relaxed);
}

void hx_ring_doze(struct hx_ring_shared *r)
{
    atomic_store(&r->sleepers, 1); /* [NO_DOZE_FENCE] */
}

void hx_ring_rouse(struct hx_ring_shared *r)
{
    atomic_store_explicit(&r->sleepers, 0, memory_order_relaxed);
}

bool hx_ring_is_empty(struct hx_ring_shared *r)
{
    return atomic_load(&r->tail) == atomic_load_explicit(&r->head, memory_order_relaxed);
}
