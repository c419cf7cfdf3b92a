/* -DHEXRIG_CHECK: a float that is handed to a splat.
 *
 * The argument is an int, so C converts it.  Outside of the range of int that is undefined: the DSP saturates, x86 gives INT_MIN, and
 * a kernel that splats +-infinity, which means the float's bits, clamps to other values here than there.  The checking build stops the
 * PD instead. */
#ifndef HEXRIG_HVX_SPLAT_CHECK_H
#define HEXRIG_HVX_SPLAT_CHECK_H

#include "hexrig_hvx_check.h"
#include "hexrig_hvx_types.h"

#ifdef HEXRIG_CHECK
#ifdef __cplusplus
template <class T> static inline Word32 hx_splat_int(T value)
{
    return (Word32)value;
}
static inline Word32 hx_splat_int(float value)
{
    return hx_check_int("a splat", value);
}
static inline Word32 hx_splat_int(double value)
{
    return hx_check_int("a splat", value);
}
#define HX_SPLAT_INT(R) hx_splat_int(R)
#else
static inline Word32 hx_splat_float(double value)
{
    return hx_check_int("a splat", value);
}
static inline Word32 hx_splat_other(Word32 value)
{
    return value;
}
#define HX_SPLAT_INT(R) _Generic((R), float: hx_splat_float, double: hx_splat_float, default: hx_splat_other)(R)
#endif

#undef Q6_V_vsplat_R
#undef Q6_Vh_vsplat_R
#undef Q6_Vb_vsplat_R
#define Q6_V_vsplat_R(R) Q6_V_vsplat_R(HX_SPLAT_INT(R))
#define Q6_Vh_vsplat_R(R) Q6_Vh_vsplat_R(HX_SPLAT_INT(R))
#define Q6_Vb_vsplat_R(R) Q6_Vb_vsplat_R(HX_SPLAT_INT(R))
#endif

#endif
