/* What a piece of code costs on the DSP: its Hexagon packets.
 *
 * A kernel tells which function runs and how many trips its loops make; a table generated from the Hexagon compiler's
 * listing of the same source (tools/listing, `make listings`) tells how many packets a trip has.  Together they
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
 * HX_TRIPS() stands before its loop and adds up, so a loop inside another tells its trips each time it begins.  Code
 * without HX_CODE() is charged by its counted HVX operations, see docs/timing.md.
 *
 * For hexagon-clang all of it vanishes. */
#ifndef HEXRIG_CODE_H
#define HEXRIG_CODE_H

#include <stdint.h>

/* What a result comes from; a cost model gives each a latency. */
enum hx_code_unit {
    HX_UNIT_LOAD,  /* scalar load */
    HX_UNIT_MPY,   /* scalar multiply, scalar float */
    HX_UNIT_HVX,   /* vector arithmetic */
    HX_UNIT_VLOAD, /* vector load */
    HX_CODE_UNITS
};

/* One packet: how many packets earlier the nearest producer of one of its operands stands, by unit; 0: none within 63.
 * In a loop the count goes on into the trip before.  Scalar ALU results are ready for the next packet and not listed. */
struct hx_vliw_packet {
    uint8_t after[HX_CODE_UNITS];
    uint8_t vector_loads; /* vmem loads in this packet, the compiler's spills included */
};

/* The blocks of one loop (level 0: of the function outside of its loops), without those of the loops inside. */
struct hx_code_level {
    const struct hx_vliw_packet *packet; /* of one trip (level 0: of one call), in the compiler's order */
    uint16_t packets;
    uint16_t peeled; /* trips that the compiler put before and after the loop, as part of the level around */
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

#ifdef __hexagon__
#define HX_CODE(function) ((void)0)
#define HX_TRIPS(level, n) ((void)0)
#else
#define HX_CODE(function) \
    __attribute__((cleanup(hx_code_leave), unused)) struct hx_code_scope hx_scope = \
        hx_code_enter(&hx_code_##function)
#define HX_TRIPS(level, n) hx_code_trips(level, (uint64_t)(n))
#endif

#endif
