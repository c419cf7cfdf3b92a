/* The cost model: what code and memory accesses take on a V69, in pcycles of the calling thread.
 *
 * Code.  A function with a listing (hexrig_code.h) is charged by its packets: a packet issues `packet_pcycles` after the
 * one before, or when the results that it uses are ready, whichever is later; a result is ready the latency of its
 * unit after its packet issued.  Of a loop the steady state counts.  Code without a listing is estimated by what it did: HVX
 * operations and accesses (pending.h), basic blocks (blocks.h), libc's functions (libc_cost.h).
 *
 * Memory.  In code built with the trace flags (hexrig_hvx_trace.h) each access is looked up in caches that the threads of a call
 * share: L1 for scalar accesses, L2 for all, VTCM beside them.  A load stalls its thread for the part of the latency that the
 * listing does not cover by packets between the load and its first use.  A thread runs in order and waits for one line from DDR
 * at a time, however many loads the source has in a trip; many are under way only by prefetches (l2fetch, dcfetch) and DMA.  Lines
 * for all threads of the call come over one path, one after the other.  Stores stall only when that path is behind.  What lies on
 * stacks is left out: it is the host compiler's doing.
 *
 * The parameters are struct hx_cost of the profile.  docs/timing.md compares the model with silicon. */
#ifndef HX_COST_H
#define HX_COST_H

#include <stddef.h>
#include <stdint.h>

#include "hexrig_code.h"

/* A call, or a thread that works for one, begins: no function, release build, nothing pending.  call: hx_shared_call(). */
void hx_cost_begin(uint64_t call);

/* What the thread needs of the heap, now; otherwise its first call does it. */
void hx_cost_prepare(void);

/* The thread ends. */
void hx_cost_end(void);

/* The calling thread's DMA engine moves `bytes` from or to DDR, from pcycle `began` on.  Returns when that is done: DDR also serves
 * the other threads of the call. */
uint64_t hx_cost_dma(uint64_t began, uint64_t bytes);

/* One load or store of `bytes` at p by instrumented code. */
void hx_cost_access(const void *p, size_t bytes, int is_store);

#endif
