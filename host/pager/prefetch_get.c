/* What the caller of a prefetch buffer gets: hits, what it waits for, and what it reads by itself. */
#include <assert.h>
#include <errno.h>

#include "prefetch_impl.h"

/* The first place from `next` on where the plan has the item; HX_SLOT_UNPLANNED: nowhere. */
static uint64_t find_planned(const struct hx_prefetch *p, const struct hx_prefetch_item *item)
{
    for (uint64_t seq = p->next; seq < p->next + p->n; seq++) {
        const struct hx_prefetch_item *it = &p->plan[seq % p->n];

        if (it->offset == item->offset && it->bytes == item->bytes)
            return seq;
    }
    return HX_SLOT_UNPLANNED;
}

/* What the plan said next: the thread has it, is reading it, or takes it as soon as it can; returns the slot when it is
 * finished.  NULL: there is no slot that the thread could take. */
static struct hx_slot *await(struct hx_prefetch *p, uint64_t seq)
{
    struct hx_slot *s;

    while (!(s = hx_slot_of(p, seq)) || s->state == HX_SLOT_READING) {
        if (!s && !hx_slot_in(p, HX_SLOT_EMPTY) && !hx_slot_in(p, HX_SLOT_READING))
            return NULL;
        pthread_cond_signal(&p->work); /* it may sleep over fewer free slots than it is woken for */
        pthread_cond_wait(&p->done, &p->lock);
    }
    return s;
}

/* Reads by ourselves; the thread is told to go on behind. */
static int read_now(struct hx_prefetch *p, const struct hx_prefetch_item *item, uint64_t seq,
                    struct hx_slot **out, struct hx_error *err)
{
    struct hx_slot *s = hx_slots_make_room(p);
    int rc;

    if (!s)
        return hx_error_set(err, -EBUSY, "%s: all %u slots are held", p->path, p->cfg.slots);
    if (seq != HX_SLOT_UNPLANNED)
        p->next = seq + 1;
    hx_slot_reserve(s, seq);
    rc = hx_prefetch_fill(p, s, *item, err);
    pthread_cond_signal(&p->work);
    *out = s;
    if (!rc)
        return 0;
    if (seq != HX_SLOT_UNPLANNED)
        p->next = seq;
    p->stats.gets++;
    p->stats.failed++;
    hx_slot_release(p, s);
    return rc;
}

/* Finds or makes a HX_SLOT_READY slot with the item; *how: what to count it as. */
static int obtain(struct hx_prefetch *p, const struct hx_prefetch_item *item, struct hx_slot **out,
                  uint64_t **how, struct hx_error *err)
{
    const uint64_t expected = p->next, seq = find_planned(p, item);
    struct hx_slot *s = NULL;

    p->stats.wrong += seq != expected;
    if (seq != HX_SLOT_UNPLANNED) {
        hx_slots_move_to(p, seq);
        s = hx_slot_of(p, seq);
        *how = s && s->state != HX_SLOT_READING ? &p->stats.hits : &p->stats.late;
        if (s || (seq == expected && !p->cfg.no_reader))
            s = await(p, seq);
    }
    *out = s;
    if (s && s->state == HX_SLOT_READY)
        return 0;
    if (s)
        hx_slot_release(p, s); /* what failed ahead of time may succeed now, and if not, we know why */
    *how = &p->stats.misses;
    return read_now(p, item, seq, out, err);
}

static int take(struct hx_prefetch *p, const struct hx_prefetch_item *item, struct hx_slot **out,
                uint64_t **how, struct hx_error *err)
{
    int rc = obtain(p, item, out, how, err);
    struct hx_slot *s = *out;

    if (rc)
        return rc;
    if (s->seq != HX_SLOT_UNPLANNED)
        p->next = s->seq + 1;
    s->state = HX_SLOT_HELD;
    if (*how == &p->stats.hits && s->there_ns > hx_prefetch_now())
        *how = &p->stats.late;
    return 0;
}

/* Without the lock: what the modelled storage takes beyond what was waited for already. */
static void await_storage(const struct hx_prefetch *p, const struct hx_slot *s, int hit, uint64_t start)
{
    const uint64_t hit_ns = hit ? start + (uint64_t)(1e3 * p->cfg.storage.hit_us) : 0;

    if (hx_storage_is_modelled(&p->cfg.storage))
        hx_storage_wait(s->there_ns > hit_ns ? s->there_ns : hit_ns);
}

static void count(struct hx_prefetch *p, uint64_t *how, uint64_t ns)
{
    struct hx_prefetch_stats *s = &p->stats;

    s->gets++;
    ++*how;
    hx_hist_add(&s->stall, ns);
    if (how != &s->late)
        hx_hist_add(how == &s->hits ? &s->hit_stall : &s->miss_stall, ns);
}

int hx_prefetch_get(struct hx_prefetch *p, const struct hx_prefetch_item *item, const void **bytes,
                    struct hx_error *err)
{
    const uint64_t start = hx_prefetch_now();
    struct hx_slot *s = NULL;
    uint64_t *how = NULL;
    int rc;

    if (item->bytes == 0 || item->bytes > p->slot_bytes)
        return hx_error_set(err, -EINVAL, "%s: %zu bytes; 1 to %zu fit a slot", p->path, item->bytes,
                          p->slot_bytes);
    pthread_mutex_lock(&p->lock);
    rc = take(p, item, &s, &how, err);
    pthread_mutex_unlock(&p->lock);
    if (rc)
        return rc;
    await_storage(p, s, how == &p->stats.hits, start); /* a slot that is held nobody else touches */
    pthread_mutex_lock(&p->lock);
    count(p, how, hx_prefetch_now() - start);
    pthread_mutex_unlock(&p->lock);
    *bytes = s->bytes;
    return 0;
}

void hx_prefetch_put(struct hx_prefetch *p, const void *bytes)
{
    size_t i = (size_t)((const uint8_t *)bytes - p->memory) / p->slot_bytes;

    pthread_mutex_lock(&p->lock);
    assert(i < p->cfg.slots && p->slot[i].state == HX_SLOT_HELD);
    hx_slot_release(p, &p->slot[i]);
    pthread_mutex_unlock(&p->lock);
}
