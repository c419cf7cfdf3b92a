/* HAP_mmap_get() and its kin: how skels reach client buffers by descriptor. */
#include "HAP_mmap.h"

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "base/export.h"
#include "pd/buffers.h"

HX_EXPORT int HAP_mmap_get(int fd, void **vaddr, uint64_t *paddr)
{
    void *p;
    int rc = hx_buffers_get_fd(fd, &p);

    if (rc)
        return rc;
    if (vaddr)
        *vaddr = p;
    if (paddr)
        *paddr = (uintptr_t)p;
    return 0;
}

/* Skels made by IDL compilers call this for the length of a DMA handle's buffer (published name). */
HX_EXPORT int adsp_mmap_fd_getinfo(int fd, uint32_t *bytes);

HX_EXPORT int adsp_mmap_fd_getinfo(int fd, uint32_t *bytes)
{
    uint64_t size;
    int rc = hx_buffers_size_fd(fd, &size);

    *bytes = rc || size > UINT32_MAX ? 0 : (uint32_t)size;
    return rc;
}

HX_EXPORT int HAP_mmap_put(int fd)
{
    return hx_buffers_put_fd(fd);
}

/* Bytes [offset, offset + len) of a buffer of `size`. */
static int lies_in(long offset, size_t len, uint64_t size)
{
    return offset >= 0 && (uint64_t)offset <= size && len <= size - (uint64_t)offset;
}

HX_EXPORT void *HAP_mmap2(void *addr, size_t len, int prot, int flags, int fd, long offset)
{
    uint64_t size = 0;
    void *p;

    (void)addr;
    (void)flags;
    if (prot & HAP_PROT_EXEC || hx_buffers_size_fd(fd, &size) || !lies_in(offset, len, size) ||
        hx_buffers_get_fd(fd, &p)) {
        FARF(ERROR, "HAP_mmap: %zu bytes at %ld, protection %d, of descriptor %d, which has %llu",
             len, offset, prot, fd, (unsigned long long)size);
        return (void *)-1;
    }
    return (uint8_t *)p + offset;
}

HX_EXPORT void *HAP_mmap(void *addr, int len, int prot, int flags, int fd, long offset)
{
    return HAP_mmap2(addr, len < 0 ? SIZE_MAX : (size_t)len, prot, flags, fd, offset);
}

HX_EXPORT int HAP_munmap2(void *addr, size_t len)
{
    return hx_buffers_put_addr(addr, len);
}

HX_EXPORT int HAP_munmap(void *addr, int len)
{
    return HAP_munmap2(addr, len < 0 ? SIZE_MAX : (size_t)len);
}
