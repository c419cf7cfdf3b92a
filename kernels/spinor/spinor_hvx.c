/* Encode of spinor blocks on HVX.  See spinor.h.
 *
 * The linear maps (vector -> coefficients, the predictor) are tables of columns; a product is one splat of an input value
 * times a column, summed in qf32 in a fixed order.  V69 has no f32 -> integer vector convert, so a magnitude is found by
 * comparing |r| with seven thresholds, which makes it exact as well. */
#include "spinor.h"

#include <stdbool.h>
#include <string.h>

#include <hvx_hexagon_protos.h>

#include "hexrig_code.h"
#include "hx_f16.h"
#include "spinor_group.h"

#include "spinor_hvx.listing.h"

#define F32_ABS 0x7fffffff
#define F32_INFINITY 0x7f800000u

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

HX_SPINOR_FN HVX_Vector add_qf32_product(HVX_Vector sum, HVX_Vector x, HVX_Vector y)
{
    return Q6_Vqf32_vadd_Vqf32Vqf32(sum, Q6_Vqf32_vmpy_VsfVsf(x, y));
}

/* acc[r] = sum over i of x[i] * column[i][r], qf32, in the order of i; n_x >= 1 floats as patterns, columns of n vectors.  Two
 * sums at a time: one alone would wait for its own additions. */
HX_SPINOR_LISTED void multiply_columns(const uint32_t *x, size_t n_x,
                                                       const HVX_Vector *column, size_t n,
                                                       HVX_Vector *acc)
{
    HX_CODE(multiply_columns);
    HX_TRIPS(1, n / 2);
    for (size_t r = 0; r < n / 2; r++) {
        HVX_Vector by = hx_spinor_splat(x[0]);
        HVX_Vector a = Q6_Vqf32_vmpy_VsfVsf(by, column[2 * r]);
        HVX_Vector b = Q6_Vqf32_vmpy_VsfVsf(by, column[2 * r + 1]);

        HX_TRIPS(2, n_x - 1);
        for (size_t i = 1; i < n_x; i++) {
            const HVX_Vector *c = column + i * n + 2 * r;

            by = hx_spinor_splat(x[i]);
            a = add_qf32_product(a, by, c[0]);
            b = add_qf32_product(b, by, c[1]);
        }
        acc[2 * r] = a;
        acc[2 * r + 1] = b;
    }
    HX_TRIPS(3, 0);
    if (n % 2) {
        const HVX_Vector *c = column + n - 1;
        HVX_Vector a = Q6_Vqf32_vmpy_VsfVsf(hx_spinor_splat(x[0]), *c);

        HX_TRIPS(3, n_x - 1);
        for (size_t i = 1; i < n_x; i++) {
            c += n;
            a = add_qf32_product(a, hx_spinor_splat(x[i]), *c);
        }
        acc[n - 1] = a;
    }
}

/* The prediction of the residual lanes from the stored skeleton, qf32; zero in lanes that are none. */
static void predict(const struct hx_spinor *k, const struct hx_spinor_slot *s,
                    const uint16_t *skeleton, HVX_Vector *pred)
{
    union hx_spinor_lanes z;

    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        z.f[j] = hx_f32_from_f16(skeleton[j]);
    multiply_columns(z.u, HX_BLOCK_SKEL, (const void *)((const char *)s + k->w_in), k->res_vectors,
                     pred);
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

/* Lane i becomes the OR of lanes i..i+n-1 (n a power of two, lanes counted round the vector). */
HX_SPINOR_FN HVX_Vector or_lanes(HVX_Vector v, int n)
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

/* The same for code sheet, 7 f < (2k-6) * amax, in keys that order as signed floats do (key_of()). */
static void sheet_thresholds(float amax, uint32_t below[7])
{
    for (int k = 0; k < 7; k++) {
        const double edge = (k < 3 ? 6 - 2 * k : 2 * k - 6) * (double)amax;
        uint32_t t = hx_spinor_bits((float)(edge * (1.0 / 7)));

        if (k <= 3) { /* the largest magnitude that is not below the edge, negative */
            t += 7.0 * float_of(t + 1) <= edge;
            t -= t > 0 && 7.0 * float_of(t) > edge;
            below[k] = ~t - 1;
        } else { /* the smallest f, 7 f >= edge; of an edge of 0 that is -0 */
            t += 7.0 * float_of(t) < edge;
            t -= t > 0 && 7.0 * float_of(t - 1) >= edge;
            below[k] = t > 0 ? t - 1 : (uint32_t)-2;
        }
        below[k] = amax > 0 ? below[k] : INT32_MAX;
    }
}

/* Patterns of floats as integers of the same order, -0 below 0. */
HX_SPINOR_FN HVX_Vector key_of(HVX_Vector r)
{
    const HVX_Vector sign = Q6_Vw_vasr_VwR(r, 31);

    return Q6_V_vxor_VV(r, Q6_V_vand_VV(sign, Q6_V_vsplat_R(F32_ABS)));
}

/* Twelve bytes of magnitudes and four of phases, of 32 lanes of residuals. */
struct plane_words {
    uint32_t group[4]; /* 8 lanes each, 24 bits */
    uint32_t sign;
};

HX_SPINOR_LISTED void planes(const struct hx_spinor *k, const HVX_Vector *r,
                                             const uint32_t below[7], struct plane_words *p)
{
    enum { THRESHOLDS = 7, STEPS_8 = 3, STEPS_32 = 5, GROUPS = 4 };
    const int sheet = k->f.code == HX_CODE_SHEET;
    const HVX_VectorPred by_key = Q6_Q_vcmp_eq_VwVw(Q6_V_vsplat_R(sheet), Q6_V_vsplat_R(1));
    const HVX_Vector signed_lanes = Q6_V_vsplat_R(sheet ? 0 : -1);

    HX_CODE(planes);
    HX_TRIPS(1, k->res_vectors);
    for (size_t v = 0; v < k->res_vectors; v++) {
        const HVX_Vector zero = Q6_V_vzero(), ones = Q6_V_vsplat_R(-1);
        const HVX_Vector value =
            Q6_V_vmux_QVV(by_key, key_of(r[v]), Q6_V_vand_VV(r[v], Q6_V_vsplat_R(F32_ABS)));
        union hx_spinor_lanes mags, signs;
        HVX_Vector m = zero;

        HX_TRIPS(2, THRESHOLDS);
        for (int t = 0; t < THRESHOLDS; t++) /* they ascend: the last one passed decides */
            m = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(value, hx_spinor_splat(below[t])),
                              Q6_V_vsplat_R(t + 1), m);

        /* lanes that are none are 0, which code sheet gives a magnitude */
        m = Q6_V_vand_VV(m, v == k->res_vectors - 1u ? k->tail_mask : ones);

        HVX_Vector s = Q6_V_vand_VV(Q6_Vw_vlsr_VwVw(r[v], Q6_V_vsplat_R(31)), signed_lanes);
        s = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(m, zero), s, zero);
        HX_TRIPS(3, STEPS_8);
        mags.v = or_lanes(Q6_Vw_vasl_VwVw(m, k->shift3), 8);
        HX_TRIPS(4, STEPS_32);
        signs.v = or_lanes(Q6_Vw_vasl_VwVw(s, k->shift1), HX_SPINOR_LANES);
        HX_TRIPS(5, GROUPS);
        for (int g = 0; g < GROUPS; g++)
            p[v].group[g] = mags.u[8 * g];
        p[v].sign = signs.u[0];
    }
}

