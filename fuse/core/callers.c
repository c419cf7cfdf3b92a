/* The client's threads on its virtual clock: which of them wait for each other, and from when a call counts. */
#include "callers.h"

static uint64_t bit(unsigned i)
{
    return UINT64_C(1) << i;
}

/* Makes room by giving up the caller that is furthest behind and has no call in flight; HX_CALLERS when all have one. */
static unsigned give_up_oldest(struct hx_callers *c)
{
    unsigned oldest = HX_CALLERS;

    for (unsigned i = 0; i < HX_CALLERS; i++)
        if (!c->at[i].in_flight && (oldest == HX_CALLERS || c->at[i].now_ns < c->at[oldest].now_ns))
            oldest = i;
    if (oldest == HX_CALLERS)
        return oldest;
    if (c->at[oldest].now_ns > c->floor_ns)
        c->floor_ns = c->at[oldest].now_ns;
    for (unsigned i = 0; i < HX_CALLERS; i++)
        c->at[i].beside &= ~bit(oldest);
    return oldest;
}

static unsigned find(struct hx_callers *c, uint32_t thread)
{
    unsigned i = 0;

    while (i < c->n && c->at[i].thread != thread)
        i++;
    if (i < c->n)
        return i;
    i = c->n < HX_CALLERS ? c->n++ : give_up_oldest(c);
    if (i == HX_CALLERS)
        return thread % HX_CALLERS; /* more threads in flight than entries: these two count as one */
    c->at[i] = (struct hx_caller){.thread = thread};
    return i;
}

unsigned hx_callers_begin(struct hx_callers *c, uint32_t thread, uint64_t *start_ns)
{
    const unsigned i = find(c, thread);
    struct hx_caller *own = &c->at[i];
    uint64_t start = own->now_ns > c->floor_ns ? own->now_ns : c->floor_ns;

    for (unsigned k = 0; k < c->n; k++) {
        struct hx_caller *o = &c->at[k];

        if (k != i && o->in_flight) {
            own->beside |= bit(k);
            o->beside |= bit(i);
        }
        if (!own->independent && !(own->beside & bit(k)) && o->now_ns > start)
            start = o->now_ns;
    }
    own->in_flight++;
    *start_ns = start;
    return i;
}

void hx_callers_reach(struct hx_callers *c, unsigned i, uint64_t now_ns)
{
    if (now_ns > c->at[i].now_ns)
        c->at[i].now_ns = now_ns;
}

void hx_callers_end(struct hx_callers *c, unsigned i)
{
    if (c->at[i].in_flight)
        c->at[i].in_flight--;
}

uint64_t hx_callers_latest(const struct hx_callers *c)
{
    uint64_t latest = c->floor_ns;

    for (unsigned i = 0; i < c->n; i++)
        if (c->at[i].now_ns > latest)
            latest = c->at[i].now_ns;
    return latest;
}

void hx_callers_own_clock(struct hx_callers *c, uint32_t thread)
{
    const unsigned i = find(c, thread);

    c->at[i].independent = true;
    hx_callers_reach(c, i, hx_callers_latest(c));
}

void hx_callers_reach_all(struct hx_callers *c, uint64_t now_ns)
{
    if (now_ns > c->floor_ns)
        c->floor_ns = now_ns;
}
