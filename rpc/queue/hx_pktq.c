/* One direction of a dspqueue: packets in a ring that the other end may have damaged. */
#include "hx_pktq.h"

#include <stdatomic.h>
#include <string.h>

#define SHARED(p) ((_Atomic uint32_t *)(p))

static uint32_t align8(uint32_t n)
{
    return (n + 7) & ~7u;
}

static int part_ok(uint64_t off, uint64_t len, uint64_t block)
{
    return off % DSPQUEUE_ALIGN == 0 && off >= DSPQUEUE_ALIGN && off <= block && len <= block - off;
}

static int apart(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
    return a + a_len <= b || b + b_len <= a;
}

int hx_pktq_init(struct hx_pktq *q, void *block, uint64_t block_bytes,
                 const struct dspqueue_packet_queue_header *h)
{
    uint8_t *base = block;

    if (h->queue_length < 16 || h->queue_length % 8 || h->queue_length > DSPQUEUE_MAX_QUEUE_SIZE ||
        !part_ok(h->queue_offset, h->queue_length, block_bytes) ||
        !part_ok(h->read_state_offset, DSPQUEUE_ALIGN, block_bytes) ||
        !part_ok(h->write_state_offset, DSPQUEUE_ALIGN, block_bytes) ||
        !apart(h->queue_offset, h->queue_length, h->read_state_offset, DSPQUEUE_ALIGN) ||
        !apart(h->queue_offset, h->queue_length, h->write_state_offset, DSPQUEUE_ALIGN) ||
        h->read_state_offset == h->write_state_offset)
        return AEE_EBADPARM;
    *q = (struct hx_pktq){
        .bytes = base + h->queue_offset,
        .len = h->queue_length,
        .reader = (void *)(base + h->read_state_offset),
        .writer = (void *)(base + h->write_state_offset),
    };
    return AEE_SUCCESS;
}

/* The other end's position; what it wrote (or read) before publishing that is visible to us afterwards. */
static int peer_position(const struct hx_pktq *q, struct dspqueue_packet_queue_state *peer,
                         uint32_t *pos)
{
    /* The count first, whose value makes visible the position that was published before it: see publish() at the other end. */
    (void)atomic_load(SHARED(&peer->packet_count));
    *pos = atomic_load_explicit(SHARED(&peer->position), memory_order_acquire);
    return *pos % 8 || *pos >= q->len ? AEE_EBADITEM : AEE_SUCCESS;
}

static void publish(struct hx_pktq *q, struct dspqueue_packet_queue_state *own, uint32_t pos)
{
    q->pos = pos;
    q->count++;
    /* Release: pairs with peer_position() at the other end. */
    atomic_store_explicit(SHARED(&own->position), pos, memory_order_release);
    /* Position before count: whoever sees the count finds the packet.  Sequentially consistent, because the caller then
     * checks whether the other end sleeps: pairs with sleep_on() of hx_dspq_wait.c, which says that it sleeps and then checks here.
     * [tests/model/dspqueue.pml: NO_RELEASE, COUNT_FIRST, NO_FENCE] */
    atomic_store(SHARED(&own->packet_count), q->count);
}

/* Where a packet of `bytes` (multiple of 8) starts: at our position, or at 0 when it does not fit before the end.  One
 * slot of 8 bytes stays empty, so that full and empty differ. */
static int find_room(const struct hx_pktq *q, uint32_t r, uint32_t bytes, uint32_t *start)
{
    uint32_t w = q->pos;
    uint32_t room = (r > w ? r - w : q->len - w + r) - 8;

    *start = w;
    if (room < bytes)
        return AEE_EWOULDBLOCK;
    if (q->len - w >= bytes)
        return AEE_SUCCESS;
    *start = 0;
    return room - (q->len - w) < bytes || room < q->len - w ? AEE_EWOULDBLOCK : AEE_SUCCESS;
}

static uint32_t packet_bytes(uint32_t n_buffers, uint32_t message_len)
{
    return 8 + n_buffers * (uint32_t)sizeof(struct dspqueue_buffer) + message_len;
}

/* The same with the reader's position as we last read it; only when that leaves no room do we read it again, because the
 * reader writes that cache line with every packet. */
static int find_room_now(struct hx_pktq *q, uint32_t bytes, uint32_t *start)
{
    uint32_t r;
    int rc = find_room(q, q->r_pos, bytes, start);

    if (rc != AEE_EWOULDBLOCK)
        return rc;
    rc = peer_position(q, q->reader, &r);
    if (rc)
        return rc;
    q->r_pos = r;
    return find_room(q, r, bytes, start);
}

