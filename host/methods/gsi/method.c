/* Linear method `gsi`: its options and its report. */
#include <errno.h>
#include <stdlib.h>

#include "engine/plan.h"
#include "figures.h"
#include "linear_gsi.h"
#include "methods/cpu/isa/isa.h"
#include "methods/dsp/linear_dsp.h"
#include "quant/quant.h"

enum { MOST_ASKED = 65536 };

extern const struct hx_method hx_method_linear_gsi;

static const char *const formats[] = {"f32", "f16", "q8_0", NULL}, *const appliers[] = {"cpu", "ref", NULL};
static const char *const bases[] = {"text", "cascade", NULL};
static const uint32_t types[] = {HX_QUANT_F32, HX_QUANT_F16, HX_QUANT_Q8_0};

static const struct hx_option options[] = {
    {.name = "gsi", .flags = HX_OPTION_CHOOSES | HX_OPTION_SHAPES,
     .help = "matrices read a small image of their weights where a gate allows it"},
    {.name = "gsi-text", .arg = "FILE", .help = "text that bases are made of: another one than is asked about"},
    {.name = "gsi-basis", .arg = "text|cascade", .def = "text", .names = bases,
     .help = "of each layer its own of the text, or that of the layer before and what it misses"},
    {.name = "gsi-k", .arg = "K", .def = "64", .min = 1, .max = MOST_ASKED, .flags = HX_OPTION_SHAPES,
     .help = "directions of a basis, of a cascade at most so many"},
    {.name = "gsi-eps", .arg = "E", .def = "0.05", .min = 0, .max = 1, .flags = HX_OPTION_REAL | HX_OPTION_SHAPES,
     .help = "the gate opens where the basis misses at most this share of a vector's length"},
    {.name = "gsi-image", .arg = "f32|f16|q8_0", .def = "f32", .names = formats, .help = "number format of the images"},
    {.name = "gsi-off", .arg = "P", .def = "0", .min = 0, .max = 1, .flags = HX_OPTION_REAL,
     .help = "a gate that let less than this share of 256 vectors pass is done without from then on; 0: none is"},
    {.name = "gsi-grow", .arg = "N", .def = "0", .min = 0, .max = MOST_ASKED,
     .help = "so many directions may join a basis, each that of a vector that did not pass"},
    {.name = "gsi-static", .flags = HX_OPTION_SHAPES, .help = "no gate: images always, whatever they miss (the negative control)"},
    {.name = "gsi-check", .help = "results of images are held against those of whole matrices, and the bound"},
    {.name = "gsi-by", .arg = "cpu|ref", .def = "cpu", .names = appliers,
     .help = "who applies whole matrices: linear method cpu, or the reference"},
    {.name = "placement", .arg = "ddr|vtcm|dma|resident|auto", .def = "dma", .names = hx_placements,
     .flags = HX_OPTION_REPORTED | HX_OPTION_ON_DSP}, /* told about with linear method dsp */
    {.name = NULL},
};

static int check(const struct hx_plan *p, struct hx_error *err)
{
    static const char *const of_gates[] = {"gsi-check", "gsi-off", "gsi-grow"};
    const char *dash = hx_plan_prefix(p);

    if (!hx_plan_given(p, "gsi-text") && hx_plan_has_weights(p))
        return hx_error_set(err, -EINVAL, "%slinear gsi needs %sgsi-text FILE: bases are made of a text", dash, dash);
    for (size_t i = 0; hx_plan_given(p, "gsi-static") && i < sizeof(of_gates) / sizeof(of_gates[0]); i++)
        if (hx_plan_given(p, of_gates[i]))
            return hx_error_set(err, -EINVAL, "%sgsi-static and %s%s exclude each other: there is no gate", dash, dash, of_gates[i]);
    return 0;
}

static int open_gsi(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set, struct hx_error *err)
{
    const struct hx_plan *p = o->plan;
    const struct hx_linear_gsi_cfg cfg = {
        .shape = {.shapes_alone = !hx_plan_has_weights(p), .rank = set->arg ? strtoull(set->arg, NULL, 10) : hx_plan_number(p, "gsi-k"),
                  .growth = hx_plan_number(p, "gsi-grow"), .format = types[hx_plan_index(p, "gsi-image")]},
        .gate = {.eps = hx_plan_real(p, "gsi-eps"), .is_static = hx_plan_given(p, "gsi-static"), .check = hx_plan_given(p, "gsi-check"),
                 .off_below = hx_plan_real(p, "gsi-off")},
        .from = {hx_plan_text(p, "gsi-text"), hx_plan_index(p, "gsi-basis") == 1, hx_plan_real(p, "gsi-eps")},
        .reference = hx_plan_index(p, "gsi-by") == 1,
        .placement = (uint32_t)hx_plan_index(p, "placement"),
        .packets = hx_plan_packets(p),
    };

    return hx_linear_gsi_open(out, o, set, &cfg, err);
}

/* --- report */

