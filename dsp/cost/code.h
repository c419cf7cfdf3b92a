/* What the two halves of the cost model (cost.h) share: code.c charges listed code by its packets, memory.c what accesses wait; a
 * vector load waits less where its loop's packets cover it, so memory.c asks which loop that is. */
#ifndef HX_COST_CODE_H
#define HX_COST_CODE_H

#include "base/machine.h"
#include "listing.h"

/* The profile's parameters; outside of a DSP, where nothing is charged, only the packet's. */
static inline const struct hx_cost *hx_cost_parameters(void)
{
    static const struct hx_cost none = {.packet_pcycles = 1};

    return hx_machine ? &hx_machine->cost : &none;
}

/* A call or a thread begins: no function, release build, nothing pending. */
void hx_code_begin(void);

/* The thread loads a vector.  Returns the times of the listed loop that the load is part of, and counts it there; NULL: of none. */
const struct hx_listing_time *hx_code_vector_load(void);

/* The thread enters a loop of listed code: no load of its first trip is under way. */
void hx_memory_loop(void);

#endif
