/* The thread pool, see pool.h.
 *
 * A thread that waits for work spins first: operations follow each other closely, and waking a sleeping core takes longer than
 * most of them.  Who calls does not wait for threads, only for parts: a thread that is late, or asleep, finds none left. */
#include "pool.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SPINS = 50000,     /* a millisecond or so: longer than what lies between the operations of a token */
    YIELD = 64,        /* of them one lets others run: a thread that is waited for may have no core, and others want theirs */
    MAX_PARTS = 65535,
};

/* An operation is announced by one word, so that a thread takes a part of the operation that it saw or none at all. */
#define TICKET(round, next, n) ((uint64_t)(round) << 32 | (uint64_t)(next) << 16 | (n))
#define TICKET_ROUND(t) ((uint32_t)((t) >> 32))
#define TICKET_NEXT(t) ((size_t)((t) >> 16 & 0xffff))
#define TICKET_PARTS(t) ((size_t)((t) & 0xffff))

struct hx_pool {
    size_t n_threads, n_started;
    pthread_t *threads;
    /* of the operation; written by the caller when all parts of the last one have ended, read by who has a part */
    hx_pool_fn *fn;
    void *arg;
    _Alignas(64) _Atomic uint64_t ticket; /* TICKET() of the part to be taken next */
    _Alignas(64) atomic_size_t ended;     /* parts of the operation */
    _Alignas(64) atomic_uint round;       /* counts operations: what sleeping threads wait on */
    atomic_int sleepers, stop;
};

static void relax(unsigned spin)
{
    if (spin % YIELD == YIELD - 1)
        sched_yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void take_parts(struct hx_pool *p)
{
    /* acquire: fn and arg are those of the ticket; pairs with the release in hx_pool_run() */
    uint64_t t = atomic_load_explicit(&p->ticket, memory_order_acquire);

    while (TICKET_NEXT(t) < TICKET_PARTS(t)) {
        if (!atomic_compare_exchange_weak_explicit(&p->ticket, &t, t + TICKET(0, 1, 0),
                                                   memory_order_acquire, memory_order_acquire))
            continue;
        p->fn(p->arg, TICKET_NEXT(t), TICKET_PARTS(t));
        /* release: the caller sees what the part wrote */
        atomic_fetch_add_explicit(&p->ended, 1, memory_order_release);
        t = atomic_load_explicit(&p->ticket, memory_order_acquire);
    }
}

static int parts_left(struct hx_pool *p)
{
    uint64_t t = atomic_load_explicit(&p->ticket, memory_order_relaxed);

    return TICKET_NEXT(t) < TICKET_PARTS(t) || atomic_load_explicit(&p->stop, memory_order_relaxed);
}

static void await(struct hx_pool *p)
{
    unsigned seen;

    for (unsigned i = 0; i < SPINS; i++) {
        if (parts_left(p))
            return;
        relax(i);
    }
    seen = atomic_load(&p->round);
    atomic_fetch_add(&p->sleepers, 1);
    /* a round that began after `seen` makes the wait return at once; one that began before has left its ticket */
    if (!parts_left(p))
        syscall(SYS_futex, &p->round, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(&p->sleepers, 1);
}

static void *work(void *arg)
{
    struct hx_pool *p = arg;

    while (!atomic_load(&p->stop)) {
        await(p);
        take_parts(p);
    }
    return NULL;
}

static void wake(struct hx_pool *p, size_t n)
{
    atomic_fetch_add(&p->round, 1);
    if (atomic_load(&p->sleepers))
        syscall(SYS_futex, &p->round, FUTEX_WAKE_PRIVATE, n < INT_MAX ? (int)n : INT_MAX, NULL, NULL, 0);
}

void hx_pool_run(struct hx_pool *p, size_t n_parts, hx_pool_fn *fn, void *arg)
{
    if (!p || p->n_started == 0 || n_parts < 2 || n_parts > MAX_PARTS) {
        for (size_t i = 0; i < n_parts; i++)
            fn(arg, i, n_parts);
        return;
    }
    p->fn = fn;
    p->arg = arg;
    atomic_store_explicit(&p->ended, 0, memory_order_relaxed);
    /* the number of the round keeps a thread with an old ticket from taking a part of this one unseen */
    atomic_store(&p->ticket, TICKET(TICKET_ROUND(atomic_load(&p->ticket)) + 1, 0, n_parts));
    wake(p, n_parts - 1);
    take_parts(p);
    /* acquire: pairs with the release in take_parts() */
    for (unsigned i = 0; atomic_load_explicit(&p->ended, memory_order_acquire) < n_parts; i++)
        relax(i);
}

/* One CPU for each thread but the caller, if there is just one for each of all: then the kernel has nothing to gain by moving
 * them, and would lose their caches. */
static void pin(struct hx_pool *p)
{
    cpu_set_t all, one;
    size_t thread = 0;
    int here = sched_getcpu();

    if (sched_getaffinity(0, sizeof(all), &all) || (size_t)CPU_COUNT(&all) != p->n_threads)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE && thread < p->n_started; cpu++) {
        if (!CPU_ISSET(cpu, &all) || cpu == here)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(p->threads[thread++], sizeof(one), &one);
    }
}

int hx_pool_open(struct hx_pool **out, size_t n_threads, struct hx_error *err)
{
    struct hx_pool *p = aligned_alloc(64, (sizeof(*p) + 63) / 64 * 64);

    if (p) {
        memset(p, 0, sizeof(*p));
        p->threads = calloc(n_threads, sizeof(*p->threads));
    }
    if (!p || !p->threads) {
        free(p);
        return hx_error_set(err, -ENOMEM, "threads: out of memory");
    }
    p->n_threads = n_threads;
    for (; p->n_started + 1 < n_threads; p->n_started++) {
        const size_t thread = p->n_started + 2; /* the caller is the first */
        int rc = pthread_create(&p->threads[p->n_started], NULL, work, p);

        if (rc) {
            hx_pool_close(p);
            return hx_error_set(err, -rc, "threads: cannot start thread %zu of %zu: %s", thread,
                                n_threads, strerror(rc));
        }
    }
    pin(p);
    *out = p;
    return 0;
}

void hx_pool_close(struct hx_pool *p)
{
    if (!p)
        return;
    atomic_store(&p->stop, 1);
    wake(p, p->n_started);
    for (size_t i = 0; i < p->n_started; i++)
        pthread_join(p->threads[i], NULL);
    free(p->threads);
    free(p);
}

size_t hx_pool_threads(const struct hx_pool *p)
{
    return p ? p->n_threads : 1;
}
