/* Nearest points of a cloud, by a tree that cuts it in halves.  Source: Friedman, Bentley, Finkel 1977; Arya, Mount 1993 for how far a
 * part of it is away. */
#ifndef HX_NEAREST_H
#define HX_NEAREST_H

#include <stddef.h>

#include "base/error.h"

enum { HX_NEAREST_AXES = 8, HX_NEAREST_MOST = 64 }; /* dimensions; neighbours of a question */

struct hx_nearest;

struct hx_neighbour {
    double d2; /* squared distance */
    size_t at; /* which point */
};

/* x [points][n], n <= HX_NEAREST_AXES, all finite, is copied.  0; -ENOMEM; -EINVAL: a point that is not finite. */
int hx_nearest_open(struct hx_nearest **out, const double *x, size_t points, size_t n, struct hx_error *err);

/* Accepts NULL. */
void hx_nearest_close(struct hx_nearest *t);

/* The k nearest points to x [n], the nearest first, the lower number among equals; point `but` is left out (SIZE_MAX: none).
 * Returns how many there are, at most k <= HX_NEAREST_MOST.  Any number of threads. */
size_t hx_nearest_find(const struct hx_nearest *t, const double *x, size_t k, size_t but, struct hx_neighbour *out);

/* The same by looking at every point of y [points][n]: what it is tested against. */
size_t hx_nearest_scan(const double *y, size_t points, size_t n, const double *x, size_t k, size_t but, struct hx_neighbour *out);

#endif
