/* Whitened coordinates, see whitening.h. */
#include "whitening.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dimension.h"

static const double least_share = 1e-9; /* of the variance, that makes an axis */

static double variance(const double *x, size_t points, size_t width, const double *mean)
{
    double sum = 0;

    for (size_t i = 0; i < points; i++)
        for (size_t k = 0; k < width; k++)
            sum += (x[i * width + k] - mean[k]) * (x[i * width + k] - mean[k]) / (double)points;
    return sum;
}

int hx_whitening_fit(struct hx_whitening *w, const float *states, size_t points, size_t width, size_t n, struct hx_error *err)
{
    const size_t m = points < width ? points : width;
    double *x = malloc(points * width * sizeof(*x)), *shares = calloc(m, sizeof(*shares)), *axes = malloc(m * width * sizeof(*axes));
    double all = 0;
    int rc;

    *w = (struct hx_whitening){.n = n, .width = width, .mean = malloc(width * sizeof(double)), .axes = malloc(n * width * sizeof(double)),
                               .deviation = malloc(n * sizeof(double))};
    rc = x && shares && axes && w->mean && w->axes && w->deviation ? 0 : hx_error_set(err, -ENOMEM, "no memory for %zu states", points);
    for (size_t i = 0; i < points * width && !rc; i++)
        x[i] = states[i];
    if (!rc)
        rc = hx_principal(x, points, width, shares, axes, w->mean, err);
    for (size_t k = 0; k < n && !rc; k++)
        if (k >= m || k + 1 >= points || !(shares[k] > least_share))
            rc = hx_error_set(err, -EINVAL, "%zu axes; these %zu states have %zu dimensions", n, points, k);
    if (!rc) {
        all = variance(x, points, width, w->mean);
        memcpy(w->axes, axes, n * width * sizeof(*axes));
    }
    for (size_t k = 0; k < n && !rc; k++) {
        w->deviation[k] = sqrt(shares[k] * all);
        w->held += shares[k];
    }
    free(x);
    free(shares);
    free(axes);
    return rc;
}

void hx_whitening_free(struct hx_whitening *w)
{
    free(w->mean);
    free(w->axes);
    free(w->deviation);
    *w = (struct hx_whitening){0};
}

void hx_whitening_place(const struct hx_whitening *w, const float *states, size_t points, double *x)
{
    for (size_t i = 0; i < points; i++)
        for (size_t a = 0; a < w->n; a++) {
            double sum = 0;

            for (size_t k = 0; k < w->width; k++)
                sum += ((double)states[i * w->width + k] - w->mean[k]) * w->axes[a * w->width + k];
            x[i * w->n + a] = sum / w->deviation[a];
        }
}

void hx_whitening_move(const struct hx_whitening *w, const double *dx, float *state)
{
    for (size_t k = 0; k < w->width; k++) {
        double sum = 0;

        for (size_t a = 0; a < w->n; a++)
            sum += dx[a] * w->deviation[a] * w->axes[a * w->width + k];
        state[k] = (float)(state[k] + sum);
    }
}
