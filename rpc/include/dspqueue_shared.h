/* What a dspqueue's block of shared memory looks like (published names and layout).
 *
 *   header | request packets | their reader's state | their writer's state | response packets | reader | writer | doorbells
 *
 * each part on a 256-byte boundary.  Requests go from host to DSP, responses back.  A packet is a u64 header
 *
 *   length in bytes, this header included 31..0 | flags 47..32 | number of buffers 55..48 | sequence number 63..56
 *
 * then that many struct dspqueue_buffer, then the message; the next one starts on an 8-byte boundary.  Packets do not
 * wrap: one that does not fit before the end of its queue leaves its header there and lies, header and all, at the start.
 *
 * The doorbells are hexrig's own and lie behind the published block: one futex per signal, in use when the header's flags
 * say so.  A client that does not know them rings by RPC (methods 6..8 of the queue service, docs/dspqueue.md). */
#ifndef DSPQUEUE_SHARED_H
#define DSPQUEUE_SHARED_H

#include <stddef.h>
#include <stdint.h>

#include "dspqueue.h"

struct dspqueue_packet_queue_header {
    uint32_t queue_offset;       /* bytes from the block's start, as all offsets */
    uint32_t queue_length;       /* bytes, multiple of 8 */
    uint32_t read_state_offset;  /* written by the reader only */
    uint32_t write_state_offset; /* written by the writer only */
};

struct dspqueue_packet_queue_state {
    uint32_t position;     /* bytes into the queue */
    uint32_t packet_count; /* read or written so far */
    uint32_t wait_count;   /* not 0: the reader waits for a packet, the writer for space */
};

struct dspqueue_header {
    uint32_t version;
    int32_t error;
    uint32_t flags;
    struct dspqueue_packet_queue_header req_queue;
    struct dspqueue_packet_queue_header resp_queue;
    uint32_t queue_count; /* of the process's queues so far; tells a block from its predecessor */
};

#define DSPQUEUE_HEADER_CURRENT_VERSION 2
#define DSPQUEUE_HEADER_FLAG_WAIT_COUNTS 1
#define DSPQUEUE_HEADER_FLAG_DRIVER_SIGNALING 2
#define DSPQUEUE_HEADER_FLAG_HEXRIG_DOORBELLS 0x80000000u

#define DSPQUEUE_MAX_QUEUE_SIZE 16777216
#define DSPQUEUE_MAX_BUFFERS 64
#define DSPQUEUE_MAX_MESSAGE_SIZE 65536
#define DSPQUEUE_DEFAULT_REQ_SIZE 65536
#define DSPQUEUE_DEFAULT_RESP_SIZE 16384
#define DSPQUEUE_MAX_PROCESS_QUEUES 64
#define DSPQUEUE_ALIGN 256

enum dspqueue_signal {
    DSPQUEUE_SIGNAL_REQ_PACKET = 0, /* to the DSP */
    DSPQUEUE_SIGNAL_REQ_SPACE,      /* to the host */
    DSPQUEUE_SIGNAL_RESP_PACKET,    /* to the host */
    DSPQUEUE_SIGNAL_RESP_SPACE,     /* to the DSP */
    DSPQUEUE_NUM_SIGNALS,
};

/* At the first DSPQUEUE_ALIGN boundary behind the last state. */
struct dspqueue_doorbells {
    struct {
        uint32_t rings;    /* futex, counts up; written by either end */
        uint32_t sleepers; /* like wait_count, but nothing else that changes shares its cache line */
        uint32_t cpu;      /* a hint: CPU + 1 on which the end that waits for this signal last began to wait, 0 = unknown */
        uint32_t pad[13];
    } bell[DSPQUEUE_NUM_SIGNALS];
};

/* One per process, for signals by RPC: what changed since the last look. */
struct dspqueue_process_queue_state {
    uint32_t req_packet_count[DSPQUEUE_MAX_PROCESS_QUEUES];
    uint32_t req_space_count[DSPQUEUE_MAX_PROCESS_QUEUES];
    uint32_t resp_packet_count[DSPQUEUE_MAX_PROCESS_QUEUES];
    uint32_t resp_space_count[DSPQUEUE_MAX_PROCESS_QUEUES];
};

_Static_assert(sizeof(struct dspqueue_buffer) == 24, "buffer reference");
_Static_assert(sizeof(struct dspqueue_packet_queue_state) == 12, "state");
_Static_assert(sizeof(struct dspqueue_header) == 48, "header");
_Static_assert(offsetof(struct dspqueue_header, req_queue) == 12, "header");
_Static_assert(sizeof(struct dspqueue_doorbells) == DSPQUEUE_ALIGN, "doorbells");

#endif
