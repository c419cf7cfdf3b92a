/* Band quantisation, and what a compressed vector is made of: VHT2 (vht2.h), then this.
 *
 * n finite coefficients in bands of floor(n / bands), the last takes the remainder.  Per band: M = 2^(bits-1) - 1,
 * the scale amax / M rounded to fp16 (2 bytes, little-endian), then per coefficient clamp(round(x / scale), -M, M) +
 * M in `bits` bits, LSB first, the band padded to a byte.  Rounding is half away from zero of x * (1 / scale), in
 * f32.  A scale of 0 or infinity gives codes M. */
#ifndef BAND_QUANTIZE_H
#define BAND_QUANTIZE_H

#include <stdint.h>

enum { HX_BANDS_MAX = 8, HX_BAND_MAX_N = 1024 };

struct hx_bands {
    int n, bands;
    uint8_t bits[HX_BANDS_MAX]; /* 2..8 */
};

/* Bands of the published K (5, 5, 4, 3 bits) and V (3 bits) caches. */
struct hx_bands hx_bands_k(int n);
struct hx_bands hx_bands_v(int n);

/* Bytes of the result, or 0 when the description is not valid. */
int hx_bands_bytes(const struct hx_bands *b);

/* AEE_EBADPARM: not valid; HVX: x not 128-byte aligned. */
int hx_band_quantize_ref(const struct hx_bands *b, const float *x, uint8_t *out);
int hx_band_quantize_hvx(const struct hx_bands *b, const float *x, uint8_t *out);

#endif
