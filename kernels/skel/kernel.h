/* What the hot paths of kernels share: how a function is charged, and a few lines of HVX.
 *
 * Every function on a hot path is charged by its Hexagon listing (hexrig_code.h), hence HX_KERNEL and HX_INLINE: one
 * listing per function, its helpers inside, at -O0 too.  Kernels borrow their buffers for the call, allocate and keep
 * nothing, and may run on any thread; those of files *_hvx.c need an HVX context.
 *
 * Everything in kernels/ returns plain AEE codes, or nothing when it cannot fail; the skel that hexidl generates adds
 * the DSP's offset to a method's result (docs/idl.md). */
#ifndef HX_KERNEL_H
#define HX_KERNEL_H

#include <stdint.h>

#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>

#include "AEEStdErr.h"
#include "hexrig_code.h"

#define HX_KERNEL __attribute__((noinline))
#define HX_INLINE static inline __attribute__((always_inline))

enum { HX_VECTOR_BYTES = 128, HX_VECTOR_WORDS = 32 };

/* Lane 0, through the stack as the published kernels do it; without volatile the compiler would extract it. */
HX_INLINE int32_t hx_spill_lane0(HVX_Vector v)
{
    union {
        HVX_Vector v;
        int32_t w[HX_VECTOR_WORDS];
    } tile;

    tile.v = v;
    return *(volatile int32_t *)&tile.w[0];
}

/* Sum of all words, in every lane. */
HX_INLINE HVX_Vector hx_sum_words(HVX_Vector v)
{
    v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, 64));
    v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, 32));
    v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, 16));
    v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, 8));
    return Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, 4));
}

HX_INLINE int hx_is_aligned(const void *p)
{
    return (uintptr_t)p % HX_VECTOR_BYTES == 0;
}

#endif
