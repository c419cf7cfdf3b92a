/* Storage as a profile has it: arrival times, and waiting for them. */
#include "storage.h"

#include <time.h>

enum { SLEEP_LATE_NS = 100000 }; /* a sleep ends that much later than asked, now and then more */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int hx_storage_is_modelled(const struct hx_storage *s)
{
    return s->hit_us > 0 || s->miss_us > 0 || s->mb_s > 0;
}

uint64_t hx_storage_arrival(const struct hx_storage *s, uint64_t *busy_ns, uint64_t asked_ns, size_t bytes)
{
    const uint64_t way_ns = s->mb_s > 0 ? (uint64_t)(1e3 * (double)bytes / s->mb_s) : 0;
    const uint64_t there = asked_ns + (uint64_t)(1e3 * s->miss_us);

    *busy_ns = (*busy_ns > asked_ns ? *busy_ns : asked_ns) + way_ns;
    return there > *busy_ns ? there : *busy_ns;
}

void hx_storage_wait(uint64_t ns)
{
    if (ns > now_ns() + SLEEP_LATE_NS) {
        const uint64_t until = ns - SLEEP_LATE_NS;
        const struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL); /* a signal that cuts it short only makes it turn for longer */
    }
    while (now_ns() < ns)
        continue;
}
