/* One memory system per call in flight; those of calls that are over are used again. */
#include "shared.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "code.h"

enum { L1_LINE_SHIFT = 5, L2_LINE_SHIFT = 7, PAGE_SHIFT = 12 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list, and who has which */
static struct hx_shared_memory *all;                     /* never freed */
static _Atomic uint64_t calls;                           /* begun in this PD */
static double worked;                                    /* pcycles of calls that are over */

static __thread struct {
    struct hx_shared_memory *memory;
    uint64_t call;
    int serves; /* it opened that call */
} mine;

static struct hx_shared_memory *make(void)
{
    const struct hx_cost *c = hx_cost_parameters();
    struct hx_shared_memory *m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); /* as in cache.c */

    if (m == MAP_FAILED)
        return NULL;
    pthread_mutex_init(&m->lock, NULL);
    if (hx_cache_init(&m->l1, (uint64_t)c->l1_kib << 10, L1_LINE_SHIFT, HX_CACHE_IN_TURN) ||
        hx_cache_init(&m->l2, (uint64_t)c->l2_kib << 10, L2_LINE_SHIFT, HX_CACHE_BY_LOT) ||
        hx_cache_init(&m->pages, (uint64_t)c->ddr_pages << PAGE_SHIFT, PAGE_SHIFT, HX_CACHE_IN_TURN)) {
        hx_cache_free(&m->l1);
        hx_cache_free(&m->l2);
        munmap(m, sizeof(*m));
        return NULL;
    }
    m->next = all;
    return all = m;
}

static struct hx_shared_memory *unused(void)
{
    struct hx_shared_memory *m = all;

    while (m && atomic_load(&m->open))
        m = m->next;
    return m ? m : make();
}

static void clear(struct hx_shared_memory *m, uint64_t began)
{
    const struct hx_cost *c = hx_cost_parameters();
    const double warm_after = c->ddr_cold_us * (hx_machine ? hx_machine->clock_mhz : 1);

    m->began = began;
    m->cold = worked < warm_after ? warm_after - worked : 0;
    hx_cache_clear(&m->l1);
    hx_cache_clear(&m->l2);
    hx_cache_clear(&m->pages);
    hx_line_set_clear(&m->image);
    hx_path_clear(&m->demand);
    hx_path_clear(&m->ddr);
    m->n_boxes = 0;
    m->traffic = (struct hx_traffic){.hit_bytes = 0};
    m->hvx_ops = 0;
}

void hx_shared_open(uint64_t began)
{
    hx_shared_close(0);
    pthread_mutex_lock(&lock);
    mine.memory = unused();
    if (mine.memory) {
        pthread_mutex_lock(&mine.memory->lock); /* a thread of the call before may still be at it */
        clear(mine.memory, began);
        mine.call = atomic_fetch_add(&calls, 1) + 1;
        atomic_store(&mine.memory->call, mine.call);
        atomic_store(&mine.memory->open, 1);
        mine.serves = 1;
        pthread_mutex_unlock(&mine.memory->lock);
    }
    pthread_mutex_unlock(&lock);
}

void hx_shared_close(double pcycles)
{
    if (!mine.serves)
        return;
    pthread_mutex_lock(&lock);
    worked += pcycles;
    atomic_store(&mine.memory->open, 0);
    pthread_mutex_unlock(&lock);
    mine.serves = 0;
}

/* Under the lock: that of the call, else the latest in flight, else the latest. */
static struct hx_shared_memory *find(uint64_t call)
{
    struct hx_shared_memory *best = NULL;

    for (struct hx_shared_memory *m = all; m; m = m->next) {
        if (m->call == call && m->open)
            return m;
        if (!best || m->open > best->open || (m->open == best->open && m->call > best->call))
            best = m;
    }
    return best;
}

void hx_shared_join(uint64_t call)
{
    pthread_mutex_lock(&lock);
    mine.memory = find(call);
    mine.call = mine.memory ? mine.memory->call : 0;
    pthread_mutex_unlock(&lock);
}

uint64_t hx_shared_call(void)
{
    return mine.call;
}

static int is_open(const struct hx_shared_memory *m)
{
    return m && atomic_load_explicit(&m->call, memory_order_relaxed) == mine.call && atomic_load_explicit(&m->open, memory_order_relaxed);
}

int hx_shared_is_open(void)
{
    return is_open(mine.memory);
}

int hx_shared_serves(void)
{
    return mine.serves;
}

struct hx_shared_memory *hx_shared_enter(void)
{
    struct hx_shared_memory *m = mine.memory;

    if (!is_open(m)) {
        hx_shared_join(mine.call);
        m = mine.memory;
    }
    if (m)
        pthread_mutex_lock(&m->lock);
    return m;
}

void hx_shared_leave(struct hx_shared_memory *m)
{
    pthread_mutex_unlock(&m->lock);
}
