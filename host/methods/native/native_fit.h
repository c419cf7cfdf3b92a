/* Fits a matrix in k dimensions (native.h) by steps: AdamW on the gradients' tangents, retraction by QR every few steps, and growth of k.
 *
 * A stage of one k is over when the best loss has improved by less than `plateau` in `patience` steps and the step's length has been cut
 * `cuts` times for that.  Its result is the best that it saw; then k grows by `grow` columns (hx_native_grow()), until k_most's stage is
 * over.  So the best loss never rises from stage to stage.
 * A weighted loss is fitted in coordinates in which it is a plain one (white.h).
 * Decay is the core's alone, as a basis has the length that the retraction gives it.
 * Sources: the published RiemannianAdamW and KExpansion (XII); Loshchilov & Hutter 2019; Becigneul & Ganea 2019. */
#ifndef HX_NATIVE_FIT_H
#define HX_NATIVE_FIT_H

#include "native.h"

struct hx_native_how {
    size_t grow, k_most;       /* columns that join, 0: none; up to so many */
    size_t patience;           /* steps, above 0 */
    double plateau;            /* share of the loss */
    size_t cuts, steps_most;   /* steps_most: of a stage */
    size_t retract;            /* steps from one retraction to the next, above 0 */
    int solve;                 /* 1: each retraction also solves for the core (hx_native_solve()) */
    double rate, beta1, beta2; /* of AdamW; rate: of a basis whose entries are 1/sqrt(d) large on average, relative to that */
    double decay;
    uint64_t key;              /* of new columns */
};

/* 32 columns, patience 20, plateau .1 %, 3 cuts, 4000 steps, retraction every 5 with C solved for, rate .3, betas .9 .99, decay 1e-4. */
extern const struct hx_native_how hx_native_usual;

enum { HX_NATIVE_STAGES = 64 };

struct hx_native_stage {
    size_t k, steps, retractions;
    double before, after; /* losses: of its start, of its best */
    double skew;          /* the largest |B^T B - 1| behind its last retraction */
};

struct hx_native_course {
    struct hx_native_stage stage[HX_NATIVE_STAGES];
    size_t n;
};

/* From n as it is, whose bases are orthonormal, on; n becomes the best.
 * 0; -EDOM: a loss is not finite; -EINVAL: more than HX_NATIVE_STAGES stages, or n->room is too small; -ENOMEM. */
int hx_native_fit(struct hx_native *n, const struct hx_native_target *t, const struct hx_native_how *how, struct hx_native_course *c,
                  struct hx_error *err);

#endif
