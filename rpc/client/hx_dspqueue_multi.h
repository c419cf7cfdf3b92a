/* A queue that dspqueue_request() makes: one ordinary queue for each session of a context, behind one handle.  The
 * functions of dspqueue.h call these for such a handle.  Thread-safe; AEE codes. */
#ifndef HX_DSPQUEUE_MULTI_H
#define HX_DSPQUEUE_MULTI_H

#include "hx_queues.h"

struct dspqueue_multi;

/* Closes every queue and returns the first code that is not 0.  The handle is gone in any case, except after AEE_EBADSTATE:
 * called from a packet callback of one of them. */
AEEResult hx_multi_close(struct dspqueue *whole);

/* To every session in turn.  AEE_EBADSTATE: one could not take the packet; others may have it, so the queue is to be closed. */
AEEResult hx_multi_write(struct dspqueue_multi *m, uint32_t flags, uint32_t num_buffers,
                         struct dspqueue_buffer *buffers, uint32_t message_length,
                         const uint8_t *message, uint32_t timeout_us);

/* From the first session that has a packet.  Waiting (timeout_us not 0) is AEE_EUNSUPPORTED with more than one. */
AEEResult hx_multi_read(struct dspqueue_multi *m, uint32_t *flags, uint32_t max_buffers,
                        uint32_t *num_buffers, struct dspqueue_buffer *buffers,
                        uint32_t max_message_length, uint32_t *message_length, uint8_t *message,
                        uint32_t timeout_us);
AEEResult hx_multi_peek(struct dspqueue_multi *m, uint32_t *flags, uint32_t *num_buffers,
                        uint32_t *message_length, uint32_t timeout_us);

/* AEE_EUNSUPPORTED with more than one session. */
AEEResult hx_multi_stat(struct dspqueue_multi *m, enum dspqueue_stat stat, uint64_t *value);

#endif
