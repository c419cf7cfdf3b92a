/* The slots of a prefetch buffer: which has what, which is free, which is given up.  All with the lock. */
#include "prefetch_impl.h"

struct hx_slot *hx_slot_of(struct hx_prefetch *p, uint64_t seq)
{
    for (unsigned i = 0; i < p->cfg.slots; i++)
        if (p->slot[i].state != HX_SLOT_EMPTY && p->slot[i].seq == seq)
            return &p->slot[i];
    return NULL;
}

struct hx_slot *hx_slot_in(struct hx_prefetch *p, enum hx_slot_state state)
{
    for (unsigned i = 0; i < p->cfg.slots; i++)
        if (p->slot[i].state == state)
            return &p->slot[i];
    return NULL;
}

static unsigned n_empty(const struct hx_prefetch *p)
{
    unsigned n = 0;

    for (unsigned i = 0; i < p->cfg.slots; i++)
        n += p->slot[i].state == HX_SLOT_EMPTY;
    return n;
}

void hx_slot_release(struct hx_prefetch *p, struct hx_slot *s)
{
    s->state = HX_SLOT_EMPTY;
    if (n_empty(p) >= p->cfg.wake)
        pthread_cond_signal(&p->work);
}

void hx_slot_reserve(struct hx_slot *s, uint64_t seq)
{
    s->state = HX_SLOT_READING;
    s->unwanted = 0;
    s->seq = seq;
}

void hx_slot_drop(struct hx_prefetch *p, struct hx_slot *s)
{
    if (s->state == HX_SLOT_READING) {
        s->unwanted = 1; /* its reader drops it */
        return;
    }
    p->stats.dropped += s->state == HX_SLOT_READY;
    hx_slot_release(p, s);
}

void hx_slots_move_to(struct hx_prefetch *p, uint64_t seq)
{
    for (unsigned i = 0; i < p->cfg.slots; i++) {
        struct hx_slot *s = &p->slot[i];

        if (s->seq < seq && s->state != HX_SLOT_EMPTY && s->state != HX_SLOT_HELD)
            hx_slot_drop(p, s);
    }
    p->next = seq;
}

/* What the plan needs last. */
static struct hx_slot *furthest(struct hx_prefetch *p)
{
    struct hx_slot *last = NULL;

    for (unsigned i = 0; i < p->cfg.slots; i++) {
        struct hx_slot *s = &p->slot[i];

        if ((s->state == HX_SLOT_READY || s->state == HX_SLOT_FAILED) && (!last || s->seq > last->seq))
            last = s;
    }
    return last;
}

struct hx_slot *hx_slots_make_room(struct hx_prefetch *p)
{
    struct hx_slot *s;

    while (!(s = hx_slot_in(p, HX_SLOT_EMPTY))) {
        s = furthest(p);
        if (s) {
            hx_slot_drop(p, s);
            return s;
        }
        if (!hx_slot_in(p, HX_SLOT_READING))
            return NULL;
        pthread_cond_wait(&p->done, &p->lock);
    }
    return s;
}
