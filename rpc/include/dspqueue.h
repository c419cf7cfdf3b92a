/* dspqueue: packets between host and DSP through shared memory, without a call each (published names and layouts).
 *
 * The host creates a queue (dspqueue_create), passes its id (dspqueue_export) to a skel in an ordinary call, and the skel
 * opens the other end (dspqueue_import).  Either end then writes packets: up to DSPQUEUE_MAX_BUFFERS references to
 * buffers that fastrpc_mmap() mapped, and a message.  Packets arrive in order.  Any thread may use a queue.
 *
 * Results are AEE codes without the DSP's offset, on both sides. */
#ifndef DSPQUEUE_H
#define DSPQUEUE_H

#include <stdint.h>
#include <stdlib.h>

#include "AEEStdDef.h"
#include "AEEStdErr.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DSPQUEUE_TIMEOUT_NONE 0xffffffff /* us: wait without limit */

enum dspqueue_packet_flags {
    DSPQUEUE_PACKET_FLAG_MESSAGE = 0x0001,
    DSPQUEUE_PACKET_FLAG_BUFFERS = 0x0002,
    DSPQUEUE_PACKET_FLAG_WAKEUP = 0x0004, /* early wakeup: peek shows it, read swallows it */
    DSPQUEUE_PACKET_FLAG_DRIVER_READY = 0x0008,
    DSPQUEUE_PACKET_FLAG_USER_READY = 0x0010, /* set in every packet */
    DSPQUEUE_PACKET_FLAG_RESERVED_ZERO = 0xffe0,
};

enum dspqueue_buffer_flags {
    DSPQUEUE_BUFFER_FLAG_REF = 0x00000004,   /* both ends hold one reference more: it cannot be unmapped */
    DSPQUEUE_BUFFER_FLAG_DEREF = 0x00000008, /* both ends give one back */
    /* Cache maintenance.  A rig's memory is coherent: nothing to do. */
    DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER = 0x00000010,
    DSPQUEUE_BUFFER_FLAG_INVALIDATE_SENDER = 0x00000020,
    DSPQUEUE_BUFFER_FLAG_FLUSH_RECIPIENT = 0x00000040,
    DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT = 0x00000080,
    DSPQUEUE_BUFFER_FLAG_RESERVED_ZERO = 0xffffff00,
};

enum dspqueue_stat {
    DSPQUEUE_STAT_READ_QUEUE_PACKETS = 1, /* in the queue that this end reads, now */
    DSPQUEUE_STAT_READ_QUEUE_BYTES,
    DSPQUEUE_STAT_WRITE_QUEUE_PACKETS,
    DSPQUEUE_STAT_WRITE_QUEUE_BYTES,
    DSPQUEUE_STAT_EARLY_WAKEUP_WAIT_TIME, /* us, since it was last asked for */
    DSPQUEUE_STAT_EARLY_WAKEUP_MISSES,    /* likewise */
    DSPQUEUE_STAT_SIGNALING_PERF,
    /* hexrig's own, since the queue was made; on a phone AEE_EBADPARM */
    DSPQUEUE_STAT_HEXRIG_PACKETS_READ = 0x4000,
    DSPQUEUE_STAT_HEXRIG_PACKETS_WRITTEN,
    DSPQUEUE_STAT_HEXRIG_SLEEPS, /* times this end slept */
    DSPQUEUE_STAT_HEXRIG_RINGS,  /* times it woke the other */
};

#define DSPQUEUE_SIGNALING_PERF_REDUCED_SIGNALING 100
#define DSPQUEUE_SIGNALING_PERF_OPTIMIZED_SIGNALING 1000

struct dspqueue;
typedef struct dspqueue *dspqueue_t;

struct dspqueue_buffer {
    uint32_t fd;     /* host's descriptor, on the DSP too */
    uint32_t size;   /* bytes; 0 when writing: the whole buffer, which the reader then sees */
    uint32_t offset; /* bytes; 0 when size is 0 */
    uint32_t flags;  /* enum dspqueue_buffer_flags */
    union {
        void *ptr; /* out when reading: where the bytes are at this end, offset included */
        uint64_t address;
    };
};

/* Called from a thread of the library.  Packets: read until AEE_EWOULDBLOCK.  The error callback comes at most once per
 * error: AEE_ECONNRESET after a restart of the DSP, AEE_ENOSUCH when only the PD ended (it may close the queue), AEE_EBADITEM
 * when the packet callback met a broken queue. */
typedef void (*dspqueue_callback_t)(dspqueue_t queue, AEEResult error, void *context);

/* Host only.  domain: effective domain id, -1: CDSP.  flags: 0.  Sizes in bytes, 0: default, at most 16 MiB.  Callbacks may
 * be NULL; a queue with a packet callback is not for blocking reads.  Makes the session's PD when there is none.
 * AEE_EUNSUPPORTED (from the DSP: 0x80000414): the profile has no dspqueue.  AEE_EBADPARM also: 64 queues are open. */
AEEResult dspqueue_create(int domain, uint32_t flags, uint32_t req_queue_size,
                          uint32_t resp_queue_size, dspqueue_callback_t packet_callback,
                          dspqueue_callback_t error_callback, void *callback_context,
                          dspqueue_t *queue);

