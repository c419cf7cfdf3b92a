/* Random numbers by key and place: the same wherever, whenever and in whatever order they are asked for, so that rows of a matrix can be
 * made by any thread.  Nothing but integers and exactly rounded operations, which all compilers compute alike. */
#ifndef HX_KEYED_H
#define HX_KEYED_H

#include <stddef.h>
#include <stdint.h>

/* Source: Steele, Lea, Flood 2014 (SplitMix64, its last step). */
static inline uint64_t hx_keyed_bits(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Key `n` of what `key` has. */
static inline uint64_t hx_keyed(uint64_t key, uint64_t n)
{
    return hx_keyed_bits(key + (n + 1) * 0x9e3779b97f4a7c15u);
}

/* Number i of a key: uniform, mean 0, variance 1. */
static inline float hx_keyed_unit(uint64_t key, size_t i)
{
    const int32_t of_24_bits = (int32_t)(hx_keyed(key, i) >> 40) - (1 << 23);

    return (float)of_24_bits * (1.7320508f / (1 << 23));
}

#endif
