/* rpcmem_alloc() and the like: memory that the DSP can share, each piece a memory file of its own. */
#include "hx_export.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hx_memfd.h"
#include "hx_rpcmem.h"
#include "hx_session.h"

static int make_fd(size_t len)
{
    int fd = hx_memfd_make("rpcmem", len, MFD_CLOEXEC);

    if (fd == 0) { /* the driver takes descriptor 0 for "none" */
        fd = fcntl(0, F_DUPFD_CLOEXEC, 1);
        close(0);
    }
    return fd;
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
    struct hx_allocation a = {.fd = -1, .hidden = noreg || (flags & RPCMEM_HEAP_NOREG)};

    if (size == 0 || size > SIZE_MAX / 2)
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
    if (hx_rpcmem_add(&a)) {
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
    struct hx_allocation a;

    if (!po || hx_rpcmem_remove(po, &a))
        return;
    /* The library knows maps by descriptor number: one that stays behind would be hit by the next file that gets it. */
    hx_mmap_forget(a.fd);
    munmap(a.va, a.len);
    close(a.fd);
}

int rpcmem_to_fd(void *po)
{
    return hx_rpcmem_fd(po);
}
