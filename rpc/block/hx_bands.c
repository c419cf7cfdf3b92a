/* Coding in bands in plain C, see hx_bands.h. */
#include "hx_bands.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "hx_f16.h"

struct hx_bands hx_bands_k(int n)
{
    return (struct hx_bands){n, 4, {5, 5, 4, 3}};
}

struct hx_bands hx_bands_v(int n)
{
    return (struct hx_bands){n, 1, {3}};
}

static int band_length(const struct hx_bands *b, int band)
{
    const int each = b->n / b->bands;

    return band + 1 < b->bands ? each : b->n - each * (b->bands - 1);
}

static size_t code_bytes(int n, int bits)
{
    return ((size_t)n * (size_t)bits + 7) / 8;
}

int hx_bands_bytes(const struct hx_bands *b)
{
    int bytes = 0;

    if (b->bands < 1 || b->bands > HX_BANDS_MAX || b->n < b->bands || b->n > HX_BAND_MAX_N)
        return 0;
    for (int i = 0; i < b->bands; i++) {
        if (b->bits[i] < 2 || b->bits[i] > 8)
            return 0;
        bytes += 2 + (int)code_bytes(band_length(b, i), b->bits[i]);
    }
    return bytes;
}

static int code_of(float x, float inverse, int top)
{
    float v = x * inverse;

    v = truncf(v + copysignf(0.5f, v));
    return (v > (float)top ? top : v < (float)-top ? -top : (int)v) + top;
}

int hx_bands_encode(const struct hx_bands *b, const float *x, uint8_t *codes)
{
    const int bytes = hx_bands_bytes(b);

    if (bytes == 0)
        return -EINVAL;
    memset(codes, 0, (size_t)bytes);
    for (int band = 0; band < b->bands; band++) {
        const int n = band_length(b, band), bits = b->bits[band], top = (1 << (bits - 1)) - 1;
        float amax = 0;

        for (int i = 0; i < n; i++)
            amax = fmaxf(amax, fabsf(x[i]));
        const uint16_t scale = hx_f16_from_f32(amax / (float)top);
        const float rounded = hx_f32_from_f16(scale);
        const float inverse = rounded > 0 && isfinite(rounded) ? 1.0f / rounded : 0;

        *codes++ = (uint8_t)scale;
        *codes++ = (uint8_t)(scale >> 8);
        for (int i = 0; i < n; i++) {
            const unsigned code = (unsigned)code_of(x[i], inverse, top);

            for (int bit = 0; bit < bits; bit++)
                codes[(i * bits + bit) / 8] |= (uint8_t)((code >> bit & 1) << (i * bits + bit) % 8);
        }
        codes += code_bytes(n, bits);
        x += n;
    }
    return 0;
}

int hx_bands_decode(const struct hx_bands *b, int n_bands, const uint8_t *codes, float *x)
{
    if (hx_bands_bytes(b) == 0 || n_bands < 0 || n_bands > b->bands)
        return -EINVAL;
    for (int i = 0; i < b->n; i++)
        x[i] = 0;
    for (int band = 0; band < n_bands; band++) {
        const int n = band_length(b, band), bits = b->bits[band], top = (1 << (bits - 1)) - 1;
        const float scale = hx_f32_from_f16((uint16_t)(codes[0] | codes[1] << 8));

        codes += 2;
        for (int i = 0; i < n && isfinite(scale); i++) {
            int code = 0;

            for (int bit = 0; bit < bits; bit++)
                code |= (codes[(i * bits + bit) / 8] >> (i * bits + bit) % 8 & 1) << bit;
            x[i] = (float)(code - top) * scale;
        }
        codes += code_bytes(n, bits);
        x += n;
    }
    return 0;
}
