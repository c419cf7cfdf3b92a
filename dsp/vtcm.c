/* VTCM grants, see dsp/include/HAP_vtcm_mgr.h. */
#include "HAP_vtcm_mgr.h"

#include <stddef.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "machine.h"

#define EXPORT __attribute__((visibility("default")))

/* Length of the free run that starts at grain `i`. */
static unsigned free_run(unsigned i)
{
    unsigned n = 0;

    while (i + n < HX_VTCM_GRAINS && hx_machine->vtcm[i + n].client == 0)
        n++;
    return n;
}

/* The PD's client id; the root PD has none and takes -1. */
static int32_t owner(void)
{
    return hx_pd_client ? hx_pd_client : -1;
}

EXPORT void *HAP_request_VTCM(unsigned int size, unsigned int single_page_flag)
{
    unsigned need = size / HX_VTCM_GRAIN + (size % HX_VTCM_GRAIN != 0), free_grains = 0;
    void *p = NULL;

    (void)single_page_flag; /* VTCM is one page: every grant satisfies it */
    if (!hx_machine || need == 0)
        return NULL;
    hx_machine_lock();
    for (unsigned i = 0; i < HX_VTCM_GRAINS && !p; i++) {
        unsigned run = free_run(i);

        free_grains += run != 0;
        if (run < need)
            continue;
        for (unsigned j = i; j < i + need; j++) {
            hx_machine->vtcm[j].first = (int32_t)i;
            hx_machine->vtcm[j].client = owner();
        }
        hx_machine->vtcm[i].bytes = size;
        p = hx_vtcm + (size_t)i * HX_VTCM_GRAIN;
    }
    hx_machine_unlock();
    if (!p)
        FARF(HIGH, "vtcm: need %u bytes, %u free", size, free_grains * HX_VTCM_GRAIN);
    return p;
}

EXPORT int HAP_release_VTCM(void *pVA)
{
    size_t off = (uintptr_t)pVA - (uintptr_t)hx_vtcm;
    int32_t first = (int32_t)(off / HX_VTCM_GRAIN);
    int rc = AEE_EBADPARM;

    if (!hx_machine || off >= HX_VTCM_BYTES || off % HX_VTCM_GRAIN)
        return rc;
    hx_machine_lock();
    for (int32_t i = first; i < HX_VTCM_GRAINS && hx_machine->vtcm[i].first == first &&
                            hx_machine->vtcm[i].client == owner();
         i++) {
        hx_machine->vtcm[i].client = 0;
        rc = AEE_SUCCESS;
    }
    hx_machine_unlock();
    return rc;
}

EXPORT int HAP_query_total_VTCM(unsigned int *page_size, unsigned int *page_count)
{
    *page_size = HX_VTCM_BYTES;
    *page_count = 1;
    return 0;
}

EXPORT int HAP_query_avail_VTCM(unsigned int *avail_block_size, unsigned int *max_page_size,
                                unsigned int *num_pages)
{
    unsigned largest = 0;

    if (hx_machine) {
        hx_machine_lock();
        for (unsigned i = 0; i < HX_VTCM_GRAINS; i++)
            if (free_run(i) > largest)
                largest = free_run(i);
        hx_machine_unlock();
    }
    *avail_block_size = largest * HX_VTCM_GRAIN;
    *max_page_size = largest * HX_VTCM_GRAIN;
    *num_pages = largest != 0;
    return 0;
}
