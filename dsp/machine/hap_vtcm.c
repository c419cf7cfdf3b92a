/* HAP_request_VTCM() and its kin.  Requests wait in one queue with those of the compute resource manager. */
#include <stddef.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "base/export.h"
#include "compute_res.h"
#include "cost/vtime.h"
#include "hx_stage.h"

HX_EXPORT void *HAP_request_VTCM(unsigned int size, unsigned int single_page_flag)
{
    return HAP_request_async_VTCM(size, single_page_flag, 0);
}

HX_EXPORT void *HAP_request_async_VTCM(unsigned int size, unsigned int single_page_flag,
                                       unsigned int timeout_us)
{
    struct hx_vtcm_want want;
    uint32_t all, range;
    int first;

    if (!hx_machine || size == 0)
        return NULL;
    if (hx_vtcm_want(&want, size, single_page_flag != 0, 0, 0)) {
        FARF(ERROR, "vtcm: need %u bytes, there are %u in all", size, hx_vtcm_total(NULL, NULL));
        return NULL;
    }
    hx_vt_spend(HX_VT_CODE, hx_machine->cost.vtcm_request_pcycles);
    hx_crm_enter();
    first = hx_crm_wait_vtcm(&want, size, timeout_us);
    hx_stage_at("pd.vtcm.granted");
    all = hx_vtcm_free(&range, NULL, NULL);
    hx_crm_leave();
    if (first >= 0)
        return hx_vtcm + (size_t)first * HX_VTCM_GRAIN;
    FARF(HIGH, "vtcm: need %u bytes%s, %u free, %u of them in one range", size,
         single_page_flag ? " in one page" : "", all, range);
    return NULL;
}

HX_EXPORT int HAP_release_VTCM(void *pVA)
{
    size_t off = (uintptr_t)pVA - (uintptr_t)hx_vtcm;
    uint32_t first = (uint32_t)(off / HX_VTCM_GRAIN), n = 0;

    if (!hx_machine || off >= HX_VTCM_BYTES || off % HX_VTCM_GRAIN)
        return AEE_EBADPARM;
    hx_crm_enter();
    while (first + n < HX_VTCM_GRAINS && hx_machine->vtcm[first + n].first == (int32_t)first &&
           hx_machine->vtcm[first + n].client == hx_vtcm_owner() &&
           !hx_machine->vtcm[first + n].context)
        n++;
    if (n) {
        hx_vt_spend(HX_VT_CODE, hx_machine->cost.vtcm_release_pcycles);
        hx_vtcm_give((int32_t)first, n);
        hx_crm_changed();
    }
    hx_crm_leave();
    return n ? AEE_SUCCESS : AEE_EBADPARM;
}

HX_EXPORT int HAP_query_total_VTCM(unsigned int *page_size, unsigned int *page_count)
{
    uint32_t page = HX_VTCM_BYTES, n = 1;

    if (hx_machine)
        hx_vtcm_total(&page, &n);
    if (page_size)
        *page_size = page;
    if (page_count)
        *page_count = n;
    return 0;
}

HX_EXPORT int HAP_query_avail_VTCM(unsigned int *avail_block_size, unsigned int *max_page_size,
                                   unsigned int *num_pages)
{
    uint32_t range = 0, page = 0, n = 0;

    if (hx_machine) {
        hx_crm_enter();
        hx_vtcm_free(&range, &page, &n);
        hx_crm_leave();
    }
    if (avail_block_size)
        *avail_block_size = range;
    if (max_page_size)
        *max_page_size = page;
    if (num_pages)
        *num_pages = n;
    return 0;
}
