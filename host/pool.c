/* The thread pool, see pool.h.  A thread that waits for work spins first: operations follow each other closely, and waking
 * a sleeping core takes longer than most of them. */
#include "pool.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 20000 };

struct hx_pool {
    size_t n_threads, n_started;
    pthread_t *threads;
    hx_pool_fn *fn;
    void *arg;
    size_t n_parts;
    atomic_size_t next;     /* part to be taken */
    atomic_size_t working;  /* threads that have not finished the operation */
    atomic_uint round;      /* counts operations: what sleeping threads wait on */
    atomic_int sleepers, stop;
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Returns when *word is not `seen`. */
static void await(struct hx_pool *p, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&p->round, memory_order_acquire) != seen)
            return;
        relax();
    }
    atomic_fetch_add(&p->sleepers, 1);
    while (atomic_load(&p->round) == seen)
        syscall(SYS_futex, &p->round, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(&p->sleepers, 1);
}

static void take_parts(struct hx_pool *p)
{
    size_t part;

    while ((part = atomic_fetch_add(&p->next, 1)) < p->n_parts)
        p->fn(p->arg, part, p->n_parts);
}

static void *work(void *arg)
{
    struct hx_pool *p = arg;
    unsigned seen = 0;

    for (;;) {
        await(p, seen);
        seen++;
        if (atomic_load(&p->stop))
            return NULL;
        take_parts(p);
        atomic_fetch_sub_explicit(&p->working, 1, memory_order_release);
    }
}

static void begin(struct hx_pool *p)
{
    atomic_fetch_add(&p->round, 1);
    if (atomic_load(&p->sleepers))
        syscall(SYS_futex, &p->round, FUTEX_WAKE_PRIVATE, (int)p->n_threads, NULL, NULL, 0);
}

void hx_pool_run(struct hx_pool *p, size_t n_parts, hx_pool_fn *fn, void *arg)
{
    if (!p || p->n_started == 0 || n_parts < 2) {
        for (size_t i = 0; i < n_parts; i++)
            fn(arg, i, n_parts);
        return;
    }
    p->fn = fn;
    p->arg = arg;
    p->n_parts = n_parts;
    atomic_store(&p->next, 0);
    atomic_store(&p->working, p->n_started);
    begin(p);
    take_parts(p);
    while (atomic_load_explicit(&p->working, memory_order_acquire))
        relax();
}

int hx_pool_open(struct hx_pool **out, size_t n_threads, struct hx_why *why)
{
    struct hx_pool *p = calloc(1, sizeof(*p));

    if (p)
        p->threads = calloc(n_threads, sizeof(*p->threads));
    if (!p || !p->threads) {
        free(p);
        return hx_why_set(why, -ENOMEM, "threads: out of memory");
    }
    p->n_threads = n_threads;
    for (; p->n_started + 1 < n_threads; p->n_started++) {
        int rc = pthread_create(&p->threads[p->n_started], NULL, work, p);

        if (rc) {
            hx_pool_close(p);
            return hx_why_set(why, -rc, "threads: cannot start thread %zu of %zu: %s",
                              p->n_started + 2, n_threads, strerror(rc));
        }
    }
    *out = p;
    return 0;
}

void hx_pool_close(struct hx_pool *p)
{
    if (!p)
        return;
    atomic_store(&p->stop, 1);
    begin(p);
    for (size_t i = 0; i < p->n_started; i++)
        pthread_join(p->threads[i], NULL);
    free(p->threads);
    free(p);
}

size_t hx_pool_threads(const struct hx_pool *p)
{
    return p ? p->n_threads : 1;
}
