/* Guard: a monitor and a projector of final hidden states, for a few directions of them.
 *
 * Q [d, f] has orthonormal columns, the forbidden directions; a state h is what the output matrix reads (behind the last norm).
 *     TEH(h) = ||Q^T h|| / ||h||, 0..1, a ratio of lengths; its square is the share of the energy
 *     P h = h - Q Q^T h, so that Q^T P h = 0 but for rounding
 * What P guarantees is about the state that it was applied to.  Later layers do not follow it, later tokens have states of their own.
 * Source: published Safe OGD, TEH and Snipe; docs/guard.md says what of them is read how.
 *
 * Pure functions, any thread. */
#ifndef HX_GUARD_H
#define HX_GUARD_H

#include <stddef.h>

struct hx_guard_q {
    const float *q; /* [f][d] */
    size_t f, d;
};

/* 0 of a state that is 0; NaN of one that is not finite. */
double hx_guard_teh(const struct hx_guard_q *g, const float *h);

/* In place; coefficients are sums in double precision.  Returns TEH of what was there. */
double hx_guard_project(const struct hx_guard_q *g, float *h);

/* The largest of |Q^T h|, over ||h||: what the projector leaves. */
double hx_guard_left(const struct hx_guard_q *g, const float *h);

/* The largest of |Q^T Q - I|; infinite where a number is not finite. */
double hx_guard_skew(const struct hx_guard_q *g);

#define HX_GUARD_SKEW 1e-4 /* most of directions in f32 that count as orthonormal */

#endif
