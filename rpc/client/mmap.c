/* fastrpc_mmap() and the older ways to map memory into a PD. */
#include "hx_export.h"

#include <stdlib.h>

#include "fastrpc_uapi.h"
#include "hx_aee.h"
#include "hx_map_table.h"
#include "hx_session.h"
#include "hx_stage.h"

static struct hx_map **find_in(const struct hx_client_session *s, struct hx_map_key k)
{
    return hx_map_find(hx_session_index(s), hx_session_generation(s), k);
}

static int map_new(struct hx_client_session *s, const struct fastrpc_mem_map *want, uint64_t *vaddrout)
{
    struct fastrpc_mem_map req = *want;
    struct hx_map *m = malloc(sizeof(*m));
    int rc;

    if (!m)
        return AEE_ENOMEMORY;
    hx_stage_at("client.map.send");
    rc = hx_aee_from_result(hx_session_ioctl(s, FASTRPC_IOCTL_MEM_MAP, &req));
    hx_stage_at("client.map.reply");
    if (rc) {
        free(m);
        return rc;
    }
    *m = (struct hx_map){.fd = req.fd,
                         .index = hx_session_index(s),
                         .generation = hx_session_generation(s),
                         .va = (void *)(uintptr_t)req.vaddrin,
                         .vaddr = req.vaddrout,
                         .length = req.length};
    hx_map_add(m);
    *vaddrout = m->vaddr;
    return AEE_SUCCESS;
}

/* The session behind a domain argument, referenced. */
static int get_session(int domain, struct hx_client_session **s)
{
    unsigned index;
    int rc = hx_domain_session(domain, &index);

    if (rc)
        return rc;
    *s = hx_session_get(index);
    return *s ? AEE_SUCCESS : AEE_ENOTINITIALIZED;
}

int hx_mmap_in(struct hx_client_session *s, const struct fastrpc_mem_map *want, uint64_t *vaddrout)
{
    int rc;

    hx_map_lock();
    rc = find_in(s, (struct hx_map_key){.fd = want->fd}) ? AEE_EALREADY : map_new(s, want, vaddrout);
    hx_map_unlock();
    return rc;
}

static int do_map(int domain, const struct fastrpc_mem_map *req, uint64_t *vaddrout)
{
    struct hx_client_session *s;
    int rc = get_session(domain, &s);

    if (rc)
        return rc;
    rc = hx_mmap_in(s, req, vaddrout);
    hx_session_put(s);
    return rc;
}

int fastrpc_mmap(int domain, int fd, void *addr, int offset, size_t length,
                 enum fastrpc_map_flags flags)
{
    struct fastrpc_mem_map req = {.fd = fd,
                                  .flags = flags,
                                  .vaddrin = (uintptr_t)addr,
                                  .length = length};
    uint64_t vaddrout;

    if (fd <= 0 || offset != 0 || length == 0 || (int)flags < 0 || flags >= FASTRPC_MAP_MAX ||
        flags == FASTRPC_MAP_RESERVED || flags > FASTRPC_MAP_FD_NOMAP)
        return AEE_EBADPARM; /* what lies between them goes to the driver, as in the open library */
    return do_map(domain, &req, &vaddrout);
}

static int unmap(struct hx_client_session *s, struct hx_map_key k)
{
    struct fastrpc_mem_unmap req = {0};
    struct hx_map **p, *m;
    int rc = AEE_ENOSUCHMAP;

    hx_map_lock();
    p = find_in(s, k);
    if (p && (*p)->refs) {
        rc = AEE_EBADPARM;
    } else if (p) {
        m = *p;
        req.fd = m->fd;
        req.vaddr = m->vaddr;
        req.length = m->length;
        hx_stage_at("client.unmap.send");
        rc = hx_aee_from_result(hx_session_ioctl(s, FASTRPC_IOCTL_MEM_UNMAP, &req));
        hx_stage_at("client.unmap.reply");
        *p = m->next;
        free(m);
    }
    hx_map_unlock();
    return rc;
}

int hx_munmap_in(struct hx_client_session *s, int fd)
{
    return unmap(s, (struct hx_map_key){.fd = fd});
}

static int do_unmap(int domain, struct hx_map_key k)
{
    struct hx_client_session *s;
    int rc = get_session(domain, &s);

    if (rc)
        return rc;
    rc = unmap(s, k);
    hx_session_put(s);
    return rc;
}

int fastrpc_munmap(int domain, int fd, void *addr, size_t length)
{
    (void)addr; /* as in the open library: the descriptor alone says which map, and all of it is removed */
    (void)length;
    if (fd < 0)
        return AEE_EBADPARM;
    return do_unmap(domain, (struct hx_map_key){.fd = fd});
}

int remote_mem_map(int domain, int fd, int flags, uint64_t virtAddr, size_t size,
                   uint64_t *remoteVirtAddr)
{
    struct fastrpc_mem_map req = {.fd = fd, .vaddrin = virtAddr, .length = size};

    if (fd <= 0 || flags != REMOTE_MAP_MEM_STATIC || size == 0 || !remoteVirtAddr)
        return AEE_EBADPARM;
    return do_map(domain, &req, remoteVirtAddr);
}

int remote_mem_unmap(int domain, uint64_t remoteVirtAddr, size_t size)
{
    if (size == 0 || remoteVirtAddr == 0)
        return AEE_EBADPARM;
    return do_unmap(domain, (struct hx_map_key){.fd = -1, .vaddr = remoteVirtAddr});
}

int remote_mmap64(int fd, uint32_t flags, uint64_t vaddrin, int64_t size, uint64_t *vaddrout)
{
    if (flags || size <= 0)
        return AEE_EBADPARM;
    return remote_mem_map(-1, fd, REMOTE_MAP_MEM_STATIC, vaddrin, (size_t)size, vaddrout);
}

int remote_munmap64(uint64_t vaddrout, int64_t size)
{
    return size <= 0 ? AEE_EBADPARM : remote_mem_unmap(-1, vaddrout, (size_t)size);
}

int remote_mmap(int fd, uint32_t flags, uint32_t vaddrin, int size, uint32_t *vaddrout)
{
    uint64_t wide = 0;
    int rc;

    if (!vaddrout)
        return AEE_EBADPARM;
    rc = remote_mmap64(fd, flags, vaddrin, size, &wide);
    if (rc == AEE_SUCCESS)
        *vaddrout = (uint32_t)wide; /* DSP addresses have 32 bits */
    return rc;
}

int remote_munmap(uint32_t vaddrout, int size)
{
    return remote_munmap64(vaddrout, size);
}

void hx_mmap_forget(int fd)
{
    for (unsigned i = 0; i < HX_SESSIONS; i++) {
        struct hx_client_session *s = hx_session_get(i);

        if (s)
            unmap(s, (struct hx_map_key){.fd = fd}); /* usually there is no such map */
        hx_session_put(s);
    }
}
