/* The space that a table's steps are made in: principal axes of its states, and how long a step is.
 *
 * Coordinates are a state's parts along up to HX_OTT_AXES axes, the mean being 0.  What the axes do not hold of a state stays as it is.  A
 * step leads from x towards y and is HX_OTT_STEP times the mean variance along the axes long, in these coordinates. */
#ifndef HX_OTT_SPACE_H
#define HX_OTT_SPACE_H

#include <stddef.h>

#include "base/error.h"

enum { HX_OTT_AXES = 64 };
#define HX_OTT_STEP 0.08

struct hx_ott_space {
    size_t width, axes;
    double *mean; /* [width] of the states */
    double *axis; /* [axes][width], orthonormal */
    double step;  /* its length */
};

/* Of states [n][width].  0; -ENOMEM; -ELIBACC: no LAPACK; -EDOM.  In any case to be freed. */
int hx_ott_space_open(struct hx_ott_space *s, const float *states, size_t n, size_t width, struct hx_error *err);
void hx_ott_space_free(struct hx_ott_space *s);

/* x [n][axes] of states [n][width].  0 or -ENOMEM. */
int hx_ott_space_place(const struct hx_ott_space *s, const float *states, size_t n, double *x, struct hx_error *err);

/* dx [axes]: one step from x [axes] towards y [axes]; zeros where they are the same. */
void hx_ott_space_step(const struct hx_ott_space *s, const double *x, const double *y, double *dx);

/* Moves a state [width] as far as dx says. */
void hx_ott_space_move(const struct hx_ott_space *s, const double *dx, float *state);

#endif
