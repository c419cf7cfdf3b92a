/* The table of buffers that MEM_MAP mapped, with the references that dspqueue holds. */
#include "bindings.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "base/low_memory.h"

struct binding {
    struct binding *next;
    int32_t client_fd;
    int32_t id;
    uint8_t *base;
    uint64_t size;
    unsigned refs;
    int bound;  /* MEM_MAP's map is there */
    int orphan; /* the driver took the buffer away: base is ours to unmap */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects both lists */
static struct binding *list, *spare;

/* Under lock.  Not from the heap, see base/cache.c: buffers come and go beside calls. */
static struct binding *take(void)
{
    enum { BYTES = 4096 };
    struct binding *b = spare;

    if (!b) {
        b = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (b == MAP_FAILED)
            return NULL;
        for (size_t i = 0; i + 1 < BYTES / sizeof(*b); i++)
            b[i].next = &b[i + 1];
    }
    spare = b->next;
    return b;
}

static struct binding **find_id(int32_t id)
{
    struct binding **p = &list;

    while (*p && (*p)->id != id)
        p = &(*p)->next;
    return p;
}

static void drop_if_unused(struct binding **p)
{
    struct binding *b = *p;

    if (b->bound || b->refs)
        return;
    if (b->orphan)
        hx_low_unmap(b->base, b->size);
    *p = b->next;
    b->next = spare;
    spare = b;
}

int hx_bindings_bind(int32_t id, int32_t client_fd, uint8_t *base, uint64_t size)
{
    struct binding *b;

    pthread_mutex_lock(&lock);
    b = *find_id(id);
    if (!b) {
        b = take();
        if (b) {
            *b = (struct binding){.next = list, .client_fd = client_fd, .id = id, .base = base,
                                  .size = size};
            list = b;
        }
    }
    if (b)
        b->bound = 1;
    pthread_mutex_unlock(&lock);
    return b ? 0 : -ENOMEM;
}

void hx_bindings_unbind(int32_t id)
{
    struct binding **p;

    pthread_mutex_lock(&lock);
    p = find_id(id);
    if (*p) {
        (*p)->bound = 0;
        drop_if_unused(p);
    }
    pthread_mutex_unlock(&lock);
}

int hx_bindings_keep(int32_t id)
{
    struct binding **p;
    int keep = 0;

    pthread_mutex_lock(&lock);
    p = find_id(id);
    if (*p) {
        keep = (*p)->refs > 0;
        (*p)->bound = 0;
        (*p)->orphan = keep;
        drop_if_unused(p);
    }
    pthread_mutex_unlock(&lock);
    return keep;
}

/* What a descriptor means now: the mapped buffer; or, to give back, the one that is referred to. */
static struct binding **find_fd(int32_t client_fd, int delta)
{
    struct binding **p, **second = NULL;

    for (p = &list; *p; p = &(*p)->next) {
        if ((*p)->client_fd != client_fd)
            continue;
        if (delta < 0 ? (*p)->refs > 0 : (*p)->bound)
            return p;
        if ((*p)->bound)
            second = p;
    }
    return second;
}

int hx_bindings_ref(int32_t client_fd, int delta, void **va, uint64_t *size)
{
    struct binding **p;
    int rc = -ENOENT;

    pthread_mutex_lock(&lock);
    p = find_fd(client_fd, delta);
    if (p && delta < 0 && !(*p)->refs) {
        rc = -EINVAL;
    } else if (p) {
        if (va)
            *va = (*p)->base;
        if (size)
            *size = (*p)->size;
        (*p)->refs += (unsigned)delta;
        drop_if_unused(p);
        rc = 0;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}
