/* Steps that are projected, see ogd.h. */
#include "ogd.h"

#include <math.h>
#include <string.h>

const double hx_ogd_chain_alpha[HX_OGD_STEPS] = {.20, .10, .05};

static double dot(const float *a, const float *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static double cosine(const float *a, const float *b, size_t n)
{
    const double both = sqrt(dot(a, a, n) * dot(b, b, n));

    return both > 0 ? dot(a, b, n) / both : 0;
}

void hx_ogd_step(const struct hx_guard_q *g, const float *h, const float *v, double alpha, float *to)
{
    const double length = sqrt(dot(v, v, g->d)), by = length > 0 ? alpha * sqrt(dot(h, h, g->d)) / length : 0;

    for (size_t k = 0; k < g->d; k++)
        to[k] = (float)((double)h[k] + by * (double)v[k]);
    if (g->f)
        hx_guard_project(g, to);
}

void hx_ogd_chain(const struct hx_guard_q *g, const float *from, const float *to, float *scratch, struct hx_ogd_chain *out)
{
    const size_t d = g->d;
    float *h = scratch, *next = h + d, *step = next + d, *before = step + d;
    double first = 0, last = 0;

    *out = (struct hx_ogd_chain){0};
    memcpy(h, from, d * sizeof(*h));
    if (g->f)
        hx_guard_project(g, h); /* so that the first step is alpha long, and not what the projector takes */
    for (int i = 0; i < HX_OGD_STEPS; i++) {
        double c;

        for (size_t k = 0; k < d; k++)
            next[k] = to[k] - h[k];
        hx_ogd_step(g, h, next, hx_ogd_chain_alpha[i], next);
        c = cosine(h, next, d);
        for (size_t k = 0; k < d; k++)
            step[k] = next[k] - h[k];
        last = sqrt(dot(step, step, d));
        first = i ? first : last;
        out->smoothness += c / HX_OGD_STEPS;
        out->directionality += i ? cosine(step, before, d) / (HX_OGD_STEPS - 1) : 0;
        out->collapsed |= c > .999;
        memcpy(before, step, d * sizeof(*step));
        memcpy(h, next, d * sizeof(*h));
    }
    out->convergence = first > 0 ? 1 - last / first : 0;
    out->coherence = (.35 * out->smoothness + .25 * out->directionality + .20 * out->convergence) / .80;
    out->teh = hx_guard_teh(g, h);
}
