/* What the DSP left of a finished INVOKE, for filters: valid in their `end` only. */
#ifndef HX_CALL_RESULT_H
#define HX_CALL_RESULT_H

#include "call.h"

struct hx_trace;

/* Lets `alter` change the first `bytes` bytes (or all, if there are fewer) of out buffer i (0-based) of a finished INVOKE,
 * as the DSP left it, in pieces.  0, also when there is no such buffer, or negative errno. */
int hx_call_alter_out(struct hx_call *call, unsigned i, uint64_t bytes,
                      void (*alter)(uint8_t *bytes, size_t n));

/* What the DSP has told about a finished INVOKE, *capacity events at most, or NULL; in memory that the DSP can write. */
const struct hx_trace *hx_call_trace(const struct hx_call *call, uint32_t *capacity);

#endif
