/* T2, T2b: the spinor block as a map of the 154 coefficients of a padded vector, in fp64, with the shipped calibration (basis
 * vht2).  enc_c takes coefficients to a block, dec_c back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/spinor/cal_file.h"
#include "checks.h"
#include "hx_f16.h"

enum { VECTORS = 10000, SKEL = HX_BLOCK_SKEL };

struct codec {
    struct hx_cal *cal;
    struct hx_codec *c;
    const struct hx_block_shape *shape;
};

static int open_codec(struct codec *k, struct hx_theorem_run *r)
{
    char path[512];
    struct hx_error err = {""};

    snprintf(path, sizeof(path), "%s/hexrig-tiny-vht2-before.cal", r->share);
    if (hx_cal_read(&k->cal, path, &err)) {
        hx_theorem_stopped(r, "%s", err.text);
        return -1;
    }
    k->c = hx_cal_codec(k->cal);
    k->shape = k->cal->format.shape;
    if (!k->c) {
        hx_theorem_stopped(r, "no memory");
        hx_cal_free(k->cal);
    }
    return k->c ? 0 : -1;
}

static void close_codec(struct codec *k)
{
    free(k->c);
    hx_cal_free(k->cal);
}

static void encode(const struct codec *k, size_t slot, const double *coef, uint8_t *block)
{
    const uint16_t *at = hx_codec_skeleton_at(k->c, slot);
    struct hx_codec_residual residual;
    uint16_t skeleton[SKEL];

    for (int j = 0; j < SKEL; j++)
        skeleton[j] = hx_f16_from_f32((float)coef[at[j]]);
    memset(block, 0, k->shape->slot);
    memcpy(block, skeleton, sizeof(skeleton));
    hx_codec_residual(k->c, slot, coef, skeleton, &residual);
    hx_codec_pack(&k->cal->format, &residual, block);
}

/* Prediction of residual lane i: row i of the table's matrix W, which follows 14 indices and 2 reserved words. */
static double predict(const struct codec *k, size_t slot, size_t i, const uint8_t *block)
{
    const uint16_t *w = (const uint16_t *)hx_cal_table(k->cal, slot) + SKEL + 2 + i * SKEL;
    double sum = 0;

    for (size_t j = 0; j < SKEL; j++)
        sum += (double)hx_f32_from_f16(w[j]) * hx_f32_from_f16(hx_block_skeleton(block, j));
    return sum;
}

static void decode(const struct codec *k, size_t slot, const uint8_t *block, double *coef)
{
    const uint16_t *skeleton_at = hx_codec_skeleton_at(k->c, slot);
    const uint16_t *lanes_at = hx_codec_lanes_at(k->c, slot);
    float level[8];

    memset(coef, 0, k->shape->pad * sizeof(*coef));
    hx_codec_levels(HX_CODE_SIGN, hx_block_amax(k->shape, block), level);
    for (size_t j = 0; j < SKEL; j++)
        coef[skeleton_at[j]] = hx_f32_from_f16(hx_block_skeleton(block, j));
    for (size_t i = 0; i < k->shape->n_res; i++) {
        const double size = level[hx_block_magnitude(k->shape, block, i)];

        coef[lanes_at[i]] = predict(k, slot, i, block) +
                            (hx_block_phase(k->shape, block, i) ? -size : size);
    }
}

/* Roughly normal, with a spread that differs between coefficients. */
static void fill(double *coef, size_t n, struct hx_theorem_run *r)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;

        for (int t = 0; t < 6; t++)
            sum += (double)(hx_theorem_random(r) >> 11) * 0x1p-53 - 0.5;
        coef[i] = sum * 4 / (1 + (double)i / 16);
    }
}

enum hx_verdict hx_t2(struct hx_theorem_run *r)
{
    double coef[HX_BLOCK_MAX_PAD], back[HX_BLOCK_MAX_PAD], worst = 0;
    uint8_t first[HX_BLOCK_MAX_SLOT], second[HX_BLOCK_MAX_SLOT];
    struct codec k;
    int same = 0;

    if (open_codec(&k, r))
        return HX_FAILED;
    for (size_t n = 0; n < VECTORS; n++) {
        const size_t slot = n % hx_codec_slots(k.c);

        fill(coef, k.shape->pad, r);
        encode(&k, slot, coef, first);
        decode(&k, slot, first, back);
        encode(&k, slot, back, second);
        same += memcmp(first, second, k.shape->slot) == 0;
        for (size_t j = 0; j < SKEL; j++)
            worst = fmax(worst, fabs(back[hx_codec_skeleton_at(k.c, slot)[j]] -
                                     coef[hx_codec_skeleton_at(k.c, slot)[j]]));
    }
    close_codec(&k);
    hx_witness(r, "enc(dec(enc(c))) = enc(c), all %d bytes, for %d of %d vectors; skeleton within %.1e",
               HX_BLOCK_SLOT, same, VECTORS, worst);
    return same == VECTORS ? HX_VERIFIED : HX_FAILED;
}

/* Injectivity is false: a coefficient that is neither skeleton nor residual lane is dropped. */
enum hx_verdict hx_t2b(struct hx_theorem_run *r)
{
    double coef[HX_BLOCK_MAX_PAD], other[HX_BLOCK_MAX_PAD];
    uint8_t a[HX_BLOCK_MAX_SLOT], b[HX_BLOCK_MAX_SLOT];
    int kept[HX_BLOCK_MAX_PAD] = {0}, dropped = 0;
    struct codec k;

    if (open_codec(&k, r))
        return HX_FAILED;
    for (size_t j = 0; j < SKEL; j++)
        kept[hx_codec_skeleton_at(k.c, 0)[j]] = 1;
    for (size_t i = 0; i < k.shape->n_res; i++)
        kept[hx_codec_lanes_at(k.c, 0)[i]] = 1;
    while (kept[dropped])
        dropped++;
    fill(coef, k.shape->pad, r);
    memcpy(other, coef, sizeof(other));
    other[dropped] += 1;
    encode(&k, 0, coef, a);
    encode(&k, 0, other, b);
    const int collide = memcmp(a, b, k.shape->slot) == 0;

    close_codec(&k);
    hx_witness(r, "two vectors that differ by 1 in coefficient %d: %s", dropped,
               collide ? "one block" : "two blocks");
    return collide ? HX_EXPECTED_FAIL : HX_FAILED;
}
