/* Cache method `layer` and the attention that goes with it: all of a layer happens in one call to the DSP. */
#include <errno.h>
#include <stdlib.h>

#include "engine/attn.h"
#include "engine/plan.h"
#include "kv_layer.h"
#include "methods/dsp/linear_dsp.h"

static int open_kv(struct hx_kv **out, const struct hx_open *o, struct hx_error *err)
{
    return hx_kv_layer_open(out, o->model, o->n_ctx, (uint32_t)hx_plan_index(o->plan, "placement"), hx_plan_softmax_int(o->plan),
                            hx_plan_packets(o->plan), err);
}

/* One for each layer. */
static struct hx_calls calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    (void)pos; /* whatever it is */
    return hx_plan_sends(p, (double)s->n_layer);
}

const struct hx_method hx_method_kv_layer = {
    .name = "layer",
    .seam = HX_SEAM_KV,
    .about = "whole layers on the DSP, with K and V in f32 (--offload layer)",
    .options = hx_placement_option,
    .needs = HX_TRAIT_RIG,
    .gives = HX_TRAIT_DSP | HX_TRAIT_LAYER,
    .open.kv = open_kv,
    .reports = "layer",
    .report = hx_kv_layer_report,
    .calls = calls,
};

/* --- attention: a name for what the layer does */

static int never(struct hx_attn *a, const struct hx_attn_in *in, float *out, struct hx_error *err)
{
    (void)a, (void)out;
    return hx_error_set(err, -ENOTSUP, "attention of layer %zu: only whole layers are on the DSP", in->layer);
}

static void close_attn(struct hx_attn *a)
{
    free(a);
}

static const struct hx_attn_ops attn_ops = {"layer", never, close_attn};

static int open_attn(struct hx_attn **out, const struct hx_open *o, struct hx_error *err)
{
    struct hx_attn *a = calloc(1, sizeof(*a));

    (void)o;
    if (!a)
        return hx_error_set(err, -ENOMEM, "attention: out of memory");
    a->ops = &attn_ops;
    a->can_softmax_int = 1;
    *out = a;
    return 0;
}

const struct hx_method hx_method_attn_layer = {
    .name = "layer",
    .seam = HX_SEAM_ATTN,
    .about = "on the DSP, within whole layers (--offload layer)",
    .needs = HX_TRAIT_LAYER,
    .gives = HX_TRAIT_DSP | HX_TRAIT_SOFTMAX_INT,
    .open.attn = open_attn,
};
