/* HAP_malloc() and its kin: the heap of a PD, and figures about it. */
#pragma GCC visibility push(default)
#include "HAP_mem.h"
#pragma GCC visibility pop

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void); /* gcc brings no header for them */
size_t __sanitizer_get_free_bytes(void);
#endif

#include "base/stacks.h"

enum { GROW_AT_FIRST = 512 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects min_grow */
static uint64 min_grow = GROW_AT_FIRST;

int HAP_malloc(uint32 bytes, void **pptr)
{
    *pptr = malloc(bytes ? bytes : 1);
    return *pptr ? AEE_SUCCESS : AEE_ENOMEMORY;
}

int HAP_free(void *ptr)
{
    free(ptr);
    return AEE_SUCCESS;
}

/* The heap's own figures; a sanitizer brings a heap of its own, which does not report free pieces. */
static void read_heap(struct HAP_mem_stats *s)
{
#ifdef __SANITIZE_ADDRESS__
    s->bytes_used = __sanitizer_get_current_allocated_bytes();
    s->bytes_free = __sanitizer_get_free_bytes();
    s->seg_free = s->seg_used = 1;
#else
    struct mallinfo2 m = mallinfo2();

    s->bytes_free = m.fordblks;
    s->bytes_used = m.uordblks + m.hblkhd;
    s->seg_free = m.ordblks;
    s->seg_used = m.hblks + (m.arena != 0);
#endif
}

int HAP_mem_get_stats(struct HAP_mem_stats *stats)
{
    if (!stats)
        return AEE_EBADPARM;
    pthread_mutex_lock(&lock);
    stats->min_grow_bytes = min_grow;
    pthread_mutex_unlock(&lock);
    read_heap(stats);
    return AEE_SUCCESS;
}

int HAP_mem_set_grow_size(uint64 min, uint64 max)
{
    if (min > max)
        return AEE_EBADPARM;
    pthread_mutex_lock(&lock);
    min_grow = min > min_grow ? min : min_grow;
    min_grow = max < min_grow ? max : min_grow;
    pthread_mutex_unlock(&lock);
    return AEE_SUCCESS;
}

int HAP_mem_set_heap_thresholds(unsigned int low_largest_block_size, unsigned int high_largest_block_size)
{
    return low_largest_block_size > high_largest_block_size ? AEE_EBADPARM : AEE_SUCCESS;
}

uint64 HAP_mem_available_stack(void)
{
    return hx_stack_left(__builtin_frame_address(0));
}

static int map_buffer(HAP_mem_map_t *m)
{
    void *p;

    if (m->addr)
        return AEE_EUNSUPPORTED;
    p = HAP_mmap2(NULL, m->len, m->prot & (HAP_PROT_READ | HAP_PROT_WRITE | HAP_PROT_EXEC), m->flags, m->fd, (long)m->dsp_pa);
    if (p == (void *)-1)
        return AEE_ENOSUCHMAP;
    m->dsp_va = (uintptr_t)p;
    return AEE_SUCCESS;
}

int HAP_mem_request(HAP_mem_req_payload_t *mem_payload)
{
    if (!mem_payload)
        return AEE_EBADPARM;
    if (mem_payload->request_id == HAP_MEM_MAP)
        return map_buffer(&mem_payload->mmap);
    if (mem_payload->request_id == HAP_MEM_UNMAP)
        return HAP_munmap2((void *)(uintptr_t)mem_payload->munmap.dsp_va, mem_payload->munmap.len);
    return AEE_EUNSUPPORTED;
}
