/* One end of a dspqueue, the same code on host and DSP: both directions, waiting and waking, buffer references.
 *
 * It makes no threads and owns no shared memory.  Any thread may call anything; hx_dspq_init() first, hx_dspq_fini() last,
 * when no call is inside.  Results are AEE codes. */
#ifndef HX_DSPQ_H
#define HX_DSPQ_H

#include <pthread.h>
#include <stdatomic.h>

#include "hx_pktq.h"

/* Takes (delta 1), gives back (-1) or looks up (0) a reference to the mapped buffer fd.  AEE_ENOSUCHMAP: not mapped;
 * AEE_EBADPARM: -1 without reference.  va and size may be NULL.  Called under the queue's lock. */
typedef int (*hx_dspq_ref)(void *ctx, uint32_t fd, int delta, void **va, uint64_t *size);

/* Tells the other end by other means than a doorbell (which: enum dspqueue_signal). */
typedef void (*hx_dspq_signal)(void *ctx, unsigned which);

/* A packet was taken (taken = 1; buffers as the reader got them, NULL when it wanted none) or is about to be published (0).  Early
 * wakeups do not count as packets.  Called under the queue's lock. */
typedef void (*hx_dspq_packet)(void *ctx, int taken, uint32_t n_buffers,
                               const struct dspqueue_buffer *buffers, uint32_t message_len);

/* A reader has found no packet: it is about to wait for one, or to do something else.  Not under the queue's lock. */
typedef void (*hx_dspq_none)(void *ctx);

struct hx_dspq_cfg {
    void *block; /* kept until hx_dspq_fini() */
    uint64_t block_bytes;
    int is_dsp;
    hx_dspq_ref ref;
    hx_dspq_signal signal; /* used when the header says that the client has no doorbells */
    hx_dspq_packet packet; /* may be NULL */
    hx_dspq_none none;     /* likewise */
    void *ctx;
};

/* One of struct dspqueue_doorbells, as it is used. */
struct hx_bell {
    _Atomic uint32_t rings, sleepers, cpu;
};

struct hx_dspq {
    struct hx_dspq_cfg cfg;
    struct dspqueue_header header; /* our copy, checked */
    int doorbells;
    pthread_mutex_t read_lock;  /* protects in, wakeup_* */
    pthread_mutex_t write_lock; /* protects out */
    struct hx_pktq in, out;
    struct hx_bell *packet_bell, *space_bell; /* we sleep on them */
    struct hx_bell *peer_packet_bell, *peer_space_bell; /* NULL when nothing is shared */
    struct hx_bell own_bells[2]; /* packet and space, when nothing is shared */
    _Atomic int ended; /* AEE code that every waiting call gives from now on; 0 = none */
    _Atomic int inside; /* calls that may wait */
    _Atomic int broken; /* the other end wrote something impossible */
    uint64_t wakeup_wait_us, wakeup_misses;
    _Atomic uint64_t sleeps, rings;
    int pinned; /* this process may use one CPU only */
    _Atomic uint32_t spins_in_vain; /* in a row */
};

/* Checks the block's header (a copy of it) and joins as one end.  AEE_EUNSUPPORTED: an unknown version or flag;
 * AEE_EBADPARM: impossible offsets.  Does not change the shared part. */
int hx_dspq_init(struct hx_dspq *q, const struct hx_dspq_cfg *cfg);
void hx_dspq_fini(struct hx_dspq *q);

/* Bytes of a block for these queue sizes (multiples of 8), doorbells included; fills the header of a zeroed block. */
uint64_t hx_dspq_block_bytes(uint32_t req_bytes, uint32_t resp_bytes);
void hx_dspq_format(struct dspqueue_header *h, uint32_t req_bytes, uint32_t resp_bytes);

/* As dspqueue_write(), _read() and _peek(); timeout_us 0: AEE_EWOULDBLOCK at once.  A write with the wakeup flag is an early
 * wakeup. */
int hx_dspq_write(struct hx_dspq *q, uint32_t flags, uint32_t n_buffers,
                  const struct dspqueue_buffer *buffers, uint32_t message_len,
                  const uint8_t *message, uint32_t timeout_us);
int hx_dspq_read(struct hx_dspq *q, uint32_t *flags, uint32_t max_buffers, uint32_t *n_buffers,
                 struct dspqueue_buffer *buffers, uint32_t max_message, uint32_t *message_len,
                 uint8_t *message, uint32_t timeout_us);
int hx_dspq_peek(struct hx_dspq *q, uint32_t *flags, uint32_t *n_buffers, uint32_t *message_len,
                 uint32_t timeout_us);
int hx_dspq_stat(struct hx_dspq *q, enum dspqueue_stat stat, uint64_t *value);

/* Waits for packets beyond *seen (a count, 0 at first), and updates it.  Returns q's end code, or 0. */
int hx_dspq_wait_packets(struct hx_dspq *q, uint32_t *seen);

/* Ends every waiting call, now and from now on, with `aee` (not 0). */
void hx_dspq_end(struct hx_dspq *q, int aee);

/* After hx_dspq_end(): returns when no waiting call is inside any more. */
void hx_dspq_quiesce(struct hx_dspq *q);

/* The other end signalled by other means: whoever waits checks again. */
void hx_dspq_poke(struct hx_dspq *q);

#endif
