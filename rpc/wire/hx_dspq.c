/* One end of a dspqueue, see hx_dspq.h. */
#include "hx_dspq.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    EARLY_WAKEUP_US = 1000, /* default and limit of how long a reader polls after an early wakeup */
    EARLY_WAKEUP_MAX_US = 2500,
    SPIN_NS = 50000,     /* longest polling before a sleep */
    SPIN_SHORT_NS = 2000,
    SPIN_TRIES = 256,    /* so often in vain, then so many short ones */
    SPIN_SHORT_ONES = 4096,
    NAP_NS = 500000000, /* a sleep without limit looks again this often */
};

#define SHARED(p) ((_Atomic uint32_t *)(p))

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t deadline_ns(uint32_t timeout_us)
{
    return timeout_us == DSPQUEUE_TIMEOUT_NONE ? UINT64_MAX : now_ns() + timeout_us * 1000ull;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* --- the block ---------------------------------------------------------------------------------------------------- */

static uint32_t align_part(uint32_t n)
{
    return (n + DSPQUEUE_ALIGN - 1) / DSPQUEUE_ALIGN * DSPQUEUE_ALIGN;
}

uint64_t hx_dspq_block_bytes(uint32_t req_bytes, uint32_t resp_bytes)
{
    /* header, two queues, four states, doorbells */
    return 6u * DSPQUEUE_ALIGN + (uint64_t)align_part(req_bytes) + align_part(resp_bytes);
}

static uint32_t format_one(struct dspqueue_packet_queue_header *h, uint32_t at, uint32_t bytes)
{
    h->queue_offset = at;
    h->queue_length = bytes;
    h->read_state_offset = at + align_part(bytes);
    h->write_state_offset = h->read_state_offset + DSPQUEUE_ALIGN;
    return h->write_state_offset + DSPQUEUE_ALIGN;
}

void hx_dspq_format(struct dspqueue_header *h, uint32_t req_bytes, uint32_t resp_bytes)
{
    uint32_t at = format_one(&h->req_queue, DSPQUEUE_ALIGN, req_bytes);

    format_one(&h->resp_queue, at, resp_bytes);
    h->version = DSPQUEUE_HEADER_CURRENT_VERSION;
    h->flags = DSPQUEUE_HEADER_FLAG_WAIT_COUNTS | DSPQUEUE_HEADER_FLAG_HEXRIG_DOORBELLS;
}

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
#define BELL(which) SHARED(&d->bell[DSPQUEUE_SIGNAL_##which].rings)
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
    /* On a single CPU polling only keeps the other end from running. */
    if (sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_COUNT(&cpus) > 1)
        q->spin_max_ns = SPIN_NS;
    pthread_mutex_init(&q->read_lock, NULL);
    pthread_mutex_init(&q->write_lock, NULL);
    return AEE_SUCCESS;
}

void hx_dspq_fini(struct hx_dspq *q)
{
    pthread_mutex_destroy(&q->read_lock);
    pthread_mutex_destroy(&q->write_lock);
}

/* --- waking and sleeping ------------------------------------------------------------------------------------------ */

