/* Maps memory below 4 GiB and keeps malloc there. */
#include "low_memory.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Above the skels; in ASan builds everything from 2 GiB up is shadow memory. */
#define LOW_START 0x20000000u
#ifdef __SANITIZE_ADDRESS__
#define LOW_END 0x7e000000u
#else
#define LOW_END 0xf0000000u
#endif
#define STEP 0x100000u /* candidates are tried a MiB apart */
#define HEAP_BYTES (512u << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects next */
static uintptr_t next = LOW_START;
static uintptr_t heap_start, heap_end; /* where the heap may grow; written before the first thread */

static void *try_at(uintptr_t at, size_t bytes, int fd)
{
    int flags = MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
    void *p = mmap((void *)at, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

void *hx_low_map(size_t bytes, int fd)
{
    void *p = NULL;
    uintptr_t at, step;
    int rounds = 0;

    if (bytes == 0 || bytes > LOW_END - LOW_START) {
        errno = ENOMEM;
        return NULL;
    }
    step = (bytes + STEP - 1) & ~(uintptr_t)(STEP - 1);
    pthread_mutex_lock(&lock);
    at = next;
    /* Start where the last map ended; after one wrap every candidate was tried. */
    while (!p && rounds < 2) {
        if (at < heap_end && at + bytes > heap_start)
            at = heap_end;
        if (at + bytes > LOW_END) {
            at = LOW_START;
            rounds++;
            continue;
        }
        p = try_at(at, bytes, fd);
        if (!p && errno != EEXIST && errno != EPERM)
            break;
        at += p ? step : STEP;
    }
    if (p)
        next = at;
    else if (rounds == 2)
        errno = ENOMEM;
    pthread_mutex_unlock(&lock);
    return p;
}

void hx_low_unmap(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}

void hx_low_heap(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#ifndef __SANITIZE_ADDRESS__ /* which has a heap of its own */
    /* The kernel starts brk anywhere within a GiB behind the program, so its place is known only now. */
    heap_start = (uintptr_t)sbrk(0);
    heap_end = (heap_start + HEAP_BYTES + STEP - 1) & ~(uintptr_t)(STEP - 1);
    next = heap_end;
#endif
}
