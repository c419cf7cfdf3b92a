/* Monitor and projector, see guard.h. */
#include "guard.h"

#include <math.h>

static double dot(const float *a, const float *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

double hx_guard_teh(const struct hx_guard_q *g, const float *h)
{
    const double all = dot(h, h, g->d);
    double in = 0;

    for (size_t i = 0; i < g->f; i++) {
        const double c = dot(g->q + i * g->d, h, g->d);

        in += c * c;
    }
    return all == 0 ? 0 : isfinite(all) ? sqrt(in / all) : NAN;
}

/* One direction after the other: they are orthogonal, so the order changes rounding only. */
double hx_guard_project(const struct hx_guard_q *g, float *h)
{
    const double teh = hx_guard_teh(g, h);

    for (size_t i = 0; i < g->f; i++) {
        const float *q = g->q + i * g->d;
        const double c = dot(q, h, g->d);

        for (size_t k = 0; k < g->d; k++)
            h[k] = (float)((double)h[k] - c * (double)q[k]);
    }
    return teh;
}

double hx_guard_left(const struct hx_guard_q *g, const float *h)
{
    const double length = sqrt(dot(h, h, g->d));
    double most = 0;

    for (size_t i = 0; i < g->f; i++)
        most = fmax(most, fabs(dot(g->q + i * g->d, h, g->d)));
    return length > 0 ? most / length : 0;
}

double hx_guard_skew(const struct hx_guard_q *g)
{
    double most = 0;

    for (size_t i = 0; i < g->f; i++)
        for (size_t j = i; j < g->f; j++) {
            const double off = dot(g->q + i * g->d, g->q + j * g->d, g->d) - (double)(i == j);

            if (!isfinite(off))
                return INFINITY;
            most = fmax(most, fabs(off));
        }
    return most;
}
