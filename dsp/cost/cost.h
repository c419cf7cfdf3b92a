/* The cost model: what code and memory accesses take on a V69, in pcycles of the calling thread.
 *
 * Code.  A function with a listing (hexrig_code.h) is charged by its packets: a packet issues `packet_pcycles` after the
 * one before, or when the results that it uses are ready, whichever is later; a result is ready the latency of its
 * unit after its packet issued.  Of a loop the steady state counts.  Code without a listing is estimated by what it did: HVX
 * operations and accesses (pending.h), basic blocks (blocks.h), libc's functions (libc_cost.h).
 *
 * Memory.  In code built with the trace flags (hexrig_hvx_trace.h) each access is looked up in the caches: L1 for scalar
 * accesses, L2 for all, VTCM beside them.  A load stalls its thread for the part of the latency that the listing does not
 * cover by packets between the load and its first use; of the vector loads of one trip the slowest counts, because
 * they are under way together.  Stores do not stall.  Caches are per thread and empty when a call begins, because FastRPC
 * maintains them around calls; so figures do not depend on what ran before.
 *
 * The parameters are struct hx_cost of the profile.  docs/timing.md compares the model with silicon. */
#ifndef HX_COST_H
#define HX_COST_H

#include <stddef.h>
#include <stdint.h>

#include "hexrig_code.h"

/* A call or a thread begins: no function, release build, empty caches, nothing pending. */
void hx_cost_begin(void);

/* Allocates the calling thread's caches now; otherwise its first access does. */
void hx_cost_prepare(void);

/* The thread ends. */
void hx_cost_end(void);

/* `bytes` moved between DDR and L2 or VTCM, for whichever thread. */
void hx_cost_ddr(uint64_t bytes);

/* The call on this thread has run.  It took at least as long as DDR needs for all that its threads moved since it began. */
void hx_cost_call_end(void);

/* One load or store of `bytes` at p by instrumented code. */
void hx_cost_access(const void *p, size_t bytes, int is_store);

#endif
