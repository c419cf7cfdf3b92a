/* /dev/ion: memory that the DSP can share. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client_nodes.h"
#include "msm.h"
#include "msm_uapi.h"

static int fail(int error)
{
    errno = error;
    return -1;
}

int hx_msm_open_ion(int flags)
{
    int fd = memfd_create("hexrig-ion", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);

    return fd < 0 ? -errno : fd;
}

/* A descriptor, or -1. */
static int allocate(uint64_t bytes)
{
    const struct fastrpc_alloc_dma_buf a = {.size = bytes};
    int fd = hx_client_alloc_buff(&a);

    return fd < 0 ? fail(-fd) : fd;
}

/* A handle is the number of a descriptor that the program does not use otherwise. */
int hx_msm_ion_ioctl(uint32_t cmd, void *arg)
{
    struct ion_new_allocation *fresh = arg;
    struct ion_allocation *a = arg;
    struct ion_fd *f = arg;
    int fd;

    if (!arg)
        return fail(EFAULT);
    switch (cmd) {
    case ION_ALLOC:
        fd = allocate(a->len);
        a->handle = fd;
        return fd < 0 ? -1 : 0;
    case ION_NEW_ALLOC:
        fd = allocate(fresh->len);
        fresh->fd = (uint32_t)fd;
        return fd < 0 ? -1 : 0;
    case ION_MAP:
    case ION_SHARE:
        fd = fcntl(f->handle, F_DUPFD_CLOEXEC, 1);
        f->fd = fd;
        return fd < 0 ? fail(EINVAL) : 0;
    case ION_FREE:
        return close(*(int32_t *)arg) ? fail(EINVAL) : 0;
    default:
        return fail(ENOTTY);
    }
}
