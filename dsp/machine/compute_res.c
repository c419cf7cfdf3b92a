/* Contexts of the compute resource manager, see dsp/include/HAP_compute_res.h. */
#include "compute_res.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "qurt/qurt_wait.h"
#include "cost/vtime.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    LEAST_TIMEOUT_US = 200,
    STEP_MS = 50,     /* waits look again this often: a PD that dies may take a wake-up along */
    PATIENCE_MS = 50, /* real time that a wait has at least, see qurt_wait.h */
};

/* --- under the machine's lock ----------------------------------------------------------------------------------- */

static struct hx_crm_entry *new_entry(void)
{
    struct hx_crm *crm = &hx_machine->crm;

    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++)
        if (!crm->entry[i].client) {
            crm->entry[i] = (struct hx_crm_entry){.priority = hx_qurt_self()->priority};
            if (++crm->last_id == 0)
                crm->last_id = 1;
            crm->entry[i].id = crm->last_id;
            crm->entry[i].state = HX_CRM_WAITS;
            crm->entry[i].client = hx_vtcm_owner();
            return &crm->entry[i];
        }
    return NULL;
}

/* A context of this PD that is not just being acquired; NULL: there is none. */
static struct hx_crm_entry *find(uint32_t id)
{
    for (unsigned i = 0; id && i < HX_CRM_ENTRIES; i++) {
        struct hx_crm_entry *e = &hx_machine->crm.entry[i];

        if (e->client == hx_vtcm_owner() && e->id == id)
            return e;
    }
    return NULL;
}

static int serial_is_taken(void)
{
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++) {
        const struct hx_crm_entry *e = &hx_machine->crm.entry[i];

        if (e->client && e->serialize && e->state == HX_CRM_HOLDS)
            return 1;
    }
    return 0;
}

/* In cache mode the first acquire only finds a place. */
static int only_assigns(const struct hx_crm_entry *e)
{
    return e->cached && !e->assigned;
}

/* Whether `e` could have what it wants now; where, in *first and *n. */
static int possible(const struct hx_crm_entry *e, int *first, uint32_t *n)
{
    *first = e->first;
    *n = e->n;
    if (e->serialize && !only_assigns(e) && serial_is_taken())
        return 0;
    if (!e->want.grains)
        return 1;
    if (e->assigned)
        return hx_vtcm_is_free(e->first, e->n);
    *first = hx_vtcm_find(&e->want, only_assigns(e), n);
    return *first >= 0;
}

static int before(const struct hx_crm_entry *a, const struct hx_crm_entry *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->order < b->order;
}

/* Another entry comes first and could go on. */
static int must_yield(const struct hx_crm_entry *e)
{
    uint32_t n;
    int first;

    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++) {
        const struct hx_crm_entry *w = &hx_machine->crm.entry[i];

        if (w->client && w != e && w->state == HX_CRM_WAITS && before(w, e) &&
            possible(w, &first, &n))
            return 1;
    }
    return 0;
}

/* Pcycle from which on `e` can have it. */
static uint64_t free_at(const struct hx_crm_entry *e, int first, uint32_t n)
{
    uint64_t at;

    if (only_assigns(e))
        return 0;
    at = e->want.grains ? hx_vtcm_free_at(first, n) : 0;
    if (e->serialize && hx_machine->crm.serial_free_at > at)
        at = hx_machine->crm.serial_free_at;
    return at;
}

static void settle(struct hx_crm_entry *e, int first, uint32_t n, uint32_t context)
{
    int assigns = only_assigns(e);

    e->first = first;
    e->n = e->want.grains ? n : 0;
    if (e->bytes > e->n * HX_VTCM_GRAIN)
        e->bytes = e->n * HX_VTCM_GRAIN;
    e->assigned = 1;
    e->asked = 0;
    e->since = hx_vt_now();
    e->state = assigns ? HX_CRM_RESTS : HX_CRM_HOLDS;
    if (e->n && !assigns)
        hx_vtcm_take(first, e->n, context, e->bytes);
}

