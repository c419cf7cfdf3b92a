/* The list of maps: how many a program has at a time is small. */
#include "hx_map_table.h"

#include <pthread.h>
#include <stdlib.h>

#include "AEEStdErr.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list */
static struct hx_map *maps;

void hx_map_lock(void)
{
    pthread_mutex_lock(&lock);
}

void hx_map_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

struct hx_map **hx_map_find(unsigned index, uint32_t generation, struct hx_map_key k)
{
    struct hx_map **p = &maps;

    while (*p && !((*p)->index == index && (*p)->generation == generation &&
                   (k.fd < 0 ? (*p)->vaddr == k.vaddr : (*p)->fd == k.fd)))
        p = &(*p)->next;
    return *p ? p : NULL;
}

void hx_map_add(struct hx_map *m)
{
    m->next = maps;
    maps = m;
}

int hx_map_ref(unsigned index, uint32_t generation, int fd, int delta, void **va, uint64_t *size)
{
    struct hx_map **p, *m;
    int rc = AEE_SUCCESS;

    pthread_mutex_lock(&lock);
    p = fd > 0 ? hx_map_find(index, generation, (struct hx_map_key){.fd = fd}) : NULL;
    m = p ? *p : NULL;
    if (!m) {
        rc = AEE_ENOSUCHMAP;
    } else if (delta < 0 && !m->refs) {
        rc = AEE_EBADPARM;
    } else {
        m->refs += (unsigned)delta;
        if (va)
            *va = m->va;
        if (size)
            *size = m->length;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void hx_map_end_session(unsigned index, uint32_t generation)
{
    struct hx_map **p = &maps;

    hx_map_lock();
    while (*p) {
        struct hx_map *m = *p;

        if (m->index == index && m->generation == generation) {
            *p = m->next;
            free(m);
        } else {
            p = &m->next;
        }
    }
    hx_map_unlock();
}
