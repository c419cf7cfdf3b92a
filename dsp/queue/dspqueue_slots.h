/* The queues of this PD: what the queue service (host's side of creation) and dspqueue_import() (skels) share. */
#ifndef HX_DSPQUEUE_SLOTS_H
#define HX_DSPQUEUE_SLOTS_H

#include <pthread.h>
#include <semaphore.h>

#include "hx_dspq.h"

/* Tells the host that the queue in `slot` has something for it (which: enum dspqueue_signal). */
typedef void hx_slots_signal(unsigned slot, unsigned which);

struct dspqueue {
    uint64_t id;     /* 0 = free slot */
    int32_t host_fd; /* of the block; a reference to that buffer is held */
    int imported;    /* 1 from dspqueue_import() until dspqueue_close() is through */
    hx_slots_signal *signal;
    struct hx_dspq q;
    /* of the importer */
    dspqueue_callback_t packet_callback, error_callback;
    void *callback_context;
    pthread_t thread; /* runs packet_callback */
    void *stack;      /* its stack, NULL = no thread */
    sem_t ready;      /* the thread has what it needs */
};

/* Creates the queue in slot 0..63 on the block behind host_fd; `signal` is called for it until it is destroyed.
 * 0 and *id, or AEE_EITEMBUSY, AEE_ENOSUCHMAP, AEE_EUNSUPPORTED, AEE_EBADPARM (without the DSP's offset). */
int hx_slots_create(uint32_t slot, int32_t host_fd, hx_slots_signal *signal, uint64_t *id);

/* 1 when both ends of the queue use our doorbells. */
int hx_slots_have_doorbells(uint64_t id);

/* AEE_ENOSUCH; AEE_EITEMBUSY: a skel has it. */
int hx_slots_destroy(uint64_t id);
int hx_slots_imported(uint64_t id, int32_t *imported);

/* Marks a queue as imported or not any more.  NULL with *rc. */
struct dspqueue *hx_slots_import(uint64_t id, int *rc);
void hx_slots_release(struct dspqueue *d);

/* Signals by RPC, for clients without doorbells: every queue's waiters check again. */
void hx_slots_poke_all(void);

#endif
