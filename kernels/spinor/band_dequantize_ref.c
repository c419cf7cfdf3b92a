/* Bands of codes back to floats in plain C, see band_dequantize.h. */
#include "band_dequantize.h"

#include <math.h>
#include <string.h>

#include "AEEStdErr.h"
#include "hx_f16.h"
#include "hx_vht2.h"

int hx_band_dequantize_ref(const struct hx_bands *b, int n_bands, const uint8_t *codes, float *x)
{
    if (hx_bands_bytes(b) == 0 || n_bands < 0 || n_bands > b->bands)
        return AEE_EBADPARM;
    for (int i = 0; i < b->n; i++)
        x[i] = 0;
    for (int band = 0; band < n_bands; band++) {
        const int each = b->n / b->bands, n = band + 1 < b->bands ? each : b->n - band * each;
        const int bits = b->bits[band], top = (1 << (bits - 1)) - 1;
        const float scale = hx_f32_from_f16((uint16_t)(codes[0] | codes[1] << 8));

        codes += 2;
        for (int i = 0; i < n && isfinite(scale); i++) {
            int code = 0;

            for (int bit = 0; bit < bits; bit++)
                code |= (codes[(i * bits + bit) / 8] >> (i * bits + bit) % 8 & 1) << bit;
            x[band * each + i] = (float)(code - top) * scale;
        }
        codes += (n * bits + 7) / 8;
    }
    return AEE_SUCCESS;
}

void hx_mobius_order(int n, uint16_t *order)
{
    int at = 0;

    for (int want = 1; want >= 0; want--)
        for (int i = 0; i < n; i++)
            if ((i > 0 && hx_squarefree_index((size_t)i - 1)) == want)
                order[at++] = (uint16_t)i;
}

void hx_mobius_scatter(const uint16_t *order, int n, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[order[i]];
}

void hx_mobius_gather(const uint16_t *order, int n, const float *y, float *x)
{
    for (int i = 0; i < n; i++)
        x[order[i]] = y[i];
}
