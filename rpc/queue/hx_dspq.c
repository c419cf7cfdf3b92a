/* One end of a dspqueue: joining a block, references to buffers, writing, reading and peeking. */
#include "hx_dspq.h"

#include <sched.h>
#include <string.h>

#include "hx_dspq_wait.h"
#include "hx_stage.h"

enum {
    EARLY_WAKEUP_US = 1000, /* default and limit of how long a reader polls after an early wakeup */
    EARLY_WAKEUP_MAX_US = 2500,
    PACKET_FLAGS = DSPQUEUE_PACKET_FLAG_MESSAGE | DSPQUEUE_PACKET_FLAG_BUFFERS |
                   DSPQUEUE_PACKET_FLAG_WAKEUP | DSPQUEUE_PACKET_FLAG_DRIVER_READY |
                   DSPQUEUE_PACKET_FLAG_USER_READY,
};

_Static_assert(sizeof(struct hx_bell) <= sizeof(((struct dspqueue_doorbells *)0)->bell[0]) &&
                   offsetof(struct hx_bell, sleepers) == 4 && offsetof(struct hx_bell, cpu) == 8,
               "a doorbell");

/* --- the block ---------------------------------------------------------------------------------------------------- */

static int find_doorbells(struct hx_dspq *q)
{
    uint64_t at = (uint64_t)q->header.resp_queue.write_state_offset + DSPQUEUE_ALIGN;
    struct dspqueue_doorbells *d;
    int dsp = q->cfg.is_dsp;

    q->doorbells = (q->header.flags & DSPQUEUE_HEADER_FLAG_HEXRIG_DOORBELLS) != 0;
    if (!q->doorbells) {
        q->packet_bell = &q->own_bells[0];
        q->space_bell = &q->own_bells[1];
        return AEE_SUCCESS;
    }
    if (at + sizeof(*d) > q->cfg.block_bytes)
        return AEE_EBADPARM;
    d = (void *)((uint8_t *)q->cfg.block + at);
#define BELL(which) ((struct hx_bell *)&d->bell[DSPQUEUE_SIGNAL_##which])
    q->packet_bell = dsp ? BELL(REQ_PACKET) : BELL(RESP_PACKET);
    q->space_bell = dsp ? BELL(RESP_SPACE) : BELL(REQ_SPACE);
    q->peer_packet_bell = dsp ? BELL(RESP_PACKET) : BELL(REQ_PACKET);
    q->peer_space_bell = dsp ? BELL(REQ_SPACE) : BELL(RESP_SPACE);
#undef BELL
    return AEE_SUCCESS;
}

static int read_header(struct hx_dspq *q)
{
    const struct dspqueue_header *h = &q->header;
    struct hx_pktq req, resp;
    int rc;

    if (q->cfg.block_bytes < sizeof(*h))
        return AEE_EBADPARM;
    memcpy(&q->header, q->cfg.block, sizeof(q->header));
    if (h->version != DSPQUEUE_HEADER_CURRENT_VERSION ||
        (h->flags & ~(DSPQUEUE_HEADER_FLAG_WAIT_COUNTS | DSPQUEUE_HEADER_FLAG_HEXRIG_DOORBELLS)) ||
        !(h->flags & DSPQUEUE_HEADER_FLAG_WAIT_COUNTS))
        return AEE_EUNSUPPORTED;
    rc = hx_pktq_init(&req, q->cfg.block, q->cfg.block_bytes, &h->req_queue);
    if (rc == AEE_SUCCESS)
        rc = hx_pktq_init(&resp, q->cfg.block, q->cfg.block_bytes, &h->resp_queue);
    if (rc)
        return rc;
    q->in = q->cfg.is_dsp ? req : resp;
    q->out = q->cfg.is_dsp ? resp : req;
    return find_doorbells(q);
}

