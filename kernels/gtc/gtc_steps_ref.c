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
