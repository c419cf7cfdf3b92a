/* A metric field in few dimensions, and its Christoffel symbols. */
#ifndef HX_METRIC_H
#define HX_METRIC_H

#include <stddef.h>

#include "base/error.h"

enum { HX_METRIC_MOST = 8 }; /* dimensions */

/* What is told of a point: the metric and its inverse, [n][n], and the metric's derivatives. */
struct hx_metric_at {
    double g[HX_METRIC_MOST * HX_METRIC_MOST], inverse[HX_METRIC_MOST * HX_METRIC_MOST];
    double slope[HX_METRIC_MOST][HX_METRIC_MOST * HX_METRIC_MOST]; /* d_l g_ij at [l][i * n + j] */
};

struct hx_metric {
    size_t n; /* dimensions, 1..HX_METRIC_MOST */

    /* g and inverse at x [n].  0 or negative errno with a reason. */
    int (*at)(const void *arg, const double *x, double *g, double *inverse, struct hx_error *err);
    const void *arg;

    /* All of it, exactly.  NULL: nobody knows the slopes, and central differences of at() stand for them. */
    int (*slopes)(const void *arg, const double *x, struct hx_metric_at *out, struct hx_error *err);
};

/* Of k, i, j at [k][i][j]. */
typedef double hx_symbols[HX_METRIC_MOST][HX_METRIC_MOST][HX_METRIC_MOST];

/* g, inverse and slopes at x; the differences' step is 1e-2.  0 or the field's errno. */
int hx_metric_slopes(const struct hx_metric *m, const double *x, struct hx_metric_at *out, struct hx_error *err);

/* Gamma^k_ij = 1/2 g^kl (d_i g_jl + d_j g_il - d_l g_ij), the same bits for ij and ji.  0 or the field's errno. */
int hx_metric_symbols(const struct hx_metric *m, const double *x, hx_symbols out, struct hx_error *err);

/* to [n] = Gamma^k_ij u^i w^j. */
void hx_symbols_apply(const hx_symbols c, size_t n, const double *u, const double *w, double *to);

/* *out = g(u, w) at x.  0 or the field's errno. */
int hx_metric_product(const struct hx_metric *m, const double *x, const double *u, const double *w, double *out, struct hx_error *err);

#endif
