/* Bytes that code on the DSP moved, by the place where it found them and by what they were for.
 *
 * Counted are loads and stores of code that is built with the trace flags (hexrig-skel.pc), DMA, and prefetches into L2.  What lies
 * on stacks or hits L1 is not: it moves nothing.  In builds without traces (clang, sanitizers) only DMA is counted.
 *
 *   DDR   lines of 128 bytes that a load, a store or a prefetch did not find in L2
 *   DMA   what descriptors moved, either way and whatever the other end was
 *   L2    lines of 128 bytes that a vector's load or store found there, and lines of 32 that a scalar one did
 *   VTCM  lines of 128 bytes that a vector's load or store touched there, and words of scalar ones
 *
 * A line counts whole, however much of it was wanted; so a vector that lies across two counts twice. */
#ifndef HX_TRAFFIC_H
#define HX_TRAFFIC_H

#include <stdint.h>

enum hx_traffic_place { HX_PLACE_DDR, HX_PLACE_DMA, HX_PLACE_L2, HX_PLACE_VTCM, HX_PLACES };

/* What a skel has said about memory by hx_purpose_set() (hexrig_purpose.h); nothing is guessed, the rest is `other`.  Of DMA the
 * source counts, and where nothing is known of that, the destination. */
enum hx_purpose {
    HX_PURPOSE_OTHER,
    HX_PURPOSE_WEIGHTS,
    HX_PURPOSE_KV,
    HX_PURPOSE_TABLES,
    HX_PURPOSE_ACTIVATIONS,
    HX_PURPOSES
};

struct hx_traffic {
    uint64_t bytes[HX_PURPOSES][HX_PLACES];
    /* Of weights and tables that calls needed, as their skels say: what was in VTCM already, and what was fetched for the call or
     * read where it lies. */
    uint64_t hit_bytes, miss_bytes;
};

#define HX_TRAFFIC_MAX (UINT64_C(1) << 50) /* of a call; more is not believed */

#define HX_PLACE_NAMES {"ddr", "dma", "l2", "vtcm"}
#define HX_PURPOSE_NAMES {"other", "weights", "kv", "tables", "activations"}

/* Everything that was counted at a place. */
static inline uint64_t hx_traffic_at(const struct hx_traffic *t, enum hx_traffic_place place)
{
    uint64_t sum = 0;

    for (int i = 0; i < HX_PURPOSES; i++)
        sum += t->bytes[i][place];
    return sum;
}

_Static_assert(sizeof(struct hx_traffic) == 8 * (HX_PURPOSES * HX_PLACES + 2), "traffic");

#endif
