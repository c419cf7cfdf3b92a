/* Blocks step by step, see spinor_steps.h. */
#include "spinor_steps.h"

#include <string.h>

#include "hx_f16.h"
#include "silicon/mobius.h"
#include "skel/kernel.h"
#include "spinor_steps_hvx.listing.h"
#include "vht2_pad.h"

enum {
    MAX_COEF = HX_BLOCK_MAX_PAD + HX_VHT2_PAD_SLACK + 31,
    MAX_OUT = HX_BLOCK_MAX_DH / HX_SPINOR_LANES,
    MAX_LANES = HX_BLOCK_MAX_SKEL + HX_BLOCK_MAX_RES,
    MAX_ABS_BITS = 0x71800000, /* of HX_SPINOR_MAX_ABS */
};

/* qf32 ends near 2^-127: the coefficients of a vector of zeros are not quite 0. */
#define NOISE 0x1p-118f

/* A float as vsplat and comparisons of patterns take it. */
typedef int32_t __attribute__((may_alias)) word;

/* Residual lanes as the planes' kernels take them. */
union lanes {
    HVX_Vector align;
    float f[HX_SPINOR_MAX_RES_VECTORS * HX_SPINOR_LANES];
};

union coefficients {
    HVX_Vector align;
    float f[MAX_COEF];
};

/* --- listed */

/* How many values a block cannot hold: NaN and infinity have the largest patterns. */
static HX_KERNEL int steps_wild(const word *x, int n)
{
    int wild = 0;

    HX_CODE(steps_wild);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        wild += (x[i] & 0x7fffffff) > MAX_ABS_BITS;
    return wild;
}

/* z[r] = row[r] . (x - mean); a row and x have `vectors` vectors, rows lie at any float. */
static HX_KERNEL void steps_project(const HVX_UVector *row, int rows, int vectors, const HVX_UVector *x,
                                    const HVX_UVector *mean, word *z)
{
    HVX_Vector centred[MAX_OUT];

    HX_CODE(steps_project);
    HX_TRIPS(1, vectors);
    for (int v = 0; v < vectors; v++)
        centred[v] = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vsub_VsfVsf(x[v], mean[v]));
    HX_TRIPS(2, rows);
    for (int r = 0; r < rows; r++) {
        HVX_Vector sum = Q6_Vqf32_vmpy_VsfVsf(row[0], centred[0]); /* qf32 has no 0 to begin with */

        HX_TRIPS(3, vectors - 1);
        for (int v = 1; v < vectors; v++)
            sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, Q6_Vqf32_vmpy_VsfVsf(row[v], centred[v]));
        row += vectors;
        HX_TRIPS(4, 5);
        for (int bytes = HX_VECTOR_BYTES / 2; bytes >= 4; bytes /= 2)
            sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, Q6_V_vror_VR(sum, bytes));
        z[r] = hx_spill_lane0(Q6_Vsf_equals_Vqf32(sum));
    }
}

/* The way back: x = mean + sum of z[r] row[r]. */
static HX_KERNEL void steps_combine(const HVX_UVector *row, int rows, int vectors, const word *z,
                                    const HVX_UVector *mean, HVX_UVector *x)
{
    HX_CODE(steps_combine);
    HX_TRIPS(1, vectors);
    for (int v = 0; v < vectors; v++) {
        HVX_Vector sum = Q6_Vqf32_vadd_VsfVsf(mean[v], Q6_V_vzero());

        HX_TRIPS(2, rows);
        for (int r = 0; r < rows; r++)
            sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, Q6_Vqf32_vmpy_VsfVsf(Q6_V_vsplat_R(z[r]), row[r * vectors + v]));
        x[v] = Q6_Vsf_equals_Vqf32(sum);
    }
}

static HX_KERNEL void steps_predict(const float *w, int rows, int n_skel, const float *skeleton, float *prediction)
{
    HX_CODE(steps_predict);
    HX_TRIPS(1, rows);
    for (int r = 0; r < rows; r++) {
        float sum = 0;

        HX_TRIPS(2, n_skel);
        for (int j = 0; j < n_skel; j++)
            sum += *w++ * skeleton[j];
        prediction[r] = sum;
    }
}

/* Coefficients become residuals; `turned` are those against the negated prediction.  Returns the largest |r|. */
static HX_KERNEL float steps_residuals(float *c, const float *prediction, int n, int sheet, uint8_t *turned)
{
    float amax = 0;

    HX_CODE(steps_residuals);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        const float plus = c[i] - prediction[i], minus = c[i] + prediction[i];
        const float a = plus < 0 ? -plus : plus, b = minus < 0 ? -minus : minus;
        const int turn = sheet & (b < a);
        const float top = turn ? b : a;

        turned[i] = (uint8_t)turn;
        c[i] = turn ? minus : plus;
        amax = top > amax ? top : amax;
    }
    return amax;
}

