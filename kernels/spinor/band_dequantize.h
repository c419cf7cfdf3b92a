/* The way back from bands (silicon/band_quantize.h) and from the Moebius order.
 *
 * Value = (code - M) * scale, M = 2^(bits-1) - 1; a scale of infinity or NaN makes its band 0.  Both versions give the same
 * floats.  Borrowed buffers; any thread; AEE codes. */
#ifndef BAND_DEQUANTIZE_H
#define BAND_DEQUANTIZE_H

#include "silicon/band_quantize.h"

/* Codes of one vector -> x[n], whose bands from n_bands on become 0.  AEE_EBADPARM: hx_bands_bytes(b) is 0, n_bands outside
 * 0..b->bands; HVX: x not 128-byte aligned.  codes has hx_bands_bytes(b) bytes, any alignment. */
int hx_band_dequantize_ref(const struct hx_bands *b, int n_bands, const uint8_t *codes, float *x);
int hx_band_dequantize_hvx(const struct hx_bands *b, int n_bands, const uint8_t *codes, float *x);

enum { HX_MOBIUS_MAX = 1024 };

/* order[0..n-1]: the i < n with mu(i) != 0 (mu(0) counts as 0), ascending, then the others.  1 <= n <= HX_MOBIUS_MAX. */
void hx_mobius_order(int n, uint16_t *order);

/* y[i] = x[order[i]], and x[order[i]] = y[i].  There is no HVX version: V69 gathers from VTCM alone, and a scalar load per
 * element is as fast as bringing the vector there. */
void hx_mobius_scatter(const uint16_t *order, int n, const float *x, float *y);
void hx_mobius_gather(const uint16_t *order, int n, const float *y, float *x);

#endif
