/* The logarithm of a softmax' denominator: log sum e^x of a row of logits, in f64, without an overflow.  Pure functions, any thread. */
#ifndef HX_LOG_SUM_H
#define HX_LOG_SUM_H

#include <stddef.h>

struct hx_log_sum {
    double rest;  /* log of the sum of e^(x - most): log sum e^x = rest + most */
    float most;   /* the largest */
    size_t top;   /* the lowest index that has it */
};

/* x [n], n >= 1; NaN is left out, and -INFINITY counts as never: one at least is neither. */
struct hx_log_sum hx_log_sum(const float *x, size_t n);

/* -log softmax(x)[i] of x[i]; 0 or more but for rounding. */
static inline double hx_log_sum_nll(const struct hx_log_sum *s, float logit)
{
    return s->rest + (double)s->most - (double)logit;
}

#endif
