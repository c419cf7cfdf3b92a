/* HAP_mmap_get and _put, see dsp/include/HAP_mmap.h. */
#include "HAP_mmap.h"

#include "buffers.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int HAP_mmap_get(int fd, void **vaddr, uint64_t *paddr)
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

EXPORT int HAP_mmap_put(int fd)
{
    return hx_buffers_put_fd(fd);
}
