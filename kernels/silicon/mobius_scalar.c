/* The Moebius order, element by element: see mobius.h. */
#include "mobius.h"

#include "skel/kernel.h"
#include "mobius_scalar.listing.h"

static HX_KERNEL void mobius_scatter(const uint16_t *order, int n, const float *x, float *y)
{
    HX_CODE(mobius_scatter);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        y[i] = x[order[i]];
}

static HX_KERNEL void mobius_gather(const uint16_t *order, int n, const float *y, float *x)
{
    HX_CODE(mobius_gather);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        x[order[i]] = y[i];
}

void hx_mobius_scatter(const uint16_t *order, int n, const float *x, float *y)
{
    mobius_scatter(order, n, x, y);
}

void hx_mobius_gather(const uint16_t *order, int n, const float *y, float *x)
{
    mobius_gather(order, n, y, x);
}
