/* Heat of the DSP on the machine's virtual clock, and the levels of clock that it costs.
 *
 * One body with a thermal resistance and a time constant, T' = (P Rth - (T - Tamb)) / tau, solved exactly for the power of
 * each stretch of time, so figures depend on nothing but the calls and repeat to the last digit.  Power is
 * power_idle_w always, and while a call executes the active power of its level:
 *
 *     power_active_w * f/f_top * (V/V_top)^2,   V/V_top = (1 + f/f_top) / 2
 *
 * (CMOS power goes with f V^2; that the voltage falls to half its top value towards f = 0 is assumed.)  Calls that overlap each
 * bring their active power; a call that sleeps or waits for DMA part of the time brings so much less.  At every multiple of
 * throttle_ms of virtual time the governor looks: above throttle_c it takes one level away unless the body is cooling already,
 * below recover_c it gives one back unless the body is warming.  A call keeps its clock, so one call costs one level at
 * most. */
#ifndef HX_THERMAL_H
#define HX_THERMAL_H

#include <stdint.h>
#include <stdio.h>

#include "hx_profile.h"

struct hx_thermal {       /* zeroed: at ambient temperature, at time 0 */
    double rise_k;        /* above ambient */
    double peak_k;        /* highest so far */
    double energy_j;
    uint64_t now_ns;      /* machine time up to which all this holds */
    uint64_t busy_ns;     /* of calls that executed */
    double looked_k;      /* rise_k at the governor's last look */
    unsigned taken;       /* levels that heat has taken away */
    unsigned steps;       /* times that it took one */
};

/* MHz of a level, 0 .. clock_levels - 1; the last is clock_mhz. */
double hx_level_mhz(const struct hx_profile *p, unsigned level);

/* Levels of the profile, at least 1. */
unsigned hx_levels(const struct hx_profile *p);

/* Nothing executes until `until_ns`.  No effect when that is past. */
void hx_thermal_idle(struct hx_thermal *t, const struct hx_profile *p, uint64_t until_ns);

/* A call executes from start_ns to end_ns at `level`, and works for the share `active` (0..1) of that time. */
void hx_thermal_busy(struct hx_thermal *t, const struct hx_profile *p, uint64_t start_ns,
                     uint64_t end_ns, unsigned level, double active);

double hx_thermal_celsius(const struct hx_thermal *t, const struct hx_profile *p);

/* W of a level while a call executes, beside power_idle_w. */
double hx_level_watt(const struct hx_profile *p, unsigned level);

/* The node `thermal`. */
void hx_thermal_print(const struct hx_thermal *t, const struct hx_profile *p, FILE *f);

#endif