static uint64_t real_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Waits until `e` has what it wants.  0; ETIMEDOUT: `e` is as it was; ECANCELED: another thread has released `e`. */
static int wait_for(struct hx_crm_entry *e, uint32_t context, uint32_t timeout_us)
{
    uint64_t us = timeout_us && timeout_us < LEAST_TIMEOUT_US ? LEAST_TIMEOUT_US : timeout_us;
    uint64_t limit = hx_vt_now() + hx_vt_pcycles_of_ns(us * 1000);
    uint64_t real_limit = real_ms() + (us / 1000 < PATIENCE_MS ? PATIENCE_MS : us / 1000);
    uint32_t id = e->id, n;
    uint8_t state = e->state;
    int first;

    e->state = HX_CRM_WAITS;
    e->order = ++hx_machine->crm.order;
    e->since = hx_vt_now();
    while (!possible(e, &first, &n) || must_yield(e)) {
        if (!us || real_ms() >= real_limit)
            goto late;
        hx_machine_freed(); /* holders with a callback look who waits */
        hx_machine_wait(STEP_MS);
        if (e->id != id || e->client != hx_vtcm_owner())
            return ECANCELED;
    }
    if (us && free_at(e, first, n) > limit)
        goto late;
    hx_vt_reach(HX_VT_VTCM, free_at(e, first, n));
    settle(e, first, n, context);
    return 0;
late:
    if (us)
        hx_vt_reach(HX_VT_VTCM, limit);
    e->state = state;
    hx_machine_freed(); /* who had to yield to us need not any more */
    return ETIMEDOUT;
}

static void give_back(struct hx_crm_entry *e)
{
    if (e->state != HX_CRM_HOLDS)
        return;
    if (e->n)
        hx_vtcm_give(e->first, e->n);
    if (e->serialize)
        hx_machine->crm.serial_free_at = hx_vt_now();
    e->state = HX_CRM_RESTS;
    hx_machine_freed();
}

int hx_crm_wait_vtcm(const struct hx_vtcm_want *want, uint32_t bytes, uint32_t timeout_us)
{
    struct hx_crm_entry *e = new_entry();
    int first = -1;

    if (!e) {
        FARF(ERROR, "VTCM: all %d places for grants and waiting requests are taken", HX_CRM_ENTRIES);
        return -1;
    }
    e->want = *want;
    e->bytes = bytes;
    if (!wait_for(e, 0, timeout_us))
        first = e->first;
    *e = (struct hx_crm_entry){0};
    return first;
}

const struct hx_crm_entry *hx_crm_wanted_by(const struct hx_crm_entry *e)
{
    for (unsigned i = 0; e->state == HX_CRM_HOLDS && i < HX_CRM_ENTRIES; i++) {
        const struct hx_crm_entry *w = &hx_machine->crm.entry[i];

        if (w->client && w->state == HX_CRM_WAITS && w->priority < e->priority &&
            ((w->want.grains && e->n) || (w->serialize && e->serialize)))
            return w;
    }
    return NULL;
}

/* --- the published names -------------------------------------------------------------------------------------------- */

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
         a->single_page ? a->vtcm_size : a->min_page_size, HX_VTCM_BYTES);
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

EXPORT unsigned int compute_resource_acquire(compute_res_attr_t *attr, unsigned int timeout_us)
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
    hx_machine_lock();
    e = new_entry();
    no_entry = !e;
    if (e) {
        e->want = want;
        e->bytes = a.vtcm_size;
        e->serialize = a.serialize;
        e->cached = a.cached;
        if (!wait_for(e, e->id, timeout_us)) { /* nobody else knows the id yet */
            id = e->id;
            a.granted = e->bytes;
            a.vtcm = e->n ? (uintptr_t)hx_vtcm + (size_t)e->first * HX_VTCM_GRAIN : 0;
        } else {
            *e = (struct hx_crm_entry){0};
        }
    }
    all = hx_vtcm_free(NULL, NULL, NULL);
    hx_machine_unlock();
    hx_crm_attr_write(attr, &a);
    if (!id)
        log_failure(&a, no_entry, all, timeout_us);
    else if (a.callback && hx_crm_watch(id, a.callback, a.client_context))
        FARF(ERROR, "HAP_compute_res_acquire: context %u has no release callback: no room", id);
    return id;
}

