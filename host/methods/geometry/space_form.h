/* Spaces of constant curvature, whose geometry is known in closed form: what methods for others are held against. */
#ifndef HX_SPACE_FORM_H
#define HX_SPACE_FORM_H

#include "metric.h"

/* g = 4 / (1 + k |x|^2)^2: the sphere (k > 0) by stereographic projection, the hyperbolic ball (k < 0); k 0: flat, g = 1. */
struct hx_space_form {
    double k;
    size_t n;
};

/* exact: with slopes in closed form; else by differences.  s is borrowed. */
struct hx_metric hx_space_form_metric(const struct hx_space_form *s, int exact);

#endif
