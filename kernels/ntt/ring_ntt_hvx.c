/* Ring transforms and products on HVX, see ring_ntt.h.
 *
 * Two vectors of 64 neighbouring words make a pair.  For a stage of distance d < 32 lane bit d of both changes places with
 * the choice of vector (vshuff by 4d bytes), so that lane i of one meets lane i of the other. */
#include "ring_ntt.h"

#include "skel/mod30.h"

enum { WORDS = HX_VECTOR_WORDS, CHUNK = 8 };

HX_INLINE struct hx_mod30 modulus(const struct hx_ring *r)
{
    return hx_mod30_splat(r->q, hx_mod30_mu(r->q));
}

/* w y mod q for y < q: floor(2y ws / 2^32) is at most 1 too small. */
HX_INLINE HVX_Vector weigh(HVX_Vector y, HVX_Vector w, HVX_Vector ws, const struct hx_mod30 *m)
{
    const HVX_Vector quotient = Q6_V_hi_W(hx_mul64(Q6_Vw_vadd_VwVw(y, y), ws));
    const HVX_Vector product = Q6_V_lo_W(hx_mul64(y, w));

    return hx_mod30_reduce(Q6_Vw_vsub_VwVw(product, Q6_V_lo_W(hx_mul64(quotient, m->q))), m);
}

HX_INLINE void butterfly(HVX_Vector *x, HVX_Vector *y, HVX_Vector w, HVX_Vector ws,
                         const struct hx_mod30 *m)
{
    const HVX_Vector t = weigh(*y, w, ws, m);

    *y = hx_mod30_sub(*x, t, m);
    *x = hx_mod30_add(*x, t, m);
}

HX_INLINE void butterfly_back(HVX_Vector *x, HVX_Vector *y, HVX_Vector w, HVX_Vector ws,
                              const struct hx_mod30 *m)
{
    const HVX_Vector difference = hx_mod30_sub(*x, *y, m);

    *x = hx_mod30_add(*x, *y, m);
    *y = weigh(difference, w, ws, m);
}

HX_INLINE void exchange(HVX_Vector *a, HVX_Vector *b, int distance)
{
    const HVX_VectorPair both = Q6_W_vshuff_VVR(*b, *a, 4 * distance);

    *a = Q6_V_lo_W(both);
    *b = Q6_V_hi_W(both);
}

typedef void step(HVX_Vector *x, HVX_Vector *y, HVX_Vector w, HVX_Vector ws,
                  const struct hx_mod30 *m);

/* A stage between vectors: distance d >= 32 words. */
HX_INLINE void wide(HVX_Vector *v, int n, int d, const struct hx_ring_weights *t, step *f,
                    const struct hx_mod30 *m)
{
    const int blocks = n / (2 * d), apart = d / WORDS;

    for (int i = 0; i < blocks; i++) {
        const HVX_Vector w = Q6_V_vsplat_R((int)t->w[blocks + i]);
        const HVX_Vector ws = Q6_V_vsplat_R((int)t->ws[blocks + i]);

        for (int j = 2 * i * apart; j < (2 * i + 1) * apart; j++)
            f(&v[j], &v[j + apart], w, ws, m);
    }
}

static HX_KERNEL void forward_stages(const struct hx_ring *r, HVX_Vector *v)
{
    const struct hx_mod30 m = modulus(r);
    const HVX_Vector *lanes = (const HVX_Vector *)r->forward.lanes;

    for (int d = r->n / 2; d >= WORDS; d /= 2)
        wide(v, r->n, d, &r->forward, butterfly, &m);
    for (int i = 0; i < r->n / WORDS; i += 2) {
        HVX_Vector a = v[i], b = v[i + 1];

        for (int d = WORDS / 2; d; d /= 2, lanes += 2) {
            exchange(&a, &b, d);
            butterfly(&a, &b, lanes[0], lanes[1], &m);
        }
        const HVX_VectorPair both = Q6_W_vshuff_VVR(b, a, -4);

        v[i] = Q6_V_lo_W(both);
        v[i + 1] = Q6_V_hi_W(both);
    }
}

