/* A set-associative cache with least-recently-used replacement; tags only. */
#ifndef HX_CACHE_H
#define HX_CACHE_H

#include <stdint.h>

enum { HX_CACHE_WAYS = 8 };

struct hx_cache {
    unsigned line_shift; /* log2 of the line's bytes */
    unsigned sets;       /* a power of two */
    uint32_t *tag;       /* [sets][HX_CACHE_WAYS], most recently used first; 0 = empty */
};

/* Room for `bytes` (rounded down to a power of two, at least one set).  0 or -ENOMEM. */
int hx_cache_init(struct hx_cache *c, unsigned bytes, unsigned line_shift);

/* Forgets everything. */
void hx_cache_clear(struct hx_cache *c);

/* Looks the line of `addr` up and makes it the most recent.  1: it was there. */
int hx_cache_touch(struct hx_cache *c, uint64_t addr);

/* Drops the line of `addr`. */
void hx_cache_drop(struct hx_cache *c, uint64_t addr);

#endif
