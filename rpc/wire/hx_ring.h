/* Single-producer single-consumer ring of 48-byte messages in shared memory.
 *
 * Indices run freely and are masked at use.  The producer writes only `tail`, the consumer only `head`; each sits on
 * its own cache line.  The peer may be hostile: every entry is copied out before it is looked at, and indices that
 * cannot be (tail - head > slots) give -EPROTO.
 * Several producers or consumers on one side have to serialise among themselves.
 *
 * A system call is made only for a consumer that sleeps: it says so in `sleepers`, checks once more, and sleeps; a producer
 * publishes its entry and then reads `sleepers`.  A peer that lies in `sleepers` misses its own entries or costs the producer a
 * needless call, nothing else. */
#ifndef HX_RING_H
#define HX_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hx_crash.h"
#include "hx_interfaces.h"
#include "hx_msg.h"
#include "hx_uncosted.h"

#define HX_RING_ENTRY_BYTES 48u

struct hx_ring_shared {
    _Alignas(128) _Atomic uint32_t head; /* written by the consumer */
    _Atomic uint32_t sleepers; /* written by the consumer: threads that sleep, or check a last time before they do */
    _Alignas(128) _Atomic uint32_t tail; /* written by the producer; hx_ring_wait() sleeps on it */
    _Alignas(128) unsigned char slot[HX_RING_SLOTS][HX_RING_ENTRY_BYTES];
};

/* What dspqueue packets did in a PD since its start.  They are not calls, so the driver does not see them; the PD adds them up
 * here before it sends its answer on, and the driver reads them when somebody asks for figures.  Written by the PD; nothing here is
 * trusted. */
struct hx_packet_sums {
    _Alignas(128) _Atomic uint64_t packets; /* that the PD took */
    _Atomic uint64_t buffers;               /* in them */
    _Atomic uint64_t bytes_copied;          /* messages of both directions */
    _Atomic uint64_t bytes_shared;          /* lengths of the buffers */
    _Atomic uint64_t exec_pcycles;          /* modelled, of packet callbacks, as in struct hx_reply */
    _Atomic uint64_t queue_pcycles;
    _Atomic uint64_t hvx_ops;
    _Atomic uint64_t traffic[sizeof(struct hx_traffic) / sizeof(uint64_t)]; /* struct hx_traffic, number by number */
    _Atomic uint64_t slow_path_packets;     /* packets for which the skel had to take a slow path */
};

/* The memfd of a channel: both directions. */
struct hx_rings {
    struct hx_ring_shared request; /* struct hx_msg, driver -> DSP */
    struct hx_ring_shared reply;   /* struct hx_reply, DSP -> driver */
    struct hx_packet_sums packets; /* DSP -> driver */
    struct hx_uncosted_table uncosted; /* DSP -> driver */
    struct hx_interface_table interfaces; /* DSP -> driver */
    struct hx_crash crash; /* DSP -> driver, and its answer */
};

/* Adds one entry (HX_RING_ENTRY_BYTES, borrowed for the call).
 * Returns 0, -EAGAIN (full) or -EPROTO (indices impossible). */
int hx_ring_push(struct hx_ring_shared *r, const void *entry);

/* Copies the oldest entry out.  Returns 0, -EAGAIN (empty) or -EPROTO (indices impossible). */
int hx_ring_pop(struct hx_ring_shared *r, void *entry);

/* Producer, after hx_ring_push(): whether the consumer has to be woken, by hx_ring_wake() or as the two have agreed. */
bool hx_ring_must_wake(struct hx_ring_shared *r);

/* Wakes one of the threads that sleep in hx_ring_wait(). */
void hx_ring_wake(struct hx_ring_shared *r);

/* Consumer: sleeps while the ring is empty.  May return for no reason; any number of threads. */
void hx_ring_wait(struct hx_ring_shared *r);

/* Consumer that sleeps elsewhere, one thread: says that it is going to sleep, or that it is awake. */
void hx_ring_doze(struct hx_ring_shared *r);
void hx_ring_rouse(struct hx_ring_shared *r);

/* Consumer, after hx_ring_doze(): whether there is nothing to take, so that it may sleep. */
bool hx_ring_is_empty(struct hx_ring_shared *r);

_Static_assert(sizeof(struct hx_msg) == HX_RING_ENTRY_BYTES, "ring entry");
_Static_assert(sizeof(struct hx_reply) == HX_RING_ENTRY_BYTES, "ring entry");
_Static_assert((HX_RING_SLOTS & (HX_RING_SLOTS - 1)) == 0, "power of two");

#endif
