/* Gives out a whole number by weights. */
#ifndef HX_ALLOT_H
#define HX_ALLOT_H

#include <stddef.h>

#include "base/error.h"

struct hx_allot {
    size_t sum;        /* that is given out */
    size_t least, most; /* that each gets */
    size_t step;       /* of which all of these, and what each gets, are multiples; 1 at least */
};

/* got [n]: about t * weight[i] cut to least..most, with the t for which they add up to a->sum: exactly that; what is left over by rounding
 * down goes to the largest remainders, the lowest index among equals.  weight [n]: positive.  0; -EINVAL: what n can get does not
 * have the sum in it, or something is no multiple of the step. */
int hx_allot(const double *weight, size_t n, const struct hx_allot *a, size_t *got, struct hx_error *err);

#endif
