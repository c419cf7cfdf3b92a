/* Principal axes of states, and steps along them, see ott_space.h. */
#include "ott_space.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"

/* --- axes */

static void center(const struct hx_ott_space *s, const float *state, double *row)
{
    for (size_t d = 0; d < s->width; d++)
        row[d] = (double)state[d] - s->mean[d];
}

/* The states' covariance, times their number. */
static void scatter(const struct hx_ott_space *s, const float *states, size_t n, double *c, double *row)
{
    const size_t width = s->width;

    for (size_t i = 0; i < n; i++) {
        center(s, states + i * width, row);
        for (size_t d = 0; d < width; d++)
            for (size_t e = 0; e < width; e++)
                c[d * width + e] += row[d] * row[e];
    }
}

int hx_ott_space_open(struct hx_ott_space *s, const float *states, size_t n, size_t width, struct hx_error *err)
{
    double *c = calloc(width, width * sizeof(*c)), *values = calloc(2 * width, sizeof(*values)), sum = 0;
    int rc = -ENOMEM;

    *s = (struct hx_ott_space){.width = width, .axes = width < HX_OTT_AXES ? width : HX_OTT_AXES};
    s->mean = calloc(width, sizeof(*s->mean));
    s->axis = calloc(s->axes, width * sizeof(*s->axis));
    if (c && values && s->mean && s->axis) {
        for (size_t i = 0; i < n * width; i++)
            s->mean[i % width] += (double)states[i] / (double)n;
        scatter(s, states, n, c, values + width);
        rc = hx_eigen_symmetric(c, width, values, err);
    } else {
        hx_error_set(err, rc, "OneDecode: no memory for the axes of %zu dimensions", width);
    }
    for (size_t k = 0; !rc && k < s->axes; k++)
        sum += values[k] / (double)n;
    s->step = HX_OTT_STEP * sum / (double)s->axes;
    if (!rc)
        memcpy(s->axis, c, s->axes * width * sizeof(*c));
    free(c);
    free(values);
    return rc;
}

void hx_ott_space_free(struct hx_ott_space *s)
{
    free(s->mean);
    free(s->axis);
    *s = (struct hx_ott_space){0};
}

int hx_ott_space_place(const struct hx_ott_space *s, const float *states, size_t n, double *x, struct hx_error *err)
{
    double *row = calloc(s->width, sizeof(*row));

    if (!row)
        return hx_error_set(err, -ENOMEM, "OneDecode: out of memory");
    memset(x, 0, n * s->axes * sizeof(*x));
    for (size_t i = 0; i < n; i++) {
        center(s, states + i * s->width, row);
        for (size_t k = 0; k < s->axes; k++)
            for (size_t d = 0; d < s->width; d++)
                x[i * s->axes + k] += s->axis[k * s->width + d] * row[d];
    }
    free(row);
    return 0;
}

/* --- steps */

void hx_ott_space_step(const struct hx_ott_space *s, const double *x, const double *y, double *dx)
{
    double length = 0;

    for (size_t k = 0; k < s->axes; k++) {
        dx[k] = y[k] - x[k];
        length += dx[k] * dx[k];
    }
    for (size_t k = 0; length > 0 && k < s->axes; k++)
        dx[k] *= s->step / sqrt(length);
}

void hx_ott_space_move(const struct hx_ott_space *s, const double *dx, float *state)
{
    for (size_t k = 0; k < s->axes; k++)
        for (size_t d = 0; d < s->width; d++)
            state[d] += (float)(dx[k] * s->axis[k * s->width + d]);
}
