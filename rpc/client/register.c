/* remote_register_*(): memory that the client mapped by itself and wants to share, and DMA handles. */
#include "hx_export.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "hx_rpcmem.h"

enum { DMA_HANDLES_MAX = 1000 };

struct registration {
    struct registration *next;
    char *va;
    size_t len; /* bytes */
    int fd;
    unsigned uses; /* number of times it was registered */
    int ours;      /* remote_register_fd() made the mapping */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER; /* protects the list */
static struct registration *list;
static _Atomic unsigned n_registered; /* so that clients that register nothing need no lock for their calls */

static pthread_mutex_t dma_lock = PTHREAD_MUTEX_INITIALIZER; /* protects dma */
static struct {
    int fd; /* 0 = free entry */
    uint32_t len;
    unsigned uses;
} dma[DMA_HANDLES_MAX];
static _Atomic unsigned n_dma; /* entries that were ever used */

int hx_registered_find(const void *va, size_t len)
{
    const char *p = va;
    int fd = -1;

    if (!atomic_load_explicit(&n_registered, memory_order_acquire))
        return -1;
    pthread_rwlock_rdlock(&lock);
    for (const struct registration *r = list; r && fd < 0; r = r->next)
        if (p >= r->va && (size_t)(p - r->va) <= r->len && len <= r->len - (size_t)(p - r->va))
            fd = r->fd;
    pthread_rwlock_unlock(&lock);
    return fd;
}

/* Under lock. */
static struct registration **find(const void *va, size_t len, int fd)
{
    struct registration **p = &list;

    while (*p && !((*p)->va == va && (*p)->len == len && (fd < 0 || (*p)->fd == fd)))
        p = &(*p)->next;
    return p;
}

static int add(void *va, size_t len, int fd, int ours)
{
    struct registration *r;

    pthread_rwlock_wrlock(&lock);
    r = *find(va, len, fd);
    if (r) {
        r->uses++;
    } else {
        r = malloc(sizeof(*r));
        if (r) {
            *r = (struct registration){list, va, len, fd, 1, ours};
            list = r;
            atomic_fetch_add(&n_registered, 1);
        }
    }
    pthread_rwlock_unlock(&lock);
    return r ? 0 : -ENOMEM;
}

static int same_start(const void *va)
{
    const struct registration *r = list;

    while (r && r->va != va)
        r = r->next;
    return r != NULL;
}

static void del(void *va, size_t len)
{
    struct registration **p, *r = NULL;
    int wrong_size;

    pthread_rwlock_wrlock(&lock);
    p = find(va, len, -1);
    wrong_size = !*p && same_start(va);
    if (*p && --(*p)->uses == 0) {
        r = *p;
        *p = r->next;
        atomic_fetch_sub(&n_registered, 1);
    }
    pthread_rwlock_unlock(&lock);
    if (wrong_size) {
        /* The stale entry would later attach its descriptor to other memory; the open library ends the process, too. */
        fprintf(stderr, "libcdsprpc: buffer %p is registered with another size than %zu\n", va,
                len);
        raise(SIGABRT);
    }
    if (r && r->ours)
        munmap(r->va, r->len);
    free(r);
}

void remote_register_buf_attr2(void *buf, size_t size, int fd, int attr)
{
    int rc = 0;

    (void)attr; /* caches and mapping times: no choice on a rig */
    if (!buf || size == 0 || size > SIZE_MAX / 2 || fd == 0 || fd < -1)
        rc = -EINVAL;
    else if (fd == -1)
        del(buf, size);
    else
        rc = add(buf, size, fd, 0);
    if (rc)
        errno = -rc;
}

void remote_register_buf_attr(void *buf, int size, int fd, int attr)
{
    remote_register_buf_attr2(buf, size > 0 ? (size_t)size : 0, fd, attr);
}

void remote_register_buf(void *buf, int size, int fd)
{
    remote_register_buf_attr(buf, size, fd, 0);
}

void *remote_register_fd2(int fd, size_t size)
{
    void *va;

    if (fd <= 0 || size == 0 || size > SIZE_MAX / 2) {
        errno = EINVAL;
        return (void *)-1;
    }
    /* a mapping of the file itself, so that the driver sees where in it a pointer lies */
    va = mmap(NULL, size, PROT_NONE, MAP_SHARED, fd, 0);
    if (va == MAP_FAILED)
        return (void *)-1;
    if (add(va, size, fd, 1)) {
        munmap(va, size);
        errno = ENOMEM;
        return (void *)-1;
    }
    return va;
}

void *remote_register_fd(int fd, int size)
{
    return remote_register_fd2(fd, size > 0 ? (size_t)size : 0);
}

/* Under dma_lock.  Entry of fd, else a free one, else -1. */
static int dma_entry(int fd)
{
    int i_free = -1;

    for (unsigned i = 0; i < DMA_HANDLES_MAX; i++) {
        if (dma[i].fd == fd)
            return (int)i;
        if (dma[i].fd == 0 && i_free < 0)
            i_free = (int)i;
    }
    return i_free;
}

int remote_register_dma_handle_attr(int fd, uint32_t len, uint32_t attr)
{
    int i;

    if (fd <= 0 || (attr && attr != FASTRPC_ATTR_NOMAP))
        return AEE_EBADPARM;
    pthread_mutex_lock(&dma_lock);
    i = dma_entry(fd);
    if (i >= 0) {
        if (dma[i].fd != fd) {
            dma[i].fd = fd;
            dma[i].len = len;
            dma[i].uses = 0;
        }
        dma[i].uses++;
        atomic_fetch_add(&n_dma, 1);
    }
    pthread_mutex_unlock(&dma_lock);
    return i < 0 ? AEE_EINVHANDLE : AEE_SUCCESS;
}

int remote_register_dma_handle(int fd, uint32_t len)
{
    return remote_register_dma_handle_attr(fd, len, 0);
}

int hx_dma_length(int fd, uint64_t *len)
{
    struct stat st;
    int i;

    if (fd <= 0 || fstat(fd, &st) || st.st_size < 0)
        return -1;
    *len = (uint64_t)st.st_size;
    if (!atomic_load_explicit(&n_dma, memory_order_acquire))
        return 0;
    pthread_mutex_lock(&dma_lock);
    i = dma_entry(fd);
    if (i >= 0 && dma[i].fd == fd) {
        /* one use ends the registration, as in the open library */
        if (dma[i].len && dma[i].len < *len)
            *len = dma[i].len;
        if (--dma[i].uses == 0)
            dma[i].fd = 0;
    }
    pthread_mutex_unlock(&dma_lock);
    return 0;
}
