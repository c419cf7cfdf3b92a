/* Is a region star-shaped around a point: does each geodesic from there leave it once and stay outside, with no conjugate point before?
 * Then each point of the region that is reached is reached by one direction's ray, and the exponential map tells where it is.  Behind a
 * conjugate point no geodesic is the shortest way any more, so there a ray ends: on a sphere it would come back.
 *
 * Asked of single rays: how many of some directions pass is a number, that all do is the certificate, and one that does not refutes
 * it. */
#ifndef HX_STAR_H
#define HX_STAR_H

#include "metric.h"

struct hx_star_region {
    int (*inside)(const void *arg, const double *x); /* x [n] */
    const void *arg;
};

enum hx_star_verdict {
    HX_STAR_LEFT,      /* it left the region, and stayed outside: it passes */
    HX_STAR_INSIDE,    /* it never left the region within its length: nothing is known of what is behind */
    HX_STAR_RETURNS,   /* it left the region, and came back */
    HX_STAR_CONJUGATE, /* a conjugate point lies on it, inside */
    HX_STAR_LOST,      /* the squared speed drifts by more than HX_STAR_DRIFT, or numbers end: nothing is known */
    HX_STAR_VERDICTS
};
#define HX_STAR_DRIFT 1e-2

/* "left", "inside", "returns", "conjugate", "lost". */
extern const char *const hx_star_names[];

struct hx_star_ray {
    enum hx_star_verdict verdict;
    double length; /* in the metric: up to where it left, or what the verdict is about was met; all of it where it never did */
};

/* The geodesic from p, which is inside, in the direction v, for steps times step; v is given the length 1 of the metric.
 * Conjugate points: S = J(t + h) J(t)^-1 of the fields that start as 0 is 1 + hU to first order, U symmetric, and U goes to minus
 * infinity in front of one; so of those within the step an eigenvalue of S is 0 or less, however many there are.
 * 0; -EINVAL: p is outside, or v is 0; others of the field, but for -EDOM. */
int hx_star_follow(const struct hx_metric *m, const struct hx_star_region *r, const double *p, const double *v, double step, size_t steps,
                   struct hx_star_ray *out, struct hx_error *err);

#endif
