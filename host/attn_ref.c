/* The plain fp32 softmax attention, see attn.h. */
#include <math.h>
#include <string.h>

#include "attn.h"
#include "vec.h"

/* In place; sums in order, so that the result depends on nothing but the values. */
static void softmax(float *s, size_t n)
{
    float max = s[0], sum = 0;

    for (size_t i = 1; i < n; i++)
        max = s[i] > max ? s[i] : max;
    for (size_t i = 0; i < n; i++) {
        s[i] = expf(s[i] - max);
        sum += s[i];
    }
    for (size_t i = 0; i < n; i++)
        s[i] /= sum;
}

static void add_scaled(float *out, const float *v, float w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] += w * v[i];
}

static void one_head(const struct hx_attn_in *in, size_t head, float *out, float *scores)
{
    const size_t dh = in->dh, off = head / (in->n_head / in->n_kv) * dh, n = in->n_past;
    const float *q = in->q + head * dh, scale = 1 / sqrtf((float)dh);

    for (size_t p = 0; p < n; p++)
        scores[p] = scale * hx_dot(q, in->past.k + p * in->past.stride + off, dh);
    scores[n] = scale * hx_dot(q, in->k + off, dh);
    softmax(scores, n + 1);
    memset(out, 0, dh * sizeof(*out));
    for (size_t p = 0; p < n; p++)
        add_scaled(out, in->past.v + p * in->past.stride + off, scores[p], dh);
    add_scaled(out, in->v + off, scores[n], dh);
}

static void run(const struct hx_attn_in *in, float *out, float *scratch)
{
    for (size_t head = 0; head < in->n_head; head++)
        one_head(in, head, out + head * in->dh, scratch);
}

const struct hx_attn_ops hx_attn_ref = {"ref", run};
