/* For how long the DSP has been asleep: the stretches for which sessions have kept it awake. */
#include "awake.h"

#include "core/driver.h"
#include "hx_overhead.h"

void hx_awake_worked(struct hx_session *s, const struct hx_profile *p, uint64_t start_ns, uint64_t end_ns)
{
    hx_awake_extend(&s->awake, p, start_ns, end_ns);
}

double hx_awake_asleep_us(const struct hx_driver *d, const struct hx_session *s, uint64_t at_ns)
{
    uint64_t since = hx_awake_until(&s->awake, at_ns); /* the session itself need not be among the driver's yet */

    if (!hx_clock_may_nap(d))
        return 0;
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (d->session[i] && hx_awake_until(&d->session[i]->awake, at_ns) > since)
            since = hx_awake_until(&d->session[i]->awake, at_ns);
    if (!since)
        return HX_OVERHEAD_NEVER;
    return at_ns > since ? (double)(at_ns - since) / 1e3 : 0;
}