/* Ends blocking calls with AEE_EINTERRUPTED and waits for callbacks that run.  AEE_EBADSTATE: called from the queue's own
 * packet callback.  Host: AEE_EBADPARM while the DSP has the queue imported; AEE_ENOMEMORY when it could not be asked, and the
 * queue stays open. */
AEEResult dspqueue_close(dspqueue_t queue);

/* Host only. */
AEEResult dspqueue_export(dspqueue_t queue, uint64_t *queue_id);

/* DSP only.  AEE_EITEMBUSY: imported already; AEE_ENOSUCH: no such queue. */
AEEResult dspqueue_import(uint64_t queue_id, dspqueue_callback_t packet_callback,
                          dspqueue_callback_t error_callback, void *callback_context,
                          dspqueue_t *queue);

/* AEE_EWOULDBLOCK: full; AEE_ENOSUCHMAP: a buffer is not mapped; AEE_EBADPARM: too long for the queue, or a part that is
 * not inside its buffer, or DEREF without REF; AEE_EBADITEM: the other end broke the queue. */
AEEResult dspqueue_write_noblock(dspqueue_t queue, uint32_t flags, uint32_t num_buffers,
                                 struct dspqueue_buffer *buffers, uint32_t message_length,
                                 const uint8_t *message);

/* AEE_EEXPIRED: still full after timeout_us.  AEE_ENOMORE: without a timeout, the queue was empty for a second, and the
 * packet, longer than half of the queue, fits neither behind nor before the position; a device's call never returns. */
AEEResult dspqueue_write(dspqueue_t queue, uint32_t flags, uint32_t num_buffers,
                         struct dspqueue_buffer *buffers, uint32_t message_length,
                         const uint8_t *message, uint32_t timeout_us);

/* Takes the next packet.  Any out pointer may be NULL: that part is dropped.  AEE_EWOULDBLOCK: empty.  AEE_EBADPARM: the
 * arrays are too small; the packet stays.  AEE_ENOSUCHMAP, AEE_EBADPARM for a reference that is not possible: the packet
 * is gone.  AEE_EBADITEM: the other end broke the queue. */
AEEResult dspqueue_read_noblock(dspqueue_t queue, uint32_t *flags, uint32_t max_buffers,
                                uint32_t *num_buffers, struct dspqueue_buffer *buffers,
                                uint32_t max_message_length, uint32_t *message_length,
                                uint8_t *message);
AEEResult dspqueue_read(dspqueue_t queue, uint32_t *flags, uint32_t max_buffers,
                        uint32_t *num_buffers, struct dspqueue_buffer *buffers,
                        uint32_t max_message_length, uint32_t *message_length, uint8_t *message,
                        uint32_t timeout_us);

/* Looks at the next packet and leaves it. */
AEEResult dspqueue_peek_noblock(dspqueue_t queue, uint32_t *flags, uint32_t *num_buffers,
                                uint32_t *message_length);
AEEResult dspqueue_peek(dspqueue_t queue, uint32_t *flags, uint32_t *num_buffers,
                        uint32_t *message_length, uint32_t timeout_us);

/* Tells the other end that a packet will come in about wakeup_delay us (0: unknown): its reader polls that long (1000 us by
 * default, at most 2500). */
AEEResult dspqueue_write_early_wakeup_noblock(dspqueue_t queue, uint32_t wakeup_delay,
                                              uint32_t packet_flags);

AEEResult dspqueue_get_stat(dspqueue_t queue, enum dspqueue_stat stat, uint64_t *value);

/* A queue to several sessions at once.  Behind its handle there is one queue for each session of a context
 * (FASTRPC_CONTEXT_CREATE), in the order of the context's domains: a packet that is written goes to each, reading takes a
 * packet from the first that has one.  dspqueue_export() and, with more than one session, waiting reads and peeks and
 * dspqueue_get_stat() are AEE_EUNSUPPORTED.  A write that any session cannot take is AEE_EBADSTATE: close the queue.
 * Callbacks get the handle of the session's own queue, from several threads at once. */
typedef enum {
    DSPQUEUE_CREATE,
} dspqueue_request_req_id;

typedef struct dspqueue_create_req {
    uint64_t ctx;   /* of FASTRPC_CONTEXT_CREATE */
    uint64_t flags; /* 0 */
    uint32_t req_queue_size;
    uint32_t resp_queue_size;
    uint32_t priority; /* 0 */
    dspqueue_callback_t packet_callback;
    dspqueue_callback_t error_callback;
    void *callback_context;
    dspqueue_t queue; /* out: NULL after an error */
    uint64_t *ids;    /* out: [num_ids] what dspqueue_import() takes, one per session; the rest is 0 */
    uint32_t num_ids; /* at least the context's sessions */
} dspqueue_create_req;

typedef struct dspqueue_request_payload {
    dspqueue_request_req_id id;
    union {
        dspqueue_create_req create;
    };
} dspqueue_request_payload;

/* Host only.  AEE_EBADPARM: no such context, too few ids, flags or priority not 0; AEE_EUNSUPPORTED: unknown request; else what
 * dspqueue_create() gave for a session, and no queue is left. */
int dspqueue_request(dspqueue_request_payload *req);

#ifdef __cplusplus
}
#endif

#endif
