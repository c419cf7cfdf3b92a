/* The spinor block as its definition reads, in fp64.  See spinor.h and docs/block.md. */
#include "spinor.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "hx_f16.h"
#include "hx_vht2.h"

static bool encodable(const float x[HX_BLOCK_DH])
{
    for (size_t i = 0; i < HX_BLOCK_DH; i++)
        if (!(fabsf(x[i]) <= HX_SPINOR_MAX_ABS)) /* NaN fails too */
            return false;
    return true;
}

void hx_spinor_coefficients_ref(const float x[HX_BLOCK_DH], double c[HX_BLOCK_PAD])
{
    double sum = 0;

    for (size_t i = 0; i < HX_BLOCK_DH; i++) {
        c[i] = x[i];
        sum += x[i];
    }
    for (size_t i = HX_BLOCK_DH; i < HX_BLOCK_PAD; i++)
        c[i] = sum / HX_BLOCK_DH;
    hx_vht2_f64(c, HX_BLOCK_PAD);
}

/* pred[r] = sum over j of W[r][j] * skeleton[j] */
static void predict(const struct hx_block_table *t, const uint16_t skeleton[HX_BLOCK_SKEL],
                    double pred[HX_BLOCK_RES])
{
    for (size_t r = 0; r < HX_BLOCK_RES; r++) {
        pred[r] = 0;
        for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
            pred[r] += (double)hx_f32_from_f16(t->w[r][j]) * hx_f32_from_f16(skeleton[j]);
    }
}

void hx_spinor_residual_ref(const struct hx_block_table *t, const double c[HX_BLOCK_PAD],
                            const uint16_t skeleton[HX_BLOCK_SKEL], float residual[HX_BLOCK_RES],
                            float *amax)
{
    uint8_t rows[HX_BLOCK_RES];
    double pred[HX_BLOCK_RES];

    hx_spinor_residual_rows(rows);
    predict(t, skeleton, pred);
    *amax = 0;
    for (size_t r = 0; r < HX_BLOCK_RES; r++) {
        residual[r] = (float)(c[rows[r]] - pred[r]);
        *amax = fmaxf(*amax, fabsf(residual[r]));
    }
}

/* Products of a 24-bit significand and at most 14 are exact in fp64. */
static unsigned magnitude(float r, float amax)
{
    unsigned m = 0;

    if (amax > 0)
        for (int k = 0; k < 7; k++)
            m += 14.0 * fabsf(r) >= (2 * k + 1) * (double)amax;
    return m;
}

void hx_spinor_pack_ref(const float residual[HX_BLOCK_RES], float amax, struct hx_block *b)
{
    memset(b->magnitude, 0, sizeof(b->magnitude));
    memset(b->phase, 0, sizeof(b->phase));
    for (size_t i = 0; i < HX_BLOCK_RES; i++) {
        unsigned m = magnitude(residual[i], amax);

        for (size_t bit = 0; bit < 3; bit++)
            b->magnitude[(3 * i + bit) / 8] |= (uint8_t)((m >> bit & 1) << (3 * i + bit) % 8);
        if (m && residual[i] < 0)
            b->phase[i / 8] |= (uint8_t)(1u << i % 8);
    }
    memcpy(b->amax, &amax, sizeof(b->amax));
    b->crc = hx_crc8(b, HX_BLOCK_PAYLOAD);
}

int hx_spinor_encode_ref(const struct hx_block_table *t, const float x[HX_BLOCK_DH],
                         struct hx_block *out)
{
    struct hx_block b;
    double c[HX_BLOCK_PAD];
    float residual[HX_BLOCK_RES], amax;

    if (!encodable(x))
        return AEE_EBADPARM;
    hx_spinor_coefficients_ref(x, c);
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        b.skeleton[j] = hx_f16_from_f32((float)c[t->skeleton[j]]);
        if (isinf(hx_f32_from_f16(b.skeleton[j])))
            return AEE_EBADPARM;
    }
    hx_spinor_residual_ref(t, c, b.skeleton, residual, &amax);
    hx_spinor_pack_ref(residual, amax, &b);
    *out = b;
    return AEE_SUCCESS;
}

/* Lane i's decoded residual. */
static double unpack(const struct hx_block *b, size_t i, const float level[8])
{
    unsigned m = 0;

    for (size_t bit = 0; bit < 3; bit++)
        m |= (b->magnitude[(3 * i + bit) / 8] >> (3 * i + bit) % 8 & 1u) << bit;
    return b->phase[i / 8] >> i % 8 & 1 ? -(double)level[m] : level[m];
}

int hx_spinor_decode_ref(const struct hx_block_table *t, const struct hx_block *in,
                         float x[HX_BLOCK_DH])
{
    uint8_t rows[HX_BLOCK_RES];
    double c[HX_BLOCK_PAD] = {0}, pred[HX_BLOCK_RES];
    float amax, level[8];
    int rc = hx_spinor_check_block(in);

    if (rc)
        return rc;
    memcpy(&amax, in->amax, sizeof(amax));
    hx_spinor_levels(amax, level);
    hx_spinor_residual_rows(rows);
    predict(t, in->skeleton, pred);
    for (size_t r = 0; r < HX_BLOCK_RES; r++)
        c[rows[r]] = pred[r] + unpack(in, r, level);
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        c[t->skeleton[j]] = hx_f32_from_f16(in->skeleton[j]);
    hx_vht2_f64(c, HX_BLOCK_PAD);
    for (size_t i = 0; i < HX_BLOCK_DH; i++)
        x[i] = (float)c[i];
    return AEE_SUCCESS;
}
