/* What a piece of code costs on the DSP: its Hexagon packets.
 *
 * A kernel tells which function runs and how many trips its loops make; a table generated from the Hexagon compiler's
 * listing of the same source (`hexrig listing`) tells how many packets a trip has.  Together they
 * are the packets that the device would issue, for scalar code too, which no intrinsic counts.
 *
 *     #include "axpby.listing.h"
 *     void axpby(int16_t *y, const int16_t *x, int n)
 *     {
 *         HX_CODE(axpby);
 *         HX_TRIPS(1, n / 64);
 *         for (int i = 0; i < n / 64; i++)
 *             ...
 *     }
 *
 * Loops are numbered from 1 in the order in which they begin in the source; level 0 is the function outside of its loops.
 * HX_TRIPS() stands before its loop and adds up, so a loop inside another tells its trips each time it begins; on a path
 * without the loop, HX_TRIPS(n, 0) says so.  A loop that a call does not tell of is named in the log.  Code
 * without HX_CODE() is charged by its counted HVX operations, see docs/timing.md.
 *
 * For hexagon-clang all of it vanishes. */
#ifndef HEXRIG_CODE_H
#define HEXRIG_CODE_H

#include <stdint.h>

/* What an operand comes from; a cost model gives each a latency. */
enum hx_code_unit {
    HX_UNIT_ALU,   /* scalar ALU: the next packet has its result, except early sources */
    HX_UNIT_MPY,   /* scalar multiply, minimum, field, scaled or accumulating add: one packet later */
    HX_UNIT_FLOAT, /* scalar float */
    HX_UNIT_LOAD,  /* scalar load */
    HX_UNIT_HVX,   /* vector arithmetic */
    HX_UNIT_VLOAD, /* vector load */
    HX_UNIT_SPILL,    /* a vector of the stack, read again as a whole or by a scalar load; vextract */
    HX_CODE_UNITS
};

/* One thing that a packet waits for.  `early`: the operand is needed at the begin of the packet's work, because it is
 * multiplied, shifted or permuted (vectors), multiplied or an address (scalars); others, accumulators among them, join
 * later, and their packet can follow its producer one issue earlier.  `packets`: how many packets earlier the producer stands,
 * 1 to 63; in a loop the count goes on into the trip before.  In hexadecimal 0xPDD: P is 2 * unit + early, DD the packets. */
#define HX_WAIT(unit, early, packets) ((2 * (unit) + (early)) << 8 | (packets))
#define HX_WAIT_UNIT(wait) ((wait) >> 9)
#define HX_WAIT_EARLY(wait) ((wait) >> 8 & 1)
#define HX_WAIT_PACKETS(wait) ((wait) & 63)

enum { HX_PACKET_WAITS = 6 };

/* One packet.  The units that it occupies are not listed: the compiler puts no more into a packet than a context has units
 * for, instructions on pairs counted twice, so that a packet takes one context cycle whatever is in it. */
struct hx_vliw_packet {
    uint16_t wait[HX_PACKET_WAITS]; /* HX_WAIT(); ended by 0 */
    uint8_t hvx;                    /* context cycles it takes: 0 scalar only, 1, 2 with an unaligned vector access */
    uint8_t vector_loads;           /* vmem loads in this packet, but for those of the stack */
};

/* The blocks of one loop (level 0: of the function outside of its loops), without those of the loops inside. */
struct hx_code_level {
    const struct hx_vliw_packet *packet; /* of one trip (level 0: of one call), in the compiler's order */
    uint16_t packets;
    uint16_t peeled; /* trips that the compiler put before and after the loop, as part of the level around */
    uint16_t around; /* the level of the loop around; 0: none */
};

/* The compiler's settings a table was made with. */
enum hx_code_build {
    HX_BUILD_RELEASE, /* -O2 -fno-unroll-loops */
    HX_BUILD_DEBUG,   /* -O0: every value goes through the stack */
    HX_CODE_BUILDS
};

struct hx_code {
    const char *name;
    unsigned levels; /* loops + 1 */
    const struct hx_code_level *build[HX_CODE_BUILDS];
};

/* The function that the calling thread is in. */
struct hx_code_scope {
    const struct hx_code *outer;
    unsigned outer_level;
    uint64_t outer_told[2];
};

#ifdef __cplusplus
extern "C" {
#endif
struct hx_code_scope hx_code_enter(const struct hx_code *code);
void hx_code_leave(struct hx_code_scope *scope);
void hx_code_trips(unsigned level, uint64_t trips);

/* Which table the calling thread is charged by; HX_BUILD_RELEASE when a call begins. */
void hx_code_set_build(enum hx_code_build build);
#ifdef __cplusplus
}
#endif

#if defined(__hexagon__) && !defined(__LP64__)
#define HX_CODE(function) ((void)0)
#define HX_TRIPS(level, n) ((void)0)
#else
#define HX_CODE(function) \
    __attribute__((cleanup(hx_code_leave), unused)) struct hx_code_scope hx_scope = \
        hx_code_enter(&hx_code_##function)
#define HX_TRIPS(level, n) hx_code_trips(level, (uint64_t)(n))
#endif

#endif
