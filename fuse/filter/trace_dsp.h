/* What the DSP says about a call (rpc/wire/hx_trace.h), as slices of a trace file. */
#ifndef HX_TRACE_DSP_H
#define HX_TRACE_DSP_H

#include "hx_trace.h"
#include "trace_file.h"

#define HX_TRACE_PCYCLES_MAX (UINT64_C(1) << 50) /* a week; keeps sums of ns in range */

/* The call that a block is about. */
struct hx_trace_call {
    unsigned session;
    const char *name;   /* of the slice on the thread that served it */
    uint64_t start_ns;  /* virtual time at which the DSP began with it */
    uint64_t pcycles;   /* its length, at most HX_TRACE_PCYCLES_MAX; what threads did later is cut off */
    uint32_t clock_khz; /* at least 1000 */
};

/* Writes the events of `block`, which has room for `capacity` of them.  The DSP may have written anything there, and may still
 * do so.  Returns how many are missing: they found no room, or make no sense.  -ENOMEM. */
int64_t hx_trace_dsp_write(struct hx_trace_file *f, const struct hx_trace_call *call,
                           const struct hx_trace *block, uint32_t capacity);

#endif
