/* Attention step by step, see spinor_steps_attn.h. */
#include "spinor_steps_attn.h"

#include <math.h>
#include <string.h>

#include "skel/kernel.h"
#include "spinor_exp.h"
#include "spinor_steps.h"
#include "spinor_steps_attn_hvx.listing.h"

enum { QUERIES = 32 }; /* that a decoded block serves */

/* A decoded vector. */
union vector {
    HVX_Vector align;
    float f[HX_BLOCK_MAX_DH];
};

/* Some queries of one head on their way through the positions. */
struct turn {
    const float *q; /* [n][dh] */
    int n, vectors; /* vectors of dh */
    float scale;
    float *out;                                          /* attend: [n][dh] sums */
    float score[QUERIES];                                /* of the current position */
    float top[QUERIES], total[QUERIES];                  /* of the positions so far */
    float keep[QUERIES], weight[QUERIES];                /* of what was summed, of the current position */
};

/* --- listed */

/* A float as vsplat takes it. */
typedef int32_t __attribute__((may_alias)) word;

/* score[i] = q[i] . x */
static HX_KERNEL void steps_dots(const HVX_UVector *q, int n, int vectors, const HVX_UVector *x, word *score)
{
    HX_CODE(steps_dots);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        HVX_Vector sum = Q6_Vqf32_vmpy_VsfVsf(q[0], x[0]); /* qf32 has no 0 to begin with */

        HX_TRIPS(2, vectors - 1);
        for (int v = 1; v < vectors; v++)
            sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, Q6_Vqf32_vmpy_VsfVsf(q[v], x[v]));
        q += vectors;
        HX_TRIPS(3, 5);
        for (int bytes = HX_VECTOR_BYTES / 2; bytes >= 4; bytes /= 2)
            sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, Q6_V_vror_VR(sum, bytes));
        score[i] = hx_spill_lane0(Q6_Vsf_equals_Vqf32(sum));
    }
}

/* Scores of one position to their rows, `stride` floats each. */
static HX_KERNEL void steps_put_scores(const float *score, int n, float scale, float *out, size_t stride)
{
    HX_CODE(steps_put_scores);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        out[i * stride] = scale * score[i];
}

/* The softmax goes on by one position. */
static HX_KERNEL void steps_softmax(struct turn *t, int first)
{
    const int n = t->n;

    HX_CODE(steps_softmax);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        const float score = t->scale * t->score[i], was = first ? score : t->top[i], max = score > was ? score : was;
        const float keep = first ? 0 : hx_spinor_exp(was - max), weight = hx_spinor_exp(score - max);

        t->top[i] = max;
        t->keep[i] = keep;
        t->weight[i] = weight;
        t->total[i] = (first ? 0 : t->total[i] * keep) + weight;
    }
}

/* out = keep * out + weight * v, or on its first turn weight * v. */
static HX_KERNEL void steps_weigh(HVX_UVector *out, int n, int vectors, const HVX_UVector *x, const word *keep, const word *weight)
{
    HX_CODE(steps_weigh);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        const HVX_Vector k = Q6_V_vsplat_R(keep[i]), w = Q6_V_vsplat_R(weight[i]);

        HX_TRIPS(2, vectors);
        for (int v = 0; v < vectors; v++)
            out[v] = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vadd_Vqf32Vqf32(Q6_Vqf32_vmpy_VsfVsf(out[v], k), Q6_Vqf32_vmpy_VsfVsf(x[v], w)));
        out += vectors;
    }
}

/* out /= total, which becomes its inverse. */
static HX_KERNEL void steps_finish(HVX_UVector *out, int n, int vectors, float *total)
{
    HX_CODE(steps_finish);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        total[i] = 1 / total[i];

        const HVX_Vector inverse = Q6_V_vsplat_R(*(const word *)&total[i]);

        HX_TRIPS(2, vectors);
        for (int v = 0; v < vectors; v++)
            out[v] = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vmpy_VsfVsf(out[v], inverse));
        out += vectors;
    }
}

/* --- calls */

static int is_legal(const struct hx_codec *c, const struct hx_spinor_attn *a, size_t first)
{
    const size_t slots = hx_codec_slots(c);

    return a->n_q >= 1 && a->n_slots >= 1 && a->n_slots <= slots && first <= slots - a->n_slots && isfinite(a->scale) && a->scale > 0 &&
           (uintptr_t)a->q % sizeof(float) == 0 && (uintptr_t)a->out % sizeof(float) == 0;
}

static const uint8_t *block_of(const struct hx_codec *c, const struct hx_spinor_attn *a, int is_v, size_t i)
{
    return (const uint8_t *)(is_v ? a->v : a->k) + i * hx_codec_format_of(c)->shape->slot;
}