/* And back. */
static HX_KERNEL void steps_lanes(float *r, const float *prediction, int n, const uint8_t *turned)
{
    HX_CODE(steps_lanes);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        r[i] += turned[i] ? -prediction[i] : prediction[i];
}

static HX_KERNEL void steps_divide(float *z, const float *scale, int n)
{
    HX_CODE(steps_divide);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        z[i] /= scale[i];
}

static HX_KERNEL void steps_multiply(float *z, const float *scale, int n)
{
    HX_CODE(steps_multiply);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        z[i] *= scale[i];
}

/* --- tables of a slot, as hx_codec_values() has them */

struct klt {
    const float *mean, *scale, *row; /* [dh], [n_res], [n_skel + n_res][dh] */
};

static struct klt klt_of(const struct hx_codec *c, size_t slot)
{
    const struct hx_block_shape *s = hx_codec_format_of(c)->shape;
    const float *mean = hx_codec_values(c, slot);

    return (struct klt){mean, mean + s->dh, mean + s->dh + s->n_res};
}

static int is_klt(const struct hx_codec *c)
{
    return hx_codec_format_of(c)->basis == HX_BASIS_KLT;
}

/* Rows of the predictor, the residual lanes first. */
static int predicted_rows(const struct hx_codec *c)
{
    const struct hx_codec_format *f = hx_codec_format_of(c);
    const size_t values = hx_block_table_bytes(f->shape, f->basis) / sizeof(uint16_t);

    return is_klt(c) ? 0 : (int)((values - f->shape->n_skel - 2) / f->shape->n_skel);
}

static void widen(const uint16_t *skeleton, int n, float *values)
{
    for (int j = 0; j < n; j++)
        values[j] = hx_f32_from_f16(skeleton[j]);
}

/* All rows of the prediction, [predicted_rows()]; zeros for klt, [n_res]. */
static void predict_all(const struct hx_codec *c, size_t slot, const float *skeleton, float *prediction)
{
    const struct hx_block_shape *s = hx_codec_format_of(c)->shape;

    if (is_klt(c))
        memset(prediction, 0, s->n_res * sizeof(*prediction));
    else
        steps_predict(hx_codec_values(c, slot), predicted_rows(c), s->n_skel, skeleton, prediction);
}

void hx_steps_predict(const struct hx_codec *c, size_t slot, const uint16_t *skeleton, float *prediction)
{
    const struct hx_block_shape *s = hx_codec_format_of(c)->shape;
    float values[HX_BLOCK_MAX_SKEL], all[HX_BLOCK_MAX_PAD];

    widen(skeleton, s->n_skel, values);
    predict_all(c, slot, values, all);
    memcpy(prediction, all, s->n_res * sizeof(*prediction));
}

/* --- encode */

/* Skeleton values and residual lanes of x. */
static void analyse(const struct hx_codec *c, size_t slot, const float *x, float *skeleton, float *lanes)
{
    const struct hx_block_shape *s = hx_codec_format_of(c)->shape;
    union coefficients coef;

    if (is_klt(c)) {
        const struct klt t = klt_of(c, slot);

        steps_project((const HVX_UVector *)t.row, s->n_skel + s->n_res, s->dh / HX_SPINOR_LANES, (const HVX_UVector *)x,
                      (const HVX_UVector *)t.mean, (word *)coef.f);
        steps_divide(coef.f + s->n_skel, t.scale, s->n_res);
    } else {
        memcpy(coef.f, x, s->dh * sizeof(*x));
        hx_vht2_pad_fill(coef.f, s->dh, s->pad);
        hx_vht2_pad_hvx(coef.f, s->pad); /* every shape's length is legal */
    }
    hx_mobius_scatter(hx_codec_skeleton_at(c, slot), s->n_skel, coef.f, skeleton);
    hx_mobius_scatter(hx_codec_lanes_at(c, slot), s->n_res, coef.f, lanes);
}

static void set_phases(const struct hx_block_shape *s, const uint8_t *turned, uint8_t *block)
{
    for (size_t i = 0; i < s->n_res; i++)
        block[s->off_phase + i / 8] |= (uint8_t)(turned[i] << i % 8);
    hx_block_seal(s, block);
}

