/* Tap method `attnres`: what blocks of layers have added to the residual stream is weighed anew where a block ends, or damped. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "attnres.h"
#include "engine/plan.h"

static const struct hx_option options[] = {
    {.name = "attnres", .flags = HX_OPTION_CHOOSES,
     .help = "attention over blocks of layers: their sums in the residual stream are weighed anew"},
    {.name = "attnres-strength", .arg = "S", .def = "0.35", .help = "how much of the stream that becomes, 0 to 1; 0: nothing changes"},
    {.name = "attnres-mode", .arg = "M", .def = "blend", .names = hx_attnres_mode_names,
     .help = "blend | damp: instead, what deep layers add is made weaker | damp-stream: or what it is added to"},
    {.name = "attnres-summary", .arg = "B", .def = "sums", .names = hx_attnres_summary_names,
     .help = "of a block: what it has added (sums) | the stream behind it (states)"},
    {.name = "attnres-query", .arg = "Q", .def = "state", .names = hx_attnres_query_names,
     .help = "what blocks are compared with: state (the stream) | zero (all alike: nothing changes) | file"},
    {.name = "attnres-file", .arg = "FILE",
     .help = "of --attnres-query file: a capture with point after_ffn, whose mean rows are the queries"},
    {.name = "attnres-tau", .arg = "T", .def = "1",
     .help = "inner products of unit vectors are multiplied by this in front of the softmax"},
    {.name = "attnres-block", .arg = "N", .min = 1, .max = 1 << 12,
     .help = "layers of a block (an eighth of the model's, at least 2)"},
    {.name = NULL},
};

/* A decimal number from 0 to most. */
static int number(const struct hx_plan *p, const char *option, double most, double *to, struct hx_error *err)
{
    const char *text = hx_plan_text(p, option);
    char *end;

    *to = strtod(text, &end);
    if (end != text && !*end && *to >= 0 && *to <= most)
        return 0;
    return hx_error_set(err, -EINVAL, "%s: '%.32s' is no number from 0 to %g", hx_plan_spell(p, option), text, most);
}

static int configure(const struct hx_plan *p, struct hx_attnres_cfg *cfg, struct hx_error *err)
{
    int rc;

    *cfg = (struct hx_attnres_cfg){
        .mode = (enum hx_attnres_mode)hx_plan_index(p, "attnres-mode"),
        .block = (size_t)hx_plan_number(p, "attnres-block"),
        .summary = (enum hx_attnres_summary)hx_plan_index(p, "attnres-summary"),
        .query = (enum hx_attnres_query)hx_plan_index(p, "attnres-query"),
        .file = hx_plan_text(p, "attnres-file"),
    };
    rc = number(p, "attnres-strength", 1, &cfg->strength, err);
    return rc ? rc : number(p, "attnres-tau", 1e6, &cfg->tau, err);
}

static int check(const struct hx_plan *p, struct hx_error *err)
{
    static const char *const of_blend[] = {"attnres-summary", "attnres-query", "attnres-file", "attnres-tau", "attnres-block"};
    struct hx_attnres_cfg cfg;
    int rc = configure(p, &cfg, err);

    if (rc)
        return rc;
    for (size_t i = 0; cfg.mode != HX_ATTNRES_BLEND && i < sizeof(of_blend) / sizeof(of_blend[0]); i++)
        if (hx_plan_given(p, of_blend[i]))
            return hx_error_set(err, -EINVAL, "%s is of mode blend; %s has no such thing", hx_plan_spell(p, of_blend[i]),
                                hx_attnres_mode_names[cfg.mode]);
    if ((cfg.query == HX_ATTNRES_FILE) != (cfg.file != NULL))
        return hx_error_set(err, -EINVAL, "%sattnres-query file and %sattnres-file FILE go together", hx_plan_prefix(p),
                            hx_plan_prefix(p));
    return 0;
}

static int open_attnres(struct hx_tap **out, const struct hx_open *o, struct hx_error *err)
{
    struct hx_attnres_cfg cfg;
    int rc = configure(o->plan, &cfg, err);

    return rc ? rc : hx_attnres_open(out, &cfg, o->model, err);
}

static json_t *list(const double *x, size_t n)
{
    json_t *j = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(j, json_real(x[i]));
    return j;
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_attnres_seen s = hx_attnres_seen(self);
    const int blend = hx_plan_index(p, "attnres-mode") == HX_ATTNRES_BLEND;
    json_t *j = json_pack("{s:s, s:s, s:I, s:o, s:f}", "mode", hx_plan_text(p, "attnres-mode"), "strength",
                          hx_plan_text(p, "attnres-strength"), "rows", (json_int_t)s.rows, "rms", list(s.rms, s.n_layer), "exponent",
                          s.exponent);

    (void)kv;
    if (j && blend) {
        json_object_set_new(j, "summary", json_string(hx_plan_text(p, "attnres-summary")));
        json_object_set_new(j, "query", json_string(hx_plan_text(p, "attnres-query")));
        json_object_set_new(j, "block", json_integer((json_int_t)s.block));
        json_object_set_new(j, "newest", list(s.newest, s.blocks));
        json_object_set_new(j, "moved", list(s.moved, s.blocks));
    }
    return j;
}

const struct hx_method hx_method_tap_attnres = {
    .name = "attnres",
    .seam = HX_SEAM_TAP,
    .about = "attention over blocks of layers: what they have added to the residual stream is weighed anew, or damped",
    .options = options,
    .gives = HX_TRAIT_STREAM,
    .check = check,
    .open.tap = open_attnres,
    .reports = "attnres",
    .report = report,
};
