/* First-fit bookkeeping of a channel's arena. */
#include "arena.h"

#include <string.h>

uint64_t hx_arena_take(struct hx_arena *a, uint64_t bytes)
{
    uint64_t at = 0;
    unsigned i;

    if (bytes > a->size || a->n_used == FASTRPC_CTX_MAX)
        return UINT64_MAX;
    bytes = (bytes + FASTRPC_ALIGN - 1) & ~(uint64_t)(FASTRPC_ALIGN - 1);
    for (i = 0; i < a->n_used; i++) {
        if (a->used[i].offset - at >= bytes)
            break;
        at = a->used[i].offset + a->used[i].bytes;
    }
    if (bytes > a->size - at)
        return UINT64_MAX;
    memmove(&a->used[i + 1], &a->used[i], (a->n_used - i) * sizeof(a->used[0]));
    a->used[i].offset = at;
    a->used[i].bytes = bytes;
    a->n_used++;
    return at;
}

void hx_arena_give(struct hx_arena *a, uint64_t offset)
{
    for (unsigned i = 0; i < a->n_used; i++)
        if (a->used[i].offset == offset) {
            a->n_used--;
            memmove(&a->used[i], &a->used[i + 1], (a->n_used - i) * sizeof(a->used[0]));
            return;
        }
}