static HX_KERNEL void inverse_stages(const struct hx_ring *r, HVX_Vector *v)
{
    const struct hx_mod30 m = modulus(r);
    const HVX_Vector *lanes = (const HVX_Vector *)r->inverse.lanes;

    for (int i = 0; i < r->n / WORDS; i += 2, lanes += 2 * HX_RING_LANE_STAGES) {
        const HVX_VectorPair both = Q6_W_vdeal_VVR(v[i + 1], v[i], -4);
        HVX_Vector a = Q6_V_lo_W(both), b = Q6_V_hi_W(both);

        for (int d = 1, stage = HX_RING_LANE_STAGES - 1; d < WORDS; d *= 2, stage--) {
            butterfly_back(&a, &b, lanes[2 * stage], lanes[2 * stage + 1], &m);
            exchange(&a, &b, d);
        }
        v[i] = a;
        v[i + 1] = b;
    }
    for (int d = WORDS; d < r->n; d *= 2)
        wide(v, r->n, d, &r->inverse, butterfly_back, &m);
}

static HX_KERNEL void scale(const struct hx_ring *r, HVX_Vector *v)
{
    const struct hx_mod30 m = modulus(r);
    const HVX_Vector w = Q6_V_vsplat_R((int)r->n_inv), ws = Q6_V_vsplat_R((int)r->n_inv_s);

    for (int i = 0; i < r->n / WORDS; i++)
        v[i] = weigh(v[i], w, ws, &m);
}

int hx_ring_forward_hvx(const struct hx_ring *r, uint32_t *v)
{
    if (!hx_is_aligned(v))
        return AEE_EBADPARM;
    forward_stages(r, (HVX_Vector *)v);
    return AEE_SUCCESS;
}

int hx_ring_inverse_hvx(const struct hx_ring *r, uint32_t *v)
{
    if (!hx_is_aligned(v))
        return AEE_EBADPARM;
    inverse_stages(r, (HVX_Vector *)v);
    scale(r, (HVX_Vector *)v);
    return AEE_SUCCESS;
}

int hx_ring_scale_hvx(const struct hx_ring *r, uint32_t *v)
{
    if (!hx_is_aligned(v))
        return AEE_EBADPARM;
    scale(r, (HVX_Vector *)v);
    return AEE_SUCCESS;
}

int hx_ring_lift_hvx(const struct hx_ring *r, uint32_t *v, const int32_t *a)
{
    const struct hx_mod30 m = modulus(r);
    const HVX_Vector zero = Q6_V_vzero();
    const HVX_UVector *in = (const HVX_UVector *)a;
    HVX_Vector *out = (HVX_Vector *)v;

    if (!hx_is_aligned(v))
        return AEE_EBADPARM;
    for (int i = 0; i < r->n / WORDS; i++) {
        HVX_Vector x = in[i];

        /* -2^31 + 3q > 0, and 2^31 - 2q < q */
        for (int k = 0; k < 3; k++)
            x = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(zero, x), Q6_Vw_vadd_VwVw(x, m.q), x);
        out[i] = hx_mod30_reduce(hx_mod30_reduce(x, &m), &m);
    }
    return AEE_SUCCESS;
}

int hx_ring_pointwise_hvx(const struct hx_ring *r, uint32_t *c, const uint32_t *a,
                          const uint32_t *b)
{
    const struct hx_mod30 m = modulus(r);
    const HVX_Vector *x = (const HVX_Vector *)a, *y = (const HVX_Vector *)b;

    if (!hx_is_aligned(a) || !hx_is_aligned(b) || !hx_is_aligned(c))
        return AEE_EBADPARM;
    for (int i = 0; i < r->n / WORDS; i++)
        ((HVX_Vector *)c)[i] = hx_mod30_mul(x[i], y[i], &m);
    return AEE_SUCCESS;
}

