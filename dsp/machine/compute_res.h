/* The compute resource manager's parts, see dsp/include/HAP_compute_res.h. */
#ifndef HX_COMPUTE_RES_H
#define HX_COMPUTE_RES_H

#include "HAP_compute_res.h"
#include "vtcm.h"

/* What lies in a compute_res_attr_t. */
struct hx_crm_attr {
    uint32_t magic;
    uint8_t single_page, serialize, cached, reserved;
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

/* Takes VTCM for HAP_request_VTCM().  First grain, or -1: not within timeout_us.  Under the machine's lock. */
int hx_crm_wait_vtcm(const struct hx_vtcm_want *want, uint32_t bytes, uint32_t timeout_us);

/* A more urgent entry that waits for what `e` holds; NULL: none.  Under the machine's lock. */
const struct hx_crm_entry *hx_crm_wanted_by(const struct hx_crm_entry *e);

/* Keeps the callback of a context of this PD until its end; starts the thread that calls.  0, or -1: no room. */
int hx_crm_watch(uint32_t context, int (*callback)(unsigned int context_id, void *client_context),
                 void *client_context);
void hx_crm_unwatch(uint32_t context);

#endif
