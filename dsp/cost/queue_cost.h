/* What dspqueue packets cost, added up where the driver can see it: struct hx_packet_sums of this PD's channel.
 *
 * Every packet that a callback takes begins a call of its own on the thread's virtual clock, with empty caches, so the
 * figures do not depend on how many packets one callback happens to find.  What it took is in the sums before its answer is
 * published, so a client that has read the answer finds it in its figures.
 *
 * A thread that a skel has started and that reads packets itself is charged likewise: a packet's call begins when the thread has read it
 * and ends when it asks for the next one, whether there is one or not, or ends.  While it waits for packets, polls, sleeps or gives back
 * what it holds it is off duty (vtime.h): how often it does that depends on the host.  Threads that serve a call have their packets
 * counted only: what they run belongs to that call. */
#ifndef HX_QUEUE_COST_H
#define HX_QUEUE_COST_H

#include "hx_ring.h"

struct dspqueue_buffer;

/* Sets where the sums are; kept.  Nothing is counted before. */
void hx_queue_cost_open(struct hx_packet_sums *sums);

/* Around a packet callback, on its thread. */
void hx_queue_cost_callback_begin(void);
void hx_queue_cost_callback_end(void);

/* A thread of a skel's ends. */
void hx_queue_cost_thread_end(void);

/* A thread is about to write a packet, or to look for one: what the other threads of its call do before that has happened. */
void hx_queue_cost_enter(void);

/* Of every queue: see hx_dspq_none and hx_dspq_packet (hx_dspq.h). */
void hx_queue_cost_none(void *ctx);
void hx_queue_cost_note(void *ctx, int taken, uint32_t n_buffers,
                        const struct dspqueue_buffer *buffers, uint32_t message_len);

#endif
