/* The plain fp32 softmax attention, see attn.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attn.h"
#include "vec.h"

struct ref {
    struct hx_attn attn;
    float *scores; /* [n_ctx] */
};

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

/* Scaled product of a query and a key, capped. */
static float score(const struct hx_attn_in *in, const float *q, const float *k)
{
    const float s = in->scale * hx_dot(q, k, in->kv->dh);

    return in->softcap > 0 ? in->softcap * tanhf(s / in->softcap) : s;
}

static void one_head(const struct hx_attn_in *in, const struct hx_kv_view *past, size_t token,
                     size_t head, float *out, float *scores)
{
    const size_t dh = in->kv->dh, off = head / (in->n_head / in->kv->n_kv) * dh;
    const size_t pos = in->pos + token, first = hx_attn_first(in, pos), n = pos - first;
    const float *q = in->q + (token * in->n_head + head) * dh;
    const size_t own = token * in->kv->n_kv * dh + off;

    for (size_t p = 0; p < n; p++)
        scores[p] = score(in, q, past->k + (first + p) * past->stride + off);
    scores[n] = score(in, q, in->k + own);
    softmax(scores, n + 1);
    memset(out, 0, dh * sizeof(*out));
    for (size_t p = 0; p < n; p++)
        add_scaled(out, past->v + (first + p) * past->stride + off, scores[p], dh);
    add_scaled(out, in->v + own, scores[n], dh);
}

static int run(struct hx_attn *a, const struct hx_attn_in *in, float *out, struct hx_why *why)
{
    struct ref *r = (struct ref *)a;
    struct hx_kv_view past;
    int rc = in->kv->ops->past(in->kv, in->layer, in->pos + in->n - 1, &past, why);

    for (size_t i = 0; !rc && i < in->n; i++)
        for (size_t head = 0; head < in->n_head; head++)
            one_head(in, &past, i, head, out + (i * in->n_head + head) * in->kv->dh, r->scores);
    return rc;
}

static void close_ref(struct hx_attn *a)
{
    struct ref *r = (struct ref *)a;

    free(r->scores);
    free(r);
}

static const struct hx_attn_ops ops = {"ref", run, close_ref};

int hx_attn_ref_open(struct hx_attn **out, size_t n_ctx, struct hx_why *why)
{
    struct ref *r = calloc(1, sizeof(*r));

    if (r)
        r->scores = calloc(n_ctx, sizeof(*r->scores));
    if (!r || !r->scores) {
        free(r);
        return hx_why_set(why, -ENOMEM, "attention: no memory for a context of %zu", n_ctx);
    }
    r->attn.ops = &ops;
    *out = &r->attn;
    return 0;
}
