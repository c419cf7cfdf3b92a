/* Decode of spinor blocks on HVX: groups of 32 blocks are taken apart together (spinor_group.h), then each vector is a sum
 * of basis rows in integers.  See spinor.h. */
/* listing: decode_one */
#include "spinor.h"

#include "hexrig_code.h"
#include "spinor_group.h"

#include "spinor_decode_hvx.listing.h"

/* Skeleton times its rows: an integer, exact modulo 2^32, of which 1 means 2^(exponent - 28 - skel_exp). */
HX_SPINOR_FN HVX_Vector skeleton_sum(const struct hx_spinor_rows *r, const struct hx_spinor_group *g,
                                     size_t lane)
{
    HVX_Vector high = Q6_V_vzero(), cross = high, low = high;

    HX_TRIPS(2, HX_SPINOR_SKEL_QUADS);
    for (int q = 0; q < HX_SPINOR_SKEL_QUADS; q++) {
        const int32_t h = g->high[q].i[lane], l = g->low[q].i[lane];

        high = Q6_Vw_vrmpyacc_VwVubRb(high, r[q].hi, h);
        cross = Q6_Vw_vrmpyacc_VwVubRb(cross, r[q].lo, h);
        cross = Q6_Vuw_vrmpyacc_VuwVubRub(cross, r[q].hi, l);
        low = Q6_Vuw_vrmpyacc_VuwVubRub(low, r[q].lo, l);
    }
    low = Q6_Vw_vadd_VwVw(low, Q6_V_vsplat_R(g->skel_fix.i[lane]));
    low = Q6_Vw_vadd_VwVw(low, Q6_Vw_vasl_VwR(cross, 8));
    return Q6_Vw_vadd_VwVw(low, Q6_Vw_vasl_VwR(high, 16));
}

/* Signed magnitudes times their rows: exact, of which 1 means amax / 7 * res_unit. */
HX_SPINOR_FN HVX_Vector residual_sum(const struct hx_spinor_rows *r, size_t quads,
                                     const struct hx_spinor_group *g, size_t lane)
{
    HVX_Vector high = Q6_V_vzero(), low = Q6_V_vsplat_R(g->res_fix.i[lane]);

    HX_TRIPS(3, quads);
    for (size_t q = 0; q < quads; q++) {
        const int32_t m = g->residual[q].i[lane];

        high = Q6_Vw_vrmpyacc_VwVubRb(high, r[q].hi, m);
        low = Q6_Vw_vrmpyacc_VwVubRb(low, r[q].lo, m);
    }
    return Q6_Vw_vadd_VwVw(low, Q6_Vw_vasl_VwR(high, 8));
}

static __attribute__((noinline)) void decode_one(const struct hx_spinor *k, const struct hx_spinor_slot *s,
                       const struct hx_spinor_group *g, size_t lane, HVX_Vector *out)
{
    const struct hx_spinor_rows *skel = hx_spinor_skel_rows(k, s), *res = hx_spinor_res_rows(k, s);
    const int exponent = HX_SPINOR_UNIT - 28 + g->exponent.i[lane] - s->skel_exp;
    const HVX_Vector unit = hx_spinor_splat(hx_spinor_qf32(g->amax.f[lane] / 7 * s->res_unit));

    HX_CODE(decode_one);
    HX_TRIPS(1, k->out_vectors);
    for (size_t v = 0; v < k->out_vectors; v++) {
        const HVX_Vector a = skeleton_sum(skel + v * HX_SPINOR_SKEL_QUADS, g, lane);
        const HVX_Vector b = residual_sum(res + v * k->quads, k->quads, g, lane);
        const HVX_Vector bq = hx_spinor_qf32_words(Q6_Vw_vasl_VwR(b, k->res_shift),
                                                   HX_SPINOR_UNIT - k->res_shift);

        out[v] = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vadd_Vqf32Vqf32(
            hx_spinor_qf32_words(a, exponent), Q6_Vqf32_vmpy_Vqf32Vqf32(bq, unit)));
    }
}

/* The mean lanes of n blocks of slots first.., the first of them being number `at` of the batch. */
static HVX_Vector mean_lanes(const struct hx_spinor *k, size_t first, size_t n_slots, size_t at,
                             size_t n)
{
    union hx_spinor_lanes m;
    size_t slot = at % n_slots;

    m.v = Q6_V_vzero();
    for (size_t i = 0; i < n; i++) {
        m.u[i] = hx_spinor_slot(k, first + slot)->mean_half;
        slot = slot + 1 < n_slots ? slot + 1 : 0;
    }
    return m.v;
}

int hx_spinor_decode_batch_hvx(const struct hx_spinor *k, size_t first, size_t n_slots,
                               size_t n_pos, const void *blocks, float *x,
                               struct hx_spinor_faults *faults)
{
    const size_t bytes = k->slot_words * 4u, total = n_slots * n_pos;
    struct hx_spinor_group g;
    size_t slot = 0;

    faults->n = 0;
    if ((uintptr_t)x % sizeof(HVX_Vector) || (uintptr_t)blocks % HX_BLOCK_SLOT ||
        n_slots > k->n_slots || first > k->n_slots - n_slots)
        return AEE_EBADPARM;
    for (size_t at = 0; at < total; at += HX_SPINOR_LANES) {
        const size_t n = total - at < HX_SPINOR_LANES ? total - at : HX_SPINOR_LANES;

        hx_spinor_unpack(k, (const uint8_t *)blocks + at * bytes, bytes, n,
                         mean_lanes(k, first, n_slots, at, n), &g);
        for (size_t lane = 0; lane < n; lane++) {
            if (g.bad.u[lane])
                hx_spinor_note(faults, at + lane);
            else
                decode_one(k, hx_spinor_slot(k, first + slot), &g, lane,
                           (HVX_Vector *)x + (at + lane) * k->out_vectors);
            slot = slot + 1 < n_slots ? slot + 1 : 0;
        }
    }
    return faults->n ? AEE_EBADITEM : AEE_SUCCESS;
}
