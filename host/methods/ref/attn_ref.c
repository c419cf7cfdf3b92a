/* The plain fp32 softmax attention, see attn.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/method.h"
#include "engine/softmax.h"
#include "base/vec.h"

struct ref {
    struct hx_attn attn;
    float *scores, *work; /* [n_ctx] in one block */
};

/* Scaled product of a query and a key, capped. */
static float score(const struct hx_attn_in *in, const float *q, const float *k)
{
    const float s = in->scale * hx_dot(q, k, in->kv->dh);

    return in->softcap > 0 ? in->softcap * tanhf(s / in->softcap) : s;
}

static void one_head(struct ref *r, const struct hx_attn_in *in, const struct hx_kv_view *past,
                     size_t token, size_t head, float *out)
{
    const size_t dh = in->kv->dh, off = head / (in->n_head / in->kv->n_kv) * dh;
    const size_t pos = in->pos + token, first = hx_attn_first(in, pos), n = pos - first;
    const float *q = in->q + (token * in->n_head + head) * dh;
    double kl;

    for (size_t p = 0; p < n; p++)
        r->scores[p] = score(in, q, past->k + (first + p) * past->stride + off);
    r->scores[n] = score(in, q, in->k + token * in->kv->n_kv * dh + off);
    kl = hx_attn_softmax_v(in, past, token, head, r->scores, r->attn.softmax_int ? r->work : NULL, out);
    if (r->attn.softmax_int)
        hx_softmax_count(&r->attn.seen, kl);
}

static int run(struct hx_attn *a, const struct hx_attn_in *in, float *out, struct hx_error *err)
{
    struct ref *r = (struct ref *)a;
    struct hx_kv_view past;
    int rc = in->kv->ops->rows(in->kv, in->layer, in->pos + in->n - 1, &past, err);

    for (size_t i = 0; !rc && i < in->n; i++)
        for (size_t head = 0; head < in->n_head; head++)
            one_head(r, in, &past, i, head, out + (i * in->n_head + head) * in->kv->dh);
    return rc;
}

static void close_ref(struct hx_attn *a)
{
    struct ref *r = (struct ref *)a;

    free(r->scores);
    free(r);
}

static const struct hx_attn_ops ops = {"ref", run, close_ref};

int hx_attn_ref_open(struct hx_attn **out, size_t n_ctx, struct hx_error *err)
{
    struct ref *r = calloc(1, sizeof(*r));

    if (r)
        r->scores = calloc(n_ctx, 2 * sizeof(*r->scores));
    if (!r || !r->scores) {
        free(r);
        return hx_error_set(err, -ENOMEM, "attention: no memory for a context of %zu", n_ctx);
    }
    r->work = r->scores + n_ctx;
    r->attn.ops = &ops;
    r->attn.can_softmax_int = 1;
    *out = &r->attn;
    return 0;
}

static int open_ref(struct hx_attn **out, const struct hx_open *o, struct hx_error *err)
{
    return hx_attn_ref_open(out, o->n_ctx, err);
}

const struct hx_method hx_method_attn_ref = {
    .name = "ref",
    .seam = HX_SEAM_ATTN,
    .about = "plain fp32, one thread: the reference",
    .needs = HX_TRAIT_ROWS,
    .gives = HX_TRAIT_SOFTMAX_INT,
    .open.attn = open_ref,
};
