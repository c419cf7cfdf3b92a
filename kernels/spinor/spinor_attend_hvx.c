/* Softmax and weighted V, see spinor_attn.h.  The bytes of 32 blocks are transposed, so that lane = coefficient and a word
 * holds four positions, and multiplied by four weights at a time. */
#include "spinor_attn_work.h"

#include "hexrig_code.h"
#include "spinor_exp.h"

#include "spinor_attend_hvx.listing.h"

/* --- softmax */

/* Turns n scores into weights; returns that of the position in f32, whose score is *own (NULL: there is none). */
HX_SPINOR_LISTED float softmax(float *s, size_t n, const float *own)
{
    float top = own ? *own : s[0], total = 0, w = 0;

    HX_CODE(softmax);
    HX_TRIPS(1, n);
    for (size_t i = 0; i < n; i++)
        top = s[i] > top ? s[i] : top;
    HX_TRIPS(2, n);
    for (size_t i = 0; i < n; i++) {
        s[i] = hx_spinor_exp(s[i] - top);
        total += s[i];
    }
    if (own) {
        w = hx_spinor_exp(*own - top);
        total += w;
    }
    HX_TRIPS(3, n);
    for (size_t i = 0; i < n; i++)
        s[i] /= total;
    return w / total;
}

/* --- weighted coefficients */

/* Exchanges bits of a byte's address with bits of its vector's number. */
struct swap {
    uint8_t bytes, vector_bit;
};

/* x[quad]: lane = position, bytes = four coefficients.  After: x[t]: lane = coefficient of the eight quads, bytes = positions
 * 4t..4t+3. */
HX_SPINOR_LISTED void turn_eight(HVX_Vector x[8])
{
    /* bytes within four vectors each, then lanes within all eight */
    static const struct swap swaps[] = {{1, 1}, {2, 2}, {4, 1}, {8, 2}, {1, 1},
                                        {2, 2}, {16, 1}, {32, 2}, {64, 4}};
    enum { SWAPS = sizeof(swaps) / sizeof(swaps[0]) };

    HX_CODE(turn_eight);
    HX_TRIPS(1, SWAPS);
    for (int s = 0; s < SWAPS; s++) {
        const int bit = swaps[s].vector_bit;

        HX_TRIPS(2, 4);
        for (int p = 0; p < 4; p++) { /* the vectors whose number has not that bit */
            const int i = (p & -bit) << 1 | (p & (bit - 1));

            hx_spinor_exchange(&x[i], &x[i | bit], swaps[s].bytes);
        }
    }
}

static void turn(const struct hx_spinor *k, const struct hx_spinor_group *g, HVX_Vector (*to)[8])
{
    for (size_t q = 0; q < 8u * k->res_vectors; q++)
        to[q / 8][q % 8] = q < k->quads ? g->residual[q].v : Q6_V_vzero();
    for (size_t q = 0; q < HX_SPINOR_SKEL_QUADS; q++) {
        to[k->res_vectors][q] = g->high[q].v;
        to[k->res_vectors][q + HX_SPINOR_SKEL_QUADS] = g->low[q].v;
    }
    for (size_t v = 0; v <= k->res_vectors; v++)
        turn_eight(to[v]);
}

/* 32 weights as 16-bit integers, four to a word. */
struct weights {
    uint32_t hi[LANES / 4], lo[LANES / 4];
    float unit;
};

HX_SPINOR_LISTED void quantise(const float w[LANES], struct weights *to)
{
    float top = 0, inverse;

    HX_CODE(quantise);
    HX_TRIPS(1, LANES);
    for (size_t i = 0; i < LANES; i++)
        top = w[i] > top ? w[i] : top;
    to->unit = top / 65535;
    inverse = to->unit > 0x1p-120f ? 1 / to->unit : 0;
    HX_TRIPS(2, LANES / 4);
    for (size_t t = 0; t < LANES / 4; t++) {
        to->hi[t] = to->lo[t] = 0;
        HX_TRIPS(3, 4);
        for (size_t i = 0; i < 4; i++) {
            const uint32_t u = (uint32_t)(int32_t)(w[4 * t + i] * inverse + 0.5f);

            to->hi[t] |= (u >> 8 & 0xff) << 8 * i;
            to->lo[t] |= (u & 0xff) << 8 * i;
        }
    }
}

