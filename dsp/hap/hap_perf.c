/* HAP_perf_get_pcycles() and its kin: virtual time as skels read it. */
#pragma GCC visibility push(default)
#include "HAP_perf.h"
#pragma GCC visibility pop

#include "qurt_timer.h"
#include "cost/vtime.h"

/* 19.2 MHz = 24 ticks in 1250 ns */
enum { TICKS = 24, TICKS_NS = 1250 };

uint64_t HAP_perf_get_pcycles(void)
{
    return hx_vt_seen();
}

uint64_t HAP_perf_get_qtimer_count(void)
{
    return hx_vt_seen_ns() * TICKS / TICKS_NS;
}

uint64_t HAP_perf_qtimer_count_to_us(uint64_t count)
{
    return count * TICKS_NS / TICKS / 1000;
}

uint64_t HAP_perf_get_time_us(void)
{
    return hx_vt_seen_ns() / 1000;
}

int HAP_timer_sleep(unsigned long long sleep_duration)
{
    return qurt_timer_sleep(sleep_duration);
}
