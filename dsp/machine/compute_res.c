/* Acquiring and releasing contexts of the compute resource manager: the published functions. */
#include "compute_res.h"

#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "hmx.h"
#include "qurt/qurt_wait.h"
#include "cost/vtime.h"

/* Says why a request can never be met. */
static int impossible(const struct hx_crm_attr *a, struct hx_vtcm_want *want)
{
    *want = (struct hx_vtcm_want){0};
    if (!a->vtcm_size ||
        !hx_vtcm_want(want, a->vtcm_size, a->single_page, a->min_page_size, a->min_vtcm_size))
        return 0;
    FARF(ERROR,
         "HAP_compute_res_acquire: need %u bytes of VTCM in pages of %u, there are %u bytes in all",
         a->min_vtcm_size ? a->min_vtcm_size : a->vtcm_size,
         a->single_page ? a->vtcm_size : a->min_page_size, hx_vtcm_total(NULL, NULL));
    return 1;
}

static void log_failure(const struct hx_crm_attr *a, int no_entry, uint32_t all,
                        uint32_t timeout_us)
{
    if (no_entry)
        FARF(ERROR, "HAP_compute_res_acquire: %d contexts exist already", HX_CRM_ENTRIES);
    else
        FARF(HIGH, "HAP_compute_res_acquire: need %u bytes of VTCM%s, %u free, not within %u us",
             a->vtcm_size, a->serialize ? " and the serial turn" : "", all, timeout_us);
}

HX_EXPORT unsigned int compute_resource_acquire(compute_res_attr_t *attr, unsigned int timeout_us)
{
    struct hx_crm_entry *e;
    struct hx_vtcm_want want;
    struct hx_crm_attr a;
    uint32_t id = 0, all;
    int no_entry;

    if (!hx_machine || hx_crm_attr_read(attr, &a, "HAP_compute_res_acquire") ||
        impossible(&a, &want))
        return 0;
    hx_qurt_self();
    if (want.grains)
        hx_vt_spend(HX_VT_CODE, hx_machine->cost.vtcm_request_pcycles);
    a.vtcm = a.granted = 0;
    hx_crm_enter();
    e = hx_crm_new_entry();
    no_entry = !e;
    if (e) {
        e->want = want;
        e->bytes = a.vtcm_size;
        e->serialize = a.serialize;
        e->cached = a.cached;
        e->hmx = a.hmx;
        if (!hx_crm_wait(e, e->id, timeout_us)) { /* nobody else knows the id yet */
            id = e->id;
            a.granted = e->bytes;
            a.vtcm = e->n && hx_vtcm_exists(e->first, e->n) ? (uintptr_t)hx_vtcm + (size_t)e->first * HX_VTCM_GRAIN : 0;
        } else {
            *e = (struct hx_crm_entry){0};
        }
    }
    all = hx_vtcm_free(NULL, NULL, NULL);
    hx_crm_leave();
    hx_crm_attr_write(attr, &a);
    if (!id)
        log_failure(&a, no_entry, all, timeout_us);
    else if (a.callback && hx_crm_watch(id, a.callback, a.client_context))
        FARF(ERROR, "HAP_compute_res_acquire: context %u has no release callback: no room", id);
    return id;
}

HX_EXPORT int compute_resource_release(unsigned int context_id)
{
    struct hx_crm_entry *e;

    if (!hx_machine)
        return AEE_EBADPARM;
    hx_crm_enter();
    e = hx_crm_find(context_id);
    if (e) {
        if (e->want.grains)
            hx_vt_spend(HX_VT_CODE, hx_machine->cost.vtcm_release_pcycles);
        hx_crm_give_back(e);
        *e = (struct hx_crm_entry){0};
    }
    hx_crm_leave();
    if (!e) {
        FARF(ERROR, "HAP_compute_res_release: this PD has no context %u", context_id);
        return AEE_EBADPARM;
    }
    hx_crm_unwatch(context_id);
    return 0;
}

