/* Buckets of durations, see hist.h. */
#include "hist.h"

#include <stddef.h>

enum { SUB_BITS = 4, SUBS = 1 << SUB_BITS };

/* Values below 16 are their own bucket; above, the four bits after the leading one choose within its power of two. */
static size_t bucket_of(uint64_t v)
{
    unsigned top;

    if (v < SUBS)
        return v;
    top = 63 - (unsigned)__builtin_clzll(v);
    return (top - SUB_BITS + 1) * SUBS + (v >> (top - SUB_BITS)) % SUBS;
}

static uint64_t last_of(size_t bucket)
{
    unsigned shift;

    if (bucket < SUBS)
        return bucket;
    shift = (unsigned)(bucket / SUBS - 1);
    /* the end of the last bucket is 2^64 - 1: the sum wraps to 0 before the 1 is taken off */
    return ((uint64_t)(SUBS + bucket % SUBS + 1) << shift) - 1;
}

void hx_hist_add(struct hx_hist *h, uint64_t value)
{
    h->n++;
    h->sum += value;
    h->max = value > h->max ? value : h->max;
    h->bucket[bucket_of(value)]++;
}

void hx_hist_add_all(struct hx_hist *h, const struct hx_hist *from)
{
    h->n += from->n;
    h->sum += from->sum;
    h->max = h->max > from->max ? h->max : from->max;
    for (size_t i = 0; i < HX_HIST_BUCKETS; i++)
        h->bucket[i] += from->bucket[i];
}

uint64_t hx_hist_percentile(const struct hx_hist *h, unsigned per_mille)
{
    /* ceil(n * p / 1000) without overflow */
    const uint64_t rank = h->n / 1000 * per_mille + (h->n % 1000 * per_mille + 999) / 1000;
    uint64_t seen = 0;

    for (size_t i = 0; i < HX_HIST_BUCKETS; i++) {
        seen += h->bucket[i];
        if (seen >= rank && seen)
            return last_of(i) < h->max ? last_of(i) : h->max;
    }
    return 0;
}
