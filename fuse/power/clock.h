/* The core's clock: what PDs vote for (HAP_power_set), at most what heat leaves.
 *
 * The highest vote of all sessions whose PD lives wins.  A session that votes for no clock has the driver's own vote, which is
 * the top: on a phone FastRPC places a high one for a new session until its code votes itself.  So one session
 * that has voted for a low corner runs slower only while no other session wants more.  No session at all: the top. */
#ifndef HX_CLOCK_H
#define HX_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct hx_driver;

/* Level that the next call gets, 0 .. hx_levels() - 1. */
unsigned hx_clock_level(const struct hx_driver *d);

/* Its frequency. */
uint32_t hx_clock_khz(const struct hx_driver *d);

/* Whether votes let the DSP nap: nobody forbids low-power modes, or tolerates only a shorter wake-up than dsp_wake_us. */
bool hx_clock_may_nap(const struct hx_driver *d);

/* The node `clock`. */
void hx_clock_print(const struct hx_driver *d, FILE *f);

#endif
