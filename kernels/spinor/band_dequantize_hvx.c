/* Bands of codes back to floats on HVX, see band_dequantize.h.
 *
 * 32 codes at a time lie in as many words as a code has bits.  Each lane picks its word and the next one by its own
 * position, shifts, and becomes a float through a table of the band's 2^bits values, so the floats are the reference's. */
#include "band_dequantize.h"

#include <string.h>

#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>

#include "AEEStdErr.h"
#include "hx_f16.h"

enum { LANES = 32, MAX_BITS = 8 };

union lanes {
    HVX_Vector v;
    uint32_t u[LANES];
    float f[LANES];
};

/* Where a lane's code begins among the words of 32 codes. */
struct place {
    HVX_Vector word, shift;
};

static struct place place_of(int bits)
{
    union lanes word, shift;

    for (uint32_t i = 0; i < LANES; i++) {
        word.u[i] = i * (uint32_t)bits / 32;
        shift.u[i] = i * (uint32_t)bits % 32;
    }
    return (struct place){word.v, shift.v};
}

/* The codes of 32 lanes; `bytes` of them exist. */
static HVX_Vector codes_of(const uint8_t *from, int bytes, int bits, const struct place *p)
{
    uint32_t word[MAX_BITS + 1] = {0};
    HVX_Vector low = Q6_V_vzero(), high = low;

    memcpy(word, from, (size_t)(bytes < 4 * bits ? bytes : 4 * bits));
    for (int w = 0; w < bits; w++) {
        const HVX_VectorPred here = Q6_Q_vcmp_eq_VwVw(p->word, Q6_V_vsplat_R(w));

        low = Q6_V_vmux_QVV(here, Q6_V_vsplat_R((int)word[w]), low);
        high = Q6_V_vmux_QVV(here, Q6_V_vsplat_R((int)word[w + 1]), high);
    }
    /* the next word moves up by 32 - shift, in two steps because a shift by 32 is none */
    low = Q6_Vw_vlsr_VwVw(low, p->shift);
    high = Q6_Vw_vasl_VwVw(Q6_Vw_vasl_VwR(high, 1), Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(31), p->shift));
    return Q6_V_vand_VV(Q6_V_vor_VV(low, high), Q6_V_vsplat_R((1 << bits) - 1));
}

/* Values of 32 codes: each comparison serves one code. */
static HVX_Vector values_of(HVX_Vector codes, const float *value, int bits)
{
    HVX_Vector v = Q6_V_vzero();

    for (int c = 0; c < 1 << bits; c++) {
        uint32_t u;

        memcpy(&u, &value[c], sizeof(u));
        v = Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(codes, Q6_V_vsplat_R(c)), Q6_V_vsplat_R((int)u), v);
    }
    return v;
}

/* One band of n values to x, any alignment; `bytes` of codes. */
static void band(const uint8_t *codes, int bytes, int bits, float scale, int n, float *x)
{
    const struct place p = place_of(bits);
    const int top = (1 << (bits - 1)) - 1;
    float value[1 << MAX_BITS];

    for (int c = 0; c < 1 << bits; c++)
        value[c] = (float)(c - top) * scale;
    for (int i = 0; i < n; i += LANES) {
        const int at = i / 8 * bits, some = n - i < LANES ? n - i : LANES;
        union lanes out;

        out.v = values_of(codes_of(codes + at, bytes - at, bits, &p), value, bits);
        memcpy(x + i, out.f, (size_t)some * sizeof(float));
    }
}

int hx_band_dequantize_hvx(const struct hx_bands *b, int n_bands, const uint8_t *codes, float *x)
{
    if (hx_bands_bytes(b) == 0 || n_bands < 0 || n_bands > b->bands ||
        (uintptr_t)x % sizeof(HVX_Vector))
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
