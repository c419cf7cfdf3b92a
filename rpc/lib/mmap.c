#include "hx_export.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "fastrpc_uapi.h"
#include "hx_error.h"
#include "hx_session.h"

struct map {
    struct map *next;
    int fd;
    uint32_t generation; /* session that it belongs to */
    uint64_t vaddr;      /* DSP side */
    size_t length;       /* bytes */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list; held over the driver's call, */
static struct map *maps;                                 /* so that map and unmap of one fd cannot cross */

/* Drops what an ended session left, then finds fd. */
static struct map **find(int fd, uint32_t generation)
{
    struct map **p = &maps;

    while (*p) {
        struct map *m = *p;

        if (m->generation != generation) {
            *p = m->next;
            free(m);
            continue;
        }
        if (m->fd == fd)
            return p;
        p = &m->next;
    }
    return NULL;
}

static int domain_ok(int domain)
{
    return domain == CDSP_DOMAIN_ID || domain == -1;
}

static int map_new(struct hx_session *s, const struct fastrpc_mem_map *want)
{
    struct fastrpc_mem_map req = *want;
    struct map *m = malloc(sizeof(*m));
    int rc;

    if (!m)
        return AEE_ENOMEMORY;
    rc = hx_aee_from_result(hx_session_ioctl(s, FASTRPC_IOCTL_MEM_MAP, &req));
    if (rc) {
        free(m);
        return rc;
    }
    *m = (struct map){maps, req.fd, hx_session_generation(s), req.vaddrout, req.length};
    maps = m;
    return AEE_SUCCESS;
}

int fastrpc_mmap(int domain, int fd, void *addr, int offset, size_t length,
                 enum fastrpc_map_flags flags)
{
    struct fastrpc_mem_map req = {.fd = fd,
                                  .offset = offset,
                                  .flags = flags,
                                  .vaddrin = (uintptr_t)addr,
                                  .length = length};
    struct hx_session *s;
    int rc;

    if (!domain_ok(domain))
        return AEE_EBADDOMAIN;
    if (fd <= 0 || offset < 0 || length == 0)
        return AEE_EBADPARM;
    if (flags != FASTRPC_MAP_FD && flags != FASTRPC_MAP_FD_DELAYED && flags != FASTRPC_MAP_FD_NOMAP)
        return AEE_EUNSUPPORTED;
    s = hx_session_get();
    if (!s)
        return AEE_ENOSESSION;
    pthread_mutex_lock(&lock);
    rc = find(fd, hx_session_generation(s)) ? AEE_EALREADY : map_new(s, &req);
    pthread_mutex_unlock(&lock);
    hx_session_put(s);
    return rc;
}

static int unmap(struct hx_session *s, int fd)
{
    struct fastrpc_mem_unmap req = {.fd = fd};
    struct map **p, *m;
    int rc = AEE_ENOSUCHMAP;

    pthread_mutex_lock(&lock);
    p = find(fd, hx_session_generation(s));
    if (p) {
        m = *p;
        req.vaddr = m->vaddr;
        req.length = m->length;
        rc = hx_aee_from_result(hx_session_ioctl(s, FASTRPC_IOCTL_MEM_UNMAP, &req));
        *p = m->next;
        free(m);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int fastrpc_munmap(int domain, int fd, void *addr, size_t length)
{
    struct hx_session *s;
    int rc;

    (void)addr; /* the driver finds a map by descriptor and DSP address */
    (void)length;
    if (!domain_ok(domain))
        return AEE_EBADDOMAIN;
    s = hx_session_get();
    if (!s)
        return AEE_ENOSESSION;
    rc = unmap(s, fd);
    hx_session_put(s);
    return rc;
}

void hx_mmap_forget(int fd)
{
    struct hx_session *s = hx_session_get();

    if (!s)
        return;
    unmap(s, fd); /* usually there is no such map */
    hx_session_put(s);
}
