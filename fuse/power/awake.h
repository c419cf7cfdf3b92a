/* When the DSP is awake, on the machine's virtual clock: while a call executes, and for a while after it (hx_overhead.h).
 *
 * Each session keeps the last stretch of time for which its own calls have kept the DSP awake.  A call finds it awake when a stretch
 * of any session covers its arrival; otherwise it has been asleep since the latest of them ended.  How long a session's own work keeps
 * the DSP awake depends on that work alone. */
#ifndef HX_AWAKE_H
#define HX_AWAKE_H

#include <stdint.h>

#include "hx_overhead.h"

struct hx_driver;
struct hx_session;

/* A call or packets of the session execute from start_ns to end_ns. */
void hx_awake_worked(struct hx_session *s, const struct hx_profile *p, uint64_t start_ns, uint64_t end_ns);

/* For how long the DSP has been asleep when a call of the session arrives at at_ns, in us: 0 when it is awake or nobody lets it sleep
 * (hx_clock_may_nap()), HX_OVERHEAD_NEVER when nothing has run before. */
double hx_awake_asleep_us(const struct hx_driver *d, const struct hx_session *s, uint64_t at_ns);

#endif
