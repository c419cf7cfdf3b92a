/* Ring transforms and products on HVX, see ring_ntt.h.
 *
 * Two vectors of 64 neighbouring words make a pair.  For a stage of distance d < 32 lane bit d of both changes places with
 * the choice of vector (vshuff by 4d bytes), so that lane i of one meets lane i of the other. */
#include "ring_ntt.h"

#include "ring_modulus.h"
#include "ring_ntt_hvx.listing.h"

enum { WORDS = HX_VECTOR_WORDS };

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

/* A stage between vectors that are `apart`. */
static HX_KERNEL void forward_wide(const struct hx_ring *r, HVX_Vector *v, int blocks, int apart)
{
    const struct hx_mod30 m = hx_ring_modulus(r);

    HX_CODE(forward_wide);
    HX_TRIPS(1, blocks);
    for (int i = 0; i < blocks; i++) {
        const HVX_Vector w = Q6_V_vsplat_R((int)r->forward.w[blocks + i]);
        const HVX_Vector ws = Q6_V_vsplat_R((int)r->forward.ws[blocks + i]);

        HX_TRIPS(2, apart);
        for (int j = 2 * i * apart; j < (2 * i + 1) * apart; j++)
            butterfly(&v[j], &v[j + apart], w, ws, &m);
    }
}

static HX_KERNEL void inverse_wide(const struct hx_ring *r, HVX_Vector *v, int blocks, int apart)
{
    const struct hx_mod30 m = hx_ring_modulus(r);

    HX_CODE(inverse_wide);
    HX_TRIPS(1, blocks);
    for (int i = 0; i < blocks; i++) {
        const HVX_Vector w = Q6_V_vsplat_R((int)r->inverse.w[blocks + i]);
        const HVX_Vector ws = Q6_V_vsplat_R((int)r->inverse.ws[blocks + i]);

        HX_TRIPS(2, apart);
        for (int j = 2 * i * apart; j < (2 * i + 1) * apart; j++)
            butterfly_back(&v[j], &v[j + apart], w, ws, &m);
    }
}

/* The stages of distance 16 to 1, inside of pairs of vectors. */
static HX_KERNEL void forward_lanes(const struct hx_ring *r, HVX_Vector *v)
{
    const struct hx_mod30 m = hx_ring_modulus(r);
    const HVX_Vector *lanes = (const HVX_Vector *)r->forward.lanes;

    HX_CODE(forward_lanes);
    HX_TRIPS(1, r->n / (2 * WORDS));
    for (int i = 0; i < r->n / WORDS; i += 2) {
        HVX_Vector a = v[i], b = v[i + 1];

        HX_TRIPS(2, HX_RING_LANE_STAGES);
        for (int d = WORDS / 2; d; d /= 2, lanes += 2) {
            exchange(&a, &b, d);
            butterfly(&a, &b, lanes[0], lanes[1], &m);
        }
        const HVX_VectorPair both = Q6_W_vshuff_VVR(b, a, -4);

        v[i] = Q6_V_lo_W(both);
        v[i + 1] = Q6_V_hi_W(both);
    }
}

static HX_KERNEL void inverse_lanes(const struct hx_ring *r, HVX_Vector *v)
{
    const struct hx_mod30 m = hx_ring_modulus(r);
    const HVX_Vector *lanes = (const HVX_Vector *)r->inverse.lanes;

    HX_CODE(inverse_lanes);
    HX_TRIPS(1, r->n / (2 * WORDS));
    for (int i = 0; i < r->n / WORDS; i += 2, lanes += 2 * HX_RING_LANE_STAGES) {
        const HVX_VectorPair both = Q6_W_vdeal_VVR(v[i + 1], v[i], -4);
        HVX_Vector a = Q6_V_lo_W(both), b = Q6_V_hi_W(both);

        HX_TRIPS(2, HX_RING_LANE_STAGES);
        for (int d = 1, stage = HX_RING_LANE_STAGES - 1; d < WORDS; d *= 2, stage--) {
            butterfly_back(&a, &b, lanes[2 * stage], lanes[2 * stage + 1], &m);
            exchange(&a, &b, d);
        }
        v[i] = a;
        v[i + 1] = b;
    }
}

static HX_KERNEL void scale(const struct hx_ring *r, HVX_Vector *v)
{
    const struct hx_mod30 m = hx_ring_modulus(r);
    const HVX_Vector w = Q6_V_vsplat_R((int)r->n_inv), ws = Q6_V_vsplat_R((int)r->n_inv_s);

    HX_CODE(scale);
    HX_TRIPS(1, r->n / WORDS);
    for (int i = 0; i < r->n / WORDS; i++)
        v[i] = weigh(v[i], w, ws, &m);
}

int hx_ring_forward_hvx(const struct hx_ring *r, uint32_t *v)
{
    if (!hx_is_aligned(v))
        return AEE_EBADPARM;
    for (int blocks = 1, apart = r->n / (2 * WORDS); apart; blocks *= 2, apart /= 2)
        forward_wide(r, (HVX_Vector *)v, blocks, apart);
    forward_lanes(r, (HVX_Vector *)v);
    return AEE_SUCCESS;
}

int hx_ring_inverse_hvx(const struct hx_ring *r, uint32_t *v)
{
    if (!hx_is_aligned(v))
        return AEE_EBADPARM;
    inverse_lanes(r, (HVX_Vector *)v);
    for (int blocks = r->n / (2 * WORDS), apart = 1; blocks; blocks /= 2, apart *= 2)
        inverse_wide(r, (HVX_Vector *)v, blocks, apart);
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

static HX_KERNEL void pointwise(const struct hx_ring *r, HVX_Vector *c, const HVX_Vector *a, const HVX_Vector *b)
{
    const struct hx_mod30 m = hx_ring_modulus(r);

    HX_CODE(pointwise);
    HX_TRIPS(1, r->n / WORDS);
    for (int i = 0; i < r->n / WORDS; i++)
        c[i] = hx_mod30_mul(a[i], b[i], &m);
}

int hx_ring_pointwise_hvx(const struct hx_ring *r, uint32_t *c, const uint32_t *a,
                          const uint32_t *b)
{
    if (!hx_is_aligned(a) || !hx_is_aligned(b) || !hx_is_aligned(c))
        return AEE_EBADPARM;
    pointwise(r, (HVX_Vector *)c, (const HVX_Vector *)a, (const HVX_Vector *)b);
    return AEE_SUCCESS;
}
