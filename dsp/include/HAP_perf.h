/* Clocks of the DSP (published names), all virtual: they go on with the modelled work and waiting of the calling thread, so
 * a run repeats to the cycle.  docs/timing.md says what they are made of. */
#ifndef HAP_PERF_H
#define HAP_PERF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Processor cycles of this thread's core. */
uint64_t HAP_perf_get_pcycles(void);

/* Ticks of the 19.2 MHz system timer. */
uint64_t HAP_perf_get_qtimer_count(void);

/* Ticks in microseconds. */
uint64_t HAP_perf_qtimer_count_to_us(uint64_t count);

/* Microseconds on the client's virtual clock. */
uint64_t HAP_perf_get_time_us(void);

/* Moves the calling thread on by so many microseconds of virtual time.  0. */
int HAP_timer_sleep(unsigned long long sleep_duration);

#ifdef __cplusplus
}
#endif

#endif
