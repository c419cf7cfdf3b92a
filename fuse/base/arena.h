/* Where the arguments of the calls in flight lie inside a channel's arena: first fit, bookkeeping on our side only. */
#ifndef HX_ARENA_H
#define HX_ARENA_H

#include <stdint.h>

#include "fastrpc_uapi.h"

struct hx_arena {
    struct {
        uint64_t offset, bytes;
    } used[FASTRPC_CTX_MAX]; /* ascending; a channel has no more calls in flight than contexts exist */
    unsigned n_used;
    uint64_t size;
};

/* Reserves `bytes` (rounded up to FASTRPC_ALIGN) and returns the offset, or UINT64_MAX when no gap is large enough. */
uint64_t hx_arena_take(struct hx_arena *a, uint64_t bytes);

/* Gives back what hx_arena_take() returned. */
void hx_arena_give(struct hx_arena *a, uint64_t offset);

#endif
