/* What dspqueue packets cost, added up where the driver can see it: struct hx_packet_sums of this PD's channel.
 *
 * Every packet that a callback takes begins a call of its own on the thread's virtual clock, with empty caches, so the
 * figures do not depend on how many packets one callback happens to find.  What it took is in the sums before its answer is
 * published, so a client that has read the answer finds it in its figures.  Threads of a skel that read packets themselves
 * have their packets counted and nothing charged: what they run belongs to the call that made them. */
#ifndef HX_QUEUE_COST_H
#define HX_QUEUE_COST_H

#include "hx_ring.h"

struct dspqueue_buffer;

/* Sets where the sums are; kept.  Nothing is counted before. */
void hx_queue_cost_open(struct hx_packet_sums *sums);

/* Around a packet callback, on its thread. */
void hx_queue_cost_callback_begin(void);
void hx_queue_cost_callback_end(void);

/* Of every queue: see hx_dspq_packet (hx_dspq.h). */
void hx_queue_cost_note(void *ctx, int taken, uint32_t n_buffers,
                        const struct dspqueue_buffer *buffers, uint32_t message_len);

#endif
