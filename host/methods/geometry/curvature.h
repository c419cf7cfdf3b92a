/* Curvature of a metric field: Christoffel symbols and the Riemann tensor by central differences of the field itself. */
#ifndef HX_CURVATURE_H
#define HX_CURVATURE_H

#include <stddef.h>

#include "base/error.h"

enum { HX_CURVED_MOST = 8 }; /* dimensions */

/* g and its inverse, [n][n], at a point [n].  0 or negative errno. */
struct hx_metric {
    size_t n;
    int (*at)(const void *arg, const double *x, double *g, double *inverse, struct hx_error *err);
    const void *arg;
};

struct hx_curved {
    double christoffel; /* root of the sum of squares of all symbols */
    double scalar;      /* scalar curvature */
};

int hx_curved_at(const struct hx_metric *m, const double *x, struct hx_curved *out, struct hx_error *err);

/* The metric of a cloud in HX_CURVED_MOST dimensions or fewer: at a point of it the inverse of the covariance of its 8 nearest neighbours
 * (and 1e-3), eigenvalues within 1e-3 and 1e3; between them the mean of logarithms, weighted by exp(-distance^2 / (2 .6^2)). */
struct hx_cloud_metric {
    size_t n, points;
    const double *x;  /* [points][n], borrowed */
    double *logs;     /* [points][n][n] */
};

/* points > 8.  0, -ENOMEM, -ELIBACC, -EDOM; in any case to be freed. */
int hx_cloud_metric_open(struct hx_cloud_metric *c, struct hx_error *err);
void hx_cloud_metric_free(struct hx_cloud_metric *c);

/* Of it as a field, which is borrowed. */
struct hx_metric hx_cloud_metric_field(const struct hx_cloud_metric *c);

#endif
