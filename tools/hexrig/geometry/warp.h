/* Bending a metric around a state, so that trajectories near it are drawn there. */
#ifndef HX_GEOMETRY_WARP_H
#define HX_GEOMETRY_WARP_H

#include "trajectories.h"

/* g(x) (1 - depth exp(-|x - at|^2 / (2 reach^2))). */
struct hx_warp {
    struct hx_metric of;
    double at[HX_METRIC_MOST], depth, reach; /* 0 <= depth < 1 */
};

/* Borrows w; slopes are exact where w->of has them. */
struct hx_metric hx_warp_metric(const struct hx_warp *w);

struct hx_warped {
    size_t asked, turned;  /* trajectories; those behind which the model then says the target's token, and did not before */
    double shift;          /* mean of |warped end - end| over the way */
    double towards;        /* mean cosine between that and the way from the end to the target */
};

/* Warps the cloud's metric, which is there, around the state that scored text 0 aims at, and asks the `most` points nearest to it.
 * 0 or negative errno. */
int hx_warp_measure(struct hx_space *p, const struct hx_made *how, double depth, double reach, size_t most, struct hx_warped *out,
                    struct hx_error *err);

#endif
