/* Heap, and client buffers by descriptor (published names).  Thread-safe.
 *
 * The heap is this process's own: it grows by itself, so the growth size is kept and told, and changes nothing. */
#ifndef HAP_MEM_H
#define HAP_MEM_H

#include "AEEStdDef.h"
#include "AEEStdErr.h"
#include "HAP_mmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *pptr: `bytes` of heap, below 4 GiB, until HAP_free().  AEE_SUCCESS, or AEE_ENOMEMORY with *pptr NULL. */
int HAP_malloc(uint32 bytes, void **pptr);

/* AEE_SUCCESS; NULL is accepted. */
int HAP_free(void *ptr);

struct HAP_mem_stats {
    uint64 bytes_free; /* in the heap, without growing */
    uint64 bytes_used;
    uint64 seg_free;   /* free pieces */
    uint64 seg_used;   /* pieces that the heap got from the system: its arenas and large blocks */
    uint64 min_grow_bytes;
};

/* Of the calling PD's heap.  AEE_SUCCESS or AEE_EBADPARM. */
int HAP_mem_get_stats(struct HAP_mem_stats *stats);

/* min_grow_bytes becomes min(max, max(min, what it was)); 512 KiB at first.  AEE_SUCCESS, or AEE_EBADPARM: min > max. */
int HAP_mem_set_grow_size(uint64 min, uint64 max);

#ifdef __cplusplus
}
#endif

#endif
