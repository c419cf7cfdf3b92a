/* What reads a client's vectors and the cache's keys, see ring_ntt.h: lifting and dot products.  This file is built with the memory
 * trace (Makefile), so that loads from DDR cost modelled time; the transforms work on what lies near. */
#include "ring_modulus.h"

#include "ring_memory_hvx.listing.h"

enum { WORDS = HX_VECTOR_WORDS, CHUNK = 8 };

/* --- lifting */

HX_INLINE HVX_Vector add_where_negative(HVX_Vector x, const struct hx_mod30 *m)
{
    return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(Q6_V_vzero(), x), Q6_Vw_vadd_VwVw(x, m->q), x);
}

static HX_KERNEL void lift(const struct hx_ring *r, HVX_Vector *v, const HVX_UVector *a)
{
    const struct hx_mod30 m = hx_ring_modulus(r);

    HX_CODE(lift);
    HX_TRIPS(1, r->n / WORDS);
    for (int i = 0; i < r->n / WORDS; i++) {
        HVX_Vector x = a[i];

        /* -2^31 + 3q > 0, and 2^31 - 2q < q */
        x = add_where_negative(add_where_negative(add_where_negative(x, &m), &m), &m);
        v[i] = hx_mod30_reduce(hx_mod30_reduce(x, &m), &m);
    }
}

int hx_ring_lift_hvx(const struct hx_ring *r, uint32_t *v, const int32_t *a)
{
    if (!hx_is_aligned(v))
        return AEE_EBADPARM;
    lift(r, (HVX_Vector *)v, (const HVX_UVector *)a);
    return AEE_SUCCESS;
}

/* --- dots */

/* Sums of products in quarters of 16 bits. */
struct quarters {
    HVX_Vector part[4];
};

HX_INLINE void add_sums(struct quarters *s, HVX_Vector lo, HVX_Vector hi)
{
    const HVX_Vector low_half = Q6_V_vsplat_R(0xffff);

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

/* x mod q for x < 2^60: the quotient is at most 2 too small. */
HX_INLINE uint64_t barrett(uint64_t x, const struct hx_ring *r)
{
    x -= ((x >> 29) * r->mu >> 31) * r->q;
    x -= x >= r->q ? r->q : 0;
    return x - (x >= r->q ? r->q : 0);
}

/* Lanes are below 2^22. */
HX_INLINE uint32_t reduce(const struct hx_ring *r, const uint32_t *lane)
{
    const uint64_t lo = ((uint64_t)lane[16] << 16) + lane[0];
    const uint64_t hi = ((uint64_t)lane[24] << 16) + lane[8];

    return (uint32_t)barrett(barrett(barrett(hi, r) * r->two_32, r) + lo, r);
}

/* A dot product is the sum of chunks of 8 products a lane, each below 2^60, whose 64-bit sums are split before they would
 * overflow. */
static HX_KERNEL void dots(const struct hx_ring *r, uint32_t *sums, const HVX_Vector *x, const HVX_Vector *y, size_t stride,
                           size_t count)
{
    const int n = r->n / WORDS, chunk = n < CHUNK ? n : CHUNK;
    _Alignas(128) uint32_t lane[WORDS];

    HX_CODE(dots);
    HX_TRIPS(1, count);
    for (size_t k = 0; k < count; k++, y += stride) {
        const HVX_Vector zero = Q6_V_vzero();
        struct quarters s = {{zero, zero, zero, zero}};

        HX_TRIPS(2, n / chunk);
        for (int at = 0; at < n; at += chunk) {
            HVX_Vector lo = zero, hi = zero;

            HX_TRIPS(3, chunk);
            for (int i = at; i < at + chunk; i++) {
                const HVX_VectorPair p = hx_mul64(x[i], y[i]);
                HVX_VectorPred carry = Q6_Q_vsetq_R(0);

                lo = Q6_Vw_vadd_VwVwQ_carry(lo, Q6_V_lo_W(p), &carry);
                hi = Q6_Vw_vadd_VwVwQ_carry(hi, Q6_V_hi_W(p), &carry);
            }
            add_sums(&s, lo, hi);
        }
        *(HVX_Vector *)lane = fold_all(&s);
        sums[k] = reduce(r, lane);
    }
}

int hx_ring_dots_hvx(const struct hx_ring *r, uint32_t *sums, const uint32_t *a, const uint32_t *b,
                     size_t stride, size_t count)
{
    if (!hx_is_aligned(a) || !hx_is_aligned(b) || stride % WORDS)
        return AEE_EBADPARM;
    dots(r, sums, (const HVX_Vector *)a, (const HVX_Vector *)b, stride / WORDS, count);
    return AEE_SUCCESS;
}
