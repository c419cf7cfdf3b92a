/* What is said of the space that a table's steps are made in, and whether it holds of other states, too: statements about one half of the
 * table's states ("axioms"), held against the other half, which has none of them.
 *
 * metric: a principal axis of the half has more of the variance than the mean axis, up to 24 of them.  geodesic: the scalar curvature at a
 * point of the half is negative, 24 of them, by the half's own metric field and by the other's.  `hexrig subspace intrinsic` has the same
 * statements, and others, of states along a text. */
#ifndef HX_OTT_AXIOMS_H
#define HX_OTT_AXIOMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct hx_ott_axioms {
    uint32_t accepted, survived;             /* true of the first half; of these, of the second, too */
    uint32_t noise_accepted, noise_survived; /* likewise of independent normal numbers in the same shape */
};

/* states [n][width], n at least HX_OTT_BENT_LEAST (ott_space.h); every second one is of the first half.  0; -EINVAL: a state that is not
 * finite, or too few dimensions; -ENOMEM; -ELIBACC; -EDOM. */
int hx_ott_axioms_find(struct hx_ott_axioms *a, const float *states, size_t n, size_t width, struct hx_error *err);

/* Share of what was accepted that survived; 0 of none. */
double hx_ott_axioms_share(uint32_t survived, uint32_t accepted);

#endif
