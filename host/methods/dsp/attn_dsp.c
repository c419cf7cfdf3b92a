/* Attention method `dsp`: the whole attention happens where the cache is, see attn.h. */
#include <errno.h>
#include <stdlib.h>

#include "engine/attn.h"
#include "engine/method.h"

static int run(struct hx_attn *a, const struct hx_attn_in *in, float *out, struct hx_error *err)
{
    (void)a;
    if (!in->kv->ops->attend)
        return hx_error_set(err, -ENOTSUP, "attention: cache '%s' cannot attend by itself",
                            in->kv->ops->name);
    if (in->softcap > 0 || hx_attn_first(in, in->pos + in->n - 1) > 0)
        return hx_error_set(err, -ENOTSUP, "attention of layer %zu: cache '%s' has no soft-caps and "
                          "no windows", in->layer, in->kv->ops->name);
    return in->kv->ops->attend(in->kv, in, out, err);
}

static void close_dsp(struct hx_attn *a)
{
    free(a);
}

static const struct hx_attn_ops ops = {"dsp", run, close_dsp};

int hx_attn_kv_open(struct hx_attn **out, struct hx_error *err)
{
    struct hx_attn *a = calloc(1, sizeof(*a));

    if (!a)
        return hx_error_set(err, -ENOMEM, "attention: out of memory");
    a->ops = &ops;
    *out = a;
    return 0;
}

static int open_dsp(struct hx_attn **out, const struct hx_open *o, struct hx_error *err)
{
    (void)o;
    return hx_attn_kv_open(out, err);
}

const struct hx_method hx_method_attn_dsp = {
    .name = "dsp",
    .seam = HX_SEAM_ATTN,
    .about = "on the DSP, where the cache keeps its blocks (--offload attn)",
    .needs = HX_TRAIT_ATTEND,
    .gives = HX_TRAIT_DSP,
    .open.attn = open_dsp,
};
