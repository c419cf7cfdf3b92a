/* Buffers of a question to the cost model, see timing_pool.h. */
#include "timing_pool.h"

#include <stdlib.h>

#include "rpcmem.h"

enum { BYTES_MAX = 1 << 30, FACTOR = 1664525 };

static uint32_t step(uint32_t seed)
{
    return seed * FACTOR + 1013904223u;
}

uint32_t hx_pool_next(struct hx_timing_pool *p)
{
    p->seed = step(p->seed);
    return p->seed >> 2;
}

void *hx_pool_take(struct hx_timing_pool *p, size_t bytes)
{
    p->bytes += bytes;
    if (bytes > BYTES_MAX || p->bytes > BYTES_MAX) {
        p->failed = 1;
        return NULL;
    }
    void *b = p->shared ? rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes + !bytes)
                        : calloc(bytes + !bytes, 1);

    if (!b)
        p->failed = 1;
    p->buffer[p->n++] = b;
    return b;
}

/* What hx_pool_next() gives, LANES steps at once: weights are many megabytes, and each of its steps waits for the last. */
void *hx_pool_bytes(struct hx_timing_pool *p, size_t n)
{
    enum { LANES = 16 };
    uint8_t *b = hx_pool_take(p, n);
    uint32_t lane[LANES], seed = p->seed, times = 1, plus = 0;
    size_t at = 0;

    for (size_t i = 0; i < LANES; i++) {
        seed = lane[i] = step(seed);
        times *= FACTOR;
        plus = step(plus);
    }
    for (; b && at + LANES <= n; at += LANES) {
        p->seed = lane[LANES - 1];
        for (size_t i = 0; i < LANES; i++) {
            b[at + i] = (uint8_t)(lane[i] >> 2);
            lane[i] = lane[i] * times + plus;
        }
    }
    for (; b && at < n; at++)
        b[at] = (uint8_t)hx_pool_next(p);
    return b;
}

void *hx_pool_floats(struct hx_timing_pool *p, size_t n)
{
    float *b = hx_pool_take(p, n * sizeof(*b));

    for (size_t i = 0; b && i < n; i++)
        b[i] = (float)(hx_pool_next(p) & 0xffff) / 32768.0f - 1;
    return b;
}

int hx_pool_give_back(struct hx_timing_pool *p, int rc)
{
    for (int i = 0; i < p->n; i++) {
        if (p->shared)
            rpcmem_free(p->buffer[i]);
        else
            free(p->buffer[i]);
    }
    return rc;
}
