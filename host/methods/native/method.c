/* Linear method `native`: its options and its report. */
#include <errno.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "engine/plan.h"
#include "linear_native.h"
#include "methods/cpu/isa/isa.h"
#include "methods/dsp/linear_dsp.h"
#include "quant/quant.h"

extern const struct hx_method hx_method_linear_native;

enum { MOST_K = 65536 };

static const char *const sources[] = {"weights", "text", NULL}, *const formats[] = {"f32", "f16", "q8_0", NULL};
static const char *const appliers[] = {"cpu", "ref", NULL};
static const uint32_t types[] = {HX_QUANT_F32, HX_QUANT_F16, HX_QUANT_Q8_0};

static const struct hx_option options[] = {
    {.name = "native-k", .arg = "N", .def = "64", .min = 1, .max = MOST_K, .flags = HX_OPTION_SHAPES,
     .help = "dimensions of each matrix, unless the map says so; fewer where it is narrower"},
    {.name = "native-file", .arg = "FILE",
     .help = "matrices that hexrig native fit or expand wrote; else the best of k are made at the start"},
    {.name = "native-from", .arg = "weights|text", .def = "weights", .names = sources,
     .help = "the best for weights, or for what they make of a text"},
    {.name = "native-text", .arg = "FILE", .of = "native-from", .help = "that text"},
    {.name = "native-format", .arg = "f32|f16|q8_0", .def = "f32", .names = formats, .flags = HX_OPTION_SHAPES,
     .help = "number format of bases and cores"},
    {.name = "native-by", .arg = "cpu|ref", .def = "cpu", .names = appliers,
     .help = "who applies them, and the matrices that stay: linear method cpu, or the reference"},
    {.name = "placement", .arg = "ddr|vtcm|dma|resident|auto", .def = "dma", .names = hx_placements,
     .flags = HX_OPTION_REPORTED | HX_OPTION_ON_DSP}, /* told about with linear method dsp */
    {.name = NULL},
};

/* --- options */

static int check(const struct hx_plan *p, struct hx_error *err)
{
    const int text = hx_plan_index(p, "native-from") == 1;
    const char *prefix = hx_plan_prefix(p);

    if (text != hx_plan_given(p, "native-text"))
        return hx_error_set(err, -EINVAL, "%snative-from text and %snative-text go together", prefix, prefix);
    if (hx_plan_given(p, "native-file") && (text || hx_plan_given(p, "native-k")))
        return hx_error_set(err, -EINVAL, "%snative-file and %s%s exclude each other: the file says it", prefix, prefix,
                            text ? "native-from text" : "native-k");
    return 0;
}

static int open_native(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set, struct hx_error *err)
{
    const struct hx_plan *p = o->plan;
    const struct hx_native_cfg cfg = {
        .k = set->arg ? strtoul(set->arg, NULL, 10) : (size_t)hx_plan_number(p, "native-k"), /* it has been checked */
        .file = hx_plan_text(p, "native-file"),
        .text = hx_plan_text(p, "native-text"),
        .format = types[hx_plan_index(p, "native-format")],
        .reference = hx_plan_index(p, "native-by") == 1,
        .placement = (uint32_t)hx_plan_index(p, "placement"),
        .packets = hx_plan_packets(p),
        .shapes_alone = !hx_plan_has_weights(p),
    };

    if (set->arg && cfg.file)
        return hx_error_set(err, -EINVAL, "%s: it says how many dimensions its matrices have: native, not native:%s", cfg.file, set->arg);
    return hx_linear_native_open(out, o, set, &cfg, err);
}

/* --- report */

/* Of the matrices of one kind, over the layers. */
struct kind {
    size_t n, k_least, k_most, bounded;
    double loss, plain, bound;
};

static void add(struct kind *k, const struct hx_native_part *p)
{
    k->k_least = !k->n || p->n.k < k->k_least ? p->n.k : k->k_least;
    k->k_most = p->n.k > k->k_most ? p->n.k : k->k_most;
    k->n++;
    k->loss += p->loss;
    k->plain += p->plain;
    k->bounded += p->bound >= 0;
    k->bound += p->bound >= 0 ? p->bound : 0;
}

static json_t *kind_json(const struct kind *k, int of_text)
{
    const double n = (double)k->n;
    json_t *j = json_pack("{s:I, s:f}", "k", (json_int_t)k->k_least, "loss", k->loss / n);

    if (k->k_most != k->k_least)
        json_object_set_new(j, "k_most", json_integer((json_int_t)k->k_most));
    if (k->bounded == k->n) {
        json_object_set_new(j, "eckart_young", json_real(k->bound / n));
        json_object_set_new(j, "share_of_ceiling", json_real((n - k->loss) / (n - k->bound)));
    }
    if (of_text && k->plain != k->loss)
        json_object_set_new(j, "loss_of_weights", json_real(k->plain / n));
    return j;
}

static void add_kinds(json_t *to, const struct hx_native_fits *f)
{
    struct kind kinds[HX_PER_LAYER] = {{0}};

    for (size_t i = 0; i < f->n; i++)
        add(&kinds[f->at[i].which], &f->at[i]);
    for (int w = 0; w < HX_PER_LAYER; w++)
        if (kinds[w].n)
            json_object_set_new(to, hx_matrix_names[w], kind_json(&kinds[w], f->of_text));
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_native_fits *f = hx_linear_native_fits(self);
    const struct hx_native_told t = hx_linear_native_told(self);
    const char *file = hx_plan_text(p, "native-file");
    json_t *j;

    (void)kv;
    j = json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:f}", "from", f->of_text ? "text" : "weights", "format",
                  hx_plan_text(p, "native-format"), "matrices", (json_int_t)f->n, "params", (json_int_t)t.params, "raw_params",
                  (json_int_t)t.raw_params, "params_share", (double)t.params / (double)t.raw_params, "bytes_per_token", (json_int_t)t.bytes,
                  "raw_bytes_per_token", (json_int_t)t.raw, "raw_bytes_per_token_same_format", (json_int_t)t.same_format,
                  "ratio_same_format", (double)t.bytes / (double)t.same_format);
    if (j && file)
        json_object_set_new(j, "file", hx_json_text(file));
    if (j && t.vectors)
        json_object_set_new(j, "text_vectors", json_integer((json_int_t)t.vectors));
    if (j)
        add_kinds(j, f);
    return j;
}

/* Matrices that share their input share a call. */
static struct hx_calls calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    (void)pos; /* whatever it is */
    return hx_plan_sends(p, hx_plan_linear_calls(p, &hx_method_linear_native, s));
}

const struct hx_method hx_method_linear_native = {
    .name = "native",
    .seam = HX_SEAM_LINEAR,
    .about = "matrices that live in K dimensions: B_out C B_in^T, the published NativeLinear",
    .arg = "K",
    .arg_min = 1,
    .arg_max = MOST_K,
    .options = options,
    .needs = HX_TRAIT_POOL,
    .gives = HX_TRAIT_DSP | HX_TRAIT_ARGMAX | HX_TRAIT_SHAPES,
    .kernels = hx_isa_best,
    .check = check,
    .open.linear = open_native,
    .reports = "native",
    .report = report,
    .calls = calls,
};
