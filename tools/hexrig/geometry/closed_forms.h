/* Figures of the geometry's own methods on spaces that are known in closed form. */
#ifndef HX_GEOMETRY_CLOSED_FORMS_H
#define HX_GEOMETRY_CLOSED_FORMS_H

#include "base/error.h"

struct hx_closed_forms {
    double great_circle;  /* unit sphere, n 4: largest distance of 24 steps of .05 from the great circle, in the space around it */
    double drift;         /* of the squared speed there */
    double curvature;     /* the sphere's sectional curvature, |got - 1| */
    double flat;          /* Phi of flat space, n 8: largest |got - exact| */
    double linearity;     /* |Phi(2a + b) - 2 Phi a - Phi b| over what it is of, on the sphere */
    double sphere_field;  /* J across a great circle: largest |got - cos| */
    double error[3];      /* relative error of corrections eps away on the sphere: .05, .1, .2 */
    double ratio[2];      /* of absolute errors: of .1 to .05, of .2 to .1 */
    struct {
        double ball, ring;    /* flat, n 4: of radius 1 around 0; between the radii 1 and 3, from 1.2 away */
        double cap, beyond;   /* of the unit sphere, n 4: of radius 3, and 3.3, which has the antipode in it */
    } star;                   /* share of 64 rays that pass hx_star_follow() */
    struct {
        double circle;        /* flat, t .02 */
        double sphere[2];     /* the unit sphere of dimension 2, t .02 and .01 */
    } heat;                   /* -4t log((4 pi t)^(n/2) G_t) as d^2, of d .25, .5 and 1: largest relative error (Varadhan 1967) */
};

/* 0, -ELIBACC, -EDOM. */
int hx_closed_forms(struct hx_closed_forms *out, struct hx_error *err);

#endif
