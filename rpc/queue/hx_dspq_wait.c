/* How one end of a dspqueue waits (polls, then sleeps on a futex), wakes the other, and stops waiting when it ends. */
#include "hx_dspq_wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SPIN_NS = 50000, /* longest polling before a sleep */
    SPIN_SHORT_NS = 2000,
    SPIN_TRIES = 256, /* after so many in vain, so many short ones */
    SPIN_SHORT_ONES = 4096,
    SPIN_POLLS = 64,       /* polls between two readings of the clock */
    NAP_NS = 500000000,    /* a sleep without limit checks again this often */
    STUCK_NS = 1000000000, /* how long a writer that is stuck waits for a packet of another thread */
};

#define SHARED(p) ((_Atomic uint32_t *)(p))

static void ring(struct hx_bell *bell)
{
    atomic_fetch_add(&bell->rings, 1);
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void wake_peer(struct hx_dspq *q, struct dspqueue_packet_queue_state *peer,
                      struct hx_bell *bell, unsigned which)
{
    if (atomic_load(bell ? &bell->sleepers : SHARED(&peer->wait_count)) == 0)
        return;
    atomic_fetch_add_explicit(&q->rings, 1, memory_order_relaxed);
    if (bell)
        ring(bell);
    else if (q->cfg.signal)
        q->cfg.signal(q->cfg.ctx, which);
}

void hx_dspq_wake_reader(struct hx_dspq *q)
{
    wake_peer(q, q->out.reader, q->peer_packet_bell,
              q->cfg.is_dsp ? DSPQUEUE_SIGNAL_RESP_PACKET : DSPQUEUE_SIGNAL_REQ_PACKET);
}

void hx_dspq_wake_writer(struct hx_dspq *q)
{
    wake_peer(q, q->in.writer, q->peer_space_bell,
              q->cfg.is_dsp ? DSPQUEUE_SIGNAL_REQ_SPACE : DSPQUEUE_SIGNAL_RESP_SPACE);
}

static int fulfilled(struct hx_dspq *q, const struct hx_wish *w)
{
    pthread_mutex_t *lock = w->kind == HX_WISH_SPACE ? &q->write_lock : &q->read_lock;
    int yes;

    if (atomic_load(&q->ended))
        return 1;
    if (w->kind == HX_WISH_NEW_COUNT)
        return atomic_load(SHARED(&q->in.writer->packet_count)) != w->seen;
    pthread_mutex_lock(lock);
    yes = w->kind == HX_WISH_PACKET
              ? hx_pktq_has_packet(&q->in)
              : hx_pktq_has_room(&q->out, w->n_buffers, w->message_len);
    pthread_mutex_unlock(lock);
    return yes;
}

int hx_dspq_in_its_way(struct hx_dspq *q)
{
    uint32_t here = (uint32_t)sched_getcpu() + 1;

    if (atomic_load_explicit(&q->packet_bell->cpu, memory_order_relaxed) != here)
        atomic_store_explicit(&q->packet_bell->cpu, here, memory_order_relaxed);
    return q->pinned && q->peer_packet_bell &&
           atomic_load_explicit(&q->peer_packet_bell->cpu, memory_order_relaxed) == here;
}

/* How long polling may pay off: a long time, until it was in vain some hundred times (the other end computes for long, or both
 * share a core), then briefly for a while.  Not briefly from the start: two threads that wake each other tend to stay on one
 * core, and the scheduler only separates them once both have been busy for some milliseconds. */
static uint32_t spin_ns(struct hx_dspq *q)
{
    if (hx_dspq_in_its_way(q))
        return 0;
    return atomic_load_explicit(&q->spins_in_vain, memory_order_relaxed) < SPIN_TRIES
               ? SPIN_NS
               : SPIN_SHORT_NS;
}

/* The word whose change makes another attempt worthwhile. */
static _Atomic uint32_t *watched(struct hx_dspq *q, const struct hx_wish *w)
{
    return SHARED(w->kind == HX_WISH_SPACE ? &q->out.reader->packet_count
                                           : &q->in.writer->packet_count);
}

/* Polls a few times without locks or clock; 1 when the word has changed or the queue has ended. */
static int poll_briefly(struct hx_dspq *q, _Atomic uint32_t *word, uint32_t seen)
{
    for (int i = 0; i < SPIN_POLLS; i++)
        if (atomic_load_explicit(word, memory_order_acquire) != seen ||
            atomic_load_explicit(&q->ended, memory_order_relaxed))
            return 1;
    return 0;
}

static int watch(struct hx_dspq *q, _Atomic uint32_t *word, uint32_t seen, uint64_t until)
{
    do {
        if (poll_briefly(q, word, seen))
            return 1;
        hx_dspq_relax();
    } while (hx_dspq_now() < until); /* the clock is read in user space (vDSO) */
    return 0;
}

/* Polls before sleeping.  1: something has changed, try again. */
static int spin(struct hx_dspq *q, const struct hx_wish *w, uint64_t end)
{
    _Atomic uint32_t *word = watched(q, w);
    uint32_t seen = atomic_load(word), ns, vain;
    uint64_t until;

    /* a busy peer answers sooner than we find out how long to poll */
    if (fulfilled(q, w) || poll_briefly(q, word, seen))
        return 1;
    ns = spin_ns(q);
    if (!ns)
        return 0;
    until = hx_dspq_now() + ns;
    vain = atomic_load_explicit(&q->spins_in_vain, memory_order_relaxed);
    if (watch(q, word, seen, until < end ? until : end)) {
        if (vain)
            atomic_store_explicit(&q->spins_in_vain, 0, memory_order_relaxed);
        return 1;
    }
    vain = vain + 1 < SPIN_TRIES + SPIN_SHORT_ONES ? vain + 1 : 0;
    atomic_store_explicit(&q->spins_in_vain, vain, memory_order_relaxed);
    return 0;
}

static void futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
}