int hx_steps_encode(const struct hx_spinor *k, const struct hx_codec *c, size_t slot, const float *x, void *block)
{
    const struct hx_block_shape *s = k->f.shape;
    const int sheet = k->f.code == HX_CODE_SHEET;
    float skeleton[HX_BLOCK_MAX_SKEL], prediction[HX_BLOCK_MAX_PAD], amax;
    uint8_t turned[HX_BLOCK_MAX_RES], made[HX_BLOCK_MAX_SLOT];
    uint16_t half[HX_BLOCK_MAX_SKEL];
    union lanes r;
    int rc;

    if (steps_wild((const word *)x, s->dh))
        return AEE_EBADPARM;
    analyse(c, slot, x, skeleton, r.f);
    for (size_t j = 0; j < s->n_skel; j++) {
        half[j] = hx_f16_from_f32(skeleton[j]);
        if ((half[j] & 0x7c00) == 0x7c00)
            return AEE_EBADPARM;
    }
    widen(half, s->n_skel, skeleton);
    predict_all(c, slot, skeleton, prediction);
    amax = steps_residuals(r.f, prediction, s->n_res, sheet, turned);
    if (amax - amax != 0)
        return AEE_EBADPARM;
    if (amax < NOISE) {
        amax = 0;
        memset(r.f, 0, sizeof(r.f));
        memset(turned, 0, sizeof(turned));
    }
    memcpy(made, half, s->n_skel * sizeof(*half));
    rc = hx_spinor_pack_hvx(k, r.f, amax, made);
    if (rc == AEE_SUCCESS && sheet)
        set_phases(s, turned, made);
    if (rc == AEE_SUCCESS)
        memcpy(block, made, s->slot);
    return rc;
}

/* --- decode */

static void synthesise(const struct hx_codec *c, size_t slot, const float *skeleton, const float *lanes,
                       const float *prediction, float *x)
{
    const struct hx_block_shape *s = hx_codec_format_of(c)->shape;
    const uint16_t *lane_at = hx_codec_lanes_at(c, slot);
    union coefficients coef;

    if (is_klt(c)) {
        const struct klt t = klt_of(c, slot);

        memcpy(coef.f, skeleton, s->n_skel * sizeof(*skeleton));
        memcpy(coef.f + s->n_skel, lanes, s->n_res * sizeof(*lanes));
        steps_multiply(coef.f + s->n_skel, t.scale, s->n_res);
        steps_combine((const HVX_UVector *)t.row, s->n_skel + s->n_res, s->dh / HX_SPINOR_LANES, (const word *)coef.f,
                      (const HVX_UVector *)t.mean, (HVX_UVector *)x);
        return;
    }
    memset(coef.f, 0, s->pad * sizeof(coef.f[0]));
    hx_mobius_gather(lane_at, s->n_res, lanes, coef.f);
    hx_mobius_gather(lane_at + s->n_res, predicted_rows(c) - s->n_res, prediction + s->n_res, coef.f);
    hx_mobius_gather(hx_codec_skeleton_at(c, slot), s->n_skel, skeleton, coef.f);
    hx_vht2_pad_hvx(coef.f, s->pad);
    memcpy(x, coef.f, s->dh * sizeof(*x));
}

int hx_steps_decode(const struct hx_spinor *k, const struct hx_codec *c, size_t slot, const void *block, float *x)
{
    const struct hx_block_shape *s = k->f.shape;
    float skeleton[HX_BLOCK_MAX_SKEL], prediction[HX_BLOCK_MAX_PAD];
    uint8_t copy[HX_BLOCK_MAX_SLOT], turned[HX_BLOCK_MAX_RES]; /* the client may be writing: what was checked is what is used */
    uint16_t half[HX_BLOCK_MAX_SKEL];
    union lanes r;
    int rc;

    memcpy(copy, block, s->slot);
    if (hx_block_fault(s, copy))
        return AEE_EBADITEM;
    rc = hx_spinor_residual_hvx(k, copy, r.f);
    if (rc)
        return rc;
    memcpy(half, copy, s->n_skel * sizeof(*half));
    widen(half, s->n_skel, skeleton);
    predict_all(c, slot, skeleton, prediction);
    for (size_t i = 0; i < s->n_res; i++)
        turned[i] = k->f.code == HX_CODE_SHEET && hx_block_phase(s, copy, i);
    steps_lanes(r.f, prediction, s->n_res, turned);
    synthesise(c, slot, skeleton, r.f, prediction, x);
    return AEE_SUCCESS;
}
