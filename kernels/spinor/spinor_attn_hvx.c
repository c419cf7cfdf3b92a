/* Scores, see spinor_attn.h.  One head at a time, 32 of its positions at a time (spinor_group.h): lane = position; per query
 * the sums over the skeleton and over the signed magnitudes are vrmpy of the block's bytes with the projected query's. */
#include "spinor_attn_work.h"

#include "hexrig_code.h"

#include "spinor_attn_hvx.listing.h"

size_t hx_spinor_attn_bytes(const struct hx_spinor *k, size_t n_q, size_t n_pos)
{
    const size_t limit = UINT32_MAX - sizeof(struct work);
    const size_t fixed = sizeof(struct query) + MAX_COEF * sizeof(HVX_Vector);

    (void)k;
    if (n_pos > limit / 8 || n_q > limit / (fixed + stride_of(n_pos) * sizeof(float)))
        return 0;
    return sizeof(struct work) + n_q * (fixed + stride_of(n_pos) * sizeof(float));
}

/* --- the query's projection */

/* Lane i of the result is the sum over x[i]'s lanes, qf32. */
HX_SPINOR_LISTED HVX_Vector sum_each(HVX_Vector x[LANES])
{
    HX_CODE(sum_each);
    for (int n = LANES, bytes = 4; n > 1; n /= 2, bytes *= 2) {
        HX_TRIPS(1, 1);
        HX_TRIPS(2, n / 2);
        for (int i = 0; i < n; i += 2) {
            hx_spinor_exchange(&x[i], &x[i + 1], bytes);
            x[i / 2] = Q6_Vqf32_vadd_Vqf32Vqf32(x[i], x[i + 1]);
        }
    }
    return Q6_Vsf_equals_Vqf32(x[0]);
}

/* part[i] = products of row i of n with x, not summed; quads: of all rows. */
HX_SPINOR_LISTED void project_rows(const struct hx_spinor *k, const struct hx_spinor_rows *rows, size_t quads,
                        size_t n, const HVX_Vector *x, HVX_Vector *part)
{
    HX_CODE(project_rows);
    HX_TRIPS(1, n);
    for (size_t i = 0; i < n; i++) {
        const struct hx_spinor_rows *r = rows + i / 4;
        HVX_Vector sum = Q6_V_vzero();

        HX_TRIPS(2, k->out_vectors);
        for (size_t v = 0; v < k->out_vectors; v++) {
            sum = Q6_Vqf32_vadd_Vqf32Vqf32(
                sum, Q6_Vqf32_vmpy_Vqf32Vqf32(row_qf32(r, (int)i % 4), x[v]));
            r += quads;
        }
        part[i] = sum;
    }
}

/* to[lane] = row . x of 4 * quads rows, 1 being their unit; `to` has whole vectors. */
static void project_all(const struct hx_spinor *k, const struct hx_spinor_rows *rows, size_t quads,
                        const HVX_Vector *x, union hx_spinor_lanes *to)
{
    HVX_Vector part[LANES];

    for (size_t first = 0; first < quads; first += LANES / 4) {
        const size_t left = 4 * (quads - first), n = left < LANES ? left : LANES;

        project_rows(k, rows + first, quads, n, x, part);
        for (size_t i = n; i < LANES; i++)
            part[i] = Q6_V_vzero();
        to[first / (LANES / 4)].v = sum_each(part);
    }
}

/* Coefficients in units as bytes plus 2^15. */
static void store_bytes(const float *c, size_t quads, float unit, uint32_t *hi, uint32_t *lo)
{
    const float inverse = unit > 0 ? 1 / unit : 0;

    for (size_t q = 0; q < quads; q++) {
        hi[q] = lo[q] = 0;
        for (size_t b = 0; b < 4; b++) {
            const float v = c[4 * q + b] * inverse;
            const uint32_t u = (uint32_t)((int32_t)(v + (v < 0 ? -0.5f : 0.5f)) + 0x8000);

            hi[q] |= (u >> 8 & 0xff) << 8 * b;
            lo[q] |= (u & 0xff) << 8 * b;
        }
    }
}

static float largest(const float *c, size_t n, float *sum)
{
    float top = 0;

    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        const float m = c[i] < 0 ? -c[i] : c[i];

        top = m > top ? m : top;
        *sum += m;
    }
    return top;
}

static float lanes_dot(const HVX_Vector *x, const float *y, size_t vectors)
{
    const HVX_Vector *yv = (const void *)y;
    HVX_Vector acc[LANES];
    union hx_spinor_lanes out;

    for (int i = 0; i < LANES; i++)
        acc[i] = Q6_V_vzero();
    for (size_t v = 0; v < vectors; v++)
        acc[0] = Q6_Vqf32_vadd_Vqf32Vqf32(
            acc[0], Q6_Vqf32_vmpy_Vqf32Vqf32(x[v], Q6_Vqf32_vadd_VsfVsf(yv[v], Q6_V_vzero())));
    out.v = sum_each(acc);
    return out.f[0];
}

/* The skeleton's rows have their bytes in another order than its lanes have: both follow the rows. */
static void project(const struct hx_spinor *k, const struct hx_spinor_slot *s,
                    const struct hx_spinor_attn *a, const float *q, const float *k_own,
                    struct query *to)
{
    enum { LARGEST = 32767, ROOM = (1 << 17) - SKEL };
    union hx_spinor_lanes skel[1], res[HX_SPINOR_MAX_RES_VECTORS];
    HVX_Vector x[HX_BLOCK_MAX_DH / LANES];
    float unit, sum;