int hx_dspq_init(struct hx_dspq *q, const struct hx_dspq_cfg *cfg)
{
    cpu_set_t cpus;
    int rc;

    memset(q, 0, sizeof(*q));
    q->cfg = *cfg;
    rc = read_header(q);
    if (rc)
        return rc;
    q->pinned = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) == 1;
    pthread_mutex_init(&q->read_lock, NULL);
    pthread_mutex_init(&q->write_lock, NULL);
    return AEE_SUCCESS;
}

void hx_dspq_fini(struct hx_dspq *q)
{
    pthread_mutex_destroy(&q->read_lock);
    pthread_mutex_destroy(&q->write_lock);
}

/* --- buffers ------------------------------------------------------------------------------------------------------ */

static int delta_of(uint32_t flags)
{
    return flags & DSPQUEUE_BUFFER_FLAG_REF ? 1 : flags & DSPQUEUE_BUFFER_FLAG_DEREF ? -1 : 0;
}

/* One buffer of a packet to be sent (at == NULL) or received (*at gets address and size). */
static int use_buffer(struct hx_dspq *q, const struct dspqueue_buffer *b,
                      struct dspqueue_buffer *at)
{
    int delta = delta_of(b->flags), rc;
    uint64_t size;
    void *va;

    if ((b->flags & DSPQUEUE_BUFFER_FLAG_REF) && (b->flags & DSPQUEUE_BUFFER_FLAG_DEREF))
        return AEE_EBADPARM;
    rc = q->cfg.ref(q->cfg.ctx, b->fd, delta, &va, &size);
    if (rc)
        return rc;
    if (b->size ? (uint64_t)b->offset + b->size > size : b->offset != 0) {
        q->cfg.ref(q->cfg.ctx, b->fd, -delta, NULL, NULL);
        return at ? AEE_EBADITEM : AEE_EBADPARM;
    }
    if (at) {
        at->size = b->size ? b->size : (uint32_t)size;
        at->address = 0;
        at->ptr = (uint8_t *)va + b->offset;
    }
    return AEE_SUCCESS;
}

/* Undoes what use_buffer() did to the first n, the last one first: a packet may take a reference and give it back again. */
static void give_back(struct hx_dspq *q, uint32_t n, const struct dspqueue_buffer *b)
{
    while (n--)
        q->cfg.ref(q->cfg.ctx, b[n].fd, -delta_of(b[n].flags), NULL, NULL);
}

/* All buffers or none. */
static int use_buffers(struct hx_dspq *q, uint32_t n, const struct dspqueue_buffer *in,
                       struct dspqueue_buffer *out)
{
    int rc = AEE_SUCCESS;
    uint32_t i;

    for (i = 0; i < n && rc == AEE_SUCCESS; i++)
        rc = use_buffer(q, &in[i], out ? &out[i] : NULL);
    if (rc)
        give_back(q, i - 1, in); /* the last one failed */
    return rc;
}

static void note_broken(struct hx_dspq *q, int rc)
{
    if (rc == AEE_EBADITEM)
        atomic_store(&q->broken, 1);
}

/* --- packets ------------------------------------------------------------------------------------------------------ */

/* Calls that may wait are counted, so that whoever ends the queue can wait until they have left. */
static void enter(struct hx_dspq *q, uint32_t timeout_us)
{
    if (timeout_us)
        atomic_fetch_add(&q->inside, 1);
}

static void leave(struct hx_dspq *q, uint32_t timeout_us)
{
    if (timeout_us)
        atomic_fetch_sub(&q->inside, 1);
}

/* After an attempt that gave *rc: waits if that may help.  1: try again. */
static int again(struct hx_dspq *q, const struct hx_wish *w, uint32_t timeout_us, uint64_t *end,
                 int *rc)
{
    if (*rc != AEE_EWOULDBLOCK || !timeout_us)
        return 0;
    if (!*end)
        *end = timeout_us == DSPQUEUE_TIMEOUT_NONE ? UINT64_MAX
                                                   : hx_dspq_now() + timeout_us * 1000ull;
    *rc = hx_dspq_wait(q, w, *end);
    return *rc == AEE_SUCCESS;
}

