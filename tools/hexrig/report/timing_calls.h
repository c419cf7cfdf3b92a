/* Many calls of one question, by one caller or by several threads on one handle, really made and added up on the virtual clock. */
#ifndef HX_TIMING_CALLS_H
#define HX_TIMING_CALLS_H

#include "timing.h"

enum { HX_TIMING_CALLERS = 14, HX_TIMING_CALLS_MAX = 20000 /* of all callers together; the others are extrapolated */ };

struct hx_timing_calls {
    uint64_t ran;                    /* calls that each caller has made */
    double first_us;                 /* the first call of all */
    struct hx_timing last;           /* the last one to end */
    double wall_us[HX_TIMING_CALLERS];  /* from the start of all to the caller's last answer, with what was extrapolated */
    double queue_us[HX_TIMING_CALLERS]; /* of that, waiting for what others held */
    double total_wall_us;            /* the longest of them */
};

/* Each of `callers` (1..HX_TIMING_CALLERS) threads makes `calls` calls, ask->idle_us of its own work between them; all start at
 * the same time after a long pause.  Calls are sent in the order of virtual time, so the figures repeat.  0, or the code of the call
 * that failed. */
int hx_timing_calls(const struct hx_timing_ask *ask, uint64_t calls, unsigned callers, struct hx_timing_calls *out);

#endif
