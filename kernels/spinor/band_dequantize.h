/* The way back from bands (rpc/block/hx_bands.h) on HVX. */
#ifndef BAND_DEQUANTIZE_H
#define BAND_DEQUANTIZE_H

#include "hx_bands.h"

/* The floats of hx_bands_decode().  AEE_EBADPARM: what is -EINVAL there, or x not 128-byte aligned. */
int hx_band_dequantize_hvx(const struct hx_bands *b, int n_bands, const uint8_t *codes, float *x);

#endif