    for (size_t v = 0; v < k->out_vectors; v++)
        x[v] = Q6_Vqf32_vadd_VsfVsf(((const HVX_Vector *)q)[v], Q6_V_vzero());
    project_all(k, hx_spinor_skel_rows(k, s), HX_SPINOR_SKEL_QUADS, x, skel);
    project_all(k, hx_spinor_res_rows(k, s), k->quads, x, res);

    unit = largest(skel->f, SKEL, &sum) / LARGEST;
    unit = sum / ROOM > unit ? sum / ROOM : unit;
    store_bytes(skel->f, HX_SPINOR_SKEL_QUADS, unit, to->skel_hi, to->skel_lo);
    to->skel_unit = unit * power_of_two(-s->skel_exp) * a->scale;

    unit = largest(res->f, 4u * k->quads, &sum) / LARGEST;
    store_bytes(res->f, k->quads, unit, to->res_hi, to->res_lo);
    to->res_unit = unit * s->res_unit / 7 * a->scale;
    to->own = k_own ? a->scale * lanes_dot(x, k_own, k->out_vectors) : 0;
}

/* --- scores of one group */

HX_SPINOR_LISTED HVX_Vector score_lanes(const struct hx_spinor *k, const struct hx_spinor_group *g,
                              const struct query *q)
{
    HVX_Vector high = Q6_V_vzero(), cross = high, low = g->skel_fix.v, rh = high, rl = g->res_fix.v;

    HX_CODE(score_lanes);
    HX_TRIPS(1, HX_SPINOR_SKEL_QUADS);
    for (int i = 0; i < HX_SPINOR_SKEL_QUADS; i++) {
        const HVX_Vector hi = hx_spinor_splat(q->skel_hi[i]), lo = hx_spinor_splat(q->skel_lo[i]);

        high = Q6_Vw_vrmpyacc_VwVubVb(high, hi, g->high[i].v);
        cross = Q6_Vw_vrmpyacc_VwVubVb(cross, lo, g->high[i].v);
        cross = Q6_Vuw_vrmpyacc_VuwVubVub(cross, hi, g->low[i].v);
        low = Q6_Vuw_vrmpyacc_VuwVubVub(low, lo, g->low[i].v);
    }
    HX_TRIPS(2, k->quads);
    for (size_t i = 0; i < k->quads; i++) {
        rh = Q6_Vw_vrmpyacc_VwVubVb(rh, hx_spinor_splat(q->res_hi[i]), g->residual[i].v);
        rl = Q6_Vw_vrmpyacc_VwVubVb(rl, hx_spinor_splat(q->res_lo[i]), g->residual[i].v);
    }
    low = Q6_Vw_vadd_VwVw(low, Q6_Vw_vadd_VwVw(Q6_Vw_vasl_VwR(cross, 8), Q6_Vw_vasl_VwR(high, 16)));
    rl = Q6_Vw_vadd_VwVw(rl, Q6_Vw_vasl_VwR(rh, 8));

    low = hx_spinor_qf32_lanes(
        low, Q6_Vw_vadd_VwVw(g->exponent.v, Q6_V_vsplat_R(HX_SPINOR_UNIT - 28)));
    low = Q6_Vqf32_vmpy_Vqf32Vqf32(low, hx_spinor_splat(hx_spinor_qf32(q->skel_unit)));
    rl = hx_spinor_qf32_words(Q6_Vw_vasl_VwR(rl, k->res_shift), HX_SPINOR_UNIT - k->res_shift);
    rl = Q6_Vqf32_vmpy_Vqf32Vqf32(
        rl, Q6_Vqf32_vmpy_VsfVsf(g->amax.v, hx_spinor_splat(hx_spinor_bits(q->res_unit))));
    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vadd_Vqf32Vqf32(low, rl));
}

/* --- one head */

void hx_spinor_score_head(const struct hx_spinor *k, const struct hx_spinor_attn *a, size_t i,
                          float *scores, size_t stride, struct work *w,
                          struct hx_spinor_faults *faults)
{
    const struct head h = head_of(k, a, 0, i);
    const size_t dh = k->f.shape->dh;
    struct query *queries = queries_of(w, a);

    for (size_t q = 0; q < a->n_q; q++)
        project(k, h.slot, a, a->q + (i * a->n_q + q) * dh, a->k_own ? a->k_own + i * dh : NULL,
                &queries[q]);
    for (size_t pos = 0; pos < a->n_pos; pos += LANES) {
        const size_t n = open_group(&h, pos, &w->group, faults);

        for (size_t q = 0; q < a->n_q; q++) {
            union hx_spinor_lanes s;

            s.v = score_lanes(k, &w->group, &queries[q]);
            memcpy(scores + q * stride + pos, s.f, n * sizeof(float));
        }
    }
}

int hx_spinor_scores_hvx(const struct hx_spinor *k, const struct hx_spinor_attn *a, void *work,
                         struct hx_spinor_faults *faults)
{
    const size_t out_row = a->out_row ? a->out_row : a->n_pos;
    struct hx_spinor_attn scores = *a;

    faults->n = 0;
    if (!is_legal(k, a, a->k_first, a->k))
        return AEE_EBADPARM;
    scores.k_own = NULL;
    for (size_t i = 0; i < a->n_slots; i++)
        hx_spinor_score_head(k, &scores, i, a->out + i * a->n_q * out_row, out_row, work, faults);
    return faults->n ? AEE_EBADITEM : AEE_SUCCESS;
}
