/* Encode of spinor blocks on HVX.  See spinor.h.
 *
 * The linear maps (vector -> coefficients, the predictor) are tables of columns; a product is one splat of an input value
 * times a column, summed in qf32 in a fixed order.  V69 has no f32 -> integer vector convert, so a magnitude is found by
 * comparing |r| with seven thresholds, which makes it exact as well. */
#include "spinor.h"

#include <stdbool.h>
#include <string.h>

#include <hvx_hexagon_protos.h>

#include "hx_f16.h"
#include "spinor_group.h"

#define F32_ABS 0x7fffffff
#define F32_INFINITY 0x7f800000u
#define MAX_ABS_BITS 0x71800000u /* HX_SPINOR_MAX_ABS, 2^100 */

enum { MAX_OUT_VECTORS = HX_BLOCK_MAX_DH / HX_SPINOR_LANES };

static float float_of(uint32_t u)
{
    float f;

    memcpy(&f, &u, sizeof(f));
    return f;
}

static HVX_Vector splat_f32(float f)
{
    return hx_spinor_splat(hx_spinor_bits(f));
}

/* acc[r] (+)= x * column[r], qf32; `start` begins a new sum */
static inline void multiply_add(HVX_Vector *acc, size_t n, HVX_Vector x, const HVX_Vector *column,
                                bool start)
{
    for (size_t r = 0; r < n; r++) {
        HVX_Vector p = Q6_Vqf32_vmpy_VsfVsf(x, column[r]);

        acc[r] = start ? p : Q6_Vqf32_vadd_Vqf32Vqf32(acc[r], p);
    }
}

/* The prediction of the residual lanes from the stored skeleton, qf32; zero in lanes that are none. */
static void predict(const struct hx_spinor *k, const struct hx_spinor_slot *s,
                    const uint16_t *skeleton, HVX_Vector *pred)
{
    const HVX_Vector *w = (const void *)((const char *)s + k->w_in);

    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        multiply_add(pred, k->res_vectors, splat_f32(hx_f32_from_f16(skeleton[j])),
                     w + j * k->res_vectors, j == 0);
}

static void subtract_prediction(const struct hx_spinor *k, const struct hx_spinor_slot *s,
                                const uint16_t *skeleton, HVX_Vector *acc)
{
    HVX_Vector pred[HX_SPINOR_MAX_RES_VECTORS];

    predict(k, s, skeleton, pred);
    for (size_t v = 0; v < k->res_vectors; v++)
        acc[v] = Q6_Vqf32_vsub_Vqf32Vqf32(acc[v], pred[v]);
}

int hx_spinor_predict_hvx(const struct hx_spinor *k, size_t slot,
                          const uint16_t skeleton[HX_BLOCK_SKEL], float *prediction)
{
    HVX_Vector *out = (HVX_Vector *)prediction;

    if ((uintptr_t)prediction % sizeof(HVX_Vector) || slot >= k->n_slots)
        return AEE_EBADPARM;
    for (size_t v = 0; v < k->res_vectors; v++)
        out[v] = Q6_V_vzero();
    if (!k->w_in)
        return AEE_SUCCESS;
    predict(k, hx_spinor_slot(k, slot), skeleton, out);
    for (size_t v = 0; v < k->res_vectors; v++)
        out[v] = Q6_Vsf_equals_Vqf32(out[v]);
    return AEE_SUCCESS;
}

/* Largest lane of a vector of non-negative words. */
static uint32_t largest(HVX_Vector m)
{
    union hx_spinor_lanes out;

    for (int step = 4; step < 128; step *= 2)
        m = Q6_Vw_vmax_VwVw(m, Q6_V_vror_VR(m, step));
    out.v = m;
    return out.u[0];
}

/* Lane i becomes the OR of lanes i..i+n-1 (n a power of two, lanes counted round the vector). */
static inline HVX_Vector or_lanes(HVX_Vector v, int n)
{
    for (int step = 4; step < 4 * n; step *= 2)
        v = Q6_V_vor_VV(v, Q6_V_vror_VR(v, step));
    return v;
}

/* below[k]: the pattern of the largest f32 that does not reach magnitude k+1, that is 14 f < (2k+1) * amax.  Patterns of
 * non-negative floats order as integers do.  The first guess is off by at most one step; both sides of the
 * comparison are exact in fp64. */
static void thresholds(float amax, uint32_t below[7])
{
    for (int k = 0; k < 7; k++) {
        double edge = (2 * k + 1) * (double)amax;
        uint32_t t = hx_spinor_bits((float)(edge * (1.0 / 14))); /* the smallest f, 14 f >= edge */

        t += 14.0 * float_of(t) < edge;
        t -= t > 0 && 14.0 * float_of(t - 1) >= edge;
        below[k] = amax > 0 ? t - 1 : F32_INFINITY;
    }
}