static int write_now(struct hx_dspq *q, uint32_t flags, uint32_t n,
                     const struct dspqueue_buffer *buffers, uint32_t len, const uint8_t *message)
{
    int rc = AEE_SUCCESS;

    pthread_mutex_lock(&q->write_lock);
    if (atomic_load(&q->ended))
        rc = atomic_load(&q->ended);
    else if (!hx_pktq_has_room(&q->out, n, len) && 8 + n * sizeof(*buffers) + len <= q->out.len - 8)
        rc = AEE_EWOULDBLOCK;
    if (rc == AEE_SUCCESS)
        rc = use_buffers(q, n, buffers, NULL);
    if (rc == AEE_SUCCESS) {
        if (q->cfg.packet && !(flags & DSPQUEUE_PACKET_FLAG_WAKEUP))
            q->cfg.packet(q->cfg.ctx, 0, n, buffers, len);
        hx_stage_at(q->cfg.is_dsp ? "pd.queue.write" : "client.queue.write");
        rc = hx_pktq_put(&q->out, flags | DSPQUEUE_PACKET_FLAG_USER_READY, n, buffers, len,
                         message);
        hx_stage_at(q->cfg.is_dsp ? "pd.queue.written" : "client.queue.written");
        if (rc == AEE_SUCCESS)
            hx_dspq_wake_reader(q);
        else
            give_back(q, n, buffers);
        note_broken(q, rc);
    }
    pthread_mutex_unlock(&q->write_lock);
    return rc;
}

int hx_dspq_write(struct hx_dspq *q, uint32_t flags, uint32_t n_buffers,
                  const struct dspqueue_buffer *buffers, uint32_t message_len,
                  const uint8_t *message, uint32_t timeout_us)
{
    struct hx_wish w = {.kind = HX_WISH_SPACE, .n_buffers = n_buffers, .message_len = message_len};
    uint64_t end = 0;
    int rc;

    if (n_buffers > DSPQUEUE_MAX_BUFFERS || message_len > DSPQUEUE_MAX_MESSAGE_SIZE ||
        (n_buffers && !buffers) || (message_len && !message) || (flags & ~(uint32_t)PACKET_FLAGS))
        return AEE_EBADPARM;
    flags &= ~(uint32_t)(DSPQUEUE_PACKET_FLAG_BUFFERS | DSPQUEUE_PACKET_FLAG_MESSAGE);
    flags |= (n_buffers ? DSPQUEUE_PACKET_FLAG_BUFFERS : 0u) |
             (message_len ? DSPQUEUE_PACKET_FLAG_MESSAGE : 0u);
    enter(q, timeout_us);
    do
        rc = write_now(q, flags, n_buffers, buffers, message_len, message);
    while (again(q, &w, timeout_us, &end, &rc));
    leave(q, timeout_us);
    return rc;
}

/* Swallows an early wakeup and polls for what it announces.  Under read_lock. */
static int early_wakeup(struct hx_dspq *q, const struct hx_packet *p)
{
    int crowded = hx_dspq_in_its_way(q);
    uint32_t us = 0;
    uint64_t start, end;

    if (p->n_buffers || (p->message_len && p->message_len != sizeof(us)))
        return AEE_EBADITEM;
    hx_pktq_take(&q->in, p, NULL, (uint8_t *)&us);
    hx_dspq_wake_writer(q);
    if (us == 0)
        us = EARLY_WAKEUP_US;
    start = hx_dspq_now();
    end = start + 1000ull * (us < EARLY_WAKEUP_MAX_US ? us : EARLY_WAKEUP_MAX_US);
    while (!hx_pktq_has_packet(&q->in) && !atomic_load(&q->ended)) {
        if (hx_dspq_now() >= end) {
            q->wakeup_misses++;
            break;
        }
        if (crowded)
            sched_yield();
        else
            hx_dspq_relax();
    }
    q->wakeup_wait_us += (hx_dspq_now() - start) / 1000;
    return AEE_SUCCESS;
}

