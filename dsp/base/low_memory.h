/* Address space below 4 GiB.
 *
 * Hexagon is a 32-bit machine, and real DSP code casts pointers to u32 (DMA descriptors, VTCM addresses).  So whatever a
 * skel can see lies low: VTCM, arenas, imported buffers, thread stacks, and the heap (hexrig-dsp is linked at a
 * fixed low address and keeps malloc on brk; when brk meets a map, malloc returns NULL, see sandbox.h). */
#ifndef HX_LOW_MEMORY_H
#define HX_LOW_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Maps `bytes` (rounded up to pages) of fd (shared), or zeroed private memory when fd is -1, below 4 GiB.
 * NULL with errno set when it cannot.  Thread-safe. */
void *hx_low_map(size_t bytes, int fd);

/* Undoes hx_low_map(); accepts NULL. */
void hx_low_unmap(void *p, size_t bytes);

/* 1 when p lies where skels are linked, see docs/architecture.md: code and static data. */
static inline int hx_in_image(const void *p)
{
    return (uintptr_t)p >= 0x10000000 && (uintptr_t)p < 0x20000000;
}

/* Keeps malloc on the low heap, and reserves the 512 MiB behind its present end for it: hx_low_map() maps nothing there.
 * Call once, before the first thread. */
void hx_low_heap(void);

#endif
