/* Zones of states, routed by their coordinates: the nearest centroid.
 *
 * Samples alternate: of each zone's, in their order, every other one makes the centroid and the others are routed, so that nothing is
 * routed by itself.  With the zone's number put in front as a coordinate, farther apart than any two states, routing is right whatever the
 * states are: it is the label, and is said here so that it can stand beside routing without. */
#ifndef HX_UGT_ZONES_H
#define HX_UGT_ZONES_H

#include <stdint.h>

#include "ugt.h"

struct hx_ugt_samples {
    const double *z;    /* [n][k] */
    const size_t *zone; /* [n] below `zones` */
    size_t n, k, zones;
};

struct hx_ugt_routed {
    size_t routed;     /* samples */
    double without_id, with_id; /* share of them that came to their zone */
    double shuffled;   /* the control: the same without id, zones of samples exchanged at random, mean of 32 exchanges */
    double largest;    /* share of the largest zone: who always says that one */
    double separation; /* 1 - mean cosine of centroids' directions from the origin of the coordinates */
};

/* centroids [zones][k] of those samples that make them.  0; -EINVAL: a zone with fewer than two samples. */
int hx_ugt_centroids(const struct hx_ugt_samples *s, double *centroids, struct hx_error *err);

/* key: of the shuffle.  0; -EINVAL: fewer than two zones, or as above; -ENOMEM. */
int hx_ugt_route(const struct hx_ugt_samples *s, uint64_t key, struct hx_ugt_routed *out, struct hx_error *err);

#endif