static void ring(_Atomic uint32_t *bell)
{
    atomic_fetch_add(bell, 1);
    syscall(SYS_futex, bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* After publishing something: wakes the other end if it may sleep. */
static void wake_peer(struct hx_dspq *q, struct dspqueue_packet_queue_state *peer,
                      _Atomic uint32_t *bell, unsigned which)
{
    if (atomic_load(SHARED(&peer->wait_count)) == 0)
        return;
    atomic_fetch_add_explicit(&q->rings, 1, memory_order_relaxed);
    if (q->doorbells)
        ring(bell);
    else if (q->cfg.signal)
        q->cfg.signal(q->cfg.ctx, which);
}

static void wake_reader(struct hx_dspq *q)
{
    wake_peer(q, q->out.reader, q->peer_packet_bell,
              q->cfg.is_dsp ? DSPQUEUE_SIGNAL_RESP_PACKET : DSPQUEUE_SIGNAL_REQ_PACKET);
}

static void wake_writer(struct hx_dspq *q)
{
    wake_peer(q, q->in.writer, q->peer_space_bell,
              q->cfg.is_dsp ? DSPQUEUE_SIGNAL_REQ_SPACE : DSPQUEUE_SIGNAL_RESP_SPACE);
}

/* What a waiting call waits for. */
struct wish {
    enum { PACKET, SPACE, NEW_COUNT } kind;
    uint32_t n_buffers, message_len; /* SPACE */
    uint32_t seen;                   /* NEW_COUNT */
};

static int fulfilled(struct hx_dspq *q, const struct wish *w)
{
    pthread_mutex_t *lock = w->kind == SPACE ? &q->write_lock : &q->read_lock;
    int yes;

    if (atomic_load(&q->ended))
        return 1;
    if (w->kind == NEW_COUNT)
        return atomic_load(SHARED(&q->in.writer->packet_count)) != w->seen;
    pthread_mutex_lock(lock);
    yes = w->kind == PACKET ? hx_pktq_has_packet(&q->in)
                            : hx_pktq_has_room(&q->out, w->n_buffers, w->message_len);
    pthread_mutex_unlock(lock);
    return yes;
}

/* Polls before sleeping.  While both ends share one core, or the other one thinks for long, that only takes time; so after
 * some hundred times in vain it polls shortly for a while.  Not at once: two threads that wake each other tend to stay on
 * one core, and only both being busy for some milliseconds makes the scheduler part them. */
static int spin(struct hx_dspq *q, const struct wish *w, uint64_t end)
{
    uint32_t vain = atomic_load_explicit(&q->spins_in_vain, memory_order_relaxed);
    uint64_t until = now_ns() + (vain < SPIN_TRIES || !q->spin_max_ns ? q->spin_max_ns : SPIN_SHORT_NS);

    if (until > end)
        until = end;
    do {
        for (int i = 0; i < 16; i++) {
            if (fulfilled(q, w)) {
                atomic_store_explicit(&q->spins_in_vain, 0, memory_order_relaxed);
                return 1;
            }
            relax();
        }
    } while (now_ns() < until); /* the clock is read in user space (vDSO) */
    vain = vain + 1 < SPIN_TRIES + SPIN_SHORT_ONES ? vain + 1 : 0;
    atomic_store_explicit(&q->spins_in_vain, vain, memory_order_relaxed);
    return 0;
}

static void futex_wait(_Atomic uint32_t *bell, uint32_t seen, uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    syscall(SYS_futex, bell, FUTEX_WAIT, seen, &t, NULL, 0);
}

/* One sleep, at most until `end`; early returns are fine. */
static void sleep_on(struct hx_dspq *q, const struct wish *w, uint64_t end)
{
    struct dspqueue_packet_queue_state *own = w->kind == SPACE ? q->out.writer : q->in.reader;
    _Atomic uint32_t *bell = w->kind == SPACE ? q->space_bell : q->packet_bell;
    uint64_t now = now_ns(), left = end > now ? end - now : 0;
    uint32_t seen;

    atomic_fetch_add(SHARED(&own->wait_count), 1);
    /* "Say that I sleep, then look" against "publish, then look whether they sleep": pairs with publish() of hx_pktq.c, all
     * four sequentially consistent.  The bell is read before looking, so a ring in between ends the wait at once. */
    seen = atomic_load(bell);
    if (!fulfilled(q, w) && left) {
        atomic_fetch_add_explicit(&q->sleeps, 1, memory_order_relaxed);
        futex_wait(bell, seen, left < NAP_NS ? left : NAP_NS);
    }
    atomic_fetch_sub(SHARED(&own->wait_count), 1);
}

/* Waits for w.  0: look again; AEE_EEXPIRED; q's end code. */
static int wait_for(struct hx_dspq *q, const struct wish *w, uint64_t end)
{
    if (!spin(q, w, end))
        while (!fulfilled(q, w) && now_ns() < end)
            sleep_on(q, w, end);
    if (atomic_load(&q->ended))
        return atomic_load(&q->ended);
    return fulfilled(q, w) || now_ns() < end ? AEE_SUCCESS : AEE_EEXPIRED;
}

int hx_dspq_wait_packets(struct hx_dspq *q, uint32_t *seen)
{
    struct wish w = {.kind = NEW_COUNT, .seen = *seen};
    int rc = wait_for(q, &w, UINT64_MAX);

    *seen = atomic_load(SHARED(&q->in.writer->packet_count));
    return rc;
}

void hx_dspq_poke(struct hx_dspq *q)
{
    ring(q->packet_bell);
    ring(q->space_bell);
}

void hx_dspq_quiesce(struct hx_dspq *q)
{
    const struct timespec t = {0, 100000};

    while (atomic_load(&q->inside))
        nanosleep(&t, NULL);
}

void hx_dspq_end(struct hx_dspq *q, int aee)
{
    atomic_store(&q->ended, aee);
    hx_dspq_poke(q);
}

/* --- buffers ------------------------------------------------------------------------------------------------------ */

static int delta_of(uint32_t flags)
{
    return flags & DSPQUEUE_BUFFER_FLAG_REF ? 1 : flags & DSPQUEUE_BUFFER_FLAG_DEREF ? -1 : 0;
}

/* One buffer of a packet that goes (at == NULL) or came (*at gets address and size). */
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

/* Undoes what use_buffer() did to the first n. */
static void give_back(struct hx_dspq *q, uint32_t n, const struct dspqueue_buffer *b)
{
    for (uint32_t i = 0; i < n; i++)
        q->cfg.ref(q->cfg.ctx, b[i].fd, -delta_of(b[i].flags), NULL, NULL);
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
        rc = hx_pktq_put(&q->out, flags | DSPQUEUE_PACKET_FLAG_USER_READY, n, buffers, len, message);
        if (rc == AEE_SUCCESS)
            wake_reader(q);
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
    struct wish w = {.kind = SPACE, .n_buffers = n_buffers, .message_len = message_len};
    uint64_t end = 0;
    int rc;

    if (n_buffers > DSPQUEUE_MAX_BUFFERS || message_len > DSPQUEUE_MAX_MESSAGE_SIZE ||
        (n_buffers && !buffers) || (message_len && !message))
        return AEE_EBADPARM;
    flags &= ~(uint32_t)(DSPQUEUE_PACKET_FLAG_BUFFERS | DSPQUEUE_PACKET_FLAG_MESSAGE);
    flags |= (n_buffers ? DSPQUEUE_PACKET_FLAG_BUFFERS : 0u) |
             (message_len ? DSPQUEUE_PACKET_FLAG_MESSAGE : 0u);
    atomic_fetch_add(&q->inside, 1);
    while ((rc = write_now(q, flags, n_buffers, buffers, message_len, message)) ==
               AEE_EWOULDBLOCK &&
           timeout_us) {
        if (!end)
            end = deadline_ns(timeout_us);
        rc = wait_for(q, &w, end);
        if (rc)
            break;
    }
    atomic_fetch_sub(&q->inside, 1);
    return rc;
}

/* Swallows an early wakeup and polls for what it announces.  Under read_lock. */
static int early_wakeup(struct hx_dspq *q, const struct hx_packet *p)
{
    uint32_t us = 0;
    uint64_t start, end;

    if (p->n_buffers || (p->message_len && p->message_len != sizeof(us)))
        return AEE_EBADITEM;
    hx_pktq_take(&q->in, p, NULL, (uint8_t *)&us);
    wake_writer(q);
    if (us == 0)
        us = EARLY_WAKEUP_US;
    start = now_ns();
    end = start + 1000ull * (us < EARLY_WAKEUP_MAX_US ? us : EARLY_WAKEUP_MAX_US);
    while (!hx_pktq_has_packet(&q->in) && !atomic_load(&q->ended)) {
        if (now_ns() >= end) {
            q->wakeup_misses++;
            break;
        }
        if (q->spin_max_ns)
            relax();
        else
            sched_yield();
    }
    q->wakeup_wait_us += (now_ns() - start) / 1000;
    return AEE_SUCCESS;
}

/* Where a read puts things. */
struct dest {
    uint32_t *flags, *n_buffers, *message_len;
    struct dspqueue_buffer *buffers;
    uint8_t *message;
    uint32_t max_buffers, max_message;
};

static void tell(const struct hx_packet *p, uint32_t *flags, uint32_t *n, uint32_t *len)
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
    wake_writer(q);
    tell(&p, d->flags, d->n_buffers, d->message_len);
    return d->buffers ? use_buffers(q, p.n_buffers, d->buffers, d->buffers) : AEE_SUCCESS;
}

static int read_now(struct hx_dspq *q, const struct dest *d)
{
    int rc;

    pthread_mutex_lock(&q->read_lock);
    rc = read_locked(q, d);
    pthread_mutex_unlock(&q->read_lock);
    /* what the other end wrote before the end can still be read */
    return rc == AEE_EWOULDBLOCK && atomic_load(&q->ended) ? atomic_load(&q->ended) : rc;
}

int hx_dspq_read(struct hx_dspq *q, uint32_t *flags, uint32_t max_buffers, uint32_t *n_buffers,
                 struct dspqueue_buffer *buffers, uint32_t max_message, uint32_t *message_len,
                 uint8_t *message, uint32_t timeout_us)
{
    const struct dest d = {flags, n_buffers, message_len, buffers, message, max_buffers, max_message};
    const struct wish w = {.kind = PACKET};
    uint64_t end = 0;
    int rc;

    atomic_fetch_add(&q->inside, 1);
    while ((rc = read_now(q, &d)) == AEE_EWOULDBLOCK && timeout_us) {
        if (!end)
            end = deadline_ns(timeout_us);
        rc = wait_for(q, &w, end);
        if (rc)
            break;
    }
    atomic_fetch_sub(&q->inside, 1);
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
        tell(&p, flags, n, len);
    return rc == AEE_EWOULDBLOCK && atomic_load(&q->ended) ? atomic_load(&q->ended) : rc;
}

int hx_dspq_peek(struct hx_dspq *q, uint32_t *flags, uint32_t *n_buffers, uint32_t *message_len,
                 uint32_t timeout_us)
{
    const struct wish w = {.kind = PACKET};
    uint64_t end = 0;
    int rc;

    atomic_fetch_add(&q->inside, 1);
    while ((rc = peek_now(q, flags, n_buffers, message_len)) == AEE_EWOULDBLOCK && timeout_us) {
        if (!end)
            end = deadline_ns(timeout_us);
        rc = wait_for(q, &w, end);
        if (rc)
            break;
    }
    atomic_fetch_sub(&q->inside, 1);
    return rc;
}