/* Twelve bytes of magnitudes and four of phases, of 32 lanes of residuals. */
struct plane_words {
    uint32_t group[4]; /* 8 lanes each, 24 bits */
    uint32_t sign;
};

static struct plane_words planes(const struct hx_spinor *k, HVX_Vector r, const uint32_t below[7])
{
    const HVX_Vector abs_r = Q6_V_vand_VV(r, Q6_V_vsplat_R(F32_ABS)), zero = Q6_V_vzero();
    union hx_spinor_lanes mags, signs;
    struct plane_words p;
    HVX_Vector m = zero;

    for (int t = 0; t < 7; t++) /* thresholds ascend: the last one passed decides */
        m = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(abs_r, hx_spinor_splat(below[t])), Q6_V_vsplat_R(t + 1),
                          m);

    HVX_Vector s = Q6_Vw_vlsr_VwVw(r, Q6_V_vsplat_R(31));
    s = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(m, zero), s, zero);
    mags.v = or_lanes(Q6_Vw_vasl_VwVw(m, k->shift3), 8);
    signs.v = or_lanes(Q6_Vw_vasl_VwVw(s, k->shift1), HX_SPINOR_LANES);
    for (int g = 0; g < 4; g++)
        p.group[g] = mags.u[8 * g];
    p.sign = signs.u[0];
    return p;
}

/* Sets magnitudes, phases, amax, fill and CRC.  r: the residual vectors as f32, lanes that are none zero. */
static void pack_planes(const struct hx_spinor *k, const HVX_Vector *r, float amax, uint8_t *block)
{
    const struct hx_block_shape *s = k->f.shape;
    uint8_t mag[12 * HX_SPINOR_MAX_RES_VECTORS], phase[4 * HX_SPINOR_MAX_RES_VECTORS];
    uint32_t below[7];

    thresholds(amax, below);
    for (size_t v = 0; v < k->res_vectors; v++) {
        const struct plane_words p = planes(k, r[v], below);

        for (size_t byte = 0; byte < 12; byte++)
            mag[12 * v + byte] = (uint8_t)(p.group[byte / 3] >> byte % 3 * 8);
        for (size_t byte = 0; byte < 4; byte++)
            phase[4 * v + byte] = (uint8_t)(p.sign >> byte * 8);
    }
    memcpy(block + s->off_mag, mag, (size_t)(s->off_phase - s->off_mag));
    memcpy(block + s->off_phase, phase, (size_t)(s->off_amax - s->off_phase));
    memcpy(block + s->off_amax, &amax, sizeof(amax));
    hx_block_seal(s, block);
}

int hx_spinor_pack_hvx(const struct hx_spinor *k, const float *residual, float amax, void *block)
{
    HVX_Vector r[HX_SPINOR_MAX_RES_VECTORS];
    const size_t last = k->res_vectors - 1u;

    if ((uintptr_t)residual % sizeof(HVX_Vector))
        return AEE_EBADPARM;
    for (size_t v = 0; v <= last; v++)
        r[v] = ((const HVX_Vector *)residual)[v];
    r[last] = Q6_V_vand_VV(r[last], k->tail_mask);
    pack_planes(k, r, amax, block);
    return AEE_SUCCESS;
}

/* 24 bits from byte `at` of a plane that ends at `end`. */
static uint32_t group_of(const uint8_t *block, size_t at, size_t end)
{
    uint32_t g = 0;

    for (size_t byte = 0; byte < 3 && at + byte < end; byte++)
        g |= (uint32_t)block[at + byte] << 8 * byte;
    return g;
}

/* 32 residuals: levels picked by magnitude, sign from the phase plane. */
static HVX_Vector unpack(const struct hx_spinor *k, const uint8_t *block, const float level[8],
                         size_t v)
{
    const struct hx_block_shape *s = k->f.shape;
    const size_t phase = s->off_phase + 4 * v, left = s->off_amax > phase ? s->off_amax - phase : 0;
    HVX_Vector value = splat_f32(level[0]), m, negative;
    union hx_spinor_lanes groups;
    uint32_t sign = 0;

    groups.v = Q6_V_vzero();
    for (size_t g = 0; g < 4; g++)
        groups.u[g] = group_of(block, s->off_mag + 12 * v + 3 * g, s->off_phase);
    memcpy(&sign, block + phase, left < sizeof(sign) ? left : sizeof(sign));

    m = groups.v;
    for (int doubling = 0; doubling < 3; doubling++) /* lane g -> lanes 8g..8g+7 */
        m = Q6_V_lo_W(Q6_W_vshuff_VVR(m, m, -4));
    m = Q6_V_vand_VV(Q6_Vw_vlsr_VwVw(m, k->shift3), Q6_V_vsplat_R(7));
    for (int i = 1; i < 8; i++)
        value = Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(m, Q6_V_vsplat_R(i)), splat_f32(level[i]), value);
    negative = Q6_Vw_vlsr_VwVw(hx_spinor_splat(sign), k->shift1);
    return Q6_V_vxor_VV(value, Q6_Vw_vasl_VwR(negative, 31));
}

