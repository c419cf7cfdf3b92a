/* The metric of a cloud: at a point of it the inverse of the covariance of its nearest neighbours (and 1e-3), 8 of them as published,
 * eigenvalues within 1e-3 and 1e3; between them g(x) = exp(sum of w_i log g_i), w_i in proportion to exp(-|x - x_i|^2 / (2 .6^2)).  So it
 * is positive definite wherever one looks, and smooth, and its slopes are known: of the weights in closed form, of the exponential by
 * divided differences in its eigenvectors (Daleckii, Krein 1965).  Points whose weight is below 1e-11 of the largest are left out. */
#ifndef HX_FIELD_H
#define HX_FIELD_H

#include "metric.h"

enum { HX_FIELD_NEIGHBOURS = 8, HX_FIELD_NEIGHBOURS_MOST = 64 };

/* The covariance of no more neighbours than dimensions has a direction without any, where the metric is as large as it gets. */
struct hx_cloud_metric {
    size_t n, points;  /* n: HX_METRIC_MOST or fewer */
    size_t neighbours; /* 0: HX_FIELD_NEIGHBOURS; up to HX_FIELD_NEIGHBOURS_MOST */
    const double *x;   /* [points][n], borrowed */
    double *logs;     /* [points][HX_FIELD_ROW] upper triangles of log g_i, row by row; zeros behind them */
    double *lanes;     /* [points / 8, rounded up][n][8] x, eight points beside each other */
    double least, most; /* eigenvalues of all g_i */
};

enum { HX_FIELD_ROW = 40 }; /* 36 entries of 8 x 8, and padding to whole vectors */

/* n, points and x are set; points > neighbours.  0, -EINVAL (too few points, or one that is not finite), -ENOMEM, -ELIBACC,
 * -EDOM; in any case to be freed. */
int hx_cloud_metric_open(struct hx_cloud_metric *c, struct hx_error *err);
void hx_cloud_metric_free(struct hx_cloud_metric *c);

/* Mean of the logarithms of point i's eigenvalues: half of it times n is the logarithm of its volume. */
double hx_cloud_metric_log_size(const struct hx_cloud_metric *c, size_t i);

/* g_i [n][n] of point i itself, without its neighbours' share.  0, -ELIBACC, -EDOM. */
int hx_cloud_metric_own(const struct hx_cloud_metric *c, size_t i, double *g, struct hx_error *err);

/* Of it as a field, which is borrowed.  Any number of threads. */
struct hx_metric hx_cloud_metric_field(const struct hx_cloud_metric *c);

#endif
