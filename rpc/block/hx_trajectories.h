/* Where trajectories lie in memory that the DSP is handed: starts in blocks of 32, then what corrects by each.
 *
 *   blocks = n / 32, rounded up, times float[8][32]: coordinate, record; lanes behind the last record are HX_TRAJECTORY_FAR
 *   n times float[128]: M [8][8] by rows; then the ends of rows 0..3 and of rows 4..7, each at every eighth of 32 lanes
 *
 * Fewer than 8 coordinates are filled with 0, also in M. */
#ifndef HX_TRAJECTORIES_H
#define HX_TRAJECTORIES_H

#include <stddef.h>

/* The end of row i is HX_TRAJECTORY_ENDS behind the row. */
enum { HX_TRAJECTORY_AXES = 8, HX_TRAJECTORY_LANES = 32, HX_TRAJECTORY_FLOATS = 128, HX_TRAJECTORY_ENDS = 64 };

#define HX_TRAJECTORY_FAR 1e15f

static inline size_t hx_trajectory_blocks(size_t n)
{
    return (n + HX_TRAJECTORY_LANES - 1) / HX_TRAJECTORY_LANES;
}

static inline size_t hx_trajectories_bytes(size_t n)
{
    return (hx_trajectory_blocks(n) * HX_TRAJECTORY_AXES * HX_TRAJECTORY_LANES + n * HX_TRAJECTORY_FLOATS) * sizeof(float);
}

/* Index of the end of row i. */
static inline size_t hx_trajectory_end(size_t i)
{
    return HX_TRAJECTORY_ENDS + i * HX_TRAJECTORY_AXES;
}

#endif
