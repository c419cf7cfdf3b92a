/* One direction of a dspqueue (dspqueue_shared.h) as one end sees it: packets in, packets out, nothing that waits.
 *
 * Nothing that the other end writes is trusted: positions and headers are copied, then checked; our own position and
 * counts are kept here and only published there.  Results are AEE codes.  One thread at a time per direction. */
#ifndef HX_PKTQ_H
#define HX_PKTQ_H

#include "dspqueue_shared.h"

struct hx_pktq {
    uint8_t *bytes; /* [len], shared */
    uint32_t len;   /* multiple of 8 */
    struct dspqueue_packet_queue_state *reader, *writer; /* shared */
    uint32_t pos;   /* ours: of the reader or the writer */
    uint32_t r_pos; /* writer only: the reader's position when it was last read, checked */
    uint32_t count; /* packets that we moved */
    uint8_t seq;    /* writer only */
};

struct hx_packet {
    uint32_t flags;
    uint32_t n_buffers;
    uint32_t message_len; /* bytes */
    uint32_t at;          /* of the payload in the queue */
    uint32_t next;        /* position behind it */
};

/* Takes the direction `head` of a block of block_bytes.  AEE_EBADPARM: parts misaligned, outside of the block or, of the
 * four, overlapping each other. */
int hx_pktq_init(struct hx_pktq *q, void *block, uint64_t block_bytes,
                 const struct dspqueue_packet_queue_header *head);

/* Writes a packet: n_buffers <= DSPQUEUE_MAX_BUFFERS, message_len <= DSPQUEUE_MAX_MESSAGE_SIZE.  AEE_EWOULDBLOCK: no room
 * now; AEE_EBADPARM: never; AEE_EBADITEM: the reader's position is impossible.  On return the packet is visible; what
 * the caller reads next with sequential consistency is read after that. */
int hx_pktq_put(struct hx_pktq *q, uint32_t flags, uint32_t n_buffers,
                const struct dspqueue_buffer *buffers, uint32_t message_len,
                const uint8_t *message);

/* 1 when there is room for a packet of these sizes (or when only hx_pktq_put() can tell why not). */
int hx_pktq_has_room(struct hx_pktq *q, uint32_t n_buffers, uint32_t message_len);

/* 1 when there is no room for a packet of these sizes although the reader has read everything: longer than half of the
 * queue, it fits neither behind the position nor before it, and packets do not wrap.  Only a packet of another size, which
 * moves the position, can change that. */
int hx_pktq_is_stuck(struct hx_pktq *q, uint32_t n_buffers, uint32_t message_len);

/* 1 when there is something to read, even if it is broken. */
int hx_pktq_has_packet(const struct hx_pktq *q);

/* Looks at the next packet.  AEE_EWOULDBLOCK: none; AEE_EBADITEM: it is impossible. */
int hx_pktq_peek(const struct hx_pktq *q, struct hx_packet *p);

/* Copies a peeked packet out (NULL: not that part) and moves on; then as above. */
void hx_pktq_take(struct hx_pktq *q, const struct hx_packet *p, struct dspqueue_buffer *buffers,
                  uint8_t *message);

/* Bytes in the queue; AEE_EBADITEM when the other end's position is impossible. */
int hx_pktq_bytes_to_read(const struct hx_pktq *q, uint32_t *bytes);
int hx_pktq_bytes_written(const struct hx_pktq *q, uint32_t *bytes);

#endif
