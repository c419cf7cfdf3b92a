/* Trajectories in plain C, see gtc_steps.h. */
#include "gtc_steps.h"

enum { AXES = HX_TRAJECTORY_AXES, LANES = HX_TRAJECTORY_LANES };

struct hx_gtc_nearest hx_gtc_nearest_ref(const float *starts, uint32_t blocks, const float *x)
{
    struct hx_gtc_nearest best = {0, 0};

    for (uint32_t i = 0; i < blocks * LANES; i++) {
        double sum = 0;

        for (uint32_t l = 0; l < AXES; l++) {
            const double off = (double)starts[(i / LANES * AXES + l) * LANES + i % LANES] - x[l];

            sum += off * off;
        }
        if (!i || (float)sum < best.d2)
            best = (struct hx_gtc_nearest){(float)sum, i};
    }
    return best;
}

void hx_gtc_correct_one_ref(const float *record, const float *off, float *y)
{
    for (uint32_t i = 0; i < AXES; i++) {
        double sum = record[hx_trajectory_end(i)];

        for (uint32_t l = 0; l < AXES; l++)
            sum += (double)record[i * AXES + l] * off[l];
        y[i] = (float)sum;
    }
}

void hx_gtc_correct_ref(const float *record, const float *q, const float *x, uint32_t n, float *y)
{
    for (uint32_t b = 0; b < n; b++) {
        float off[AXES], one[AXES];

        for (uint32_t l = 0; l < AXES; l++)
            off[l] = x[l * n + b] - q[l];
        hx_gtc_correct_one_ref(record, off, one);
        for (uint32_t i = 0; i < AXES; i++)
            y[i * n + b] = one[i];
    }
}

/* --- two stages */

static void displacement(const struct hx_gtc_library *l, uint32_t i, const float *x, float *off)
{
    for (uint32_t k = 0; k < AXES; k++)
        off[k] = x[k] - l->starts[(i / LANES * AXES + k) * LANES + i % LANES];
}

static float square(const float *off)
{
    float sum = 0;

    for (uint32_t k = 0; k < AXES; k++)
        sum += off[k] * off[k];
    return sum;
}

static float by_metric(const float *g, const float *off)
{
    float sum = 0;

    for (uint32_t i = 0; i < AXES; i++) {
        float row = 0;

        for (uint32_t k = 0; k < AXES; k++)
            row += g[i * AXES + k] * off[k];
        sum += row * off[i];
    }
    return sum;
}

/* The first record behind (d2, i) of `last` in the order of distances; n: there is none. */
static struct hx_gtc_nearest next_nearest(const struct hx_gtc_library *l, const float *x, struct hx_gtc_nearest last, int first)
{
    struct hx_gtc_nearest best = {HX_GTC_NOWHERE, l->n};

    for (uint32_t i = 0; i < l->n; i++) {
        float off[AXES], d2;

        displacement(l, i, x, off);
        d2 = square(off);
        if ((first || d2 > last.d2 || (d2 == last.d2 && i > last.which)) && d2 < best.d2)
            best = (struct hx_gtc_nearest){d2, i};
    }
    return best;
}

struct hx_gtc_found hx_gtc_look_up_ref(const struct hx_gtc_library *l, const float *x, float *y)
{
    struct hx_gtc_found found = {0, HX_GTC_NOWHERE, HX_GTC_NOWHERE};
    struct hx_gtc_nearest at = {0, 0};
    float off[AXES];

    for (int k = 0; k < HX_GTC_NEAR && at.which < l->n; k++) {
        float g2;

        at = next_nearest(l, x, at, !k);
        if (at.which == l->n)
            break;
        displacement(l, at.which, x, off);
        g2 = by_metric(l->metrics + (uint64_t)at.which * HX_TRAJECTORY_METRIC, off);
        if (g2 < found.g2 || (g2 == found.g2 && at.which < found.which))
            found = (struct hx_gtc_found){at.which, at.d2, g2};
    }
    displacement(l, found.which, x, off);
    for (uint32_t i = 0; i < AXES; i++) {
        const float *record = l->records + (uint64_t)found.which * HX_TRAJECTORY_FLOATS;

        y[i] = record[hx_trajectory_end(i)];
        for (uint32_t k = 0; k < AXES; k++)
            y[i] += record[i * AXES + k] * off[k];
    }
    return found;
}
