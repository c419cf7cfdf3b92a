/* Many calls from many clients: how modelled calls meet on the DSP. */
#ifndef HX_TIMING_QUEUE_H
#define HX_TIMING_QUEUE_H

#include <stdint.h>

#include "timing.h"

struct hx_timing_calls {
    double us_per_call; /* mean over all calls, from the client's call to its answer */
    double first_us;    /* the first one */
    double total_us;    /* until the last answer */
    double calls_per_s; /* of all clients together */
};

/* Each of `clients` makes `calls` calls with `idle_us` between the end of one and the next.  first: a call that finds the DSP
 * asleep; next: one after a call like it.  The DSP naps between calls when none is under way, unless the last one kept it
 * busy long enough (nap_us) or, when it did, idleness lasted for linger_us; calls wait for one of its hw_threads.
 * 0, or -ENOENT and the like when the profile cannot be read. */
int hx_timing_calls(const struct hx_timing *first, const struct hx_timing *next, const char *profile,
                    uint64_t calls, uint64_t clients, double idle_us, struct hx_timing_calls *out);

#endif
