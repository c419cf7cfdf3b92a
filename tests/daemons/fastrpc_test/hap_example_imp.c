/* A skel for libhap_example.so, whose own is Hexagon code: the four methods that fastrpc_test's run calls, by what they are named after. */
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_debug.h"
#include "HAP_farf.h"
#include "HAP_mem.h"
#include "HAP_perf.h"
#include "hap_example.h"

int hap_example_open(const char *uri, remote_handle64 *h)
{
    (void)uri;
    *h = 1;
    return AEE_SUCCESS;
}

int hap_example_close(remote_handle64 h)
{
    (void)h;
    return AEE_SUCCESS;
}

int hap_example_farf_runtime(remote_handle64 h, int enable)
{
    unsigned mask = enable ? 0x1f : 0;
    int rc = HAP_setFARFRuntimeLoggingParams(mask, NULL, 0);

    (void)h;
    FARF(ALWAYS, "hap_example: mask 0x%x", mask);
    FARF(RUNTIME_LOW, "hap_example: a message that the mask lets pass");
    return rc;
}

/* Every byte can be written and holds what was written. */
static int usable(unsigned char *p, size_t bytes)
{
    memset(p, 0x5a, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != 0x5a)
            return AEE_EFAILED;
    return AEE_SUCCESS;
}

int hap_example_mem_fastrpc_mmap(remote_handle64 h, int fd, int length)
{
    void *va = NULL;
    int rc = HAP_mmap_get(fd, &va, NULL);

    (void)h;
    if (rc)
        return rc;
    rc = usable(va, (size_t)length);
    FARF(ALWAYS, "hap_example: fd %d, %d bytes that fastrpc_mmap() gave: 0x%x", fd, length, (unsigned)rc);
    HAP_mmap_put(fd);
    return rc;
}

int hap_example_mem_dmahandle(remote_handle64 h, int fd, uint32_t offset, uint32_t length)
{
    void *va = HAP_mmap2(NULL, length, HAP_PROT_READ | HAP_PROT_WRITE, 0, fd, offset);
    int rc;

    (void)h;
    if (va == (void *)-1)
        return AEE_ENOMEMORY;
    rc = usable(va, length);
    FARF(ALWAYS, "hap_example: fd %d, %u bytes of a DMA handle: 0x%x", fd, (unsigned)length, (unsigned)rc);
    HAP_munmap2(va, length);
    return rc;
}

int hap_example_perf(remote_handle64 h)
{
    uint64_t t = HAP_perf_get_time_us(), cycles = HAP_perf_get_pcycles();

    (void)h;
    HAP_timer_sleep(1000);
    t = HAP_perf_get_time_us() - t;
    cycles = HAP_perf_get_pcycles() - cycles;
    FARF(ALWAYS, "hap_example: %llu us, %llu pcycles", (unsigned long long)t, (unsigned long long)cycles);
    return t >= 1000 && cycles >= 1000 ? AEE_SUCCESS : AEE_EFAILED;
}

/* What that library has stubs for and does not call. */
int hap_example_compute_res(remote_handle64 h)
{
    (void)h;
    return AEE_EUNSUPPORTED;
}

int hap_example_compute_resv2(remote_handle64 h)
{
    return hap_example_compute_res(h);
}

int hap_example_mem_dmahandlev2(remote_handle64 h, int fd, uint32_t offset, uint32_t length)
{
    (void)fd;
    (void)offset;
    (void)length;
    return hap_example_compute_res(h);
}

int hap_example_mem_reserve_va(remote_handle64 h)
{
    return hap_example_compute_res(h);
}

int hap_example_mem_map_reserve_va(remote_handle64 h, int length)
{
    (void)length;
    return hap_example_compute_res(h);
}

int hap_example_power(remote_handle64 h)
{
    return hap_example_compute_res(h);
}

int hap_example_sysmon_cachelock(remote_handle64 h)
{
    return hap_example_compute_res(h);
}
