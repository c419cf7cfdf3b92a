/* apps_mem, and files of apps_std as memory: what the DSP asks for is rpcmem of this process, mapped into the session's PD. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "apps_mem.h"
#include "apps_std.h"
#include "host.h"
#include "remote.h"
#include "rpcmem.h"

/* rflags for memory that stays the host's until the DSP maps its descriptor. */
#define ALLOC_HLOS_FD 0x10000u

static struct hx_host_memory *find(uint64_t vadsp)
{
    struct hx_host *h = hx_host_of_thread();

    for (unsigned i = 0; i < HX_HOST_MEMORY; i++)
        if (h->memory[i].va && h->memory[i].vadsp == vadsp)
            return &h->memory[i];
    return NULL;
}

static struct hx_host_memory *free_entry(void)
{
    struct hx_host *h = hx_host_of_thread();

    for (unsigned i = 0; i < HX_HOST_MEMORY; i++)
        if (!h->memory[i].va)
            return &h->memory[i];
    return NULL;
}

/* Maps the memory of `m` into the PD.  By its descriptor alone when the DSP maps it by itself. */
static int map(struct hx_host_memory *m, bool by_fd)
{
    const struct fastrpc_mem_map want = {.fd = rpcmem_to_fd(m->va),
                                         .flags = by_fd ? FASTRPC_MAP_FD : REMOTE_MAP_MEM_STATIC,
                                         .vaddrin = (uintptr_t)m->va,
                                         .length = (uint64_t)m->bytes};
    uint64_t address;
    int rc = hx_mmap_in(hx_host_of_thread()->session, &want, &address);

    m->vadsp = by_fd ? (uint64_t)want.fd : address;
    return rc;
}

static int allocate(int64_t bytes, bool by_fd, struct hx_host_memory **out)
{
    struct hx_host *h = hx_host_of_thread();
    struct hx_host_memory *m = free_entry();
    int rc;

    if (bytes <= 0 || bytes > INT32_MAX)
        return AEE_EBADPARM;
    if (!m || bytes > HX_HOST_MEMORY_BYTES - h->memory_bytes)
        return AEE_ENOMORE;
    *m = (struct hx_host_memory){.va = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, (size_t)bytes),
                                 .bytes = bytes};
    if (!m->va)
        return AEE_ENOMEMORY;
    rc = map(m, by_fd);
    if (rc) {
        rpcmem_free(m->va);
        m->va = NULL;
        return rc;
    }
    h->memory_bytes += bytes;
    *out = m;
    return rc;
}

static int release(uint64_t vadsp)
{
    struct hx_host_memory *m = find(vadsp);

    if (!m)
        return AEE_ENOSUCHMAP;
    hx_munmap_in(hx_host_of_thread()->session, rpcmem_to_fd(m->va));
    rpcmem_free(m->va);
    m->va = NULL;
    hx_host_of_thread()->memory_bytes -= m->bytes;
    return AEE_SUCCESS;
}

/* --- apps_mem ------------------------------------------------------------------------------------------------------- */

int apps_mem_request_map64(int heapid, uint32_t lflags, uint32_t rflags, uint64_t vin, int64_t len, uint64_t *vapps,
                           uint64_t *vadsp)
{
    struct hx_host_memory *m;
    int rc;

    (void)heapid; /* a rig has one kind of memory */
    (void)lflags;
    (void)vin;
    rc = allocate(len, rflags == ALLOC_HLOS_FD, &m);
    if (rc)
        return rc;
    *vapps = (uintptr_t)m->va;
    *vadsp = m->vadsp;
    return AEE_SUCCESS;
}

int apps_mem_request_unmap64(uint64_t vadsp, int64_t len)
{
    (void)len;
    return release(vadsp);
}

int apps_mem_request_map(int heapid, uint32_t lflags, uint32_t rflags, uint32_t vin, int32_t len, uint32_t *vapps,
                         uint32_t *vadsp)
{
    uint64_t wide_apps, wide_dsp;
    int rc = apps_mem_request_map64(heapid, lflags, rflags, vin, len, &wide_apps, &wide_dsp);

    if (rc)
        return rc;
    *vapps = (uint32_t)wide_apps; /* what a 64-bit host's address cannot be told by; the DSP's own has 32 bits */
    *vadsp = (uint32_t)wide_dsp;
    return AEE_SUCCESS;
}

int apps_mem_request_unmap(uint32_t vadsp, int32_t len)
{
    return apps_mem_request_unmap64(vadsp, len);
}

/* Descriptors of the client's that it has not mapped by itself are not the DSP's to name. */
int apps_mem_share_map(int fd, int size, uint64_t *vapps, uint64_t *vadsp)
{
    (void)fd;
    (void)size;
    (void)vapps;
    (void)vadsp;
    return AEE_EUNSUPPORTED;
}

int apps_mem_share_unmap(uint64_t vadsp, int size)
{
    (void)vadsp;
    (void)size;
    return AEE_EUNSUPPORTED;
}

int apps_mem_dma_handle_map(int fd, int offset, int size)
{
    (void)fd;
    (void)offset;
    (void)size;
    return AEE_EUNSUPPORTED;
}

int apps_mem_dma_handle_unmap(int fd, int size)
{
    (void)fd;
    (void)size;
    return AEE_EUNSUPPORTED;
}

/* --- files as memory ------------------------------------------------------------------------------------------------ */

static int read_into(apps_std_FILE file, struct hx_host_memory *m)
{
    int64_t at = 0;

    for (int n = 1, eof, rc; at < m->bytes && n > 0; at += n) {
        rc = apps_std_fread(file, (unsigned char *)m->va + at, (int)(m->bytes - at), &n, &eof);
        if (rc)
            return rc;
    }
    return 0;
}

int apps_std_fopen_fd(const char *name, const char *mode, int *fd, int *len)
{
    struct hx_host_memory *m;
    apps_std_FILE file;
    uint64_t bytes;
    int rc = apps_std_fopen(name, mode, &file);

    if (rc)
        return rc;
    rc = apps_std_flen(file, &bytes);
    if (!rc)
        rc = bytes > INT32_MAX ? EFBIG : allocate((int64_t)bytes, true, &m);
    if (!rc) {
        rc = read_into(file, m);
        *fd = (int)m->vadsp;
        *len = (int)bytes;
        if (rc)
            release(m->vadsp);
    }
    apps_std_fclose(file);
    return rc;
}

int apps_std_fopen_with_env_fd(const char *envvarname, const char *delim, const char *name, const char *mode, int *fd, int *len)
{
    (void)delim;
    return hx_host_folders_variable(hx_host_of_thread()->folders, envvarname) ? apps_std_fopen_fd(name, mode, fd, len) : ENOENT;
}

int apps_std_fclose_fd(int fd)
{
    return release((uint64_t)fd);
}
