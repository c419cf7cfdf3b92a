/* HVX operations of the calling thread that its clock has not been charged for yet.
 *
 * Code without a listing is charged by its counted operations, whenever somebody asks for the time; so the clock (vtime.h)
 * stands on this, and the cost model (cost.h) on both.  Inside a function with a listing the listing pays, and nothing is
 * pending. */
#ifndef HX_PENDING_H
#define HX_PENDING_H

/* Pcycles of the HVX operations that are not paid for; from now on they are. */
double hx_cost_pending(void);

/* What was counted so far is paid for.  listed: from here on a listing pays. */
void hx_cost_paid(int listed);

#endif
