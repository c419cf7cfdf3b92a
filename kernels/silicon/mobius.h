/* Coefficients in Moebius order (rpc/block/hx_compress.h), and back.
 *
 * Scalar: V69 gathers from VTCM alone, and a load per element is as fast as bringing the vector there.  order: a permutation of
 * 0..n-1.  Borrowed buffers that do not overlap; any thread. */
#ifndef MOBIUS_H
#define MOBIUS_H

#include <stdint.h>

/* y[i] = x[order[i]] */
void hx_mobius_scatter(const uint16_t *order, int n, const float *x, float *y);

/* x[order[i]] = y[i] */
void hx_mobius_gather(const uint16_t *order, int n, const float *y, float *x);

#endif
