/* The error that the gate allows, see bound.h. */
#include "bound.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const double from_below = 1.01;

/* Numbers between -1 and 1 that have nothing to do with weights. */
static void fill(double *x, size_t n)
{
    uint32_t h = 1;

    for (size_t i = 0; i < n; i++) {
        h = h * 1664525u + 1013904223u; /* Source: Press et al. 1992 */
        x[i] = (double)(int32_t)h * 0x1p-31;
    }
}

static double length(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* next = W^T W x; the length of W x. */
static double step(const struct hx_linear *w, const double *x, double *next, float *row)
{
    double sum2 = 0;

    memset(next, 0, w->cols * sizeof(*next));
    for (size_t r = 0; r < w->rows; r++) {
        double y = 0;

        hx_linear_row(w, r, row);
        for (size_t i = 0; i < w->cols; i++)
            y += row[i] * x[i];
        for (size_t i = 0; i < w->cols; i++)
            next[i] += y * row[i];
        sum2 += y * y;
    }
    return sqrt(sum2);
}

int hx_gsi_norm(const struct hx_linear *w, double *norm, struct hx_error *err)
{
    double *x = malloc(w->cols * sizeof(*x)), *next = malloc(w->cols * sizeof(*next));
    float *row = malloc(w->cols * sizeof(*row));
    int rc = x && next && row ? 0 : hx_error_set(err, -ENOMEM, "gsi: out of memory");

    *norm = 0;
    if (!rc)
        fill(x, w->cols);
    for (int i = 0; i < HX_GSI_POWER_STEPS && !rc; i++) {
        const double n = length(x, w->cols);

        for (size_t c = 0; c < w->cols && n > 0; c++)
            x[c] /= n;
        *norm = step(w, x, next, row) * from_below;
        memcpy(x, next, w->cols * sizeof(*x));
    }
    free(row);
    free(next);
    free(x);
    return rc;
}

int hx_gsi_check(struct hx_gsi_counts *c, const struct hx_gsi_part *p, const float *x, double x2, double eps, const float *y, float *exact,
                 float *scratch, struct hx_error *err)
{
    const struct hx_linear *w = &p->full;
    const double bound = p->norm * eps * sqrt(x2);
    double error = 0;
    int rc = hx_linear_ref.apply(&w, &exact, 1, x, 1, scratch, err);

    if (rc)
        return rc;
    for (size_t r = 0; r < w->rows; r++)
        error += ((double)y[r] - exact[r]) * ((double)y[r] - exact[r]);
    error = sqrt(error);
    c->checked++;
    c->violations += !(error <= bound);
    if (bound > 0 && error / bound > c->worst)
        c->worst = error / bound;
    return 0;
}