/* sum += words times what 1 of them means; |word| << shift fits 32 bits. */
HX_SPINOR_FN HVX_Vector add_words(HVX_Vector sum, HVX_Vector w, int shift, float unit)
{
    w = hx_spinor_qf32_words(Q6_Vw_vasl_VwR(w, shift), HX_SPINOR_UNIT - shift);
    return Q6_Vqf32_vadd_Vqf32Vqf32(
        sum, Q6_Vqf32_vmpy_Vqf32Vqf32(w, hx_spinor_splat(hx_spinor_qf32(unit))));
}

HX_SPINOR_LISTED void add_residuals(const struct work *w, const struct weights *by, size_t vectors,
                                    HVX_Vector *sum)
{
    enum { SHIFT = 7 }; /* 32 * 65535 * 7 < 2^24 */

    HX_CODE(add_residuals);
    HX_TRIPS(1, vectors);
    for (size_t v = 0; v < vectors; v++) {
        HVX_Vector hi = Q6_V_vzero(), lo = hi;

        HX_TRIPS(2, LANES / 4);
        for (int t = 0; t < LANES / 4; t++) {
            hi = Q6_Vw_vrmpyacc_VwVubVb(hi, hx_spinor_splat(by->hi[t]), w->turned[v][t]);
            lo = Q6_Vw_vrmpyacc_VwVubVb(lo, hx_spinor_splat(by->lo[t]), w->turned[v][t]);
        }
        sum[v] = add_words(sum[v], Q6_Vw_vadd_VwVw(lo, Q6_Vw_vasl_VwR(hi, 8)), SHIFT, by->unit);
    }
}

/* Lanes 0..15 are the signed high bytes, 16..31 the unsigned low ones. */
HX_SPINOR_LISTED void add_skeleton(const struct work *w, const struct weights *by, size_t v,
                                   HVX_Vector *sum)
{
    enum { SHIFT = 1 }; /* 32 * 65535 * 255 < 2^29 */
    HVX_Vector hi = Q6_V_vzero(), lo = hi, uhi = hi, ulo = hi;

    HX_CODE(add_skeleton);
    HX_TRIPS(1, LANES / 4);
    for (int t = 0; t < LANES / 4; t++) {
        const HVX_Vector h = hx_spinor_splat(by->hi[t]), l = hx_spinor_splat(by->lo[t]);

        hi = Q6_Vw_vrmpyacc_VwVubVb(hi, h, w->turned[v][t]);
        lo = Q6_Vw_vrmpyacc_VwVubVb(lo, l, w->turned[v][t]);
        uhi = Q6_Vuw_vrmpyacc_VuwVubVub(uhi, h, w->turned[v][t]);
        ulo = Q6_Vuw_vrmpyacc_VuwVubVub(ulo, l, w->turned[v][t]);
    }
    const HVX_VectorPred is_high = Q6_Q_vsetq_R(SKEL * 4);
    hi = Q6_V_vmux_QVV(is_high, hi, uhi);
    lo = Q6_V_vmux_QVV(is_high, lo, ulo);
    sum[v] = add_words(sum[v], Q6_Vw_vadd_VwVw(lo, Q6_Vw_vasl_VwR(hi, 8)), SHIFT, by->unit);
}

/* Adds one group of V, weighted, to sums of coefficients. */
static void add_group(const struct hx_spinor *k, const struct work *w, const float *weight,
                      size_t n, HVX_Vector *sum)
{
    const struct hx_spinor_group *g = &w->group;
    float residual[LANES] = {0}, skeleton[LANES] = {0};
    struct weights by;

    for (size_t i = 0; i < n; i++) {
        if (g->bad.u[i])
            continue;
        residual[i] = weight[i] * g->amax.f[i];
        skeleton[i] = weight[i] * power_of_two(g->exponent.i[i] - 28);
    }
    quantise(residual, &by);
    add_residuals(w, &by, k->res_vectors, sum);
    quantise(skeleton, &by);
    add_skeleton(w, &by, k->res_vectors, sum);
}

/* --- one vector from the sums */

HX_SPINOR_LISTED void add_rows(const struct hx_spinor *k, const struct hx_spinor_rows *rows,
                               size_t quads, const float *z, HVX_Vector *acc)
{
    HX_CODE(add_rows);
    HX_TRIPS(1, quads);
    for (size_t q = 0; q < quads; q++) {
        HX_TRIPS(2, 4);
        for (int b = 0; b < 4; b++) {
            const HVX_Vector by = Q6_Vqf32_vadd_VsfVsf(
                hx_spinor_splat(hx_spinor_bits(z[4 * q + (size_t)b])), Q6_V_vzero());

            HX_TRIPS(3, k->out_vectors);
            for (size_t v = 0; v < k->out_vectors; v++)
                acc[v] = Q6_Vqf32_vadd_Vqf32Vqf32(
                    acc[v], Q6_Vqf32_vmpy_Vqf32Vqf32(row_qf32(&rows[v * quads + q], b), by));
        }
    }
}