/* Where a read puts its results. */
struct dest {
    uint32_t *flags, *n_buffers, *message_len;
    struct dspqueue_buffer *buffers;
    uint8_t *message;
    uint32_t max_buffers, max_message;
};

static void describe(const struct hx_packet *p, uint32_t *flags, uint32_t *n, uint32_t *len)
{
    if (flags)
        *flags = p->flags;
    if (n)
        *n = p->n_buffers;
    if (len)
        *len = p->message_len;
}

static int read_locked(struct hx_dspq *q, const struct dest *d)
{
    struct hx_packet p;
    int rc;

    while ((rc = hx_pktq_peek(&q->in, &p)) == AEE_SUCCESS &&
           (p.flags & DSPQUEUE_PACKET_FLAG_WAKEUP)) {
        rc = early_wakeup(q, &p);
        if (rc)
            break;
    }
    note_broken(q, rc);
    if (rc)
        return rc;
    if ((d->buffers && d->max_buffers < p.n_buffers) ||
        (d->message && d->max_message < p.message_len))
        return AEE_EBADPARM;
    hx_pktq_take(&q->in, &p, d->buffers, d->message);
    hx_stage_at(q->cfg.is_dsp ? "pd.queue.read" : "client.queue.read");
    hx_dspq_wake_writer(q);
    describe(&p, d->flags, d->n_buffers, d->message_len);
    rc = d->buffers ? use_buffers(q, p.n_buffers, d->buffers, d->buffers) : AEE_SUCCESS;
    if (q->cfg.packet)
        q->cfg.packet(q->cfg.ctx, 1, rc == AEE_SUCCESS ? p.n_buffers : 0, d->buffers,
                      p.message_len);
    return rc;
}

/* What a look at the packets gives when it has found `rc`: what the other end wrote before the end can still be read. */
static int looked(struct hx_dspq *q, int rc)
{
    if (rc != AEE_EWOULDBLOCK)
        return rc;
    if (q->cfg.none)
        q->cfg.none(q->cfg.ctx);
    return atomic_load(&q->ended) ? atomic_load(&q->ended) : rc;
}

static int read_now(struct hx_dspq *q, const struct dest *d)
{
    int rc;

    pthread_mutex_lock(&q->read_lock);
    rc = read_locked(q, d);
    pthread_mutex_unlock(&q->read_lock);
    return looked(q, rc);
}

int hx_dspq_read(struct hx_dspq *q, uint32_t *flags, uint32_t max_buffers, uint32_t *n_buffers,
                 struct dspqueue_buffer *buffers, uint32_t max_message, uint32_t *message_len,
                 uint8_t *message, uint32_t timeout_us)
{
    const struct dest d = {flags,   n_buffers,   message_len, buffers,
                           message, max_buffers, max_message};
    const struct hx_wish w = {.kind = HX_WISH_PACKET};
    uint64_t end = 0;
    int rc;

    enter(q, timeout_us);
    do
        rc = read_now(q, &d);
    while (again(q, &w, timeout_us, &end, &rc));
    leave(q, timeout_us);
    return rc;
}

static int peek_now(struct hx_dspq *q, uint32_t *flags, uint32_t *n, uint32_t *len)
{
    struct hx_packet p;
    int rc;

    pthread_mutex_lock(&q->read_lock);
    rc = hx_pktq_peek(&q->in, &p);
    pthread_mutex_unlock(&q->read_lock);
    if (rc == AEE_SUCCESS)
        describe(&p, flags, n, len);
    return looked(q, rc);
}

int hx_dspq_peek(struct hx_dspq *q, uint32_t *flags, uint32_t *n_buffers, uint32_t *message_len,
                 uint32_t timeout_us)
{
    const struct hx_wish w = {.kind = HX_WISH_PACKET};
    uint64_t end = 0;
    int rc;

    enter(q, timeout_us);
    do
        rc = peek_now(q, flags, n_buffers, message_len);
    while (again(q, &w, timeout_us, &end, &rc));
    leave(q, timeout_us);
    return rc;
}
