/* Who holds which VTCM: memory that the driver makes and the DSP process maps at its start.  The PDs keep it, under the machine's
 * lock (dsp/base/machine.h); the driver reads it for the node `vtcm`, without a lock, and trusts nothing in it. */
#ifndef HX_VTCM_TABLE_H
#define HX_VTCM_TABLE_H

#include <stdint.h>

enum {
    HX_VTCM_BYTES = 8 << 20,        /* of a V69 CDSP */
    HX_VTCM_GRAIN = 256 << 10,      /* its smallest page */
    HX_VTCM_GRAINS = HX_VTCM_BYTES / HX_VTCM_GRAIN,
};

struct hx_vtcm_grain {
    int32_t client;   /* PD that holds the grain, 0 = free, -1 = the root PD */
    int32_t first;    /* first grain of its grant */
    uint32_t bytes;   /* of the first grain: what was asked for */
    uint32_t context; /* compute resource context that holds it, 0 = HAP_request_VTCM() */
    uint64_t free_at; /* pcycle at which its last holder gave it back */
};

struct hx_vtcm_table {
    struct hx_vtcm_grain grain[HX_VTCM_GRAINS];
};

_Static_assert(sizeof(struct hx_vtcm_table) == 24 * HX_VTCM_GRAINS, "VTCM table");

#endif
