#include "hx_export.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hx_memfd.h"
#include "hx_rpcmem.h"
#include "hx_session.h"

struct allocation {
    char *va;
    size_t len; /* bytes, whole pages */
    int fd;
    int hidden; /* RPCMEM_HEAP_NOREG: never shared by itself */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER; /* protects the table */
static struct {
    struct allocation *at; /* [n] sorted by va */
    size_t n, room;
} table;

/* Index of the first allocation that starts above va. */
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

static int insert(const struct allocation *a)
{
    size_t i;

    if (table.n == table.room) {
        size_t room = table.room ? 2 * table.room : 64;
        struct allocation *at = realloc(table.at, room * sizeof(*at));

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
        const struct allocation *a = &table.at[i - 1];
        size_t off = (size_t)(p - a->va);

        if (!a->hidden && off <= a->len && len <= a->len - off)
            fd = a->fd;
    }
    pthread_rwlock_unlock(&lock);
    return fd;
}

int hx_rpcmem_find_fd(int fd, void **va, size_t *len)
{
    int rc = -1;

    pthread_rwlock_rdlock(&lock);
    for (size_t i = 0; i < table.n; i++) {
        if (table.at[i].fd == fd) {
            *va = table.at[i].va;
            *len = table.at[i].len;
            rc = 0;
            break;
        }
    }
    pthread_rwlock_unlock(&lock);
    return rc;
}

static int make_fd(size_t len)
{
    int fd = hx_memfd_make("rpcmem", len, MFD_CLOEXEC);

    if (fd == 0) { /* the driver takes descriptor 0 for "none" */
        fd = fcntl(0, F_DUPFD_CLOEXEC, 1);
        close(0);
    }
    return fd;
}

static int heap_known(int heapid)
{
    return heapid == RPCMEM_DEFAULT_HEAP || heapid == RPCMEM_HEAP_ID_SECURE ||
           heapid == RPCMEM_HEAP_ID_CONTIG || heapid == RPCMEM_HEAP_ID_SYSTEM;
}

void rpcmem_init(void)
{
    /* nothing to do: the registry needs no set-up, and the real library does not ask for this call either */
}

void rpcmem_deinit(void)
{
    /* allocations outlive it, as in the real library */
}

void *rpcmem_alloc2(int heapid, uint32_t flags, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int noreg = heapid != RPCMEM_DEFAULT_HEAP && (heapid & RPCMEM_HEAP_NOREG);
    struct allocation a = {.fd = -1, .hidden = noreg || (flags & RPCMEM_HEAP_NOREG)};
    int rc;

    if (noreg)
        heapid &= ~RPCMEM_HEAP_NOREG;
    if (size == 0 || size > SIZE_MAX / 2 || !heap_known(heapid))
        return NULL;
    a.len = (size + page - 1) / page * page;
    a.fd = make_fd(a.len);
    if (a.fd < 0)
        return NULL;
    a.va = mmap(NULL, a.len, PROT_READ | PROT_WRITE, MAP_SHARED, a.fd, 0);
    if (a.va == MAP_FAILED) {
        close(a.fd);
        return NULL;
    }
    pthread_rwlock_wrlock(&lock);
    rc = insert(&a);
    pthread_rwlock_unlock(&lock);
    if (rc) {
        munmap(a.va, a.len);
        close(a.fd);
        return NULL;
    }
    return a.va;
}

void *rpcmem_alloc(int heapid, uint32_t flags, int size)
{
    return size > 0 ? rpcmem_alloc2(heapid, flags, (size_t)size) : NULL;
}

void rpcmem_free(void *po)
{
    struct allocation a = {.fd = -1};
    size_t i;

    if (!po)
        return;
    pthread_rwlock_wrlock(&lock);
    i = upper(po);
    if (i > 0 && table.at[i - 1].va == po) {
        a = table.at[i - 1];
        memmove(&table.at[i - 1], &table.at[i], (table.n - i) * sizeof(a));
        table.n--;
    }
    pthread_rwlock_unlock(&lock);
    if (a.fd < 0)
        return;
    /* The driver knows maps by descriptor number: one that stays behind would be hit by the next file that gets it. */
    hx_mmap_forget(a.fd);
    munmap(a.va, a.len);
    close(a.fd);
}

int rpcmem_to_fd(void *po)
{
    int fd = -1;
    size_t i;

    pthread_rwlock_rdlock(&lock);
    i = upper(po);
    if (i > 0 && table.at[i - 1].va == po)
        fd = table.at[i - 1].fd;
    pthread_rwlock_unlock(&lock);
    return fd;
}
