/* Curvature of a metric field: the Riemann tensor by central differences of the field's Christoffel symbols. */
#ifndef HX_CURVATURE_H
#define HX_CURVATURE_H

#include "metric.h"

struct hx_curved {
    double christoffel; /* root of the sum of squares of all symbols */
    double scalar;      /* scalar curvature */
};

int hx_curved_at(const struct hx_metric *m, const double *x, struct hx_curved *out, struct hx_error *err);

/* to [n][n]: K^a_b = R^a_cbd v^c v^d, by which a field J along a geodesic with velocity v turns: J'' = -K J, with
 * R^k_lij = d_i Gamma^k_jl - d_j Gamma^k_il + Gamma^k_im Gamma^m_jl - Gamma^k_jm Gamma^m_il.  On a unit sphere it is |v|^2 across v and
 * 0 along v.  0 or the field's errno. */
int hx_curved_along(const struct hx_metric *m, const double *x, const double *v, double *to, struct hx_error *err);

/* Sectional curvature of the plane of u and w at x: g(R(u, w) w, u) over the squared area of u and w; 0 where they are parallel. */
int hx_curved_section(const struct hx_metric *m, const double *x, const double *u, const double *w, double *out, struct hx_error *err);

#endif
