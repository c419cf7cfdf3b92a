/* The checking build: what would be a fault, or silent damage, on the device stops the PD with a
 * message that names the code and the address.
 *
 * -DHEXRIG_CHECK makes every intrinsic ask whether the thread holds an HVX context, and gather and
 * scatter whether their elements lie in VTCM that the PD was granted.  Together with the flags of
 * hexrig_hvx_trace.h, accesses to VTCM outside of what the PD asked for are caught as well, and with
 * -fsanitize=alignment an HVX_Vector at an address that is not a multiple of 128. */
#ifndef HEXRIG_HVX_CHECK_H
#define HEXRIG_HVX_CHECK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stops the PD unless the calling thread holds an HVX context.  Passes where there is no machine (plain programs).
 */
void hx_check_context(const char *intrinsic) __attribute__((visibility("default")));

/* Stops the PD unless all of p[bytes] lies in VTCM granted to it; passes where there is no machine.
 */
void hx_check_vtcm(const char *intrinsic, const void *p, size_t bytes)
    __attribute__((visibility("default")));

/* `value` as an int.  Stops the PD where it has none (NaN, or out of range), which C leaves undefined; where there is no machine, it
 * saturates as the DSP does, and a NaN gives 0. */
int hx_check_int(const char *by, double value) __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif

#ifdef HEXRIG_CHECK
#define HX_CHECK_CONTEXT() hx_check_context(__func__)
#define HX_CHECK_VTCM(p, bytes) hx_check_vtcm(__func__, p, bytes)
#else
#define HX_CHECK_CONTEXT() ((void)0)
#define HX_CHECK_VTCM(p, bytes) ((void)0)
#endif

#endif
