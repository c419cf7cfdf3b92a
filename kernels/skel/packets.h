/* Calls that come as packets of a dspqueue (rpc/queue/hx_call_packet.h), for any skel that hexidl made:
 *
 *     static struct hx_packet_queues queues = HX_PACKET_QUEUES("my_skel", my_skel_skel_handle_invoke);
 *     int my_skel_packets_attach(remote_handle64 h, uint64_t id) { return hx_packets_attach(&queues, h, id); }
 *     int my_skel_packets_detach(remote_handle64 h, uint64_t id) { return hx_packets_detach(&queues, h, id); }
 *
 * A queue belongs to the handle that attached it, and so do the calls that come through it; my_skel_close() drops its queues first.
 * Each queue's packets are served in order, by a thread of the library; those of several queues, and calls, at the same time. */
#ifndef HX_PACKETS_H
#define HX_PACKETS_H

#include <pthread.h>
#include <stdint.h>

#include "remote.h"

struct hx_packet_queue;

struct hx_packet_queues {
    const char *name; /* of the skel, for messages */
    int (*invoke)(remote_handle64 h, uint32_t sc, remote_arg *pra); /* the skel's entry point */
    pthread_mutex_t lock; /* protects first and what follows it */
    struct hx_packet_queue *first;
};

#define HX_PACKET_QUEUES(skel_name, skel_invoke) \
    {.name = (skel_name), .invoke = (skel_invoke), .lock = PTHREAD_MUTEX_INITIALIZER}

/* id: what the client's dspqueue_export() gave.  0, AEE_ENOMEMORY, or what dspqueue_import() returns. */
int hx_packets_attach(struct hx_packet_queues *q, remote_handle64 h, uint64_t id);

/* Waits for a packet that is being served.  AEE_ENOSUCH: the handle has no such queue; AEE_EBADSTATE: this is itself a packet. */
int hx_packets_detach(struct hx_packet_queues *q, remote_handle64 h, uint64_t id);

/* Detaches all queues of a handle. */
void hx_packets_drop(struct hx_packet_queues *q, remote_handle64 h);

#endif
