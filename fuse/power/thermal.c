/* Heat: the temperature after each stretch of virtual time, and the governor that takes levels away. */
#include "thermal.h"

#include <math.h>

/* A longer stretch of constant power is not stepped through: the body has long reached its final temperature. */
enum { STEPS_MAX = 100000 };

unsigned hx_levels(const struct hx_profile *p)
{
    return p->clock_levels ? p->clock_levels : 1;
}

double hx_level_mhz(const struct hx_profile *p, unsigned level)
{
    unsigned top = hx_levels(p) - 1;

    if (level >= top)
        return p->clock_mhz;
    return p->clock_low_mhz + (p->clock_mhz - p->clock_low_mhz) * level / top;
}

double hx_level_watt(const struct hx_profile *p, unsigned level)
{
    double f = hx_level_mhz(p, level) / p->clock_mhz, v = (1 + f) / 2;

    return p->power_active_w * f * v * v;
}

double hx_thermal_celsius(const struct hx_thermal *t, const struct hx_profile *p)
{
    return p->ambient_c + t->rise_k;
}

/* The exact solution for constant power. */
static void pass(struct hx_thermal *t, const struct hx_profile *p, uint64_t ns, double watt)
{
    double s = (double)ns * 1e-9, end_k = watt * p->rth_k_per_w;
    double left = p->tau_s > 0 ? exp(-s / p->tau_s) : 0;

    t->rise_k = end_k + (t->rise_k - end_k) * left;
    t->energy_j += watt * s;
    t->now_ns += ns;
    if (t->rise_k > t->peak_k)
        t->peak_k = t->rise_k;
}

/* The governor's decision; may_take: levels that this stretch of time may still cost. */
static void govern(struct hx_thermal *t, const struct hx_profile *p, unsigned *may_take)
{
    double c = hx_thermal_celsius(t, p);
    int warming = t->rise_k > t->looked_k;

    if (c > p->throttle_c && warming && *may_take && t->taken + 1 < hx_levels(p)) {
        t->taken++;
        t->steps++;
        (*may_take)--;
    } else if (c < p->recover_c && !warming && t->taken) {
        t->taken--;
    }
    t->looked_k = t->rise_k;
}

static void advance(struct hx_thermal *t, const struct hx_profile *p, uint64_t until_ns,
                    double watt)
{
    unsigned may_take = 1;
    uint64_t period = (uint64_t)(p->throttle_ms * 1e6);

    if (until_ns <= t->now_ns)
        return;
    if (!period || (until_ns - t->now_ns) / period >= STEPS_MAX) {
        pass(t, p, until_ns - t->now_ns, watt);
        for (unsigned i = 0; period && i < hx_levels(p); i++)
            govern(t, p, &may_take);
        return;
    }
    while (t->now_ns < until_ns) {
        const uint64_t left = until_ns - t->now_ns, to_look = period - t->now_ns % period;

        pass(t, p, to_look < left ? to_look : left, watt);
        if (to_look <= left)
            govern(t, p, &may_take);
    }
}

void hx_thermal_idle(struct hx_thermal *t, const struct hx_profile *p, uint64_t until_ns)
{
    advance(t, p, until_ns, p->power_idle_w);
}

void hx_thermal_busy(struct hx_thermal *t, const struct hx_profile *p, uint64_t start_ns,
                     uint64_t end_ns, unsigned level, double active)
{
    double watt = hx_level_watt(p, level) * active;
    uint64_t past_ns = start_ns < t->now_ns ? (end_ns < t->now_ns
                                               ? end_ns : t->now_ns) - start_ns : 0;
    double past_s = (double)past_ns * 1e-9;

    if (end_ns <= start_ns)
        return;
    t->busy_ns += end_ns - start_ns;
    hx_thermal_idle(t, p, start_ns);
    if (past_ns) { /* beside another call, whose time has passed here already: the heat is not lost */
        t->rise_k += p->tau_s > 0 ? watt * past_s * p->rth_k_per_w / p->tau_s : 0;
        t->energy_j += watt * past_s;
        if (t->rise_k > t->peak_k)
            t->peak_k = t->rise_k;
    }
    advance(t, p, end_ns, p->power_idle_w + watt);
}

void hx_thermal_print(const struct hx_thermal *t, const struct hx_profile *p, FILE *f)
{
    fprintf(f,
            "temperature_c=%.2f\npeak_c=%.2f\nambient_c=%.1f\nthrottle_c=%.1f\nrecover_c=%.1f\n"
            "levels_taken=%u\nsteps_down=%u\nenergy_j=%.3f\nvirtual_ms=%.3f\nbusy_ms=%.3f\n",
            hx_thermal_celsius(t, p), p->ambient_c + t->peak_k, p->ambient_c, p->throttle_c,
            p->recover_c, t->taken, t->steps, t->energy_j, (double)t->now_ns * 1e-6,
            (double)t->busy_ns * 1e-6);
}
