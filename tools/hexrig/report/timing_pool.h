/* Buffers of one question to the cost model: allocated as the question says, filled with numbers that repeat. */
#ifndef HX_TIMING_POOL_H
#define HX_TIMING_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { HX_POOL_BUFFERS = 6 };

struct hx_timing_pool {
    int shared; /* 1: rpcmem */
    void *buffer[HX_POOL_BUFFERS];
    size_t bytes; /* of all of them */
    int n;
    uint32_t seed;
    int failed; /* 1: a buffer is missing, for want of memory or because all would be more than 1 GiB */
};

#define HX_TIMING_POOL(ask) {.shared = (ask)->shared, .seed = 1}

/* Below 2^30. */
uint32_t hx_pool_next(struct hx_timing_pool *p);

/* A buffer, as it comes; filled with bytes; with floats in -1..1.  NULL: p->failed. */
void *hx_pool_take(struct hx_timing_pool *p, size_t bytes);
void *hx_pool_bytes(struct hx_timing_pool *p, size_t n);
void *hx_pool_floats(struct hx_timing_pool *p, size_t n);

/* Frees all; returns rc. */
int hx_pool_give_back(struct hx_timing_pool *p, int rc);

#endif
