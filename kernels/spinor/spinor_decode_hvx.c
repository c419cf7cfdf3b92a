/* Decode of spinor blocks on HVX: groups of 32 blocks are taken apart together (spinor_group.h), then each vector is a sum
 * of basis rows in integers.  See spinor.h. */
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

HX_SPINOR_LISTED void decode_one(const struct hx_spinor *k, const struct hx_spinor_slot *s,
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

/* Up to 32 vectors of an area, and where the walk over them goes on. */
struct walk {
    const struct hx_spinor_area *area;
    size_t pos, slot;
    size_t n;
    size_t at[HX_SPINOR_LANES]; /* number in the area's batch */
    const struct hx_spinor_slot *tables[HX_SPINOR_LANES];
    const uint8_t *from[HX_SPINOR_LANES];
};

static void go_on(struct walk *w, const struct hx_spinor *k, const uint8_t *blocks)
{
    const struct hx_spinor_area *a = w->area;
    const size_t bytes = k->slot_words * 4u;

    for (w->n = 0; w->n < HX_SPINOR_LANES && w->pos < a->n_pos; w->n++) {
        w->at[w->n] = w->pos * a->row + w->slot;
        w->tables[w->n] = hx_spinor_slot(k, a->first + w->slot);
        w->from[w->n] = blocks + w->at[w->n] * bytes;
        if (++w->slot == a->n_slots) {
            w->slot = 0;
            w->pos++;
        }
    }
}

static HVX_Vector mean_lanes(const struct walk *w)
{
    union hx_spinor_lanes m;

    m.v = Q6_V_vzero();
    for (size_t i = 0; i < w->n; i++)
        m.u[i] = w->tables[i]->mean_half;
    return m.v;
}

int hx_spinor_decode_area_hvx(const struct hx_spinor *k, const struct hx_spinor_area *a,
                              const void *blocks, float *x, struct hx_spinor_faults *faults)
{
    struct walk w = {.area = a, .pos = a->n_slots ? 0 : a->n_pos};
    struct hx_spinor_group g;

    faults->n = 0;
    if ((uintptr_t)x % sizeof(HVX_Vector) || (uintptr_t)blocks % HX_BLOCK_SLOT ||
        a->n_slots > k->n_slots || a->first > k->n_slots - a->n_slots || a->row < a->n_slots)
        return AEE_EBADPARM;
    for (go_on(&w, k, blocks); w.n; go_on(&w, k, blocks)) {
        hx_spinor_unpack(k, w.from, w.n, mean_lanes(&w), &g);
        for (size_t lane = 0; lane < w.n; lane++) {
            if (g.bad.u[lane])
                hx_spinor_note(faults, w.at[lane]);
            else
                decode_one(k, w.tables[lane], &g, lane,
                           (HVX_Vector *)x + w.at[lane] * k->out_vectors);
        }
    }
    return faults->n ? AEE_EBADITEM : AEE_SUCCESS;
}

int hx_spinor_decode_batch_hvx(const struct hx_spinor *k, size_t first, size_t n_slots,
                               size_t n_pos, const void *blocks, float *x,
                               struct hx_spinor_faults *faults)
{
    const struct hx_spinor_area a = {first, n_slots, n_pos, n_slots};

    return hx_spinor_decode_area_hvx(k, &a, blocks, x, faults);
}
