/* Trajectories of a cloud, see trajectories.h. */
#include "trajectories.h"

#include <math.h>

#include "base/keyed.h"
#include "subspace/activations.h"

enum { PARTS = HX_TRAJECTORY_POINTS - 1, MOST_STEPS = 4096 };

int hx_made_option(const char *cmd, struct hx_made *m, int key, char *arg)
{
    int rc;

    switch (key) {
    case HX_MADE_OPT_STEP:
        return hx_opt_real(cmd, "step", arg, 1e-6, 1, &m->step);
    case HX_MADE_OPT_STEPS:
        rc = hx_opt_size(cmd, "steps", arg, PARTS, MOST_STEPS, &m->steps);
        return rc || m->steps % PARTS == 0 ? rc : hx_cmd_usage(cmd, "--steps %zu; legal: multiples of %d", m->steps, PARTS);
    default:
        return HX_OPT_UNKNOWN;
    }
}

int hx_trajectory_of(const struct hx_cloud *c, const struct hx_made *how, size_t i, struct hx_trajectory *t, struct hx_error *err)
{
    const struct hx_metric m = hx_cloud_metric_field(&c->metric);
    double v[HX_METRIC_MOST];
    int rc = hx_geodesic_aim(&m, c->x + i * c->n, c->x_next + i * c->n, how->step * (double)how->steps, v, err);

    return rc ? rc : hx_trajectory_make(&m, c->x + i * c->n, v, how->step, how->steps, t, err);
}

void hx_direction(uint64_t key, size_t n, double *to)
{
    double length = 0;

    for (size_t i = 0; i < n; i++) {
        to[i] = hx_normal_at(key, i);
        length += to[i] * to[i];
    }
    for (size_t i = 0; i < n; i++)
        to[i] /= sqrt(length);
}

int hx_radius_of(const struct hx_metric *m, const struct hx_trajectory *t, const struct hx_made *how, const double *ladder, size_t n,
                 double tau, size_t turns, uint64_t key, double *rho, struct hx_error *err)
{
    int rc = 0;

    *rho = 0;
    for (size_t e = 0; e < n; e++) {
        double mean = 0, one, direction[HX_METRIC_MOST];

        for (size_t k = 0; k < turns && !rc; k++) {
            hx_direction(hx_keyed(key, k), t->n, direction);
            rc = hx_trajectory_error(m, t, how->step, how->steps, direction, ladder[e], &one, NULL, err);
            mean += one / (double)turns;
        }
        if (rc || !(mean <= tau))
            return rc;
        *rho = ladder[e];
    }
    return 0;
}
