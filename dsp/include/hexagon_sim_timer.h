/* The cycle counter of programs that were written for Qualcomm's simulator (published names): the calling thread's virtual pcycles. */
#ifndef HEXAGON_SIM_TIMER_H
#define HEXAGON_SIM_TIMER_H

#include <stdio.h>

#include "HAP_perf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Private: pcycles between start and stop, and when it was started.  One for each file that uses it. */
static unsigned long long hx_sim_timer_sum __attribute__((unused)), hx_sim_timer_start __attribute__((unused));

static inline unsigned long long hexagon_sim_read_pcycles(void)
{
    return HAP_perf_get_pcycles();
}

/* The same: threads of the core are not told apart by a counter. */
static inline unsigned long long hexagon_sim_read_cycles(void)
{
    return HAP_perf_get_pcycles();
}

/* The timer stands at 0. */
static inline void hexagon_sim_init_timer(void)
{
    hx_sim_timer_sum = 0;
}

static inline void hexagon_sim_start_timer(void)
{
    hx_sim_timer_start = HAP_perf_get_pcycles();
}

static inline void hexagon_sim_stop_timer(void)
{
    hx_sim_timer_sum += HAP_perf_get_pcycles() - hx_sim_timer_start;
}

/* What the timer counted between starts and stops, as a line. */
static inline void hexagon_sim_show_timer(FILE *out)
{
    fprintf(out, "pcycles=%llu\n", hx_sim_timer_sum);
}

#ifdef __cplusplus
}
#endif

#endif
