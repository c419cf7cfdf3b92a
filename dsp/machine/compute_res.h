/* What the parts of the compute resource manager share: attributes, entries and waiting, release callbacks. */
#ifndef HX_COMPUTE_RES_H
#define HX_COMPUTE_RES_H

#include "HAP_compute_res.h"
#include "vtcm.h"

/* What lies in a compute_res_attr_t. */
struct hx_crm_attr {
    uint32_t magic;
    uint8_t single_page, serialize, cached, hmx;
    uint32_t vtcm_size, min_page_size, min_vtcm_size; /* bytes; 0: as in the published functions */
    uint32_t granted;                                 /* bytes, set by acquire */
    uint64_t vtcm;                                    /* address, set by acquire */
    int (*callback)(unsigned int context_id, void *client_context);
    void *client_context;
};
_Static_assert(sizeof(struct hx_crm_attr) <= sizeof(compute_res_attr_t), "the attribute holds it");

/* 0, or AEE_EBADPARM with a line in the log: the attribute was not initialised. */
int hx_crm_attr_read(const compute_res_attr_t *attr, struct hx_crm_attr *a, const char *what);
void hx_crm_attr_write(compute_res_attr_t *attr, const struct hx_crm_attr *a);

/* An operation in the order of virtual time (dsp/cost/turns.h), under the machine's lock. */
void hx_crm_enter(void);
void hx_crm_leave(void);

/* --- entries of the machine's table; all between these two */

/* An entry of this PD that waits; NULL: all are taken. */
struct hx_crm_entry *hx_crm_new_entry(void);

/* A context of this PD that is not just being acquired; NULL: there is none. */
struct hx_crm_entry *hx_crm_find(uint32_t id);

/* Waits until `e` has what it wants.  VTCM then belongs to `context`.  0; ETIMEDOUT: `e` is as it was; ECANCELED: another
 * thread has released `e`. */
int hx_crm_wait(struct hx_crm_entry *e, uint32_t context, uint32_t timeout_us);

/* Something was given back, or somebody is no longer in the line: the waiting threads of this call look again, in their order. */
void hx_crm_changed(void);

/* Ends a hold, if there is one; the entry stays assigned. */
void hx_crm_give_back(struct hx_crm_entry *e);

/* Takes VTCM for HAP_request_VTCM().  First grain, or -1: not within timeout_us. */
int hx_crm_wait_vtcm(const struct hx_vtcm_want *want, uint32_t bytes, uint32_t timeout_us);

/* A more urgent entry that waits for what `e` holds; NULL: none. */
const struct hx_crm_entry *hx_crm_wanted_by(const struct hx_crm_entry *e);

/* --- release callbacks */

/* Keeps the callback of a context of this PD until its end; starts the thread that calls.  0, or -1: no room. */
int hx_crm_watch(uint32_t context, int (*callback)(unsigned int context_id, void *client_context),
                 void *client_context);
void hx_crm_unwatch(uint32_t context);

#endif
