/* For how long the DSP has been asleep: the stretches for which sessions have kept it awake. */
#include "awake.h"

#include "core/driver.h"
#include "hx_overhead.h"

void hx_awake_worked(struct hx_session *s, const struct hx_profile *p, uint64_t start_ns, uint64_t end_ns)
{
    struct hx_awake *a = &s->awake;

    if (start_ns > a->until_ns || !a->until_ns) {
        a->before_ns = a->until_ns;
        a->from_ns = start_ns;
    }
    if (start_ns > a->busy_until_ns || !a->until_ns)
        a->busy_from_ns = start_ns;
    if (end_ns > a->busy_until_ns)
        a->busy_until_ns = end_ns;
    a->until_ns = a->busy_until_ns +
                  (uint64_t)(hx_overhead_linger(p, (double)(a->busy_until_ns - a->busy_from_ns) / 1e3) * 1e3);
}

/* The end of the session's last stretch that had begun by at_ns, 0 when that is not known any more. */
static uint64_t last_awake(const struct hx_awake *a, uint64_t at_ns)
{
    if (a->from_ns <= at_ns)
        return a->until_ns;
    return a->before_ns <= at_ns ? a->before_ns : 0;
}

double hx_awake_asleep_us(const struct hx_driver *d, const struct hx_session *s, uint64_t at_ns)
{
    uint64_t since = last_awake(&s->awake, at_ns); /* the session itself need not be among the driver's yet */

    if (!hx_clock_may_nap(d))
        return 0;
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (d->session[i] && last_awake(&d->session[i]->awake, at_ns) > since)
            since = last_awake(&d->session[i]->awake, at_ns);
    if (!since)
        return HX_OVERHEAD_NEVER;
    return at_ns > since ? (double)(at_ns - since) / 1e3 : 0;
}
