/* Attributes of compute resource requests, and queries of what is free: the published functions. */
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "base/export.h"
#include "compute_res.h"

#define MAGIC 0x43524d31u

int hx_crm_attr_read(const compute_res_attr_t *attr, struct hx_crm_attr *a, const char *what)
{
    if (attr)
        memcpy(a, attr, sizeof(*a));
    if (attr && a->magic == MAGIC)
        return 0;
    FARF(ERROR, "%s: HAP_compute_res_attr_init() was not called on attribute %p", what,
         (const void *)attr);
    return AEE_EBADPARM;
}

void hx_crm_attr_write(compute_res_attr_t *attr, const struct hx_crm_attr *a)
{
    memcpy(attr, a, sizeof(*a));
}

HX_EXPORT int compute_resource_attr_init(compute_res_attr_t *attr)
{
    const struct hx_crm_attr a = {.magic = MAGIC};

    if (!attr)
        return AEE_EBADPARM;
    memset(attr, 0, sizeof(*attr));
    hx_crm_attr_write(attr, &a);
    return 0;
}

HX_EXPORT int compute_resource_attr_set_serialize(compute_res_attr_t *attr, unsigned char b_enable)
{
    struct hx_crm_attr a;
    int rc = hx_crm_attr_read(attr, &a, "HAP_compute_res_attr_set_serialize");

    if (!rc) {
        a.serialize = b_enable != 0;
        hx_crm_attr_write(attr, &a);
    }
    return rc;
}

HX_EXPORT int compute_resource_attr_set_cache_mode(compute_res_attr_t *attr, unsigned char b_enable)
{
    struct hx_crm_attr a;
    int rc = hx_crm_attr_read(attr, &a, "HAP_compute_res_attr_set_cache_mode");

    if (!rc) {
        a.cached = b_enable != 0;
        hx_crm_attr_write(attr, &a);
    }
    return rc;
}

HX_EXPORT int compute_resource_attr_set_vtcm_param(compute_res_attr_t *attr, unsigned int vtcm_size,
                                                   unsigned char b_single_page)
{
    struct hx_crm_attr a;
    int rc = hx_crm_attr_read(attr, &a, "HAP_compute_res_attr_set_vtcm_param");

    if (!rc) {
        a.vtcm_size = vtcm_size;
        a.single_page = b_single_page != 0;
        a.min_page_size = a.min_vtcm_size = 0;
        hx_crm_attr_write(attr, &a);
    }
    return rc;
}

HX_EXPORT int compute_resource_attr_set_vtcm_param_v2(compute_res_attr_t *attr, unsigned int vtcm_size,
                                                      unsigned int min_page_size,
                                                      unsigned int min_vtcm_size)
{
    struct hx_crm_attr a;
    int rc = hx_crm_attr_read(attr, &a, "HAP_compute_res_attr_set_vtcm_param_v2");

    if (!rc && min_vtcm_size > vtcm_size)
        rc = AEE_EBADPARM;
    if (!rc) {
        a.vtcm_size = vtcm_size;
        a.single_page = 0;
        a.min_page_size = min_page_size;
        a.min_vtcm_size = min_vtcm_size;
        hx_crm_attr_write(attr, &a);
    }
    return rc;
}

HX_EXPORT int compute_resource_attr_set_hmx_param(compute_res_attr_t *attr, unsigned char b_enable)
{
    struct hx_crm_attr a;
    int rc = hx_crm_attr_read(attr, &a, "HAP_compute_res_attr_set_hmx_param");

    if (!rc && b_enable && !(hx_machine && hx_machine->hmx))
        return (int)HAP_COMPUTE_RES_NOT_SUPPORTED;
    if (!rc) {
        a.hmx = b_enable != 0;
        hx_crm_attr_write(attr, &a);
    }
    return rc;
}

HX_EXPORT int compute_resource_attr_set_app_type(compute_res_attr_t *attr, unsigned int application_id)
{
    struct hx_crm_attr a;

    (void)application_id;
    return hx_crm_attr_read(attr, &a, "HAP_compute_res_attr_set_app_type");
}

HX_EXPORT int compute_resource_attr_set_release_callback(
    compute_res_attr_t *attr,
    int (*release_callback)(unsigned int context_id, void *client_context), void *client_context)
{
    struct hx_crm_attr a;
    int rc = hx_crm_attr_read(attr, &a, "HAP_compute_res_attr_set_release_callback");

    if (!rc) {
        a.callback = release_callback;
        a.client_context = client_context;
        hx_crm_attr_write(attr, &a);
    }
    return rc;
}

HX_EXPORT int compute_resource_attr_get_vtcm_ptr_v2(compute_res_attr_t *attr, void **vtcm_ptr,
                                                    unsigned int *vtcm_size)
{
    struct hx_crm_attr a;
    int rc = hx_crm_attr_read(attr, &a, "HAP_compute_res_attr_get_vtcm_ptr_v2");

    *vtcm_ptr = rc ? NULL : (void *)(uintptr_t)a.vtcm;
    *vtcm_size = rc ? 0 : a.granted;
    return rc;
}

HX_EXPORT void *compute_resource_attr_get_vtcm_ptr(compute_res_attr_t *attr)
{
    unsigned size;
    void *p;

    compute_resource_attr_get_vtcm_ptr_v2(attr, &p, &size);
    return p;
}

static void describe(compute_res_vtcm_page_t *layout, uint32_t bytes, uint32_t page, uint32_t n)
{
    if (!layout)
        return;
    memset(layout, 0, sizeof(*layout));
    layout->block_size = bytes;
    if (n)
        layout->page_list[layout->page_list_len++] = (compute_res_vtcm_page_def_t){page, n};
    bytes -= page * n; /* what is left at the range's ends is made of the smallest pages */
    if (bytes)
        layout->page_list[layout->page_list_len++] =
            (compute_res_vtcm_page_def_t){HX_VTCM_GRAIN, bytes / HX_VTCM_GRAIN};
}

HX_EXPORT int compute_resource_query_VTCM(unsigned int application_id, unsigned int *total_block_size,
                                          compute_res_vtcm_page_t *total_block_layout,
                                          unsigned int *avail_block_size,
                                          compute_res_vtcm_page_t *avail_block_layout)
{
    uint32_t range, page, n, all, all_page, all_n;

    (void)application_id;
    if (!hx_machine)
        return AEE_EFAILED;
    all = hx_vtcm_total(&all_page, &all_n);
    hx_machine_lock();
    hx_vtcm_free(&range, &page, &n);
    hx_machine_unlock();
    if (total_block_size)
        *total_block_size = all;
    if (avail_block_size)
        *avail_block_size = range;
    describe(total_block_layout, all, all_page, all_n);
    describe(avail_block_layout, range, page, n);
    return 0;
}
