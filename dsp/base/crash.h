/* Says where a skel crashed before its PD ends (rpc/wire/hx_crash.h). */
#ifndef HX_DSP_CRASH_H
#define HX_DSP_CRASH_H

#include <stdint.h>

#include "hx_crash.h"

/* From now on a fatal signal of this PD is told to the driver, then does what it always does.  A skel that handles one itself keeps
 * it.  `told` is shared with the driver, control_fd the PD's control socket; both stay.  Before the first skel and thread.
 * Sanitizer builds report themselves, and there this does nothing. */
void hx_crash_open(struct hx_crash *told, int control_fd);

/* The calling thread gets a stack for the handler, so that it can tell of a stack that overflowed; and gives it back. */
void hx_crash_thread_begin(void);
void hx_crash_thread_end(void);

/* The call that the calling thread serves from now on, by its context id; 0: none. */
void hx_crash_serves(unsigned ctx_id);

#endif
