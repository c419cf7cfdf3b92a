/* The spinor block on HVX.  See spinor.h.
 *
 * The linear maps (padding + VHT2, its inverse, the predictor) are tables of columns in VTCM; a product is one splat of
 * an input value times a column, summed in qf32 in a fixed order.  V69 has no f32 -> integer vector convert, so a
 * magnitude is found by comparing |r| with seven thresholds, which makes it exact as well. */
#include "spinor.h"

#include <stdbool.h>
#include <string.h>

#include <hvx_hexagon_protos.h>

#include "hx_f16.h"

#define F32_ABS 0x7fffffff
#define F32_INFINITY 0x7f800000u
#define MAX_ABS_BITS 0x71800000u /* HX_SPINOR_MAX_ABS, 2^100 */

/* A few vectors seen as lanes: how scalar code gets at them. */
union lanes {
    HVX_Vector v[HX_SPINOR_COEF_VECTORS];
    uint32_t u[HX_SPINOR_COEF_VECTORS * HX_SPINOR_LANES];
    float f[HX_SPINOR_COEF_VECTORS * HX_SPINOR_LANES];
};

static uint32_t bits_of(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    return u;
}

static float float_of(uint32_t u)
{
    float f;

    memcpy(&f, &u, sizeof(f));
    return f;
}

static HVX_Vector splat_f32(float f)
{
    return Q6_V_vsplat_R((int)bits_of(f));
}

/* acc[r] (+)= x * column[r], qf32; `start` begins a new sum */
static inline void multiply_add(HVX_Vector *acc, int n, HVX_Vector x, const HVX_Vector *column,
                                bool start)
{
    for (int r = 0; r < n; r++) {
        HVX_Vector p = Q6_Vqf32_vmpy_VsfVsf(x, column[r]);

        acc[r] = start ? p : Q6_Vqf32_vadd_Vqf32Vqf32(acc[r], p);
    }
}

/* The prediction of the 60 residual lanes (and 0 in lanes 60..63) from the stored skeleton, qf32. */
static inline void predict(const struct hx_spinor_slot *s, const uint16_t *skeleton,
                           HVX_Vector pred[HX_SPINOR_RES_VECTORS])
{
    for (int j = 0; j < HX_BLOCK_SKEL; j++)
        multiply_add(pred, HX_SPINOR_RES_VECTORS, splat_f32(hx_f32_from_f16(skeleton[j])), s->w[j],
                     j == 0);
}

/* --- encode */

/* Largest lane of two vectors of non-negative words, in every lane. */
static inline HVX_Vector largest(HVX_Vector a, HVX_Vector b)
{
    HVX_Vector m = Q6_Vw_vmax_VwVw(a, b);

    for (int step = 4; step < 128; step *= 2)
        m = Q6_Vw_vmax_VwVw(m, Q6_V_vror_VR(m, step));
    return m;
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
        uint32_t t = bits_of((float)(edge / 14)); /* becomes the smallest f with 14 f >= edge */

        t += 14.0 * float_of(t) < edge;
        t -= t > 0 && 14.0 * float_of(t - 1) >= edge;
        below[k] = amax > 0 ? t - 1 : F32_INFINITY;
    }
}

/* Sets magnitudes, phases, amax and CRC.  r: the residual vectors as f32, lanes 60..63 zero. */
static void pack(const struct hx_spinor *k, const HVX_Vector r[HX_SPINOR_RES_VECTORS], float amax,
                 struct hx_block *b)
{
    const HVX_Vector zero = Q6_V_vzero();
    uint32_t below[7], group[2][4], sign[2];

    thresholds(amax, below);
    for (int v = 0; v < HX_SPINOR_RES_VECTORS; v++) {
        HVX_Vector abs_r = Q6_V_vand_VV(r[v], Q6_V_vsplat_R(F32_ABS)), m = zero;
        union lanes out;

        for (int t = 0; t < 7; t++) /* thresholds ascend: the last one passed decides */
            m = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(abs_r, Q6_V_vsplat_R((int)below[t])),
                              Q6_V_vsplat_R(t + 1), m);