/* 1: the block of K or V at a position is in x; 0: it is corrupt, and noted. */
static int decoded(const struct hx_spinor *k, const struct hx_codec *c, const struct hx_spinor_attn *a, int is_v, size_t pos, size_t head,
                   float *x, struct hx_spinor_faults *faults)
{
    const size_t i = pos * a->n_slots + head;

    if (hx_steps_decode(k, c, (is_v ? a->v_first : a->k_first) + head, block_of(c, a, is_v, i), x) == AEE_SUCCESS)
        return 1;
    hx_spinor_note(faults, i);
    return 0;
}

/* Queries `from` and those behind it, as many as there are and a turn has room for. */
static void begin(struct turn *t, const struct hx_codec *c, const struct hx_spinor_attn *a, size_t head, size_t from)
{
    const size_t dh = hx_codec_format_of(c)->shape->dh, left = a->n_q - from;

    t->n = left < QUERIES ? (int)left : QUERIES;
    t->vectors = (int)(dh / HX_VECTOR_WORDS);
    t->scale = a->scale;
    t->q = a->q + (head * a->n_q + from) * dh;
}

static void meet(struct turn *t, const float *x)
{
    steps_dots((const HVX_UVector *)t->q, t->n, t->vectors, (const HVX_UVector *)x, (word *)t->score);
}

/* The decoder's order: a block that is corrupt is noted once. */
int hx_steps_scores(const struct hx_spinor *k, const struct hx_codec *c, const struct hx_spinor_attn *a, struct hx_spinor_faults *faults)
{
    union vector x;
    struct turn t;

    faults->n = 0;
    if (!is_legal(c, a, a->k_first))
        return AEE_EBADPARM;
    for (size_t pos = 0; pos < a->n_pos; pos++)
        for (size_t head = 0; head < a->n_slots; head++) {
            if (!decoded(k, c, a, 0, pos, head, x.f, faults))
                continue;
            for (size_t from = 0; from < a->n_q; from += QUERIES) {
                begin(&t, c, a, head, from);
                meet(&t, x.f);
                steps_put_scores(t.score, t.n, t.scale, a->out + (head * a->n_q + from) * a->n_pos + pos, a->n_pos);
            }
        }
    return faults->n ? AEE_EBADITEM : AEE_SUCCESS;
}

/* Of a corrupt block nothing is used, so that it is looked for before anything is written. */
static void check_all(const struct hx_codec *c, const struct hx_spinor_attn *a, int is_v, struct hx_spinor_faults *faults)
{
    for (size_t i = 0; i < a->n_pos * a->n_slots; i++)
        if (hx_block_fault(hx_codec_format_of(c)->shape, block_of(c, a, is_v, i)))
            hx_spinor_note(faults, i);
}

static void add(struct turn *t, const float *k, const float *v, int first)
{
    meet(t, k);
    steps_softmax(t, first);
    steps_weigh((HVX_UVector *)t->out, t->n, t->vectors, (const HVX_UVector *)v, (const word *)t->keep, (const word *)t->weight);
}

/* Positions whose blocks the client has damaged since they were checked are left out, and noted. */
static void attend(struct turn *t, const struct hx_spinor *k, const struct hx_codec *c, const struct hx_spinor_attn *a, size_t head,
                   struct hx_spinor_faults *faults)
{
    const size_t dh = hx_codec_format_of(c)->shape->dh;
    union vector key, value;
    int first = 1;

    memset(t->out, 0, (size_t)t->n * dh * sizeof(*t->out));
    for (size_t pos = 0; pos < a->n_pos; pos++)
        if (decoded(k, c, a, 0, pos, head, key.f, faults) && decoded(k, c, a, 1, pos, head, value.f, faults)) {
            add(t, key.f, value.f, first);
            first = 0;
        }
    if (a->k_own) {
        add(t, a->k_own + head * dh, a->v_own + head * dh, first);
        first = 0;
    }
    if (!first)
        steps_finish((HVX_UVector *)t->out, t->n, t->vectors, t->total);
}

int hx_steps_attend(const struct hx_spinor *k, const struct hx_codec *c, const struct hx_spinor_attn *a, struct hx_spinor_faults *faults,
                    int *in_v)
{
    const size_t dh = hx_codec_format_of(c)->shape->dh;
    struct turn t;

    faults->n = 0;
    *in_v = 0;
    if (!is_legal(c, a, a->k_first) || !is_legal(c, a, a->v_first) || !a->k_own != !a->v_own ||
        ((uintptr_t)a->k_own | (uintptr_t)a->v_own) % sizeof(float) || (a->n_pos == 0 && !a->k_own))
        return AEE_EBADPARM;
    check_all(c, a, 0, faults);
    if (faults->n == 0) {
        check_all(c, a, 1, faults);
        *in_v = faults->n > 0;
    }
    if (faults->n)
        return AEE_EBADITEM;
    for (size_t head = 0; head < a->n_slots; head++)
        for (size_t from = 0; from < a->n_q; from += QUERIES) {
            begin(&t, c, a, head, from);
            t.out = a->out + (head * a->n_q + from) * dh;
            attend(&t, k, c, a, head, faults);
        }
    return faults->n ? AEE_EBADITEM : AEE_SUCCESS;
}
