/* Principal axes of states, and steps along them, see ott_space.h. */
#include "ott_space.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"
#include "methods/geometry/geodesic.h"

static const double least_share = 1e-9; /* of the first axis' variance, that an axis needs to be bent */

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
    free(s->place);
    hx_cloud_metric_free(&s->metric);
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

int hx_ott_space_bend(struct hx_ott_space *s, const double *x, size_t n, struct hx_error *err)
{
    const size_t most = s->axes < HX_METRIC_MOST ? s->axes : HX_METRIC_MOST;
    double variance[HX_METRIC_MOST] = {0};

    if (n < HX_OTT_BENT_LEAST)
        return hx_error_set(err, -EINVAL, "OneDecode: a metric of %zu states; it needs %d", n, HX_OTT_BENT_LEAST);
    for (size_t i = 0; i < n * most; i++)
        variance[i % most] += x[i / most * s->axes + i % most] * x[i / most * s->axes + i % most] / (double)n;
    while (s->bent < most && variance[s->bent] > least_share * variance[0]) {
        s->deviation[s->bent] = sqrt(variance[s->bent]);
        s->bent++;
    }
    if (!s->bent)
        return hx_error_set(err, -EINVAL, "OneDecode: all %zu states are the same", n);
    s->place = malloc(n * s->bent * sizeof(*s->place));
    if (!s->place)
        return hx_error_set(err, -ENOMEM, "OneDecode: out of memory");
    for (size_t i = 0; i < n * s->bent; i++)
        s->place[i] = x[i / s->bent * s->axes + i % s->bent] / s->deviation[i % s->bent];
    s->metric = (struct hx_cloud_metric){.n = s->bent, .points = n, .neighbours = HX_OTT_NEIGHBOURS, .x = s->place};
    return hx_cloud_metric_open(&s->metric, err);
}

/* --- steps */

/* v becomes a step long. */
static void shorten(const struct hx_ott_space *s, double *v)
{
    double length = 0;

    for (size_t k = 0; k < s->axes; k++)
        length += v[k] * v[k];
    for (size_t k = 0; length > 0 && k < s->axes; k++)
        v[k] *= s->step / sqrt(length);
}

/* Where the geodesic starts to: v [axes] of a step towards y. */
static int aim(const struct hx_ott_space *s, const double *x, const double *y, double *v, struct hx_error *err)
{
    const struct hx_metric m = hx_cloud_metric_field(&s->metric);
    double from[HX_METRIC_MOST], to[HX_METRIC_MOST], bent[HX_METRIC_MOST];
    int rc;

    for (size_t k = 0; k < s->bent; k++) {
        from[k] = x[k] / s->deviation[k];
        to[k] = y[k] / s->deviation[k];
    }
    rc = hx_geodesic_aim(&m, from, to, 1, bent, err);
    for (size_t k = 0; k < s->axes && !rc; k++)
        v[k] = k < s->bent ? s->deviation[k] * bent[k] : y[k] - x[k];
    shorten(s, v);
    return rc;
}

/* v [axes] becomes where it leads to, in as many parts as keep its speed; *drift what they kept of it. */
static int follow(const struct hx_ott_space *s, const double *x, double *v, double *drift, struct hx_error *err)
{
    enum { PARTS_MOST = 64 };
    const struct hx_metric m = hx_cloud_metric_field(&s->metric);
    struct hx_geodesic g;
    int rc = 0;

    *drift = INFINITY;
    for (size_t parts = 1; parts <= PARTS_MOST && !rc && !(*drift <= HX_OTT_DRIFT); parts *= 2) {
        g = (struct hx_geodesic){.carried = 0};
        for (size_t k = 0; k < s->bent; k++) {
            g.x[k] = x[k] / s->deviation[k];
            g.v[k] = v[k] / s->deviation[k];
        }
        rc = hx_geodesic_run(&m, &g, 1 / (double)parts, parts, NULL, drift, err);
    }
    for (size_t k = 0; k < s->bent && !rc; k++) {
        v[k] = s->deviation[k] * g.x[k] - x[k];
        rc = isfinite(v[k]) ? 0 : -EDOM;
    }
    return rc;
}

static double apart(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

int hx_ott_space_step(const struct hx_ott_space *s, const double *x, const double *y, double *dx, struct hx_ott_steps *all,
                      struct hx_error *err)
{
    double v[HX_OTT_AXES], drift;
    int rc;

    for (size_t k = 0; k < s->axes; k++)
        dx[k] = y[k] - x[k];
    shorten(s, dx);
    if (!s->bent || !apart(x, y, s->axes))
        return 0;
    rc = aim(s, x, y, v, err);
    if (!rc)
        rc = follow(s, x, v, &drift, err);
    if (rc == -EDOM) {
        all->straight++;
        return 0;
    }
    if (rc)
        return rc;
    all->geodesic++;
    all->drift = fmax(all->drift, drift);
    all->turn += apart(v, dx, s->axes) / s->step;
    memcpy(dx, v, s->axes * sizeof(*dx));
    return 0;
}

void hx_ott_space_move(const struct hx_ott_space *s, const double *dx, float *state)
{
    for (size_t k = 0; k < s->axes; k++)
        for (size_t d = 0; d < s->width; d++)
            state[d] += (float)(dx[k] * s->axis[k * s->width + d]);
}