int hx_pktq_put(struct hx_pktq *q, uint32_t flags, uint32_t n_buffers,
                const struct dspqueue_buffer *buffers, uint32_t message_len,
                const uint8_t *message)
{
    uint32_t len = packet_bytes(n_buffers, message_len), bytes = align8(len), at;
    uint64_t head = len | (uint64_t)(flags & 0xffff) << 32 | (uint64_t)n_buffers << 48 |
                    (uint64_t)q->seq << 56;
    size_t buffer_bytes = n_buffers * sizeof(*buffers);
    int rc;

    if (bytes > q->len - 8)
        return AEE_EBADPARM;
    rc = find_room_now(q, bytes, &at);
    if (rc)
        return rc;
    if (at != q->pos)
        memcpy(q->bytes + q->pos, &head, sizeof(head));
    memcpy(q->bytes + at, &head, sizeof(head));
    if (n_buffers)
        memcpy(q->bytes + at + 8, buffers, buffer_bytes);
    if (message_len)
        memcpy(q->bytes + at + 8 + buffer_bytes, message, message_len);
    q->seq++;
    publish(q, q->writer, at + bytes == q->len ? 0 : at + bytes);
    return AEE_SUCCESS;
}

int hx_pktq_has_room(struct hx_pktq *q, uint32_t n_buffers, uint32_t message_len)
{
    uint32_t at;

    return find_room_now(q, align8(packet_bytes(n_buffers, message_len)), &at) != AEE_EWOULDBLOCK;
}

int hx_pktq_is_stuck(struct hx_pktq *q, uint32_t n_buffers, uint32_t message_len)
{
    return !hx_pktq_has_room(q, n_buffers, message_len) && q->r_pos == q->pos;
}

int hx_pktq_has_packet(const struct hx_pktq *q)
{
    (void)atomic_load(SHARED(&q->writer->packet_count)); /* as in peer_position() */
    return atomic_load_explicit(SHARED(&q->writer->position), memory_order_acquire) != q->pos;
}

/* Decodes the copied header. */
static int parse(uint64_t head, struct hx_packet *p, uint32_t *bytes)
{
    uint32_t len = (uint32_t)head, fixed;

    p->flags = (uint32_t)(head >> 32) & 0xffff;
    p->n_buffers = p->flags & DSPQUEUE_PACKET_FLAG_BUFFERS ? (uint32_t)(head >> 48) & 0xff : 0;
    fixed = packet_bytes(p->n_buffers, 0);
    if (p->n_buffers > DSPQUEUE_MAX_BUFFERS || !(p->flags & DSPQUEUE_PACKET_FLAG_USER_READY) ||
        len < fixed || len - fixed > DSPQUEUE_MAX_MESSAGE_SIZE)
        return AEE_EBADITEM;
    p->message_len = len - fixed;
    if (p->message_len && !(p->flags & DSPQUEUE_PACKET_FLAG_MESSAGE))
        return AEE_EBADITEM;
    *bytes = align8(len);
    return AEE_SUCCESS;
}

int hx_pktq_peek(const struct hx_pktq *q, struct hx_packet *p)
{
    uint32_t r = q->pos, w, bytes, start = r;
    uint64_t head;
    int rc = peer_position(q, q->writer, &w);

    if (rc)
        return rc;
    if (w == r)
        return AEE_EWOULDBLOCK;
    memcpy(&head, q->bytes + r, sizeof(head));
    rc = parse(head, p, &bytes);
    if (rc)
        return rc;
    if (q->len - r < bytes) { /* it was moved to the start */
        start = 0;
        if (w > r || bytes > w)
            return AEE_EBADITEM;
    } else if (w > r && bytes > w - r) {
        return AEE_EBADITEM;
    }
    p->at = start + 8;
    p->next = start + bytes == q->len ? 0 : start + bytes;
    return AEE_SUCCESS;
}

void hx_pktq_take(struct hx_pktq *q, const struct hx_packet *p, struct dspqueue_buffer *buffers,
                  uint8_t *message)
{
    size_t buffer_bytes = p->n_buffers * sizeof(*buffers);

    if (buffers && buffer_bytes)
        memcpy(buffers, q->bytes + p->at, buffer_bytes);
    if (message && p->message_len)
        memcpy(message, q->bytes + p->at + buffer_bytes, p->message_len);
    publish(q, q->reader, p->next);
}

int hx_pktq_bytes_to_read(const struct hx_pktq *q, uint32_t *bytes)
{
    uint32_t w;
    int rc = peer_position(q, q->writer, &w);

    *bytes = w >= q->pos ? w - q->pos : q->len - q->pos + w;
    return rc;
}

int hx_pktq_bytes_written(const struct hx_pktq *q, uint32_t *bytes)
{
    uint32_t r;
    int rc = peer_position(q, q->reader, &r);

    *bytes = q->pos >= r ? q->pos - r : q->len - r + q->pos;
    return rc;
}
