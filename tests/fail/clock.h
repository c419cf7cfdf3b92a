/* What a test and the preloaded library that moves the clocks share: a file that both map. */
#ifndef HXT_CLOCK_H
#define HXT_CLOCK_H

#include <stdint.h>

/* Environment: the file. */
#define HXT_CLOCK_STATE "HXT_CLOCK_STATE"

struct hxt_clock {
    _Atomic int64_t realtime_s;  /* what CLOCK_REALTIME is ahead */
    _Atomic int64_t monotonic_s; /* what CLOCK_MONOTONIC is ahead; only grows */
    _Atomic uint32_t reads;      /* of either, by all processes */
};

#endif
