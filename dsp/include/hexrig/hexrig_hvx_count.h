/* Counters of executed HVX operations, by slot class.
 *
 * An intrinsic compiled with -DHEXRIG_COUNT adds one to hx_hvx_counts of the calling thread;
 * without it nothing is emitted.  The class is the instruction-type column of the V69 table
 * (tests/oracle/hvx-v69-intrinsics.txt), so a cost model can say which unit, and how many of them,
 * an operation takes.  Vector loads and stores through plain pointers are no intrinsics and are not
 * counted here. */
#ifndef HEXRIG_HVX_COUNT_H
#define HEXRIG_HVX_COUNT_H

#include <stdint.h>

#include "hexrig_hvx_check.h"

enum hx_slot_class {
    HX_SLOT_VA,         /* CVI_VA: ALU, one vector unit */
    HX_SLOT_VA_DV,      /* ALU on a pair: two units */
    HX_SLOT_VX,         /* multiply, one of the two multiply units */
    HX_SLOT_VX_DV,      /* multiply, both multiply units */
    HX_SLOT_VX_LATE,    /* multiply unit with a late scalar source (splat, vand with R) */
    HX_SLOT_VS,         /* shift unit (also qfloat add and convert) */
    HX_SLOT_VP,         /* permute unit */
    HX_SLOT_VP_VS,      /* permute and shift units together */
    HX_SLOT_LD,         /* load */
    HX_SLOT_ST,         /* store (conditional vmem) */
    HX_SLOT_GATHER,     /* gather of one index vector */
    HX_SLOT_GATHER_DV,  /* gather with an index pair */
    HX_SLOT_SCATTER,    /* scatter of one index vector */
    HX_SLOT_SCATTER_DV, /* scatter with an index pair */
    HX_SLOT_CLASSES
};

struct hx_hvx_counts {
    uint64_t op[HX_SLOT_CLASSES]; /* operations since hx_hvx_reset() of this thread */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Lives in the DSP process and is exported to skels; initial-exec keeps the increment one
 * instruction. */
extern __thread struct hx_hvx_counts hx_hvx_counts
    __attribute__((tls_model("initial-exec"), visibility("default")));

/* Zeroes the calling thread's counters. */
void hx_hvx_reset(void) __attribute__((visibility("default")));

/* Sum over all classes. */
uint64_t hx_hvx_ops(const struct hx_hvx_counts *c) __attribute__((visibility("default")));

/* Short name of a class as used in reports ("va", "vx_dv", ...); NULL when out of range. */
const char *hx_slot_class_name(unsigned int cls) __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif

#ifdef HEXRIG_COUNT
#define HX_HVX_COUNT(cls) (HX_CHECK_CONTEXT(), (void)(hx_hvx_counts.op[HX_SLOT_##cls]++))
#else
#define HX_HVX_COUNT(cls) HX_CHECK_CONTEXT()
#endif

#endif