/* Means over the layers of one input, and lists layer by layer. */
static json_t *input_json(const struct hx_gsi_classes *c, enum hx_tap_point input, int cascade)
{
    const struct hx_gsi_sums s = hx_gsi_sum(c, input);
    json_t *phis = json_array(), *ranks = json_array(), *directions = json_array(), *own = json_array(), *j;

    for (size_t i = 0; i < c->n; i++) {
        struct hx_gsi_sums one = {0};

        if (c->at[i].input != input)
            continue;
        hx_gsi_add(&one, c, &c->at[i]);
        json_array_append_new(phis, json_real(hx_gsi_phi(&one)));
        json_array_append_new(ranks, json_real(c->at[i].r_eff));
        json_array_append_new(directions, json_integer((json_int_t)c->at[i].basis.k));
        json_array_append_new(own, json_integer((json_int_t)c->at[i].own));
    }
    j = json_pack("{s:f, s:f, s:f, s:o, s:o, s:o}", "phi", hx_gsi_phi(&s), "s_seed", hx_gsi_s_seed(&s), "s_real", hx_gsi_s_real(&s),
                  "phi_by_layer", phis, "r_eff_by_layer", ranks, "directions_by_layer", directions);
    if (j && cascade)
        json_object_set(j, "own_directions_by_layer", own);
    json_decref(own);
    return j;
}

static void add_inputs(json_t *to, const struct hx_gsi_classes *c, int cascade)
{
    for (int p = 0; p < HX_TAP_POINTS; p++)
        for (size_t i = 0; i < c->n; i++)
            if (c->at[i].input == (enum hx_tap_point)p) {
                json_object_set_new(to, hx_tap_point_names[p], input_json(c, (enum hx_tap_point)p, cascade));
                break;
            }
}

static json_t *storage_json(const struct hx_gsi_classes *c)
{
    return json_pack("{s:I, s:I, s:f}", "basis_bytes", (json_int_t)c->bytes_basis, "image_bytes", (json_int_t)c->bytes_images, "share",
                     (double)(c->bytes_basis + c->bytes_images) / (double)c->bytes_weights);
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_gsi_classes *c = hx_linear_gsi_classes(self);
    const struct hx_linear_gsi_told told = hx_linear_gsi_told(self);
    const struct hx_gsi_sums s = hx_gsi_sum(c, HX_TAP_POINTS);
    json_t *j = json_pack("{s:f, s:s, s:s, s:I, s:I, s:f, s:I}", "eps", hx_plan_real(p, "gsi-eps"), "basis", hx_plan_text(p, "gsi-basis"),
                          "image", hx_plan_text(p, "gsi-image"), "bases", (json_int_t)c->n, "text_vectors", (json_int_t)told.vectors,
                          "seconds", told.seconds, "vectors", (json_int_t)(s.vectors / (double)s.classes));

    if (!j)
        return NULL;
    json_object_set_new(j, "phi", json_real(hx_gsi_phi(&s)));
    json_object_set_new(j, "s_seed", json_real(hx_gsi_s_seed(&s)));
    json_object_set_new(j, "s_real", json_real(hx_gsi_s_real(&s)));
    json_object_set_new(j, "s_bytes", json_real(hx_gsi_s_bytes(&s)));
    json_object_set_new(j, "parameters", json_real(s.parameters));
    json_object_set_new(j, "effective_parameters", json_real(hx_gsi_effective(&s)));
    json_object_set_new(j, "bytes_per_token", json_real(s.bytes));
    json_object_set_new(j, "raw_bytes_per_token", json_real(s.full_bytes));
    json_object_set_new(j, "ratio", json_real(s.bytes / s.full_bytes));
    json_object_set_new(j, "storage", storage_json(c));
    json_object_set_new(j, "off", json_integer((json_int_t)s.off));
    if (hx_plan_number(p, "gsi-grow"))
        json_object_set_new(j, "added", json_pack("{s:I, s:I}", "directions", (json_int_t)s.added, "bytes", (json_int_t)s.added_bytes));
    if (hx_plan_given(p, "gsi-check"))
        json_object_set_new(j, "bound", json_pack("{s:I, s:I, s:f}", "checked", (json_int_t)s.checked, "violations",
                                                  (json_int_t)s.violations, "worst", s.worst));
    add_inputs(j, c, hx_plan_index(p, "gsi-basis") == 1);
    if (hx_linear_gsi_there(self))
        json_object_set_new(j, "residency", hx_linear_dsp_report(hx_linear_gsi_there(self), kv, p));
    return j;
}

/* Gate and paths are one call for the matrices with one input. */
static struct hx_calls calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    (void)pos; /* whatever it is */
    return hx_plan_sends(p, hx_plan_linear_calls(p, &hx_method_linear_gsi, s));
}

const struct hx_method hx_method_linear_gsi = {
    .name = "gsi",
    .seam = HX_SEAM_LINEAR,
    .about = "images of the weights in a basis of what a text puts in, behind a gate with a bound: gated subspace inference",
    .arg = "K",
    .arg_min = 1,
    .arg_max = MOST_ASKED,
    .options = options,
    .needs = HX_TRAIT_POOL,
    .gives = HX_TRAIT_DSP | HX_TRAIT_ARGMAX | HX_TRAIT_SHAPES,
    .kernels = hx_isa_best,
    .check = check,
    .open.linear = open_gsi,
    .reports = "gsi",
    .report = report,
    .calls = calls,
};
