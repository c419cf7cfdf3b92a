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

/* Kept, without effect: the heap gives back what it does not use by itself.  AEE_SUCCESS, or AEE_EBADPARM: low > high. */
int HAP_mem_set_heap_thresholds(unsigned int low_largest_block_size, unsigned int high_largest_block_size);

/* Bytes of the calling thread's stack that are left below the caller. */
uint64 HAP_mem_available_stack(void);

/* --- one function for several requests */

/* Caching of a map, beside HAP_PROT_*: memory is coherent, so they change nothing. */
#define HAP_MEM_CACHE_WRITEBACK 0x10
#define HAP_MEM_CACHE_NON_SHARED 0x20
#define HAP_MEM_CACHE_WRITETHROUGH 0x40

typedef enum {
    HAP_MEM_LOG_BLOCKS = 1,
    HAP_MEM_SET_MARKER = 2,
    HAP_MEM_MAP = 3,
    HAP_MEM_UNMAP = 4,
    HAP_RESERVE_VA = 5,
    HAP_UNRESERVE_VA = 6,
} HAP_mem_req_t;

/* As HAP_mmap2(). */
typedef struct {
    uint64_t addr;   /* 0: the buffer lies where it lies; anything else is AEE_EUNSUPPORTED */
    uint64_t len;    /* bytes */
    int prot;        /* HAP_PROT_*, HAP_MEM_CACHE_* */
    int flags;
    int fd;          /* the client's buffer */
    uint64_t dsp_pa; /* offset in the buffer, bytes */
    uint64_t dsp_va; /* out */
} HAP_mem_map_t;

/* As HAP_munmap2(). */
typedef struct {
    uint64_t dsp_va;
    uint64_t len;
} HAP_mem_unmap_t;

typedef struct {
    HAP_mem_req_t request_id;
    union {
        HAP_mem_map_t mmap;
        HAP_mem_unmap_t munmap;
    };
} HAP_mem_req_payload_t;

/* AEE_SUCCESS; AEE_EBADPARM: NULL; AEE_ENOSUCHMAP, with a line in the log; AEE_EUNSUPPORTED: any other request than HAP_MEM_MAP and
 * HAP_MEM_UNMAP. */
int HAP_mem_request(HAP_mem_req_payload_t *mem_payload);

#ifdef __cplusplus
}
#endif

#endif