HX_EXPORT int compute_resource_acquire_cached(unsigned int context_id, unsigned int timeout_us)
{
    struct hx_crm_entry *e;
    int rc = AEE_EBADPARM;

    if (!hx_machine)
        return rc;
    hx_qurt_self();
    hx_crm_enter();
    e = hx_crm_find(context_id);
    if (e && e->cached && e->state != HX_CRM_RESTS) {
        rc = AEE_EALREADY;
    } else if (e && e->cached) {
        e->priority = hx_qurt_self()->priority;
        rc = hx_crm_wait(e, e->id, timeout_us) ? AEE_EEXPIRED : 0;
    }
    hx_crm_leave();
    if (rc && rc != AEE_EEXPIRED)
        FARF(ERROR, "HAP_compute_res_acquire_cached: context %u is %s", context_id,
             rc == AEE_EALREADY ? "held already" : "none of this PD in cache mode");
    return rc;
}

HX_EXPORT int compute_resource_release_cached(unsigned int context_id)
{
    struct hx_crm_entry *e;
    int rc = AEE_EBADPARM;

    if (!hx_machine)
        return rc;
    hx_crm_enter();
    e = hx_crm_find(context_id);
    if (e && e->cached) {
        rc = e->state == HX_CRM_HOLDS ? 0 : AEE_EBADSTATE;
        hx_crm_give_back(e);
    }
    hx_crm_leave();
    if (rc == AEE_EBADPARM)
        FARF(ERROR, "HAP_compute_res_release_cached: context %u is none of this PD in cache mode",
             context_id);
    return rc;
}

HX_EXPORT int compute_resource_check_release_request(unsigned int context_id)
{
    struct hx_crm_entry *e;
    int rc = AEE_EBADPARM;

    if (!hx_machine)
        return rc;
    hx_crm_enter();
    e = hx_crm_find(context_id);
    if (e)
        rc = hx_crm_wanted_by(e) != NULL;
    hx_crm_leave();
    return rc;
}

HX_EXPORT int compute_resource_update_priority(unsigned int context_id, unsigned short priority)
{
    struct hx_crm_entry *e = NULL;

    if (!hx_machine || priority > 255)
        return AEE_EBADPARM;
    if (!priority)
        priority = hx_qurt_self()->priority;
    hx_crm_enter();
    e = hx_crm_find(context_id);
    if (e) {
        e->priority = priority;
        hx_crm_changed();
    }
    hx_crm_leave();
    return e ? 0 : AEE_EBADPARM;
}

/* 0, or why no thread may take HMX by this context. */
static int check_hmx(const char *what, unsigned int context_id)
{
    const struct hx_crm_entry *e;
    int may;

    if (!hx_machine || !hx_machine->hmx) {
        FARF(ERROR, "%s: context %u: V69 has no HMX for skels", what, context_id);
        return (int)HAP_COMPUTE_RES_NOT_SUPPORTED;
    }
    hx_qurt_self();
    hx_crm_enter();
    e = hx_crm_find(context_id);
    may = e && e->hmx;
    hx_crm_leave();
    if (may)
        return 0;
    FARF(ERROR, "%s: context %u is none of this PD with HMX (HAP_compute_res_attr_set_hmx_param)", what, context_id);
    return AEE_EBADPARM;
}

HX_EXPORT int compute_resource_hmx_lock(unsigned int context_id)
{
    int rc = check_hmx("HAP_compute_res_hmx_lock", context_id);

    if (rc)
        return rc;
    rc = hx_hmx_lock();
    if (rc)
        FARF(ERROR, "HAP_compute_res_hmx_lock: this thread has HMX already");
    return rc;
}

HX_EXPORT int compute_resource_hmx_unlock(unsigned int context_id)
{
    int rc = check_hmx("HAP_compute_res_hmx_unlock", context_id);

    if (rc)
        return rc;
    rc = hx_hmx_unlock();
    if (rc)
        FARF(ERROR, "HAP_compute_res_hmx_unlock: this thread does not have HMX");
    return rc;
}

HX_EXPORT int compute_resource_hmx_lock2(unsigned int context_id, compute_res_hmx_type_t type)
{
    return type == HAP_COMPUTE_RES_HMX_NON_SHARED ? compute_resource_hmx_lock(context_id) : (int)HAP_COMPUTE_RES_NOT_SUPPORTED;
}

HX_EXPORT int compute_resource_hmx_unlock2(unsigned int context_id, compute_res_hmx_type_t type)
{
    return type == HAP_COMPUTE_RES_HMX_NON_SHARED ? compute_resource_hmx_unlock(context_id) : (int)HAP_COMPUTE_RES_NOT_SUPPORTED;
}
