/* Building the machine before the first PD: shared memory, the place of VTCM, the profile's parameters. */
#include "machine.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "low_memory.h"
#include "placement.h"

struct hx_machine *hx_machine;
struct hx_machine_shared *hx_machine_shared;
uint8_t *hx_vtcm;

#define VTCM_BASE 0xFF000000u /* where V69 devices have it */

/* Private memory, so that each PD that is forked from here has a VTCM of its own; nothing is granted yet. */
static int map_vtcm(void)
{
#ifdef __SANITIZE_ADDRESS__
    hx_vtcm = hx_low_map(HX_VTCM_BYTES, -1); /* the real address is shadow memory here */
    if (hx_vtcm && mprotect(hx_vtcm, HX_VTCM_BYTES, PROT_NONE))
        hx_vtcm = NULL;
#else
    hx_vtcm = mmap((void *)(uintptr_t)VTCM_BASE, HX_VTCM_BYTES, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (hx_vtcm == MAP_FAILED)
        hx_vtcm = NULL;
#endif
    if (!hx_vtcm)
        return -errno;
    hx_placement_shared(hx_vtcm, HX_VTCM_BYTES);
    return 0;
}

int hx_machine_init(const struct hx_profile *profile)
{
    static struct hx_machine machine;
    void *p = mmap(NULL, sizeof(*hx_machine_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                   -1, 0);

    if (p == MAP_FAILED)
        return -errno;
    hx_machine_shared = p;
    hx_machine = &machine;
    hx_machine->shared = hx_machine_shared;
    hx_machine->hvx = hx_machine_shared->hvx;
    hx_machine->hmx_unit = &hx_machine_shared->hmx;
    hx_machine->crm = &hx_machine_shared->crm;
    hx_machine->clock_mhz = profile->clock_mhz;
    hx_machine->cost = profile->cost;
    hx_machine->dispatch_us = profile->dispatch_us;
    hx_machine->hvx_contexts = profile->hvx_contexts;
    hx_machine->hw_threads = profile->hw_threads;
    hx_machine->issue_threads = profile->issue_threads;
    hx_machine->vtcm_grains = profile->vtcm_kib ? profile->vtcm_kib / (HX_VTCM_GRAIN >> 10) : HX_VTCM_GRAINS;
    hx_machine->capabilities = profile->capabilities;
    hx_machine->dspqueue = profile->dspqueue;
    hx_machine->arch = profile->arch ? profile->arch : HX_ARCH_MIN;
    hx_machine->hmx = profile->hmx;
    hx_machine->vtcm = hx_machine_shared->own.grain;
    return map_vtcm();
}

int hx_machine_share_vtcm_table(int fd)
{
    struct hx_vtcm_table *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int rc = t == MAP_FAILED ? -errno : 0;

    close(fd);
    if (!rc)
        hx_machine->vtcm = t->grain;
    return rc;
}
