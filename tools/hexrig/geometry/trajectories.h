/* Trajectories from the points of a cloud, and how far they serve their neighbours. */
#ifndef HX_GEOMETRY_TRAJECTORIES_H
#define HX_GEOMETRY_TRAJECTORIES_H

#include "methods/geometry/trajectory.h"
#include "space.h"

/* How geodesics are made: towards the next token's state, which they are to reach at their end. */
struct hx_made {
    double step;
    size_t steps; /* a multiple of 16 */
};

/* --step and --steps of the actions that make some. */
enum { HX_MADE_OPT_STEP = HX_SPACE_OPT_FREE, HX_MADE_OPT_STEPS, HX_MADE_OPT_FREE };
#define HX_MADE_OPTIONS                                                                            \
    {"steps", HX_MADE_OPT_STEPS, "N", 0, "of a geodesic, a multiple of 16 (16)", 0},               \
    {"step", HX_MADE_OPT_STEP, "H", 0, "time of each (0.05)", 0}

/* 0, an enum hx_exit after a message, or HX_OPT_UNKNOWN. */
int hx_made_option(const char *cmd, struct hx_made *m, int key, char *arg);

/* From point i of the cloud, whose metric is there.  0 or negative errno. */
int hx_trajectory_of(const struct hx_cloud *c, const struct hx_made *how, size_t i, struct hx_trajectory *t, struct hx_error *err);

/* A unit vector [n] of a key. */
void hx_direction(uint64_t key, size_t n, double *to);

/* rho: of `ladder` [n] (rising) the largest eps up to which corrections are wrong by at most `tau` (relative, mean of `turns` directions
 * of a key); 0: not even the first.  0 or negative errno. */
int hx_radius_of(const struct hx_metric *m, const struct hx_trajectory *t, const struct hx_made *how, const double *ladder, size_t n,
                 double tau, size_t turns, uint64_t key, double *rho, struct hx_error *err);

#endif
