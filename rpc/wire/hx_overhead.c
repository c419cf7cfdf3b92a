/* The overhead of a call: exponentials that saturate, one for each way to be idle. */
#include "hx_overhead.h"

#include <math.h>

/* 0 at once, `most` in the long run. */
static double saturate(double most, double t, double tau)
{
    if (t <= 0)
        return 0;
    return tau > 0 ? most * -expm1(-t / tau) : most;
}

double hx_overhead_linger(const struct hx_profile *p, double busy_us)
{
    return fmin(p->linger_ratio * busy_us, p->linger_us);
}

double hx_overhead_dsp_wake(const struct hx_profile *p, double asleep_us)
{
    return saturate(p->dsp_wake_us, asleep_us, p->dsp_wake_tau_us);
}

double hx_overhead_host_cold(const struct hx_profile *p, double work_us)
{
    return saturate(p->host_cold_us, work_us, p->host_cold_tau_us);
}

double hx_overhead_contained(const struct hx_profile *p, double exec_us)
{
    return fmax(p->dispatch_contains_us - exec_us, 0);
}

double hx_overhead_host_wake(const struct hx_profile *p, double wait_us)
{
    return saturate(p->host_sleep_us, wait_us - p->host_sleep_after_us, p->host_sleep_tau_us);
}
