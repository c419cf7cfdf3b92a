/* The line for VTCM and for serial use: by priority, then by arrival, which for the threads of a call is the order of virtual time.
 * Everything here runs under the machine's lock, in an operation. */
#include <errno.h>
#include <time.h>

#include "HAP_farf.h"
#include "compute_res.h"
#include "cost/turns.h"
#include "cost/vtime.h"
#include "qurt/qurt_wait.h"

enum {
    LEAST_TIMEOUT_US = 200,
    STEP_MS = 50,     /* waiters check this often: a PD that dies may take a wake-up with it */
    PATIENCE_MS = 50, /* real time that a wait has at least, see qurt_wait.h */
};

/* Threads of this PD that wait here; under the machine's lock. */
struct waiter {
    struct waiter *next;
    struct hx_place *place;
};
static struct waiter *line;

void hx_crm_enter(void)
{
    hx_vt_order_begin();
    hx_machine_lock();
}

void hx_crm_leave(void)
{
    hx_machine_unlock();
    hx_vt_order_end();
}

void hx_crm_changed(void)
{
    for (struct waiter *w = line; w; w = w->next)
        if (hx_turns_together(w->place, hx_turns_place()))
            hx_turns_wake(w->place, 0, 0);
}

struct hx_crm_entry *hx_crm_new_entry(void)
{
    struct hx_crm *crm = hx_machine->crm;

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

struct hx_crm_entry *hx_crm_find(uint32_t id)
{
    for (unsigned i = 0; id && i < HX_CRM_ENTRIES; i++) {
        struct hx_crm_entry *e = &hx_machine->crm->entry[i];

        if (e->client == hx_vtcm_owner() && e->id == id)
            return e;
    }
    return NULL;
}

static int serial_is_taken(void)
{
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++) {
        const struct hx_crm_entry *e = &hx_machine->crm->entry[i];

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
    const struct hx_vtcm_want want = e->want; /* any PD may write there */

    *first = e->first;
    *n = e->n;
    if (e->serialize && !only_assigns(e) && serial_is_taken())
        return 0;
    if (!want.grains)
        return 1;
    if (e->assigned)
        return hx_vtcm_is_free(*first, *n);
    if (!hx_vtcm_can_be(&want))
        return 0;
    *first = hx_vtcm_find(&want, only_assigns(e), n);
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
        const struct hx_crm_entry *w = &hx_machine->crm->entry[i];

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
    if (e->serialize && hx_machine->crm->serial_free_at > at)
        at = hx_machine->crm->serial_free_at;
    return at;
}

static void grant(struct hx_crm_entry *e, int first, uint32_t n, uint32_t context)
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

static int is_next(const struct hx_crm_entry *e, int *first, uint32_t *n)
{
    return possible(e, first, n) && !must_yield(e);
}

/* Whether `e` is still what the calling thread has asked for. */
static int is_same(const struct hx_crm_entry *e, uint32_t id)
{
    return e->id == id && e->client == hx_vtcm_owner();
}

static void leave_line(const struct waiter *w)
{
    struct waiter **at = &line;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

/* Gives the lock away until there may be something for `e`, and is in an operation again.  1: in vain, until real_limit has come
 * and the threads of the call have reached the pcycle `limit`. */
static int wait_for_change(const struct hx_crm_entry *e, uint64_t limit, uint64_t real_limit)
{
    struct waiter w = {line, hx_turns_place()};
    const uint32_t id = e->id;
    uint32_t n;
    int first, late;

    line = &w;
    hx_turns_block(limit);
    hx_machine_freed(); /* holders with a callback check who waits */
    do {
        hx_machine_wait(STEP_MS);
        late = real_ms() >= real_limit;
    } while (!late && !hx_turns_woken() && is_same(e, id) && !is_next(e, &first, &n));
    leave_line(&w);
    hx_machine_unlock();
    if (late)
        hx_turns_resume(limit);
    else
        hx_vt_order_begin();
    hx_machine_lock();
    return late;
}

int hx_crm_wait(struct hx_crm_entry *e, uint32_t context, uint32_t timeout_us)
{
    uint64_t us = timeout_us && timeout_us < LEAST_TIMEOUT_US ? LEAST_TIMEOUT_US : timeout_us;
    uint64_t limit = hx_vt_now() + hx_vt_pcycles_of_ns(us * 1000);
    uint64_t real_limit = real_ms() + (us / 1000 < PATIENCE_MS ? PATIENCE_MS : us / 1000);
    uint32_t id = e->id, n;
    uint8_t state = e->state;
    int first, in_vain = 0;

    e->state = HX_CRM_WAITS;
    e->order = ++hx_machine->crm->order;
    e->since = hx_vt_now();
    while (!is_next(e, &first, &n)) {
        if (!us || in_vain)
            goto late;
        in_vain = wait_for_change(e, limit, real_limit);
        if (!is_same(e, id))
            return ECANCELED;
    }
    if (us && free_at(e, first, n) > limit)
        goto late;
    hx_vt_reach(HX_VT_VTCM, free_at(e, first, n));
    grant(e, first, n, context);
    return 0;
late:
    if (us)
        hx_vt_reach(HX_VT_VTCM, limit);
    e->state = state;
    hx_crm_changed();
    hx_machine_freed(); /* those who had to yield to us no longer have to */
    return ETIMEDOUT;
}

void hx_crm_give_back(struct hx_crm_entry *e)
{
    if (e->state != HX_CRM_HOLDS)
        return;
    if (e->n)
        hx_vtcm_give(e->first, e->n);
    if (e->serialize)
        hx_machine->crm->serial_free_at = hx_vt_now();
    e->state = HX_CRM_RESTS;
    hx_crm_changed();
    hx_machine_freed();
}

int hx_crm_wait_vtcm(const struct hx_vtcm_want *want, uint32_t bytes, uint32_t timeout_us)
{
    struct hx_crm_entry *e = hx_crm_new_entry();
    int first = -1;

    if (!e) {
        FARF(ERROR, "VTCM: all %d places for grants and waiting requests are taken", HX_CRM_ENTRIES);
        return -1;
    }
    e->want = *want;
    e->bytes = bytes;
    if (!hx_crm_wait(e, 0, timeout_us) && hx_vtcm_exists(e->first, 1))
        first = e->first;
    *e = (struct hx_crm_entry){0};
    return first;
}

const struct hx_crm_entry *hx_crm_wanted_by(const struct hx_crm_entry *e)
{
    for (unsigned i = 0; e->state == HX_CRM_HOLDS && i < HX_CRM_ENTRIES; i++) {
        const struct hx_crm_entry *w = &hx_machine->crm->entry[i];

        if (w->client && w->state == HX_CRM_WAITS && w->priority < e->priority &&
            ((w->want.grains && e->n) || (w->serialize && e->serialize)))
            return w;
    }
    return NULL;
}
