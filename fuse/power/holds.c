/* Sharing what there is only so much of: finding the first gap that is wide and long enough. */
#include "holds.h"

static unsigned in_use(const struct hx_holds *h, uint64_t at)
{
    unsigned n = 0;

    for (unsigned i = 0; i < HX_HOLDS; i++)
        if (h->at[i].start_ns <= at && at < h->at[i].end_ns)
            n += h->at[i].units;
    return n;
}

/* Use only grows where a hold begins. */
static int is_free(const struct hx_holds *h, uint64_t from, uint64_t ns, unsigned units, unsigned capacity)
{
    if (in_use(h, from) + units > capacity)
        return 0;
    for (unsigned i = 0; i < HX_HOLDS; i++) {
        const struct hx_hold *o = &h->at[i];

        if (o->start_ns > from && o->start_ns - from < ns && o->end_ns > o->start_ns && in_use(h, o->start_ns) + units > capacity)
            return 0;
    }
    return 1;
}

/* The first end of a hold after `at`; `at` when there is none. */
static uint64_t next_end(const struct hx_holds *h, uint64_t at)
{
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < HX_HOLDS; i++)
        if (h->at[i].end_ns > at && h->at[i].end_ns < first)
            first = h->at[i].end_ns;
    return first == UINT64_MAX ? at : first;
}

uint64_t hx_holds_fit(const struct hx_holds *h, uint64_t from_ns, uint64_t ns, unsigned units, unsigned capacity)
{
    const unsigned want = units < capacity ? units : capacity;
    uint64_t at = from_ns;

    if (!want || !ns)
        return at;
    while (!is_free(h, at, ns, want, capacity)) {
        const uint64_t next = next_end(h, at);

        if (next == at)
            break;
        at = next;
    }
    return at;
}

void hx_holds_add(struct hx_holds *h, uint64_t start_ns, uint64_t ns, unsigned units)
{
    if (!ns || !units)
        return;
    h->at[h->next] = (struct hx_hold){start_ns, start_ns + ns, units};
    h->next = (h->next + 1) % HX_HOLDS;
}
