/* Coding in bands (rpc/block/hx_bands.h) on HVX. */
#ifndef BAND_QUANTIZE_H
#define BAND_QUANTIZE_H

#include "hx_bands.h"

/* The bytes of hx_bands_encode().  AEE_EBADPARM: not valid, or x not 128-byte aligned. */
int hx_band_quantize_hvx(const struct hx_bands *b, const float *x, uint8_t *out);

#endif
