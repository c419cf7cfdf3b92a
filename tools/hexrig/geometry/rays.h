/* Rays of a cloud's field, from its middle: whether the region near its points is star-shaped. */
#ifndef HX_GEOMETRY_RAYS_H
#define HX_GEOMETRY_RAYS_H

#include "methods/geometry/star.h"
#include "space.h"

struct hx_rays {
    size_t n, of[HX_STAR_VERDICTS]; /* rays, and how many have which verdict */
    double median_length;           /* of all, in the metric */
};

/* n rays of steps times step from the point of c that is nearest to the mean, whose region is what lies within `within` of a point, in
 * whitened coordinates.  c has its metric.  0 or negative errno. */
int hx_rays_of(const struct hx_subject *s, const struct hx_cloud *c, double within, size_t n, double step, size_t steps, uint64_t key,
               struct hx_rays *out, struct hx_error *err);

#endif
