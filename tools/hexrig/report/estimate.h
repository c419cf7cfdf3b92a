/* What measurements tell of a model's parameters: least squares in logarithms, with what is known of the parameters before.
 *
 * Rows i and parameters k.  residual[i] = ln(predicted / measured); slopes[i][k] = d ln(predicted i) / d ln(parameter k).
 * Before any row, ln(parameter) is taken as normally distributed around the middle of ln(low) .. ln(high), which hold nine
 * tenths of it.  Rows scatter by `scatter`; those that are off by more than HX_ESTIMATE_TRUST of the usual count less
 * (Huber's weights), so that no single one drags a parameter along. */
#ifndef HX_ESTIMATE_H
#define HX_ESTIMATE_H

#include <stddef.h>

#include "base/error.h"

/* Standard deviations on either side that hold nine tenths of a normal distribution; and see above. */
#define HX_ESTIMATE_90 1.645
#define HX_ESTIMATE_TRUST 1.345

struct hx_estimate_param {
    double value, low, high; /* 0 < low < high */
    int fitted;              /* 0: a fit leaves it where it is */
};

struct hx_estimate_problem {
    size_t n_rows, n;
    const double *slopes;   /* [n_rows][n] */
    const double *residual; /* [n_rows] */
    const size_t *source;   /* [n_rows]; rows of one source leave together */
    const struct hx_estimate_param *param; /* [n] */
};

struct hx_estimate {
    double scatter;     /* standard deviation of the rows, from their weighted residuals */
    double *covariance; /* [n][n], of ln(parameter), after the rows */
    double *next;       /* [n]: the value after one Gauss-Newton step from here, within low..high */
    double *without;    /* [n_rows]: |predicted / measured - 1| after such a step from which the row's source was left out */
    size_t n_fitted;
    double *singular;   /* [n_fitted] of the slopes of the fitted, falling */
    double *direction;  /* [n_fitted][n]: which combination of ln(parameter) each belongs to, of length 1 */
};

/* 0, -ENOMEM, or hx_eigen_symmetric()'s.  *e is the caller's, for hx_estimate_free(), also after an error. */
int hx_estimate(struct hx_estimate *e, const struct hx_estimate_problem *p, struct hx_error *err);
void hx_estimate_free(struct hx_estimate *e);

/* Standard deviation of ln(figure) for the slopes[n] of a figure; after the rows. */
double hx_estimate_sd(const struct hx_estimate *e, size_t n, const double *slopes);

/* Of ln(parameter) before the rows. */
double hx_estimate_sd_before(const struct hx_estimate_param *param);

#endif
