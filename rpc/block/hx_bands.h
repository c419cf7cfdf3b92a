/* Vectors compressed in bands: the published form of cached K and V, without calibration.
 *
 * n finite coefficients in bands of floor(n / bands), the last takes the remainder.  Per band: M = 2^(bits-1) - 1,
 * the scale amax / M rounded to fp16 (2 bytes, little-endian), then per coefficient clamp(round(x / scale), -M, M) +
 * M in `bits` bits, LSB first, the band padded to a byte.  Rounding is half away from zero of x * (1 / scale), in
 * f32.  A scale of 0 or infinity gives codes M; a scale of infinity or NaN makes its band 0.
 *
 * The plain C of it, for whoever has no HVX; hx_compress.h makes coefficients of vectors.  Buffers are borrowed for the call and
 * may have any alignment; any thread. */
#ifndef HX_BANDS_H
#define HX_BANDS_H

#include <stdint.h>

enum { HX_BANDS_MAX = 8, HX_BAND_MAX_N = 1024 };

struct hx_bands {
    int n, bands;
    uint8_t bits[HX_BANDS_MAX]; /* 2..8 */
};

/* Bands of the published K (5, 5, 4, 3 bits) and V (3 bits) caches. */
struct hx_bands hx_bands_k(int n);
struct hx_bands hx_bands_v(int n);

/* Bytes of the codes of a vector, or 0 when the description is not valid. */
int hx_bands_bytes(const struct hx_bands *b);

/* x[n] -> codes[hx_bands_bytes()].  0, or -EINVAL: not valid. */
int hx_bands_encode(const struct hx_bands *b, const float *x, uint8_t *codes);

/* And back, value = (code - M) * scale; bands from n_bands on become 0.  0, or -EINVAL: not valid, or n_bands outside
 * 0..b->bands. */
int hx_bands_decode(const struct hx_bands *b, int n_bands, const uint8_t *codes, float *x);

#endif
