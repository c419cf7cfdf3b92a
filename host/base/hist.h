/* A histogram of durations that never allocates: 16 buckets per power of two, so a percentile is at most 1/16 too high.
 * One thread at a time. */
#ifndef HX_HIST_H
#define HX_HIST_H

#include <stdint.h>

enum { HX_HIST_BUCKETS = 61 * 16 }; /* 0..15 each have their own, then 16 for every power of two up to 2^63 */

struct hx_hist { /* all zero: empty */
    uint64_t n;   /* values */
    uint64_t sum; /* of all values; wraps beyond 2^64 (584 years in ns) */
    uint64_t max;
    uint64_t bucket[HX_HIST_BUCKETS]; /* values per bucket */
};

void hx_hist_add(struct hx_hist *h, uint64_t value);

/* All values of another one. */
void hx_hist_add_all(struct hx_hist *h, const struct hx_hist *from);

/* The smallest v such that at least `per_mille` thousandths of all values are <= v (nearest rank), rounded up to the
 * end of its bucket, but never above the largest value.  per_mille: 1..1000.  0 when the histogram is empty. */
uint64_t hx_hist_percentile(const struct hx_hist *h, unsigned per_mille);

#endif