        HVX_Vector s = Q6_Vw_vlsr_VwVw(r[v], Q6_V_vsplat_R(31));
        s = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(m, zero), s, zero);

        out.v[0] = or_lanes(Q6_Vw_vasl_VwVw(m, k->shift3), 8);
        out.v[1] = or_lanes(Q6_Vw_vasl_VwVw(s, k->shift1), HX_SPINOR_LANES);
        for (int g = 0; g < 4; g++)
            group[v][g] = out.u[8 * g];
        sign[v] = out.u[HX_SPINOR_LANES];
    }

    uint8_t planes[24]; /* eight groups of eight lanes, three bytes each; the last is padding */
    for (int g = 0; g < 8; g++)
        for (int byte = 0; byte < 3; byte++)
            planes[3 * g + byte] = (uint8_t)(group[g / 4][g % 4] >> 8 * byte);
    memcpy(b->magnitude, planes, sizeof(b->magnitude));
    memcpy(b->phase, sign, sizeof(b->phase));
    memcpy(b->amax, &amax, sizeof(b->amax));
    b->crc = hx_crc8(b, HX_BLOCK_PAYLOAD);
}

int hx_spinor_pack_hvx(const struct hx_spinor *k, const float *residual, float amax,
                       struct hx_block *b)
{
    const HVX_Vector *in = (const HVX_Vector *)residual;

    if ((uintptr_t)residual % sizeof(HVX_Vector))
        return AEE_EBADPARM;
    HVX_Vector r[] = {in[0], Q6_V_vand_VV(in[1], k->tail_mask)};
    pack(k, r, amax, b);
    return AEE_SUCCESS;
}

static int encode_one(const struct hx_spinor *k, const struct hx_spinor_slot *s, const float *x,
                      struct hx_block *out)
{
    HVX_Vector acc[HX_SPINOR_COEF_VECTORS], pred[HX_SPINOR_RES_VECTORS], r[HX_SPINOR_RES_VECTORS];
    union lanes c;
    struct hx_block b;
    bool bad = false;

    for (int i = 0; i < HX_BLOCK_DH; i++) {
        bad |= (bits_of(x[i]) & F32_ABS) > MAX_ABS_BITS;
        multiply_add(acc, HX_SPINOR_COEF_VECTORS, splat_f32(x[i]), k->analysis[i], i == 0);
    }
    for (int v = 0; v < HX_SPINOR_COEF_VECTORS; v++)
        c.v[v] = Q6_Vsf_equals_Vqf32(acc[v]);
    for (int j = 0; j < HX_BLOCK_SKEL; j++) {
        b.skeleton[j] = hx_f16_from_f32(c.f[s->skel_lane[j]]);
        bad |= (b.skeleton[j] & 0x7c00) == 0x7c00;
    }
    if (bad)
        return AEE_EBADPARM;

    predict(s, b.skeleton, pred);
    for (int v = 0; v < HX_SPINOR_RES_VECTORS; v++)
        r[v] = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vsub_Vqf32Vqf32(acc[v], pred[v]));
    r[1] = Q6_V_vand_VV(r[1], k->tail_mask);

    HVX_Vector abs_mask = Q6_V_vsplat_R(F32_ABS);
    c.v[0] = largest(Q6_V_vand_VV(r[0], abs_mask), Q6_V_vand_VV(r[1], abs_mask));
    pack(k, r, c.f[0], &b);
    *out = b;
    return AEE_SUCCESS;
}

/* --- decode */

static uint32_t group_of(const struct hx_block *b, int g)
{
    const uint8_t *p = &b->magnitude[3 * g];
    uint32_t third = g < 7 ? p[2] : 0; /* the plane ends inside the last group */

    return p[0] | (uint32_t)p[1] << 8 | third << 16;
}

/* Decoded residuals of vector v as f32: levels picked by magnitude, sign from the phase plane. */
static inline HVX_Vector unpack(const struct hx_spinor *k, const struct hx_block *b,
                                const float level[8], int v)
{
    union lanes in;
    uint32_t sign;

    in.v[0] = Q6_V_vzero();
    for (int g = 0; g < 4; g++)
        in.u[g] = group_of(b, 4 * v + g);
    memcpy(&sign, &b->phase[4 * v], sizeof(sign));

    HVX_Vector m = in.v[0];
    for (int doubling = 0; doubling < 3; doubling++) /* lane g -> lanes 8g..8g+7 */
        m = Q6_V_lo_W(Q6_W_vshuff_VVR(m, m, -4));
    m = Q6_V_vand_VV(Q6_Vw_vlsr_VwVw(m, k->shift3), Q6_V_vsplat_R(7));

    HVX_Vector value = splat_f32(level[0]);
    for (int i = 1; i < 8; i++)
        value = Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(m, Q6_V_vsplat_R(i)), splat_f32(level[i]), value);

    HVX_Vector s = Q6_Vw_vlsr_VwVw(Q6_V_vsplat_R((int)sign), k->shift1);
    return Q6_V_vxor_VV(value, Q6_Vw_vasl_VwVw(s, Q6_V_vsplat_R(31)));
}

