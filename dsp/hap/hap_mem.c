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
