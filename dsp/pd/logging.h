/* What the client's library sets of this PD's run-time FARF messages when it has a file NAME.farf: adsp_current_process1, static
 * handle 4. */
#ifndef HX_LOGGING_H
#define HX_LOGGING_H

#include "remote.h"

/* set_logging_params and set_logging_params2: the mask, 16 or 32 bits of it, and the files whose messages pass, as for
 * HAP_setFARFRuntimeLoggingParams().  AEE_SUCCESS, or AEE_DSP(AEE_EBADPARM). */
int hx_logging_set(uint32_t sc, const remote_arg *pra);

/* getASID: a number that no other PD has. */
int hx_logging_asid(uint32_t sc, const remote_arg *pra);

#endif
