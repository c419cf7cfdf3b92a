/* A weighted loss as a plain one, see white.h. */
#include "white.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"
#include "product.h"

static const double nothing = 1e-12; /* of the largest eigenvalue: rounding */

/* M = Q^T L Q, its eigenvectors as Q's rows: R = Q^T L^1/2, its inverse L^-1/2 Q. */
static void roots(struct hx_native_white *w, const double *q, const double *values, size_t d)
{
    for (size_t i = 0; i < d; i++) {
        const double root = values[i] > nothing * values[0] ? sqrt(values[i]) : 0;

        for (size_t c = 0; c < d; c++) {
            w->to[c * d + i] = q[i * d + c] * root;
            w->back[i * d + c] = root > 0 ? q[i * d + c] / root : 0;
        }
    }
}

int hx_native_white_open(struct hx_native_white *w, const struct hx_native_target *t, struct hx_error *err)
{
    const size_t d = t->cols;
    double *q = malloc(d * d * sizeof(*q)), *values = malloc(d * sizeof(*values));
    int rc;

    *w = (struct hx_native_white){.w = malloc(t->rows * d * sizeof(*w->w)), .to = malloc(d * d * sizeof(*w->to)),
                                  .back = malloc(d * d * sizeof(*w->back))};
    rc = q && values && w->w && w->to && w->back ? 0 : hx_error_set(err, -ENOMEM, "native: out of memory");
    if (!rc) {
        memcpy(q, t->m, d * d * sizeof(*q));
        rc = hx_eigen_symmetric(q, d, values, err);
    }
    if (!rc) {
        roots(w, q, values, d);
        hx_product("NN", t->rows, d, d, t->w, w->to, w->w);
        rc = hx_native_target_open(&w->plain, t->rows, d, w->w, NULL, err);
    }
    free(q);
    free(values);
    return rc;
}

void hx_native_white_close(struct hx_native_white *w)
{
    hx_native_target_close(&w->plain);
    free(w->w);
    free(w->to);
    free(w->back);
    *w = (struct hx_native_white){.w = NULL};
}

static int turn(const double *by, struct hx_native *n, struct hx_native_work *work, struct hx_error *err)
{
    hx_product("NN", n->k, n->cols, n->cols, n->in, by, work->vm);
    memcpy(n->in, work->vm, n->k * n->cols * sizeof(*n->in));
    return hx_native_retract(n, work, err);
}

int hx_native_white_enter(const struct hx_native_white *w, struct hx_native *n, struct hx_native_work *work, struct hx_error *err)
{
    return turn(w->to, n, work, err);
}

int hx_native_white_leave(const struct hx_native_white *w, struct hx_native *n, struct hx_native_work *work, struct hx_error *err)
{
    return turn(w->back, n, work, err);
}