int hx_spinor_residual_hvx(const struct hx_spinor *k, const void *block, float *residual)
{
    HVX_Vector *out = (HVX_Vector *)residual;
    const size_t last = k->res_vectors - 1u;
    const float amax = hx_block_amax(k->f.shape, block);
    float level[8];

    if ((uintptr_t)residual % sizeof(HVX_Vector))
        return AEE_EBADPARM;
    if (hx_spinor_bits(amax) >= F32_INFINITY)
        return AEE_EBADITEM;
    hx_codec_levels(k->f.code, amax, level);
    for (size_t v = 0; v <= last; v++)
        out[v] = unpack(k, block, level, v);
    out[last] = Q6_V_vand_VV(out[last], k->tail_mask);
    return AEE_SUCCESS;
}

/* Copies a vector and takes its mean off; false when a value is out of range. */
static bool centre(const struct hx_spinor *k, const struct hx_spinor_slot *s, const float *x,
                   union hx_spinor_lanes *to)
{
    const HVX_Vector *mean = (const void *)((const char *)s + k->mean_in);
    const HVX_Vector limit = hx_spinor_splat(MAX_ABS_BITS), mask = Q6_V_vsplat_R(F32_ABS);
    HVX_Vector top = Q6_V_vzero();

    for (size_t v = 0; v < k->out_vectors; v++) {
        to[v].v = ((const HVX_Vector *)x)[v];
        top = Q6_Vw_vmax_VwVw(top, Q6_V_vand_VV(to[v].v, mask));
        if (k->mean_in)
            to[v].v = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vsub_VsfVsf(to[v].v, mean[v]));
    }
    return largest(Q6_Vw_vmax_VwVw(top, limit)) == MAX_ABS_BITS;
}

static int encode_one(const struct hx_spinor *k, const struct hx_spinor_slot *s, const float *x,
                      uint8_t *out)
{
    const HVX_Vector *column = k->columns_in ? (const void *)((const char *)s + k->columns_in)
                                             : (const void *)((const char *)k + k->columns_at);
    union hx_spinor_lanes in[MAX_OUT_VECTORS], coef[HX_SPINOR_MAX_COEF_VECTORS];
    HVX_Vector acc[HX_SPINOR_MAX_COEF_VECTORS], r[HX_SPINOR_MAX_RES_VECTORS], top = Q6_V_vzero();
    uint16_t skeleton[HX_BLOCK_SKEL];
    bool good = centre(k, s, x, in);

    for (size_t i = 0; i < k->f.shape->dh; i++)
        multiply_add(acc, k->coef_vectors,
                     splat_f32(in[i / HX_SPINOR_LANES].f[i % HX_SPINOR_LANES]),
                     column + i * k->coef_vectors, i == 0);
    for (size_t v = k->res_vectors; v < k->coef_vectors; v++)
        coef[v].v = Q6_Vsf_equals_Vqf32(acc[v]);
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        const size_t lane = s->skel_lane[j];

        skeleton[j] = hx_f16_from_f32(coef[lane / HX_SPINOR_LANES].f[lane % HX_SPINOR_LANES]);
        good &= (skeleton[j] & 0x7c00) != 0x7c00;
    }
    if (!good)
        return AEE_EBADPARM;

    if (k->w_in)
        subtract_prediction(k, s, skeleton, acc);
    for (size_t v = 0; v < k->res_vectors; v++) {
        r[v] = Q6_Vsf_equals_Vqf32(acc[v]);
        if (v == k->res_vectors - 1u)
            r[v] = Q6_V_vand_VV(r[v], k->tail_mask);
        top = Q6_Vw_vmax_VwVw(top, Q6_V_vand_VV(r[v], Q6_V_vsplat_R(F32_ABS)));
    }
    memcpy(out, skeleton, sizeof(skeleton));
    pack_planes(k, r, float_of(largest(top)), out);
    return AEE_SUCCESS;
}

int hx_spinor_encode_batch_hvx(const struct hx_spinor *k, size_t first, size_t n_slots,
                               size_t n_pos, const float *x, void *blocks,
                               struct hx_spinor_faults *faults)
{
    const size_t dh = k->f.shape->dh, slot = k->f.shape->slot;

    faults->n = 0;
    if ((uintptr_t)x % sizeof(HVX_Vector) || (uintptr_t)blocks % HX_BLOCK_SLOT ||
        n_slots > k->n_slots || first > k->n_slots - n_slots)
        return AEE_EBADPARM;
    for (size_t i = 0; i < n_slots * n_pos; i++) {
        int rc = encode_one(k, hx_spinor_slot(k, first + i % n_slots), x + i * dh,
                            (uint8_t *)blocks + i * slot);

        if (rc) {
            hx_spinor_note(faults, i);
            return rc;
        }
    }
    return AEE_SUCCESS;
}