static void synthesise(const struct hx_spinor *k, const struct hx_spinor_slot *s,
                       const HVX_Vector *sum, float own_weight, const float *own, HVX_Vector *out)
{
    const float unit = power_of_two(-s->skel_exp);
    union hx_spinor_lanes z[MAX_COEF];
    float skel[SKEL], *res = z[0].f;
    HVX_Vector acc[HX_BLOCK_MAX_DH / LANES];

    for (size_t v = 0; v <= k->res_vectors; v++)
        z[v].v = Q6_Vsf_equals_Vqf32(sum[v]);
    for (size_t i = 0; i < SKEL; i++)
        skel[i] = (256 * z[k->res_vectors].f[i] + z[k->res_vectors].f[SKEL + i]) * unit;
    for (size_t i = 0; i < 4u * k->quads; i++)
        res[i] *= s->res_unit / 7;
    for (size_t v = 0; v < k->out_vectors; v++)
        acc[v] = own ? Q6_Vqf32_vmpy_VsfVsf(hx_spinor_splat(hx_spinor_bits(own_weight)),
                                            ((const HVX_Vector *)own)[v])
                     : Q6_V_vzero();
    add_rows(k, hx_spinor_skel_rows(k, s), HX_SPINOR_SKEL_QUADS, skel, acc);
    add_rows(k, hx_spinor_res_rows(k, s), k->quads, res, acc);
    for (size_t v = 0; v < k->out_vectors; v++)
        out[v] = Q6_Vsf_equals_Vqf32(acc[v]);
}

static void weigh_head(const struct hx_spinor *k, const struct hx_spinor_attn *a, size_t i,
                       struct work *w, struct hx_spinor_faults *faults)
{
    const struct head h = head_of(k, a, 1, i);
    const size_t dh = k->f.shape->dh, stride = stride_of(a->n_pos);
    const float *weights = scores_of(w, a), *own = a->v_own ? a->v_own + i * dh : NULL;

    memset(w->sum, 0, a->n_q * sizeof(w->sum[0]));
    for (size_t pos = 0; pos < a->n_pos; pos += LANES) {
        const size_t n = open_group(&h, pos, &w->group, faults);

        turn(k, &w->group, w->turned);
        for (size_t q = 0; q < a->n_q; q++)
            add_group(k, w, weights + q * stride + pos, n, w->sum[q]);
    }
    for (size_t q = 0; q < a->n_q; q++)
        synthesise(k, h.slot, w->sum[q], queries_of(w, a)[q].own, own,
                   (HVX_Vector *)(a->out + (i * a->n_q + q) * dh));
}

int hx_spinor_attend_hvx(const struct hx_spinor *k, const struct hx_spinor_attn *a, void *work,
                         struct hx_spinor_faults *faults, int *in_v)
{
    const struct hx_spinor *v = a->v_tables ? a->v_tables : k;
    struct hx_spinor_faults bad_v = {.n = 0};
    struct work *w = work;

    faults->n = 0;
    *in_v = 0;
    if (!is_legal(k, a, a->k_first, a->k) || !is_legal(v, a, a->v_first, a->v) ||
        !a->k_own != !a->v_own || (a->n_pos == 0 && !a->k_own) ||
        !is_aligned(a->out, sizeof(HVX_Vector)) || !is_aligned(a->k_own, sizeof(HVX_Vector)) ||
        !is_aligned(a->v_own, sizeof(HVX_Vector)))
        return AEE_EBADPARM;
    for (size_t i = 0; i < a->n_slots; i++) {
        const size_t stride = stride_of(a->n_pos);
        float *scores = scores_of(w, a);

        hx_spinor_score_head(k, a, i, scores, stride, w, faults);
        for (size_t q = 0; q < a->n_q; q++) {
            float *own = &queries_of(w, a)[q].own;

            *own = softmax(scores + q * stride, a->n_pos, a->k_own ? own : NULL);
        }
        weigh_head(v, a, i, w, &bad_v);
    }
    if (faults->n == 0 && bad_v.n) {
        *faults = bad_v;
        *in_v = 1;
    }
    return faults->n ? AEE_EBADITEM : AEE_SUCCESS;
}
