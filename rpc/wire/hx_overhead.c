/* The overhead of a call: exponentials that saturate, one for each way to be idle, and for how long the DSP is. */
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

double hx_overhead_way_there(const struct hx_profile *p, double work_us, double asleep_us)
{
    return p->dispatch_us - p->dispatch_contains_us + hx_overhead_host_cold(p, work_us) + hx_overhead_dsp_wake(p, asleep_us);
}

double hx_overhead_way_back(const struct hx_profile *p, double wait_us, double exec_us)
{
    return hx_overhead_contained(p, exec_us) + hx_overhead_host_wake(p, wait_us);
}

double hx_overhead_marshal(const struct hx_profile *p, uint64_t copied_bytes, uint64_t shared_buffers)
{
    return (double)copied_bytes / 1024.0 * p->marshal_us_per_kib + (double)shared_buffers * p->share_us_per_buffer;
}

void hx_awake_extend(struct hx_awake *a, const struct hx_profile *p, uint64_t start_ns, uint64_t end_ns)
{
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

uint64_t hx_awake_until(const struct hx_awake *a, uint64_t at_ns)
{
    if (a->from_ns <= at_ns)
        return a->until_ns;
    return a->before_ns <= at_ns ? a->before_ns : 0;
}
