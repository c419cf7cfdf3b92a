/* The guard's steps in double, see guard.h. */
#include "guard.h"

enum { LANES = 32 };

float hx_guard_product_ref(const float *a, const float *b, int vectors)
{
    double sum = 0;

    for (int i = 0; i < vectors * LANES; i++)
        sum += (double)a[i] * b[i];
    return (float)sum;
}

void hx_guard_take_ref(const float *q, float z, float *x, int vectors)
{
    for (int i = 0; i < vectors * LANES; i++)
        x[i] = (float)((double)x[i] - (double)z * q[i]);
}
