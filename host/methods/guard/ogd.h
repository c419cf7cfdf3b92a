/* Safe OGD: steps of a state along a direction that end outside of the forbidden ones, h' = P (h + alpha |h| v), v of unit length. */
#ifndef HX_GUARD_OGD_H
#define HX_GUARD_OGD_H

#include "guard.h"

/* to [d] may be h.  g NULL: the step alone.  v [d] of any length but 0, which changes nothing. */
void hx_ogd_step(const struct hx_guard_q *g, const float *h, const float *v, double alpha, float *to);

enum { HX_OGD_STEPS = 3 };
extern const double hx_ogd_chain_alpha[HX_OGD_STEPS]; /* .20 .10 .05, as published */

struct hx_ogd_chain {
    double smoothness;     /* mean cosine of states one behind the other */
    double directionality; /* mean cosine of steps one behind the other */
    double convergence;    /* 1 - last step / first step */
    double coherence;      /* (.35 s + .25 d + .20 c) / .80: the published weights add up to .80 */
    int collapsed;         /* a cosine above .999 between states */
    double teh;            /* of the last state */
};

/* From `from` towards `to` [d], step by step; scratch [4 * d]. */
void hx_ogd_chain(const struct hx_guard_q *g, const float *from, const float *to, float *scratch, struct hx_ogd_chain *out);

#endif
