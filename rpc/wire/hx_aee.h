/* The one place where error codes are translated: errno (host, driver), AEE (clients, skels) and AEE + AEE_DSP_OFFSET (made
 * by framework code on the DSP).
 *
 * A driver call's result is one int, as the kernel sees it: >= 0 is the result itself (for INVOKE the skel's code),
 * -1..-4095 is a negative errno, anything below is a DSP code such as 0x80000414 that travels untouched.
 * Source: convert_kernel_to_user_error() of qualcomm/fastrpc.  All functions are pure. */
#ifndef HX_AEE_H
#define HX_AEE_H

#include <stddef.h>

#include "AEEStdErr.h"

#define HX_ERRNO_MAX 4095

/* AEE code of a positive errno; 0 -> AEE_SUCCESS.  What the real library does not know, and ENOENT and EBUSY (a missing
 * break there), become AEE_ERPC. */
int hx_aee_from_errno(int err);

/* AEE code of a driver call's result as described above. */
int hx_aee_from_result(int result);

/* 1 when the code carries AEE_DSP_OFFSET. */
int hx_aee_is_dsp(int aee);

/* The code without AEE_DSP_OFFSET. */
int hx_aee_base(int aee);

/* "AEE_EUNSUPPORTED" for 0x14 and 0x80000414; NULL for a code that has no name. */
const char *hx_aee_name(int aee);

/* "AEE_EUNSUPPORTED (0x80000414, from the DSP)", "error 0x77", ...: for messages.  Returns buf, always terminated. */
char *hx_aee_text(int aee, char *buf, size_t buf_bytes);

#endif
