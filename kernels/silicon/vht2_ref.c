/* The Walsh-Hadamard transform in plain C, see vht2.h. */
#include "vht2.h"

#include <math.h>

#include "AEEStdErr.h"

int hx_vht2_ref(float *x, int n)
{
    double v[HX_VHT2_MAX], w[HX_VHT2_MAX];

    if (n < 2 || n > HX_VHT2_MAX || (n & (n - 1)))
        return AEE_EBADPARM;
    for (int i = 0; i < n; i++)
        v[i] = x[i];
    for (int half = 1; half < n; half *= 2) {
        for (int i = 0; i < n; i++)
            w[i] = ((i & half ? -v[i] : v[i]) + v[i ^ half]) / sqrt(2);
        for (int i = 0; i < n; i++)
            v[i] = w[i];
    }
    for (int i = 0; i < n; i++)
        x[i] = (float)v[i];
    return AEE_SUCCESS;
}
