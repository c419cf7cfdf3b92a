/* What the calling thread has run outside of all listings, and its clock has not been charged for yet: an estimate.
 *
 * HVX code is counted by its operations, scalar code by its basic blocks (blocks.h), both by their loads and stores.  The clock
 * (vtime.h) takes what is pending whenever somebody asks for the time, so it stands on this, and the cost model (cost.h) on both.
 * Inside a function with a listing the listing pays, and nothing is pending.
 *
 * The estimate is a sum over what ran, so it does not depend on when somebody asks.  It is kept by function, for uncosted.h. */
#ifndef HX_PENDING_H
#define HX_PENDING_H

#include <stddef.h>

/* Pcycles that are not paid for; from now on they are. */
double hx_cost_pending(void);

/* What was counted so far is paid for.  listed: from here on a listing pays. */
void hx_cost_paid(int listed);

/* Whether a listing pays; each load and store asks. */
extern __thread int hx_cost_is_listed;
static inline int hx_cost_listed(void)
{
    return hx_cost_is_listed;
}

/* A basic block of `function` (of uncosted.h) that takes `pcycles`. */
void hx_cost_block(double pcycles, unsigned function);

/* A load or store outside of the stack and of listings. */
void hx_cost_unlisted_access(size_t bytes);

/* From here on, what has no blocks of its own belongs to this function; returns the one before. */
unsigned hx_cost_in_function(unsigned function);

#endif
