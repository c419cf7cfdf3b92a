/* Phases of layers out of how far states spread, and ranks by phase: Mix, Compress, Refine.
 *
 * The variance of the residual stream at each layer's input is averaged over itself and its neighbours.  Compress is the stretch around
 * the least of these in which none exceeds `within` times the least; what lies before it is Mix, what lies behind it Refine.  A layer's
 * share of the ranks is its phase's `scale`; the sum is exactly what it was.  Source: the published MCR; there the pointwise rule would
 * leave holes in a stretch, and ranks are cut after they were made to add up.
 *
 * Whether it helps is not for these formulas to say: measure it (docs/adaptive.md). */
#ifndef HX_MCR_H
#define HX_MCR_H

#include "allot.h"
#include "rank_plan.h"

struct hx_mcr {
    double within;            /* 1.5 */
    double flat;              /* 1.15: a profile whose largest over its least is below this has no phases */
    double scale[HX_PHASES];  /* of Mix, Compress, Refine: 1.5, .35, 1.2; of no phase: 1 */
};

/* The published ones. */
struct hx_mcr hx_mcr_published(void);

/* variance, smooth, phase: [n], n >= 1.  1: phases were found; 0: the profile is flat, and all are HX_PHASE_NONE. */
int hx_mcr_phases(const struct hx_mcr *m, const double *variance, size_t n, double *smooth, enum hx_phase *phase);

/* rank [n].  As hx_allot(). */
int hx_mcr_ranks(const struct hx_mcr *m, const enum hx_phase *phase, size_t n, const struct hx_allot *a, size_t *rank,
                 struct hx_error *err);

#endif
