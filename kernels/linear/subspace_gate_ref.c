/* The gate's steps in double, see subspace_gate.h. */
#include "subspace_gate.h"

#include <math.h>
#include <string.h>

#include "hx_f16.h"
#include "hx_weights.h"

enum { PAIR = HX_WEIGHTS_HALVES };

/* Where element i of a vector is when that is spread. */
static int spread(int i)
{
    return i / PAIR * PAIR + i % 2 * (PAIR / 2) + i % PAIR / 2;
}

float hx_gate_spread_ref(float *x, int pairs, float *top)
{
    double sum = 0;

    *top = 0;
    for (int p = 0; p < pairs; p++, x += PAIR) {
        float was[PAIR];

        memcpy(was, x, sizeof(was));
        for (int i = 0; i < PAIR; i++) {
            x[spread(i)] = was[i];
            sum += (double)was[i] * was[i];
            *top = isfinite(was[i]) ? fmaxf(*top, fabsf(was[i])) : INFINITY;
        }
    }
    return (float)sum;
}

float hx_gate_direction_ref(const uint16_t *v, const float *x, int pairs, float *within)
{
    double z = 0;

    for (int i = 0; i < pairs * PAIR; i++)
        z += (double)hx_f32_from_f16(v[i]) * x[spread(i)];
    for (int i = 0; i < pairs * PAIR; i++)
        within[spread(i)] = (float)(within[spread(i)] + z * hx_f32_from_f16(v[i]));
    return (float)z;
}

float hx_gate_rest_ref(const float *x, const float *even, const float *odd, int pairs, float *rest)
{
    double sum = 0;

    for (int i = 0; i < pairs * PAIR; i++) {
        const double r = (double)x[i] - ((double)even[i] + odd[i]);

        sum += r * r;
        rest[i] = (float)r;
    }
    return (float)sum;
}

void hx_gate_narrow_ref(const float *r, float by, int pairs, uint16_t *v)
{
    for (int i = 0; i < pairs * PAIR; i++)
        v[i] = hx_f16_from_f32(by * r[spread(i)]);
}

void hx_gate_widen_ref(const uint16_t *v, int pairs, float *x)
{
    for (int i = 0; i < pairs * PAIR; i++)
        x[i] = hx_f32_from_f16(v[i]);
}
