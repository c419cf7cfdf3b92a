/* Linear method `ok`: exact integers of Q(sqrt(-163)), with a shim that cancels or without. */
#include <errno.h>

#include "engine/plan.h"
#include "linear_ok.h"
#include "methods/dsp/linear_dsp.h"
#include "ok_planes.h"

extern const struct hx_method hx_method_linear_ok;

static const char *const configs[] = {"B", "E", NULL};

static const char *const scales[] = {"row", "block", NULL};

static const struct hx_option options[] = {
    {.name = "native-ok", .flags = HX_OPTION_CHOOSES, .help = "matrices as exact integers of Q(sqrt(-163)), without a shim"},
    {.name = "frobenius-quant", .flags = HX_OPTION_CHOOSES, .help = "the same with the shim: identical bits"},
    {.name = "shim-p", .arg = "P", .def = "41", .min = 1, .max = HX_OK_MAX_P, .of = "frobenius-quant",
     .help = "the shim is pi_P^K"},
    {.name = "shim-k", .arg = "K", .def = "8", .min = 1, .max = HX_OK_MAX_K, .of = "frobenius-quant",
     .help = "likewise"},
    {.name = "shim-config", .arg = "B|E", .def = "B", .names = configs, .of = "frobenius-quant",
     .help = "B: every matrix; E: 2^2 and pi_P^K by turns"},
    {.name = "ok-scale", .arg = "row|block", .def = "row", .names = scales,
     .help = "one scale for a row of weights, or for each 32 of them: Q4_0 and Q8_0 are taken as they are then"},
    {.name = "q-max", .arg = "N", .def = "9", .min = 1, .max = HX_OK_MAX_Q, .help = "weights are integers of up to 2^N"},
    {.name = "x-bits", .arg = "N", .min = 1, .max = HX_OK_MAX_X_BITS,
     .help = "activations are integers of up to 2^N (what headroom leaves, 16 at most)"},
    {.name = "ok-kernel", .arg = "NAME", .help = "of the sums on this CPU: scalar, avx2, avx512 (the fastest there is)"},
    {.name = "placement", .arg = "ddr|vtcm|dma|resident|auto", .def = "dma", .names = hx_placements,
     .flags = HX_OPTION_REPORTED | HX_OPTION_ON_DSP}, /* told about with linear method dsp */
    {.name = NULL},
};

static int check_shim(const struct hx_plan *p, struct hx_error *err)
{
    struct hx_ok_prime prime;
    struct hx_error detail = {""};

    if (!hx_ok_prime(&prime, (unsigned)hx_plan_number(p, "shim-p"), &detail))
        return 0;
    return hx_error_set(err, -EINVAL, "%s: %s", hx_plan_spell(p, "shim-p"), detail.text);
}

/* Which of the known ones there are depends on this CPU, so that it cannot stand in the option's table. */
static int check_kernel(const struct hx_plan *p, struct hx_error *err)
{
    const struct hx_ok_kernel *k;
    struct hx_error detail = {""};

    if (!hx_ok_kernel(&k, hx_plan_text(p, "ok-kernel"), &detail))
        return 0;
    return hx_error_set(err, -EINVAL, "%s: %s", hx_plan_spell(p, "ok-kernel"), detail.text);
}

/* What may be on the DSP: matrices of the layers, which is what --offload linear means here. */
static int check_offload(const struct hx_plan *p, struct hx_error *err)
{
    const uint32_t set = hx_plan_offload(p) & HX_OFFLOAD_LINEAR;
    const int out = set & HX_OFFLOAD_OUT && hx_plan_linear(p, 0, HX_OUT).method == &hx_method_linear_ok;

    if (out && (hx_plan_offload(p) & HX_OFFLOAD_ARGMAX || set != HX_OFFLOAD_LINEAR))
        return hx_error_set(err, -EINVAL, "%s %s: exact arithmetic leaves the output matrix as it is, here",
                            hx_plan_spell(p, "offload"),
                            hx_plan_offload(p) & HX_OFFLOAD_ARGMAX ? "argmax" : "linear=out");
    if (set && hx_plan_index(p, "ok-scale"))
        return hx_error_set(err, -EINVAL, "%s block: the DSP sums whole rows, not blocks of 32; legal there: row",
                            hx_plan_spell(p, "ok-scale"));
    if (set && hx_plan_index(p, "placement") != 2)
        return hx_error_set(err, -EINVAL, "%s %s: exact weights stream through VTCM; legal: dma",
                            hx_plan_spell(p, "placement"), hx_plan_text(p, "placement"));
    return 0;
}

static int check(const struct hx_plan *p, struct hx_error *err)
{
    int rc;

    if (hx_plan_given(p, "frobenius-quant") && hx_plan_given(p, "native-ok"))
        return hx_error_set(err, -EINVAL, "%sfrobenius-quant and %snative-ok exclude each other", hx_plan_prefix(p),
                            hx_plan_prefix(p));
    rc = check_shim(p, err);
    if (!rc)
        rc = check_kernel(p, err);
    return rc ? rc : check_offload(p, err);
}

static int open_ok(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                   struct hx_error *err)
{
    const struct hx_plan *p = o->plan;
    const struct hx_ok_cfg cfg = {
        .mode = !hx_plan_given(p, "frobenius-quant") ? HX_OK_NATIVE
                : hx_plan_index(p, "shim-config")    ? HX_OK_E
                                                     : HX_OK_B,
        .p = (unsigned)hx_plan_number(p, "shim-p"),
        .k = (unsigned)hx_plan_number(p, "shim-k"),
        .by_block = hx_plan_index(p, "ok-scale") == 1,
        .q_max = (unsigned)hx_plan_number(p, "q-max"),
        .x_bits = (unsigned)hx_plan_number(p, "x-bits"),
        .kernel = hx_plan_text(p, "ok-kernel"),
        .packets = hx_plan_packets(p),
    };

    return hx_linear_ok_open(out, o->model, set, &cfg, o->pool, err);
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    struct hx_ok_report r;

    (void)kv;
    (void)p;
    hx_linear_ok_report(self, &r);
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:I, s:I}", "mode", hx_ok_modes[r.mode], "p",
                     (json_int_t)r.p, "k", (json_int_t)r.k, "q_max", (json_int_t)r.q_max, "x_bits",
                     (json_int_t)r.x_bits, "kernel", r.kernel, "scale", scales[r.by_block], "matrices",
                     (json_int_t)r.matrices, "kept_matrices", (json_int_t)r.kept, "split_matrices",
                     (json_int_t)r.split, "bytes", (json_int_t)r.bytes, "rel_l2", r.rel_l2, "amax_ratio",
                     r.amax_ratio, "lane_ratio", r.lane_ratio, "divisions",
                     (json_int_t)r.count.divisions, "remainders", (json_int_t)r.count.remainders);
}

static struct hx_calls calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    const struct hx_plan_linear out = hx_plan_linear(p, 0, HX_OUT);
    const int stays_here = out.method == &hx_method_linear_ok && out.on_dsp; /* see check_offload() */

    (void)pos; /* whatever it is */
    return hx_plan_sends(p, hx_plan_linear_calls(p, &hx_method_linear_ok, s) - stays_here);
}

const struct hx_method hx_method_linear_ok = {
    .name = "ok",
    .seam = HX_SEAM_LINEAR,
    .about = "exact integers of Q(sqrt(-163))",
    .options = options,
    .needs = HX_TRAIT_POOL,
    .gives = HX_TRAIT_DSP,
    .check = check,
    .open.linear = open_ok,
    .reports = "ok",
    .report = report,
    .calls = calls,
};
