/* What the two halves of spinor_attn.h on HVX share: spinor_attn_hvx.c (scores) and spinor_attend_hvx.c (weighted V). */
#ifndef SPINOR_ATTN_WORK_H
#define SPINOR_ATTN_WORK_H

#include <stdbool.h>

#include "spinor_attn.h"
#include "spinor_group.h"

enum {
    LANES = HX_SPINOR_LANES,
    SKEL = HX_SPINOR_SKEL_LANES,
    /* coefficients in vectors of 8 quads: the residual ones, then the skeleton's high and low bytes */
    MAX_COEF = HX_SPINOR_MAX_RES_VECTORS + 1,
};

/* A query as it meets blocks: coefficients times 1/unit, plus 2^15, in bytes; four to a word. */
struct query {
    uint32_t skel_hi[HX_SPINOR_SKEL_QUADS], skel_lo[HX_SPINOR_SKEL_QUADS];
    uint32_t res_hi[HX_SPINOR_MAX_QUADS], res_lo[HX_SPINOR_MAX_QUADS];
    float skel_unit, res_unit; /* what 1 in a sum means; residual: times amax */
    float own;                 /* score of the position in f32 */
};

/* What a call works in. */
struct work {
    struct hx_spinor_group group;
    HVX_Vector turned[MAX_COEF][8]; /* [vector of coefficients][four positions] */
    HVX_Vector sum[][MAX_COEF];     /* [n_q] qf32: weighted coefficients; then: */
    /* struct query[n_q], float scores[n_q][stride] */
};

HX_SPINOR_FN struct query *queries_of(struct work *w, const struct hx_spinor_attn *a)
{
    return (struct query *)w->sum[a->n_q];
}

/* Scores, then weights. */
HX_SPINOR_FN float *scores_of(struct work *w, const struct hx_spinor_attn *a)
{
    return (float *)&queries_of(w, a)[a->n_q];
}

HX_SPINOR_FN size_t stride_of(size_t n_pos)
{
    return (n_pos + LANES - 1) / LANES * LANES;
}

/* One row of a quad as qf32, 1 being its unit. */
HX_SPINOR_FN HVX_Vector row_qf32(const struct hx_spinor_rows *r, int byte)
{
    const HVX_Vector mask = Q6_V_vsplat_R(0xff);
    const HVX_Vector hi = Q6_V_vand_VV(Q6_Vuw_vlsr_VuwR(r->hi, 8 * byte), mask);
    const HVX_Vector lo = Q6_V_vand_VV(Q6_Vuw_vlsr_VuwR(r->lo, 8 * byte), mask);
    const HVX_Vector u = Q6_V_vor_VV(Q6_Vw_vasl_VwR(hi, 8), lo);

    return hx_spinor_qf32_words(Q6_Vw_vasl_VwR(Q6_Vw_vsub_VwVw(u, Q6_V_vsplat_R(0x8000)), 16),
                                HX_SPINOR_UNIT - 16);
}

HX_SPINOR_FN float power_of_two(int e)
{
    const uint32_t u = (uint32_t)(127 + e) << 23;
    float f;

    memcpy(&f, &u, sizeof(f));
    return f;
}

/* The blocks of one head. */
struct head {
    const struct hx_spinor *k;
    const struct hx_spinor_slot *slot;
    const uint8_t *blocks; /* of position 0 */
    size_t stride, n_pos;  /* bytes from position to position */
    size_t first, step;    /* index of position 0, and from position to position */
};

HX_SPINOR_FN struct head head_of(const struct hx_spinor *k, const struct hx_spinor_attn *a, int is_v,
                           size_t i)
{
    const size_t bytes = k->slot_words * 4u, row = a->row ? a->row : a->n_slots;

    return (struct head){.k = k,
                         .slot = hx_spinor_slot(k, (is_v ? a->v_first : a->k_first) + i),
                         .blocks = (const uint8_t *)(is_v ? a->v : a->k) + i * bytes,
                         .stride = row * bytes,
                         .n_pos = a->n_pos,
                         .first = i,
                         .step = row};
}

/* Takes up to 32 positions apart, and forgets the corrupt ones after noting them. */
HX_SPINOR_FN size_t open_group(const struct head *h, size_t pos, struct hx_spinor_group *g,
                         struct hx_spinor_faults *faults)
{
    const size_t n = h->n_pos - pos < LANES ? h->n_pos - pos : LANES;
    const uint8_t *from[LANES];

    for (size_t i = 0; i < n; i++)
        from[i] = h->blocks + (pos + i) * h->stride;
    hx_spinor_unpack(h->k, from, n, hx_spinor_splat(h->slot->mean_half), g);
    for (size_t i = 0; i < n; i++)
        if (g->bad.u[i])
            hx_spinor_note(faults, h->first + (pos + i) * h->step);
    return n;
}

HX_SPINOR_FN bool is_aligned(const void *p, size_t to)
{
    return (uintptr_t)p % to == 0;
}

HX_SPINOR_FN bool is_legal(const struct hx_spinor *k, const struct hx_spinor_attn *a, size_t first,
                     const void *blocks)
{
    const float largest_f32 = 0x1.fffffep127f;

    return a->n_q >= 1 && a->n_slots >= 1 && a->n_slots <= k->n_slots &&
           first <= k->n_slots - a->n_slots && a->scale > 0 && a->scale <= largest_f32 &&
           is_aligned(a->q, sizeof(HVX_Vector)) && is_aligned(a->out, sizeof(float)) &&
           is_aligned(blocks, HX_BLOCK_SLOT);
}

/* Scores of all queries of head i to scores [n_q][stride]. */
void hx_spinor_score_head(const struct hx_spinor *k, const struct hx_spinor_attn *a, size_t i,
                          float *scores, size_t stride, struct work *w,
                          struct hx_spinor_faults *faults);

#endif
