/* KV method `banded`: K and V as compressed vectors, coded by this CPU or, with --offload kv, by the DSP. */
#include "engine/plan.h"
#include "kv_banded.h"

static const struct hx_option options[] = {
    {.name = "banded-v", .arg = "V", .def = "3", .names = hx_banded_v_names,
     .help = "V in bands of so many bits: 3 | 5543 (as K) | f32 (not coded)"},
    {.name = NULL},
};

static int on_dsp(const struct hx_plan *p)
{
    return (hx_plan_offload(p) & HX_OFFLOAD_KV) != 0;
}

static enum hx_banded_v v_of(const struct hx_plan *p)
{
    return (enum hx_banded_v)hx_plan_index(p, "banded-v");
}

static enum hx_banded_by by_of(const struct hx_plan *p)
{
    if (!on_dsp(p))
        return HX_BANDED_CPU;
    return hx_plan_packets(p) ? HX_BANDED_DSP_PACKETS : HX_BANDED_DSP;
}

static int open_banded(struct hx_kv **out, const struct hx_open *o, struct hx_error *err)
{
    return hx_kv_banded_open(out, o->model, v_of(o->plan), by_of(o->plan), o->n_ctx, err);
}

static json_t *part(const struct hx_kv *kv, int is_v)
{
    const struct hx_banded_state s = hx_kv_banded_state(kv, is_v);
    const double f32 = 4 * (double)kv->dh;

    if (!s.format)
        return json_pack("{s:i}", "bytes", (int)f32);
    return json_pack("{s:i, s:i, s:s, s:f, s:f, s:I, s:f, s:f}", "bytes", s.format->bytes, "coefficients", s.format->n,
                     "order", hx_mobius_names[s.format->kind], "ratio_f32", f32 / s.format->bytes, "ratio_f16",
                     f32 / 2 / s.format->bytes, "vectors", (json_int_t)s.vectors, "cosine", s.cosine, "cosine_min",
                     s.cosine_min);
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    (void)self;
    return json_pack("{s:s, s:i, s:o, s:o}", "by", on_dsp(p) ? "dsp" : "cpu", "dh", (int)kv->dh, "k", part(kv, 0), "v",
                     part(kv, 1));
}

/* Of each layer one call that puts, and one that brings back what there is. */
static struct hx_calls calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    const double each = pos > 0 ? 2 : 1;

    return hx_plan_sends(p, on_dsp(p) ? (double)s->n_layer * each : 0);
}

const struct hx_method hx_method_kv_banded = {
    .name = "banded",
    .seam = HX_SEAM_KV,
    .about = "K and V in bands of few bits, without calibration: 76 and 50 bytes at head dimension 128",
    .options = options,
    .gives = HX_TRAIT_DSP | HX_TRAIT_ROWS | HX_TRAIT_TREE,
    .open.kv = open_banded,
    .reports = "banded",
    .report = report,
    .calls = calls,
};
