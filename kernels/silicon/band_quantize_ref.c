/* Quantising in bands in plain C, see band_quantize.h. */
#include "band_quantize.h"

#include <math.h>
#include <string.h>

#include "AEEStdErr.h"
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

int hx_bands_bytes(const struct hx_bands *b)
{
    int bytes = 0;

    if (b->bands < 1 || b->bands > HX_BANDS_MAX || b->n < b->bands || b->n > HX_BAND_MAX_N)
        return 0;
    for (int i = 0; i < b->bands; i++) {
        if (b->bits[i] < 2 || b->bits[i] > 8)
            return 0;
        bytes += 2 + (band_length(b, i) * b->bits[i] + 7) / 8;
    }
    return bytes;
}

static int code_of(float x, float inverse, int top)
{
    float v = x * inverse;

    v = truncf(v + copysignf(0.5f, v));
    return (v > (float)top ? top : v < (float)-top ? -top : (int)v) + top;
}

int hx_band_quantize_ref(const struct hx_bands *b, const float *x, uint8_t *out)
{
    const int bytes = hx_bands_bytes(b);

    if (bytes == 0)
        return AEE_EBADPARM;
    memset(out, 0, (size_t)bytes);
    for (int band = 0; band < b->bands; band++) {
        const int n = band_length(b, band), bits = b->bits[band], top = (1 << (bits - 1)) - 1;
        float amax = 0;

        for (int i = 0; i < n; i++)
            amax = fmaxf(amax, fabsf(x[i]));
        const uint16_t scale = hx_f16_from_f32(amax / (float)top);
        const float rounded = hx_f32_from_f16(scale);
        const float inverse = rounded > 0 && isfinite(rounded) ? 1.0f / rounded : 0;

        *out++ = (uint8_t)scale;
        *out++ = (uint8_t)(scale >> 8);
        for (int i = 0; i < n; i++) {
            const unsigned code = (unsigned)code_of(x[i], inverse, top);

            for (int bit = 0; bit < bits; bit++)
                out[(i * bits + bit) / 8] |= (uint8_t)((code >> bit & 1) << (i * bits + bit) % 8);
        }
        out += (n * bits + 7) / 8;
        x += n;
    }
    return AEE_SUCCESS;
}
