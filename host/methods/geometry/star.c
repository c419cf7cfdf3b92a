/* Rays of a region, see star.h. */
#include "star.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "base/eigen.h"
#include "jacobi.h"

enum { MOST = HX_METRIC_MOST };

const char *const hx_star_names[] = {"left", "inside", "returns", "conjugate", "lost"};

/* The fields that start as 0: the upper right block of Phi. */
static void fields(const struct hx_jacobi *j, double *to)
{
    for (size_t i = 0; i < j->n; i++)
        memcpy(to + i * j->n, j->phi + i * 2 * j->n + j->n, j->n * sizeof(*to));
}

/* 1: none between fields `then` and `now` [n][n].  Columns of LAPACK's are rows here: then^-T now^T has the eigenvalues of S. */
static int free_of_conjugates(const double *then, const double *now, size_t n, int *yes, struct hx_error *err)
{
    const struct hx_blas *blas = hx_blas(err);
    double a[MOST * MOST], s[MOST * MOST], even[MOST * MOST], values[MOST];
    int pivots[MOST], rc;

    *yes = 0;
    if (!blas)
        return -ELIBACC;
    memcpy(a, then, n * n * sizeof(*a));
    memcpy(s, now, n * n * sizeof(*s));
    if (blas->dgesv(HX_BLAS_COLUMNS, (int)n, (int)n, a, (int)n, pivots, s, (int)n))
        return 0;
    for (size_t i = 0; i < n * n; i++)
        even[i] = (s[i] + s[i % n * n + i / n]) / 2;
    rc = hx_eigen_values(even, n, values, err);
    *yes = !rc && values[n - 1] > 0; /* they fall */
    return rc;
}

static int is_lost(const struct hx_jacobi *j)
{
    int finite = j->drift <= HX_STAR_DRIFT;

    for (size_t i = 0; i < j->n; i++)
        finite = finite && isfinite(j->end.x[i]) && isfinite(j->end.v[i]);
    return !finite;
}

static int start(const struct hx_metric *m, const struct hx_star_region *r, const double *p, const double *v, struct hx_jacobi *j,
                 struct hx_error *err)
{
    double unit[MOST], square;
    int rc = hx_metric_product(m, p, v, v, &square, err);

    if (rc)
        return rc;
    if (!(square > 0))
        return hx_error_set(err, -EINVAL, "a ray without a direction");
    if (!r->inside(r->arg, p))
        return hx_error_set(err, -EINVAL, "rays start outside of the region");
    for (size_t i = 0; i < m->n; i++)
        unit[i] = v[i] / sqrt(square);
    return hx_jacobi_start(m, p, unit, j, err);
}

int hx_star_follow(const struct hx_metric *m, const struct hx_star_region *r, const double *p, const double *v, double step, size_t steps,
                   struct hx_star_ray *out, struct hx_error *err)
{
    double then[MOST * MOST], now[MOST * MOST];
    struct hx_jacobi j;
    int rc = start(m, r, p, v, &j, err), good = 1;

    *out = (struct hx_star_ray){HX_STAR_INSIDE, 0};
    for (size_t i = 0; i < steps && !rc; i++) {
        const int was_inside = out->verdict == HX_STAR_INSIDE;

        rc = hx_jacobi_step(m, step, &j, err);
        if (rc == -EDOM || (!rc && is_lost(&j))) {
            out->verdict = HX_STAR_LOST;
            return 0;
        }
        fields(&j, now);
        if (!rc && i)
            rc = free_of_conjugates(then, now, m->n, &good, err);
        memcpy(then, now, sizeof(then));
        if (rc || !good) {
            out->verdict = was_inside ? HX_STAR_CONJUGATE : HX_STAR_LEFT;
            return rc;
        }
        if (r->inside(r->arg, j.end.x) != was_inside) {
            out->verdict = was_inside ? HX_STAR_LEFT : HX_STAR_RETURNS;
            if (!was_inside)
                return 0;
        }
        out->length += out->verdict == HX_STAR_INSIDE ? step : 0;
    }
    return rc;
}