EXPORT int compute_resource_release(unsigned int context_id)
{
    struct hx_crm_entry *e;

    if (!hx_machine)
        return AEE_EBADPARM;
    hx_machine_lock();
    e = find(context_id);
    if (e) {
        give_back(e);
        *e = (struct hx_crm_entry){0};
    }
    hx_machine_unlock();
    if (!e) {
        FARF(ERROR, "HAP_compute_res_release: this PD has no context %u", context_id);
        return AEE_EBADPARM;
    }
    hx_crm_unwatch(context_id);
    return 0;
}

EXPORT int compute_resource_acquire_cached(unsigned int context_id, unsigned int timeout_us)
{
    struct hx_crm_entry *e;
    int rc = AEE_EBADPARM;

    if (!hx_machine)
        return rc;
    hx_qurt_self();
    hx_machine_lock();
    e = find(context_id);
    if (e && e->cached && e->state != HX_CRM_RESTS) {
        rc = AEE_EALREADY;
    } else if (e && e->cached) {
        e->priority = hx_qurt_self()->priority;
        rc = wait_for(e, e->id, timeout_us) ? AEE_EEXPIRED : 0;
    }
    hx_machine_unlock();
    if (rc && rc != AEE_EEXPIRED)
        FARF(ERROR, "HAP_compute_res_acquire_cached: context %u is %s", context_id,
             rc == AEE_EALREADY ? "held already" : "none of this PD in cache mode");
    return rc;
}

EXPORT int compute_resource_release_cached(unsigned int context_id)
{
    struct hx_crm_entry *e;
    int rc = AEE_EBADPARM;

    if (!hx_machine)
        return rc;
    hx_machine_lock();
    e = find(context_id);
    if (e && e->cached) {
        rc = e->state == HX_CRM_HOLDS ? 0 : AEE_EBADSTATE;
        give_back(e);
    }
    hx_machine_unlock();
    if (rc == AEE_EBADPARM)
        FARF(ERROR, "HAP_compute_res_release_cached: context %u is none of this PD in cache mode",
             context_id);
    return rc;
}

EXPORT int compute_resource_check_release_request(unsigned int context_id)
{
    struct hx_crm_entry *e;
    int rc = AEE_EBADPARM;

    if (!hx_machine)
        return rc;
    hx_machine_lock();
    e = find(context_id);
    if (e)
        rc = hx_crm_wanted_by(e) != NULL;
    hx_machine_unlock();
    return rc;
}

EXPORT int compute_resource_update_priority(unsigned int context_id, unsigned short priority)
{
    struct hx_crm_entry *e = NULL;

    if (!hx_machine || priority > 255)
        return AEE_EBADPARM;
    if (!priority)
        priority = hx_qurt_self()->priority;
    hx_machine_lock();
    e = find(context_id);
    if (e)
        e->priority = priority;
    hx_machine_unlock();
    return e ? 0 : AEE_EBADPARM;
}

EXPORT int compute_resource_hmx_lock(unsigned int context_id)
{
    FARF(ERROR, "HAP_compute_res_hmx_lock: context %u: V69 has no HMX for skels", context_id);
    return (int)HAP_COMPUTE_RES_NOT_SUPPORTED;
}

EXPORT int compute_resource_hmx_unlock(unsigned int context_id)
{
    (void)context_id;
    return (int)HAP_COMPUTE_RES_NOT_SUPPORTED;
}
