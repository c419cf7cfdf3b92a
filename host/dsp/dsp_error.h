/* Says in one line what a failed DSP call was: the call, the name of its AEE code, the device, and what such a code usually
 * means there. */
#ifndef HX_DSP_ERROR_H
#define HX_DSP_ERROR_H

#include <stddef.h>

#include "base/error.h"

enum hx_dsp_step {
    HX_DSP_OPEN, /* opening an interface: nothing has answered yet */
    HX_DSP_CALL, /* a call on an open interface */
};

/* Path of the device that this process talks to, after hx_rig_connect(); "?" when it is not known. */
void hx_dsp_node(char *node, size_t node_bytes);

/* Stores "MESSAGE: AEE_NAME (0xCODE), device NODE: MEANING" and returns -EIO. */
int hx_dsp_error(struct hx_error *err, enum hx_dsp_step step, const char *node, int code,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
