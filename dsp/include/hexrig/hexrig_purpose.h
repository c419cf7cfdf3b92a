/* What a skel's memory is for, so that the rig's figures can tell weights from tables (hx_traffic.h).  It changes nothing else, costs
 * nothing in the model, and vanishes for hexagon-clang. */
#ifndef HEXRIG_PURPOSE_H
#define HEXRIG_PURPOSE_H

#include <stddef.h>

#include "hx_traffic.h"

/* Of functions that are there for the rig's figures alone: their loads and stores take no modelled time. */
#if (defined(__hexagon__) && !defined(__LP64__)) || defined(__clang__)
#define HX_FOR_FIGURES
#else
#define HX_FOR_FIGURES __attribute__((noinline, no_sanitize("kernel-address")))
#endif

#if defined(__hexagon__) && !defined(__LP64__)
static inline int hx_purpose_set(const void *p, size_t bytes, enum hx_purpose purpose)
{
    (void)p, (void)bytes, (void)purpose;
    return 0;
}
static inline void hx_purpose_needed(size_t hit_bytes, size_t miss_bytes)
{
    (void)hit_bytes, (void)miss_bytes;
}
#else
/* From now on p[bytes] is for this, until it is said to be for something else; HX_PURPOSE_OTHER: forgotten, which is due before the
 * memory goes.  Any thread.  AEE_SUCCESS; AEE_EBADPARM: no such purpose; AEE_ENOMEMORY: more than 256 pieces, and it stays unknown. */
int hx_purpose_set(const void *p, size_t bytes, enum hx_purpose purpose);

/* The calling thread's call needs weights or tables: so many bytes of them are in VTCM from calls before, so many are not. */
void hx_purpose_needed(size_t hit_bytes, size_t miss_bytes);
#endif

#endif
