/* Which memory rpcmem_alloc() has given out: looked up for every argument of every call. */
#include "hx_rpcmem.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER; /* protects the table */
static struct {
    struct hx_allocation *at; /* [n] sorted by va */
    size_t n, room;
} table;

/* Index of the first allocation that starts above va.  Under lock. */
static size_t upper(const char *va)
{
    size_t lo = 0, hi = table.n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (table.at[mid].va <= va)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Under lock. */
static int insert(const struct hx_allocation *a)
{
    size_t i;

    if (table.n == table.room) {
        size_t room = table.room ? 2 * table.room : 64;
        struct hx_allocation *at = realloc(table.at, room * sizeof(*at));

        if (!at)
            return -ENOMEM;
        table.at = at;
        table.room = room;
    }
    i = upper(a->va);
    memmove(&table.at[i + 1], &table.at[i], (table.n - i) * sizeof(*a));
    table.at[i] = *a;
    table.n++;
    return 0;
}

int hx_rpcmem_find(const void *va, size_t len)
{
    const char *p = va;
    int fd = -1;
    size_t i;

    pthread_rwlock_rdlock(&lock);
    i = upper(p);
    if (i > 0) {
        const struct hx_allocation *a = &table.at[i - 1];
        size_t off = (size_t)(p - a->va);

        if (!a->hidden && off <= a->len && len <= a->len - off)
            fd = a->fd;
    }
    pthread_rwlock_unlock(&lock);
    return fd;
}

int hx_rpcmem_locate(int fd, const void *va, uint64_t *offset)
{
    const char *p = va;
    int rc = -1;
    size_t i;

    pthread_rwlock_rdlock(&lock);
    i = upper(p);
    if (i > 0 && table.at[i - 1].fd == fd && (size_t)(p - table.at[i - 1].va) < table.at[i - 1].len) {
        *offset = (uint64_t)(p - table.at[i - 1].va);
        rc = 0;
    }
    pthread_rwlock_unlock(&lock);
    return rc;
}

int hx_rpcmem_add(const struct hx_allocation *a)
{
    int rc;

    pthread_rwlock_wrlock(&lock);
    rc = insert(a);
    pthread_rwlock_unlock(&lock);
    return rc;
}

int hx_rpcmem_remove(const void *va, struct hx_allocation *a)
{
    int rc = -ENOENT;
    size_t i;

    pthread_rwlock_wrlock(&lock);
    i = upper(va);
    if (i > 0 && table.at[i - 1].va == va) {
        *a = table.at[i - 1];
        memmove(&table.at[i - 1], &table.at[i], (table.n - i) * sizeof(*a));
        table.n--;
        rc = 0;
    }
    pthread_rwlock_unlock(&lock);
    return rc;
}

int hx_rpcmem_fd(const void *va)
{
    int fd = -1;
    size_t i;

    pthread_rwlock_rdlock(&lock);
    i = upper(va);
    if (i > 0 && table.at[i - 1].va == va)
        fd = table.at[i - 1].fd;
    pthread_rwlock_unlock(&lock);
    return fd;
}
