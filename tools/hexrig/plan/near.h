/* What a choice's token executes at least, from two tokens at positions so near that counting them takes a moment.
 *
 * Execution is a straight line over positions, but for batches that the DSP's threads cannot share evenly (density/analytic.h).  So far
 * out the line is a guess, and a part of it is what a token takes at least.  Choices that differ in packets alone execute the same.
 * Matrices take as long to count at any position: plans that have some on the DSP are not looked at. */
#ifndef HX_PLAN_NEAR_H
#define HX_PLAN_NEAR_H

#include "choice.h"
#include "verdict.h"

struct hx_near {
    const struct hx_choice *of; /* the last one that was looked at; NULL: none */
    double least_us;
    enum hx_bound bound;        /* what bounds its execution */
};

/* n: of the last choice, zero in the beginning.  1: *n is of this one; 0: nothing can be told; negative errno with a reason. */
int hx_near_look(struct hx_near *n, const struct hx_choice *c, const struct hx_sweep *s, const struct hx_ceilings *ceilings,
                 struct hx_error *err);

#endif
