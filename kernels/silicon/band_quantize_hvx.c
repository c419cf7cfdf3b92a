/* Quantising in bands, see band_quantize.h.  Only the largest magnitude is found on HVX; the rest is scalar, as published. */
#include "band_quantize.h"

#include "skel/kernel.h"
#include "band_quantize_hvx.listing.h"

union bits32 {
    float f;
    uint32_t u;
    int32_t i;
};

/* fp16 of x >= 0, ties to even, without a library call: hx_f16.h has memcpy. */
HX_INLINE uint32_t half_of(float x)
{
    union bits32 v = {.f = x}, scaled = {.f = x * 0x1p24f};
    uint32_t shifted = v.u + 0xfff + (v.u >> 13 & 1); /* rounded at bit 13 */

    if (v.u >= 0x47800000) /* 2^16 */
        return v.u > 0x7f800000 ? 0x7e00 : 0x7c00;
    if (v.u >= 0x38800000) /* 2^-14; a carry may make it infinity, as it should */
        return (shifted - 0x38000000) >> 13;

    /* subnormal: an integer number of 2^-24; adding 2^23 rounds it to even */
    scaled.f += 0x1p23f;
    return scaled.u & 0x7ff;
}

/* The value of a finite half >= 0. */
HX_INLINE float from_half(uint32_t half)
{
    union bits32 v = {.u = (half << 13) + 0x38000000};

    return half >= 0x400 ? v.f : (float)(int)half * 0x1p-24f;
}

/* The largest |x[0..n-1]| as a pattern; patterns of magnitudes order as integers do. */
HX_INLINE int32_t largest_magnitude(const float *x, int n)
{
    union {
        HVX_Vector v;
        int32_t w[HX_VECTOR_WORDS];
    } tile;
    const HVX_Vector mask = Q6_V_vsplat_R(0x7fffffff);
    const int vectors = n / HX_VECTOR_WORDS, lanes = vectors ? HX_VECTOR_WORDS : 0;
    HVX_Vector top = Q6_V_vzero();
    int32_t amax = 0;

    HX_TRIPS(2, vectors);
    for (int i = 0; i < vectors; i++) {
        HVX_Vector v = *(const HVX_UVector *)&x[i * HX_VECTOR_WORDS];

        top = Q6_Vw_vmax_VwVw(top, Q6_V_vand_VV(v, mask));
    }
    tile.v = top;
    HX_TRIPS(3, lanes);
    for (int i = 0; i < lanes; i++)
        amax = tile.w[i] > amax ? tile.w[i] : amax;
    HX_TRIPS(4, n % HX_VECTOR_WORDS);
    for (int i = vectors * HX_VECTOR_WORDS; i < n; i++) {
        union bits32 v = {.f = x[i]};

        v.i &= 0x7fffffff;
        amax = v.i > amax ? v.i : amax;
    }
    return amax;
}

/* Codes of one band; `out` grows by whole bytes. */
HX_INLINE uint8_t *pack(const float *x, int n, int bits, float inverse, uint8_t *out)
{
    const int top = (1 << (bits - 1)) - 1;
    uint32_t pending = 0;
    int have = 0;

    HX_TRIPS(5, n);
    for (int i = 0; i < n; i++) {
        float v = x[i] * inverse;
        int code = (int)(v + (v >= 0 ? 0.5f : -0.5f));

        if (code > top)
            code = top;
        if (code < -top)
            code = -top;
        pending |= (uint32_t)(code + top) << have;
        have += bits;
        if (have >= 8) {
            *out++ = (uint8_t)pending;
            pending >>= 8;
            have -= 8;
        }
    }
    if (have)
        *out++ = (uint8_t)pending;
    return out;
}

static HX_KERNEL void band_quantize(const struct hx_bands *b, int each, const float *x,
                                    uint8_t *out)
{
    const int bands = b->bands;

    HX_CODE(band_quantize);
    HX_TRIPS(1, bands);
    for (int band = 0; band < bands; band++) {
        const int n = band + 1 < bands ? each : b->n - band * each, bits = b->bits[band];
        const union bits32 amax = {.i = largest_magnitude(x, n)};
        const uint32_t scale = half_of(amax.f / (float)((1 << (bits - 1)) - 1));
        const float inverse = scale == 0 || scale >= 0x7c00 ? 0 : 1.0f / from_half(scale);

        *out++ = (uint8_t)scale;
        *out++ = (uint8_t)(scale >> 8);
        out = pack(x, n, bits, inverse, out);
        x += n;
    }
}

int hx_band_quantize_hvx(const struct hx_bands *b, const float *x, uint8_t *out)
{
    if (hx_bands_bytes(b) == 0 || !hx_is_aligned(x))
        return AEE_EBADPARM;
    band_quantize(b, b->n / b->bands, x, out);
    return AEE_SUCCESS;
}