/* One sleep, at most until `end`; early returns are fine. */
static void sleep_on(struct hx_dspq *q, const struct hx_wish *w, uint64_t end)
{
    const int space = w->kind == HX_WISH_SPACE;
    struct dspqueue_packet_queue_state *own = space ? q->out.writer : q->in.reader;
    struct hx_bell *bell = space ? q->space_bell : q->packet_bell;
    uint64_t now = end == UINT64_MAX ? 0 : hx_dspq_now(), left = end > now ? end - now : 0;
    uint32_t seen;

    atomic_fetch_add(SHARED(&own->wait_count), 1);
    atomic_fetch_add(&bell->sleepers, 1);
    /* "Say that I sleep, then look" against "publish, then look whether they sleep": pairs with publish() of hx_pktq.c
     * and wake_peer(), all four sequentially consistent.  The bell is read before looking, so a ring in between ends
     * the wait at once.  [tests/model/dspqueue.pml: NO_RECHECK, LATE_SEEN] */
    seen = atomic_load(&bell->rings);
    if (!fulfilled(q, w) && left) {
        atomic_fetch_add_explicit(&q->sleeps, 1, memory_order_relaxed);
        futex_wait(&bell->rings, seen, left < NAP_NS ? left : NAP_NS);
    }
    atomic_fetch_sub(&bell->sleepers, 1);
    atomic_fetch_sub(SHARED(&own->wait_count), 1);
}

/* Whether a writer waits, since *since (0: it does not), for room that no reader can make.  1: for too long.  By the published
 * rules it would hang; until then another thread's packet may still move the position. */
static int hopeless(struct hx_dspq *q, const struct hx_wish *w, uint64_t *since)
{
    uint64_t now = hx_dspq_now();
    int stuck;

    pthread_mutex_lock(&q->write_lock);
    stuck = hx_pktq_is_stuck(&q->out, w->n_buffers, w->message_len);
    pthread_mutex_unlock(&q->write_lock);
    if (!stuck || !*since)
        *since = stuck ? now : 0;
    return stuck && now - *since >= STUCK_NS;
}

int hx_dspq_wait(struct hx_dspq *q, const struct hx_wish *w, uint64_t end)
{
    int changed = spin(q, w, end), forever = end == UINT64_MAX;
    uint64_t stuck_since = 0;

    while (!changed && !fulfilled(q, w) && (forever || hx_dspq_now() < end)) {
        if (forever && w->kind == HX_WISH_SPACE && hopeless(q, w, &stuck_since))
            return AEE_ENOMORE;
        sleep_on(q, w, end);
    }
    if (atomic_load(&q->ended))
        return atomic_load(&q->ended);
    return forever || hx_dspq_now() < end || fulfilled(q, w) ? AEE_SUCCESS : AEE_EEXPIRED;
}

int hx_dspq_wait_packets(struct hx_dspq *q, uint32_t *seen)
{
    struct hx_wish w = {.kind = HX_WISH_NEW_COUNT, .seen = *seen};
    int rc = hx_dspq_wait(q, &w, UINT64_MAX);

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