/* --- dots */

/* Sums of products in quarters of 16 bits. */
struct quarters {
    HVX_Vector part[4];
};

/* Up to CHUNK products, each below 2^60. */
HX_INLINE void gather(struct quarters *s, const HVX_Vector *x, const HVX_Vector *y, int n)
{
    const HVX_Vector low_half = Q6_V_vsplat_R(0xffff);
    HVX_Vector lo = Q6_V_vzero(), hi = lo;

    for (int i = 0; i < n; i++) {
        const HVX_VectorPair p = hx_mul64(x[i], y[i]);
        HVX_VectorPred carry = Q6_Q_vsetq_R(0);

        lo = Q6_Vw_vadd_VwVwQ_carry(lo, Q6_V_lo_W(p), &carry);
        hi = Q6_Vw_vadd_VwVwQ_carry(hi, Q6_V_hi_W(p), &carry);
    }
    s->part[0] = Q6_Vw_vadd_VwVw(s->part[0], Q6_V_vand_VV(lo, low_half));
    s->part[1] = Q6_Vw_vadd_VwVw(s->part[1], Q6_Vuw_vlsr_VuwR(lo, 16));
    s->part[2] = Q6_Vw_vadd_VwVw(s->part[2], Q6_V_vand_VV(hi, low_half));
    s->part[3] = Q6_Vw_vadd_VwVw(s->part[3], Q6_Vuw_vlsr_VuwR(hi, 16));
}

HX_INLINE HVX_Vector fold(HVX_Vector a, HVX_Vector b, int bytes)
{
    const HVX_VectorPair both = Q6_W_vshuff_VVR(b, a, bytes);

    return Q6_Vw_vadd_VwVw(Q6_V_lo_W(both), Q6_V_hi_W(both));
}

/* The sums over lanes of part 0, 2, 1, 3 in lanes 0, 8, 16, 24. */
HX_INLINE HVX_Vector fold_all(const struct quarters *s)
{
    HVX_Vector v = fold(fold(s->part[0], s->part[1], 64), fold(s->part[2], s->part[3], 64), 32);

    v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, 16));
    v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, 8));
    return Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, 4));
}

/* Two constants, so that the compiler divides by multiplying. */
static uint32_t reduce(uint32_t q, const uint32_t *lane)
{
    const uint64_t lo = ((uint64_t)lane[16] << 16) + lane[0];
    const uint64_t hi = ((uint64_t)lane[24] << 16) + lane[8];

    return (uint32_t)(q == HX_NTT_Q1
                          ? (hi % HX_NTT_Q1 * ((1ull << 32) % HX_NTT_Q1) + lo) % HX_NTT_Q1
                          : (hi % HX_NTT_Q2 * ((1ull << 32) % HX_NTT_Q2) + lo) % HX_NTT_Q2);
}

int hx_ring_dots_hvx(const struct hx_ring *r, uint32_t *sums, const uint32_t *a, const uint32_t *b,
                     size_t stride, size_t count)
{
    const HVX_Vector *x = (const HVX_Vector *)a;
    _Alignas(128) uint32_t lane[WORDS];
    const int n = r->n / WORDS;

    if (!hx_is_aligned(a) || !hx_is_aligned(b) || stride % WORDS)
        return AEE_EBADPARM;
    for (size_t k = 0; k < count; k++) {
        const HVX_Vector *y = (const HVX_Vector *)(b + k * stride), zero = Q6_V_vzero();
        struct quarters s = {{zero, zero, zero, zero}};

        for (int i = 0; i < n; i += CHUNK)
            gather(&s, x + i, y + i, n - i < CHUNK ? n - i : CHUNK);
        *(HVX_Vector *)lane = fold_all(&s);
        sums[k] = reduce(r->q, lane);
    }
    return AEE_SUCCESS;
}
