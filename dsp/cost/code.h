/* What memory.c, which charges what accesses wait, asks code.c, which charges listed code by its packets: a vector load waits less
 * where its loop's packets cover it. */
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

/* A vector load of a listed loop. */
struct hx_code_load {
    double hidden;   /* of its latency: packets that issue before the first use, pcycles */
    double l2_stall; /* what it adds to the trip when it comes from L2 rather than VTCM */
    double apart;    /* the packets from this load to the next, pcycles */
};

/* The thread loads a vector: fills *load in when that is part of a listed loop, and counts it there. */
void hx_code_vector_load(struct hx_code_load *load);

/* Where the thread is: a step begins when it enters or leaves a listed function or loop, and what was before has been charged. */
struct hx_code_step {
    uint64_t number; /* of the thread's steps */
    double began;    /* pcycle */
    uint64_t call;   /* of the thread's calls of listed functions from elsewhere, the one that it is part of */
    double call_began; /* pcycle of that */
    int listed;      /* a listing pays what follows */
};
extern __thread struct hx_code_step hx_code_step;

#endif
