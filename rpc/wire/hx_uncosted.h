/* What of a PD's code the cost model could only estimate, or not cost at all: one entry for each function, or for a library of
 * which no more is known.  The PD writes it behind its channel's rings (hx_ring.h), the driver reads it when somebody asks
 * (node `uncosted`); nothing here is trusted. */
#ifndef HX_UNCOSTED_H
#define HX_UNCOSTED_H

#include <stdatomic.h>
#include <stdint.h>

enum { HX_UNCOSTED_MAX = 16, HX_UNCOSTED_NAME = 64, HX_UNCOSTED_REASON = 96 };

struct hx_uncosted {
    char name[HX_UNCOSTED_NAME];     /* library:function, or library; ends with 0 */
    char reason[HX_UNCOSTED_REASON]; /* one line; ends with 0 */
    _Atomic uint64_t pcycles;        /* that were charged for it by an estimate; 0: it was free */
    _Atomic uint64_t hvx_ops;        /* HVX operations in it */
    _Atomic uint64_t host_ns;        /* of the host's processor, where nothing better is known: an order of magnitude */
};

struct hx_uncosted_table {
    _Atomic uint32_t n;    /* entries that are complete, at most HX_UNCOSTED_MAX */
    _Atomic uint32_t more; /* that found no room */
    struct hx_uncosted entry[HX_UNCOSTED_MAX];
};

#endif