/* Sets magnitudes, phases, amax, fill and CRC.  r: the residual vectors as f32, lanes that are none zero. */
static void pack_planes(const struct hx_spinor *k, const HVX_Vector *r, float amax, uint8_t *block)
{
    const struct hx_block_shape *s = k->f.shape;
    uint8_t mag[12 * HX_SPINOR_MAX_RES_VECTORS], phase[4 * HX_SPINOR_MAX_RES_VECTORS];
    struct plane_words p[HX_SPINOR_MAX_RES_VECTORS];
    uint32_t below[7];

    (k->f.code == HX_CODE_SHEET ? sheet_thresholds : thresholds)(amax, below);
    planes(k, r, below, p);
    for (size_t v = 0; v < k->res_vectors; v++) {
        for (size_t byte = 0; byte < 12; byte++)
            mag[12 * v + byte] = (uint8_t)(p[v].group[byte / 3] >> byte % 3 * 8);
        for (size_t byte = 0; byte < 4; byte++)
            phase[4 * v + byte] = (uint8_t)(p[v].sign >> byte * 8);
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
    negative = Q6_Vw_vlsr_VwVw(hx_spinor_splat(k->f.code == HX_CODE_SHEET ? 0 : sign), k->shift1);
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

static int encode_one(const struct hx_spinor *k, const struct hx_spinor_slot *s, const float *x,
                      uint8_t *out)
{
    const HVX_Vector *column = k->columns_in ? (const void *)((const char *)s + k->columns_in)
                                             : (const void *)((const char *)k + k->columns_at);
    union hx_spinor_lanes in[MAX_OUT_VECTORS], coef[HX_SPINOR_MAX_COEF_VECTORS];
    HVX_Vector acc[HX_SPINOR_MAX_COEF_VECTORS], r[HX_SPINOR_MAX_RES_VECTORS], top = Q6_V_vzero();
    uint16_t skeleton[HX_BLOCK_SKEL];
    bool good = hx_spinor_load_centred(k, s, x, in);

    multiply_columns((const uint32_t *)in, k->f.shape->dh, column, k->coef_vectors, acc);
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
    pack_planes(k, r, float_of(hx_spinor_largest(top)), out);
    return AEE_SUCCESS;
}

int hx_spinor_encode_area_hvx(const struct hx_spinor *k, const struct hx_spinor_area *a,
                              const float *x, void *blocks, struct hx_spinor_faults *faults)
{
    const size_t dh = k->f.shape->dh, bytes = k->f.shape->slot;

    faults->n = 0;
    if ((uintptr_t)x % sizeof(HVX_Vector) || (uintptr_t)blocks % HX_BLOCK_SLOT ||
        a->n_slots > k->n_slots || a->first > k->n_slots - a->n_slots || a->row < a->n_slots)
        return AEE_EBADPARM;
    for (size_t pos = 0; pos < a->n_pos; pos++) {
        for (size_t slot = 0; slot < a->n_slots; slot++) {
            const size_t i = pos * a->row + slot;
            int rc = encode_one(k, hx_spinor_slot(k, a->first + slot), x + i * dh,
                                (uint8_t *)blocks + i * bytes);

            if (rc) {
                hx_spinor_note(faults, i);
                return rc;
            }
        }
    }
    return AEE_SUCCESS;
}

int hx_spinor_encode_batch_hvx(const struct hx_spinor *k, size_t first, size_t n_slots,
                               size_t n_pos, const float *x, void *blocks,
                               struct hx_spinor_faults *faults)
{
    const struct hx_spinor_area a = {first, n_slots, n_pos, n_slots};

    return hx_spinor_encode_area_hvx(k, &a, x, blocks, faults);
}
