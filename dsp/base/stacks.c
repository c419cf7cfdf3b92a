/* Where the stacks of the PD's threads lie. */
#include "stacks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { STACKS_MAX = 512 }; /* those of more threads are not known to others */

/* A slot is free while its bytes are 0.  Readers take no lock: a stack that comes or goes is one that nobody else uses. */
static struct {
    _Atomic uintptr_t base;
    _Atomic size_t bytes;
} all[STACKS_MAX];
static _Atomic int highest; /* slots that were ever used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __thread struct {
    uintptr_t base;
    size_t bytes; /* 0: not asked yet */
    int slot;     /* + 1; 0: none */
} own;

static void find_own(void)
{
    pthread_attr_t attr;
    void *base;

    if (pthread_getattr_np(pthread_self(), &attr))
        return;
    pthread_attr_getstack(&attr, &base, &own.bytes);
    own.base = (uintptr_t)base;
    pthread_attr_destroy(&attr);
}

int hx_on_stack(const void *p)
{
    if (!own.bytes)
        find_own();
    return (uintptr_t)p - own.base < own.bytes;
}

size_t hx_stack_left(const void *p)
{
    return hx_on_stack(p) ? (uintptr_t)p - own.base : 0;
}

void hx_stacks_begin(void)
{
    int i = 0;

    if (own.slot)
        return;
    if (!own.bytes)
        find_own();
    pthread_mutex_lock(&lock);
    while (i < STACKS_MAX && atomic_load(&all[i].bytes))
        i++;
    if (i < STACKS_MAX) {
        own.slot = i + 1;
        atomic_store(&all[i].base, own.base);
        atomic_store(&all[i].bytes, own.bytes);
        if (i >= atomic_load(&highest))
            atomic_store(&highest, i + 1);
    }
    pthread_mutex_unlock(&lock);
}

void hx_stacks_end(void)
{
    if (own.slot)
        atomic_store(&all[own.slot - 1].bytes, 0);
    own.slot = 0;
}

int hx_on_any_stack(const void *p)
{
    const int n = atomic_load_explicit(&highest, memory_order_acquire);

    for (int i = 0; i < n; i++)
        if ((uintptr_t)p - atomic_load_explicit(&all[i].base, memory_order_relaxed) <
            atomic_load_explicit(&all[i].bytes, memory_order_relaxed))
            return 1;
    return 0;
}