static int decode_one(const struct hx_spinor *k, const struct hx_spinor_slot *s,
                      const struct hx_block *in, float *x)
{
    struct hx_block b;
    HVX_Vector pred[HX_SPINOR_RES_VECTORS], acc[HX_SPINOR_OUT_VECTORS];
    HVX_Vector *out = (HVX_Vector *)x;
    union lanes c;
    float amax, level[8];

    memcpy(&b, in, sizeof(b)); /* the client may be writing: what was checked is what is used */
    if (hx_spinor_check_block(&b))
        return AEE_EBADITEM;
    memcpy(&amax, b.amax, sizeof(amax));
    hx_spinor_levels(amax, level);
    predict(s, b.skeleton, pred);
    for (int v = 0; v < HX_SPINOR_RES_VECTORS; v++)
        c.v[v] = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vadd_Vqf32Vsf(pred[v], unpack(k, &b, level, v)));

    for (int i = 0; i < HX_BLOCK_RES; i++)
        multiply_add(acc, HX_SPINOR_OUT_VECTORS, splat_f32(c.f[i]), k->synthesis[i], i == 0);
    for (int j = 0; j < HX_BLOCK_SKEL; j++)
        multiply_add(acc, HX_SPINOR_OUT_VECTORS, splat_f32(hx_f32_from_f16(b.skeleton[j])),
                     k->synthesis[s->skel_lane[j]], false);
    for (int v = 0; v < HX_SPINOR_OUT_VECTORS; v++)
        out[v] = Q6_Vsf_equals_Vqf32(acc[v]);
    return AEE_SUCCESS;
}

/* --- entry points */

static bool aligned(const void *x, const void *blocks)
{
    return (uintptr_t)x % sizeof(HVX_Vector) == 0 && (uintptr_t)blocks % HX_BLOCK_SLOT == 0;
}

int hx_spinor_encode_batch_hvx(const struct hx_spinor *k, size_t first, size_t n_slots,
                               size_t n_pos, const float *x, struct hx_block *out, size_t *bad)
{
    *bad = 0;
    if (!aligned(x, out) || n_slots > k->n_slots || first > k->n_slots - n_slots)
        return AEE_EBADPARM;
    for (size_t pos = 0; pos < n_pos; pos++) {
        for (size_t s = 0; s < n_slots; s++) {
            size_t i = pos * n_slots + s;
            int rc = encode_one(k, &k->slot[first + s], x + i * HX_BLOCK_DH, &out[i]);

            if (rc) {
                *bad = i;
                return rc;
            }
        }
    }
    return AEE_SUCCESS;
}

int hx_spinor_decode_batch_hvx(const struct hx_spinor *k, size_t first, size_t n_slots,
                               size_t n_pos, const struct hx_block *in, float *x, size_t *bad)
{
    *bad = 0;
    if (!aligned(x, in) || n_slots > k->n_slots || first > k->n_slots - n_slots)
        return AEE_EBADPARM;
    for (size_t pos = 0; pos < n_pos; pos++) {
        for (size_t s = 0; s < n_slots; s++) {
            size_t i = pos * n_slots + s;
            int rc = decode_one(k, &k->slot[first + s], &in[i], x + i * HX_BLOCK_DH);

            if (rc) {
                *bad = i;
                return rc;
            }
        }
    }
    return AEE_SUCCESS;
}

int hx_spinor_encode_hvx(const struct hx_spinor *k, size_t slot, const float *x,
                         struct hx_block *out)
{
    size_t bad;

    return hx_spinor_encode_batch_hvx(k, slot, 1, 1, x, out, &bad);
}

int hx_spinor_decode_hvx(const struct hx_spinor *k, size_t slot, const struct hx_block *in,
                         float *x)
{
    size_t bad;

    return hx_spinor_decode_batch_hvx(k, slot, 1, 1, in, x, &bad);
}
