/* Where trajectories lie in memory that the DSP is handed: starts in blocks of 32, then what corrects by each.
 *
 *   blocks = n / 32, rounded up, times float[8][32]: coordinate, record; lanes behind the last record are HX_TRAJECTORY_FAR
 *   n times float[128]: M [8][8] by rows; then the ends of rows 0..3 and of rows 4..7, each at every eighth of 32 lanes
 *   n times float[64]: g [8][8] by rows, the metric at the start
 *
 * Fewer than 8 coordinates are filled with 0, also in M and g. */
#ifndef HX_TRAJECTORIES_H
#define HX_TRAJECTORIES_H

#include <stddef.h>

/* The end of row i is HX_TRAJECTORY_ENDS behind the row. */
enum { HX_TRAJECTORY_AXES = 8, HX_TRAJECTORY_LANES = 32, HX_TRAJECTORY_FLOATS = 128, HX_TRAJECTORY_ENDS = 64, HX_TRAJECTORY_METRIC = 64 };

#define HX_TRAJECTORY_FAR 1e15f

static inline size_t hx_trajectory_blocks(size_t n)
{
    return (n + HX_TRAJECTORY_LANES - 1) / HX_TRAJECTORY_LANES;
}

/* Floats in front of the metrics. */
static inline size_t hx_trajectories_metrics(size_t n)
{
    return hx_trajectory_blocks(n) * HX_TRAJECTORY_AXES * HX_TRAJECTORY_LANES + n * HX_TRAJECTORY_FLOATS;
}

static inline size_t hx_trajectories_bytes(size_t n)
{
    return (hx_trajectories_metrics(n) + n * HX_TRAJECTORY_METRIC) * sizeof(float);
}

/* Index of the end of row i. */
static inline size_t hx_trajectory_end(size_t i)
{
    return HX_TRAJECTORY_ENDS + i * HX_TRAJECTORY_AXES;
}

#endif
