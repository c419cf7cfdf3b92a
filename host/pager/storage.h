/* Storage as a profile has it, in place of this machine's: when the bytes of a read are there.
 *
 * A read that is asked for at t is there at t + miss_us, or later when what was asked for before keeps the way busy: bytes of
 * all reads follow each other at mb_s.  So reads overlap in their latency, not in their bytes, as requests in the queue of a
 * flash device do.  Bytes that are there already still take hit_us to hand over. */
#ifndef HX_STORAGE_H
#define HX_STORAGE_H

#include <stddef.h>
#include <stdint.h>

/* All zero: nothing is modelled, reads take what they take here. */
struct hx_storage {
    double hit_us;
    double miss_us;
    double mb_s; /* 10^6 bytes per second; 0: without limit */
};

int hx_storage_is_modelled(const struct hx_storage *s);

/* When a read of `bytes` that is asked for at asked_ns is there.  *busy_ns: when the way is free again, 0 before the first read.
 * Times are of one clock, in nanoseconds. */
uint64_t hx_storage_arrival(const struct hx_storage *s, uint64_t *busy_ns, uint64_t asked_ns, size_t bytes);

/* Waits until CLOCK_MONOTONIC says ns: asleep while it is long, and else turning, as a sleep of microseconds is not to be had. */
void hx_storage_wait(uint64_t ns);

#endif
