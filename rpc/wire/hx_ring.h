/* Single-producer single-consumer ring of 48-byte messages in shared memory.
 *
 * Indices run freely and are masked at use.  The producer writes only `tail`, the consumer only `head`; each sits on
 * its own cache line.  The peer may be hostile: every entry is copied out before it is looked at, and indices that
 * cannot be (tail - head > slots) give -EPROTO.
 * Several producers or consumers on one side have to serialise among themselves. */
#ifndef HX_RING_H
#define HX_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "hx_msg.h"

#define HX_RING_ENTRY_BYTES 48u

struct hx_ring_shared {
    _Alignas(128) _Atomic uint32_t head; /* written by the consumer */
    _Alignas(128) _Atomic uint32_t tail; /* written by the producer */
    _Alignas(128) unsigned char slot[HX_RING_SLOTS][HX_RING_ENTRY_BYTES];
};

/* The memfd of a channel: both directions. */
struct hx_rings {
    struct hx_ring_shared request; /* struct hx_msg, driver -> DSP */
    struct hx_ring_shared reply;   /* struct hx_reply, DSP -> driver */
};

/* Adds one entry (HX_RING_ENTRY_BYTES, borrowed for the call).
 * Returns 0, -EAGAIN (full) or -EPROTO (indices impossible). */
int hx_ring_push(struct hx_ring_shared *r, const void *entry);

/* Copies the oldest entry out.  Returns 0, -EAGAIN (empty) or -EPROTO (indices impossible). */
int hx_ring_pop(struct hx_ring_shared *r, void *entry);

_Static_assert(sizeof(struct hx_msg) == HX_RING_ENTRY_BYTES, "ring entry");
_Static_assert(sizeof(struct hx_reply) == HX_RING_ENTRY_BYTES, "ring entry");
_Static_assert((HX_RING_SLOTS & (HX_RING_SLOTS - 1)) == 0, "power of two");

#endif
