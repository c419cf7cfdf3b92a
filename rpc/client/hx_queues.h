/* The host's half of dspqueue, per session: the queue service's handle, the thread that watches over the PD, the queues.
 * Thread-safe; AEE codes. */
#ifndef HX_QUEUES_H
#define HX_QUEUES_H

#include "hx_dspq.h"
#include "hx_session.h"

/* Ends what the queues of session `index` have going with the DSP, before the session is ended.  From then on the queues
 * give AEE_ECONNRESET and can only be closed. */
void hx_queues_disconnect(unsigned index);

struct dspqueue {
    struct hx_dspq q;
    struct dspqueue_multi *multi; /* several queues behind one handle (hx_dspqueue_multi.h): nothing else is used; or NULL */
    unsigned index; /* session */
    unsigned slot;
    uint64_t dsp_id;
    void *block;
    int block_fd;
    uint32_t generation; /* of the session */
    dspqueue_callback_t packet_callback, error_callback;
    void *callback_context;
    pthread_t thread; /* runs packet_callback, when there is one */
    /* under the service's lock: */
    unsigned refs;       /* the client's, and one while an error callback is due */
    int error_due;       /* it is, or it runs */
    pthread_t error_thread; /* where it runs, valid while error_running */
    int error_running;
};

/* --- one queue (queue.c) */

/* Makes a queue; of *want the callbacks and their context count.  *queue is set before a callback can run, and NULL or untouched
 * on failure.  Sizes in bytes, 0: the default. */
int hx_queue_create(int domain, const struct dspqueue *want, uint32_t req_bytes,
                    uint32_t resp_bytes, dspqueue_t *queue);

/* As dspqueue_close() of one queue. */
int hx_queue_close(struct dspqueue *d);

/* --- the service (queue_service.c) */

/* Methods of the queue service, as published. */
enum {
    HX_QUEUE_CREATE = 3,
    HX_QUEUE_DESTROY = 4,
    HX_QUEUE_IS_IMPORTED = 5,
    HX_QUEUE_WAIT_SIGNAL = 6,
    HX_QUEUE_CANCEL_WAIT = 7,
};

/* Takes part in the service of the session (opening it if need be), gives q a slot, and notes the session's generation.
 * AEE_EBADPARM: all slots are taken; AEE_ECONNRESET: the PD is gone and not all of its queues are closed. */
int hx_service_join(unsigned index, struct dspqueue *q);

/* Gives q the next free slot in place of its own, before it is published.  0: there is none. */
int hx_service_next_slot(struct dspqueue *q);

/* From now on q is notified of the PD's end. */
void hx_service_publish(struct dspqueue *q);

/* From now on it is not: nobody else touches q's block, which may go. */
void hx_service_withdraw(struct dspqueue *q);

/* Gives the slot back; the last queue closes the service.  Waits until q's error callback is over, except when
 * called from it.  q is freed when nothing refers to it any more. */
void hx_service_leave(struct dspqueue *q);

/* 0 while the service works, else the AEE code with which it ended. */
int hx_service_state(unsigned index);

/* Calls a method with one optional in and out buffer. */
int hx_service_call(struct dspqueue *q, uint32_t method, void *in, size_t in_bytes, void *out,
                    size_t out_bytes);

#endif
