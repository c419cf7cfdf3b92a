/* Shared memory for FastRPC buffers (published names).  Here every allocation is a memfd; on a phone a dma-buf.
 * Thread-safe. */
#ifndef RPCMEM_H
#define RPCMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RPCMEM_HEAP_ID_SECURE 9
#define RPCMEM_HEAP_ID_CONTIG 22
#define RPCMEM_HEAP_ID_SYSTEM 25
#define RPCMEM_DEFAULT_HEAP (-1)
#define RPCMEM_FLAG_UNCACHED 0
#define RPCMEM_FLAG_CACHED 1
#define RPCMEM_DEFAULT_FLAGS 1
#define RPCMEM_TRY_MAP_STATIC 0x04000000
#define RPCMEM_HEAP_DEFAULT 0x80000000
#define RPCMEM_HEAP_NOREG 0x40000000
#define RPCMEM_HEAP_UNCACHED 0x20000000
#define RPCMEM_HEAP_NOVA 0x10000000
#define RPCMEM_HEAP_NONCOHERENT 0x08000000
#define RPCMEM_FORCE_NOFLUSH 0x01000000
#define RPCMEM_FORCE_NOINVALIDATE 0x02000000
#define ION_SECURE_FLAGS ((1u << 31) | (1u << 19))

void rpcmem_init(void);
void rpcmem_deinit(void);

/* Page-aligned, zeroed, shared with the DSP when passed as a call's buffer.  All heaps are the same memory, as in Qualcomm's open
 * library; of flags, and of flags in heapid, RPCMEM_HEAP_NOREG counts: the allocation is not registered.  NULL when size is not
 * positive or memory is out.  Owned by the caller until rpcmem_free(). */
void *rpcmem_alloc(int heapid, uint32_t flags, int size);
void *rpcmem_alloc2(int heapid, uint32_t flags, size_t size);

/* Accepts NULL.  `po` must come from rpcmem_alloc(). */
void rpcmem_free(void *po);

/* The descriptor behind an allocation (borrowed: rpcmem_free() closes it), or -1. */
int rpcmem_to_fd(void *po);

#ifdef __cplusplus
}
#endif

#endif
