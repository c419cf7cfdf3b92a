/* Attention over blocks in plain C, see spinor_attn.h: decodes each block with the reference codec, sums in fp64. */
#include "spinor_attn.h"

#include <math.h>
#include <string.h>

static int is_legal(const struct hx_codec *c, const struct hx_spinor_attn *a, size_t first)
{
    const size_t slots = hx_codec_slots(c);

    return a->n_q >= 1 && a->n_slots >= 1 && a->n_slots <= slots && first <= slots - a->n_slots &&
           isfinite(a->scale) && a->scale > 0;
}

/* Block of a position and head, decoded; notes it when it is corrupt. */
static int decoded(const struct hx_codec *c, const struct hx_spinor_attn *a, int is_v, size_t pos,
                   size_t head, float *x, struct hx_spinor_faults *faults)
{
    const size_t bytes = hx_codec_format_of(c)->shape->slot, i = pos * a->n_slots + head;
    uint8_t copy[HX_BLOCK_MAX_SLOT]; /* what was checked is what is used */

    memcpy(copy, (const uint8_t *)(is_v ? a->v : a->k) + i * bytes, bytes);
    if (hx_codec_decode(c, (is_v ? a->v_first : a->k_first) + head, copy, x) == 0)
        return 1;
    hx_spinor_note(faults, i);
    return 0;
}

static void check_all(const struct hx_codec *c, const struct hx_spinor_attn *a, int is_v,
                      struct hx_spinor_faults *faults)
{
    const struct hx_block_shape *s = hx_codec_format_of(c)->shape;

    for (size_t i = 0; i < a->n_pos * a->n_slots; i++)
        if (hx_block_fault(s, (const uint8_t *)(is_v ? a->v : a->k) + i * s->slot))
            hx_spinor_note(faults, i);
}

static double dot(const float *a, const float *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

int hx_spinor_scores_ref(const struct hx_codec *c, const struct hx_spinor_attn *a,
                         struct hx_spinor_faults *faults)
{
    const size_t dh = hx_codec_format_of(c)->shape->dh;
    float x[HX_BLOCK_MAX_DH];

    faults->n = 0;
    if (!is_legal(c, a, a->k_first))
        return AEE_EBADPARM;
    for (size_t pos = 0; pos < a->n_pos; pos++) {
        for (size_t head = 0; head < a->n_slots; head++) {
            if (!decoded(c, a, 0, pos, head, x, faults))
                continue;
            for (size_t i = head * a->n_q; i < (head + 1) * a->n_q; i++)
                a->out[i * a->n_pos + pos] =
                    (float)((double)a->scale * dot(a->q + i * dh, x, dh));
        }
    }
    return faults->n ? AEE_EBADITEM : AEE_SUCCESS;
}

/* One query of one head, softmax without a second buffer: sums are rescaled when the maximum grows. */
static void attend(const struct hx_codec *c, const struct hx_spinor_attn *a, size_t head,
                   size_t query, float *out, struct hx_spinor_faults *faults)
{
    const size_t dh = hx_codec_format_of(c)->shape->dh;
    const float *q = a->q + (head * a->n_q + query) * dh;
    double sum[HX_BLOCK_MAX_DH] = {0}, total = 0, top = -INFINITY;
    float k[HX_BLOCK_MAX_DH], v[HX_BLOCK_MAX_DH];

    for (size_t pos = 0; pos < a->n_pos + (a->k_own != NULL); pos++) {
        const float *kp = k, *vp = v;

        if (pos == a->n_pos) {
            kp = a->k_own + head * dh;
            vp = a->v_own + head * dh;
        } else if (!decoded(c, a, 0, pos, head, k, faults) ||
                   !decoded(c, a, 1, pos, head, v, faults)) {
            continue;
        }
        const double score = (double)a->scale * dot(q, kp, dh), max = fmax(top, score);
        const double keep = exp(top - max), w = exp(score - max);

        for (size_t i = 0; i < dh; i++)
            sum[i] = sum[i] * keep + w * (double)vp[i];
        total = total * keep + w;
        top = max;
    }
    for (size_t i = 0; i < dh; i++)
        out[i] = (float)(sum[i] / total);
}

int hx_spinor_attend_ref(const struct hx_codec *c, const struct hx_spinor_attn *a,
                         struct hx_spinor_faults *faults, int *in_v)
{
    const size_t dh = hx_codec_format_of(c)->shape->dh;
    faults->n = 0;
    *in_v = 0;
    if (!is_legal(c, a, a->k_first) || !is_legal(c, a, a->v_first) || !a->k_own != !a->v_own ||
        (a->n_pos == 0 && !a->k_own))
        return AEE_EBADPARM;
    check_all(c, a, 0, faults);
    if (faults->n == 0) {
        check_all(c, a, 1, faults);
        *in_v = faults->n > 0;
    }
    if (faults->n)
        return AEE_EBADITEM;
    for (size_t head = 0; head < a->n_slots; head++)
        for (size_t query = 0; query < a->n_q; query++)
            attend(c, a, head, query, a->out + (head * a->n_q + query) * dh, faults);
    return faults->n ? AEE_EBADITEM : AEE_SUCCESS;
}
