/* What the compute resource manager keeps in the memory that all PDs share; under the machine's lock. */
#ifndef HX_COMPUTE_RES_STATE_H
#define HX_COMPUTE_RES_STATE_H

#include <stdint.h>

enum { HX_CRM_ENTRIES = 64 };

/* VTCM that somebody asks for, in grains of 256 KiB. */
struct hx_vtcm_want {
    uint32_t grains; /* 0: none */
    uint32_t least;  /* what does as well, <= grains */
    uint32_t page;   /* starts at a multiple of this and is one; a power of two */
};

enum hx_crm_state {
    HX_CRM_WAITS,
    HX_CRM_HOLDS,
    HX_CRM_RESTS, /* of cache mode: assigned, but not held */
};

/* A context, or a thread in HAP_request_async_VTCM(). */
struct hx_crm_entry {
    int32_t client;          /* PD, 0 = free entry */
    uint32_t id;             /* context id */
    uint8_t state;           /* enum hx_crm_state */
    uint8_t serialize;
    uint8_t cached;
    uint8_t assigned;        /* first and n are fixed from now on */
    uint8_t asked;           /* the release callback was called for this hold */
    uint8_t hmx;             /* its threads may take HMX */
    uint16_t priority;       /* 1..255, lower is more urgent */
    struct hx_vtcm_want want;
    int32_t first;           /* first grain */
    uint32_t n;              /* grains */
    uint32_t bytes;          /* of them that were asked for */
    uint64_t order;          /* when it began to wait */
    uint64_t since;          /* pcycle from which on it has waited or held */
};

struct hx_crm {
    struct hx_crm_entry entry[HX_CRM_ENTRIES];
    uint64_t order;          /* waits so far */
    uint64_t serial_free_at; /* pcycle at which the last serialized holder released */
    uint32_t last_id;
};

#endif
