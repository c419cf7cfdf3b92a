/* The space that a table's steps are made in: principal axes of its states, how long a step is, and the metric that bends it.
 *
 * Coordinates are a state's parts along up to HX_OTT_AXES axes, the mean being 0.  What the axes do not hold of a state stays as it is.  A
 * step leads from x towards y and is HX_OTT_STEP times the mean variance along the axes long, in these coordinates.
 *
 * Flat, it is a straight line.  Bent, the first 8 axes, each over its standard deviation, have the metric of the states
 * (methods/geometry/field.h), the others stay flat: a geodesic of such a product is one of each factor.  It starts as hx_geodesic_aim()
 * would have it reach y, with the step's length in coordinates, and takes the time 1.  So with a constant metric it is the straight line.
 */
#ifndef HX_OTT_SPACE_H
#define HX_OTT_SPACE_H

#include <stddef.h>

#include "methods/geometry/field.h"

/* Neighbours of a state that make its metric: 8, as published, leave a direction without any.  Two halves of a table are each to have
 * enough (ott_axioms.h). */
enum { HX_OTT_AXES = 64, HX_OTT_NEIGHBOURS = 32, HX_OTT_BENT_LEAST = 2 * (HX_OTT_NEIGHBOURS + 1) };
#define HX_OTT_STEP 0.08

struct hx_ott_space {
    size_t width, axes;
    double *mean; /* [width] of the states */
    double *axis; /* [axes][width], orthonormal */
    double step;  /* its length */
    size_t bent;  /* axes that the metric is of; 0: flat */
    double deviation[HX_METRIC_MOST]; /* [bent] of the states along them */
    double *place;                    /* [states][bent] in units of these */
    struct hx_cloud_metric metric;    /* of place */
};

/* What steps came to. */
struct hx_ott_steps {
    size_t geodesic, straight; /* straight: of a bent space, where the geodesic leaves what numbers can say */
    double drift;              /* the largest, of the squared speed: HX_OTT_DRIFT, but where 64 parts of a step do not get there */
    double turn;               /* sum over geodesics of how far their ends lie from the straight step's, in steps */
};
#define HX_OTT_DRIFT 1e-4

/* Of states [n][width].  0; -ENOMEM; -ELIBACC: no LAPACK; -EDOM.  In any case to be freed. */
int hx_ott_space_open(struct hx_ott_space *s, const float *states, size_t n, size_t width, struct hx_error *err);
void hx_ott_space_free(struct hx_ott_space *s);

/* Fits the metric to the places x [n][axes] of the states that the space was made of, n at least HX_OTT_BENT_LEAST.  0; -EINVAL: fewer
 * states, or one that is not finite; -ENOMEM; -ELIBACC; -EDOM. */
int hx_ott_space_bend(struct hx_ott_space *s, const double *x, size_t n, struct hx_error *err);

/* x [n][axes] of states [n][width].  0 or -ENOMEM. */
int hx_ott_space_place(const struct hx_ott_space *s, const float *states, size_t n, double *x, struct hx_error *err);

/* dx [axes]: one step from x [axes] towards y [axes]; zeros where they are the same.  Adds to *all.  0, -ENOMEM, -ELIBACC. */
int hx_ott_space_step(const struct hx_ott_space *s, const double *x, const double *y, double *dx, struct hx_ott_steps *all,
                      struct hx_error *err);

/* Moves a state [width] as far as dx says. */
void hx_ott_space_move(const struct hx_ott_space *s, const double *dx, float *state);

#endif
