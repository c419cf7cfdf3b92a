/* Bands of codes back to floats on HVX, see band_dequantize.h.
 *
 * 32 codes at a time lie in as many words as a code has bits.  Each lane picks its word and the next one by its own
 * position, shifts, and becomes a float through a table of the band's 2^bits values, so the floats are the reference's. */
#include "band_dequantize.h"

#include <string.h>

#include "band_dequantize_hvx.listing.h"
#include "hx_f16.h"
#include "skel/kernel.h"

enum { LANES = HX_VECTOR_WORDS, MAX_BITS = 8, MAX_BYTES = LANES * MAX_BITS / 8 };

/* Values and words as vsplat takes them. */
typedef int32_t __attribute__((may_alias)) word;

union lanes {
    HVX_Vector v;
    float f[LANES];
};

/* Each lane's own number. */
static const union {
    word w[LANES];
    HVX_Vector v;
} numbers = {{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
              16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}};

/* The codes of 32 lanes, whose bits are in `words` and begin at bit `at` of them. */
HX_INLINE HVX_Vector codes_of(const word *words, int bits, HVX_Vector at)
{
    const HVX_Vector number = Q6_Vuw_vlsr_VuwR(at, 5), shift = Q6_V_vand_VV(at, Q6_V_vsplat_R(31));
    HVX_Vector low = Q6_V_vzero(), high = low;

    HX_TRIPS(3, bits);
    for (int w = 0; w < bits; w++) {
        const HVX_VectorPred here = Q6_Q_vcmp_eq_VwVw(number, Q6_V_vsplat_R(w));

        low = Q6_V_vmux_QVV(here, Q6_V_vsplat_R(words[w]), low);
        high = Q6_V_vmux_QVV(here, Q6_V_vsplat_R(words[w + 1]), high);
    }
    /* the next word moves up by 32 - shift, in two steps because a shift by 32 is none */
    low = Q6_Vw_vlsr_VwVw(low, shift);
    high = Q6_Vw_vasl_VwVw(Q6_Vw_vasl_VwR(high, 1), Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(31), shift));
    return Q6_V_vand_VV(Q6_V_vor_VV(low, high), Q6_V_vsplat_R((1 << bits) - 1));
}

/* Values of 32 codes: each comparison serves one code. */
HX_INLINE HVX_Vector values_of(HVX_Vector codes, const word *value, int n)
{
    HVX_Vector v = Q6_V_vzero();

    HX_TRIPS(4, n);
    for (int c = 0; c < n; c++)
        v = Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(codes, Q6_V_vsplat_R(c)), Q6_V_vsplat_R(value[c]), v);
    return v;
}

/* Whole vectors of a band, from 4 * bits bytes of codes each; the caller has made `value`, of the 2^bits codes. */
static HX_KERNEL void band_vectors(const uint8_t *codes, int bits, const word *value, int vectors, HVX_UVector *x)
{
    uint8_t bytes[MAX_BYTES + sizeof(word)] __attribute__((aligned(4)));
    const HVX_Vector at = Q6_Vw_vmpyi_VwRb(numbers.v, bits * 0x01010101);
    const int each = 4 * bits, values = 1 << bits;

    HX_CODE(band_vectors);
    *(word *)&bytes[each] = 0; /* behind the last code, whose bits of the next word are none */
    HX_TRIPS(1, vectors);
    for (int v = 0; v < vectors; v++) {
        HX_TRIPS(2, each);
        for (int i = 0; i < each; i++) /* codes lie at any byte, and words at multiples of 4 */
            bytes[i] = codes[i];
        codes += each;
        x[v] = values_of(codes_of((const word *)bytes, bits, at), value, values);
    }
}

static HX_KERNEL void band_values(int bits, float scale, float *value)
{
    const int top = (1 << (bits - 1)) - 1, n = 1 << bits;

    HX_CODE(band_values);
    HX_TRIPS(1, n);
    for (int c = 0; c < n; c++)
        value[c] = (float)(c - top) * scale;
}

/* One band of n values to x, at any float; `bytes` of codes. */
static void band(const uint8_t *codes, int bytes, int bits, float scale, int n, float *x)
{
    const int vectors = n / LANES, rest = n % LANES, used = vectors * 4 * bits;
    float value[1 << MAX_BITS];

    band_values(bits, scale, value);
    band_vectors(codes, bits, (const word *)value, vectors, (HVX_UVector *)x);
    if (rest) {
        uint8_t last[MAX_BYTES] = {0}; /* codes end where their bytes end */
        union lanes out;

        memcpy(last, codes + used, (size_t)(bytes - used));
        band_vectors(last, bits, (const word *)value, 1, (HVX_UVector *)&out);
        memcpy(x + vectors * LANES, out.f, (size_t)rest * sizeof(float));
    }
}

int hx_band_dequantize_hvx(const struct hx_bands *b, int n_bands, const uint8_t *codes, float *x)
{
    if (hx_bands_bytes(b) == 0 || n_bands < 0 || n_bands > b->bands || !hx_is_aligned(x))
        return AEE_EBADPARM;
    memset(x, 0, (size_t)b->n * sizeof(*x));
    for (int i = 0; i < n_bands; i++) {
        const int each = b->n / b->bands, n = i + 1 < b->bands ? each : b->n - i * each;
        const int bytes = (n * b->bits[i] + 7) / 8;
        const uint32_t scale = codes[0] | (uint32_t)codes[1] << 8;

        if ((scale & 0x7c00) != 0x7c00)
            band(codes + 2, bytes, b->bits[i], hx_f32_from_f16((uint16_t)scale), n, x + i * each);
        codes += 2 + bytes;
    }
    return AEE_SUCCESS;
}
