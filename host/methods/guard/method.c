/* Tap method `guard`: final hidden states are looked at, and projected, for a few directions of them. */
#include <errno.h>

#include "base/json_text.h"
#include "engine/core.h"
#include "engine/plan.h"
#include "guard_tap.h"

static const struct hx_option options[] = {
    {.name = "guard", .arg = "FILE", .flags = HX_OPTION_CHOOSES,
     .help = "of hexrig guard build: its directions are projected out of what the output matrix reads"},
    {.name = "guard-mode", .arg = "M", .def = "project", .names = hx_guard_mode_names,
     .help = "project (all states) | gate (those above the threshold) | monitor (none: they are counted)"},
    {.name = "guard-threshold", .arg = "T", .min = 0, .max = 100, .flags = HX_OPTION_REAL,
     .help = "TEH in percent above which a state is told (the file's)"},
    {.name = NULL},
};

static int check(const struct hx_plan *p, struct hx_error *err)
{
    const char *path = hx_plan_text(p, "guard");

    return path && *path ? 0 : hx_error_set(err, -EINVAL, "tap guard needs %s FILE", hx_plan_spell(p, "guard"));
}

static int open_guard(struct hx_tap **out, const struct hx_open *o, struct hx_error *err)
{
    const char *path = hx_plan_text(o->plan, "guard");
    struct hx_guard g;
    int rc = hx_guard_read(&g, path, o->model->fingerprint, err);

    if (!rc && g.d != o->model->width) {
        rc = hx_error_set(err, -EINVAL, "%s: states of %zu; the model's are %zu wide", path, g.d, o->model->width);
        hx_guard_free(&g);
    }
    if (rc)
        return rc;
    return hx_guard_tap_open(out, &g, (enum hx_guard_mode)hx_plan_index(o->plan, "guard-mode"),
                             hx_plan_given(o->plan, "guard-threshold") ? hx_plan_real(o->plan, "guard-threshold") / 100 : g.threshold,
                             o->core ? &o->core->matrices.out : NULL, err);
}

static json_t *percent_or_null(double share, size_t n)
{
    return n ? json_real(100 * share) : json_null();
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_tap *t = self;
    const struct hx_guard *g = hx_guard_tap_guard(t);
    const struct hx_guard_seen s = hx_guard_tap_seen(t);
    const size_t n = s.tokens - s.not_finite;
    json_t *j = json_pack("{s:o, s:I, s:s, s:b, s:I, s:f, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "topic", hx_json_text(g->name),
                          "directions", (json_int_t)g->f, "mode", hx_plan_text(p, "guard-mode"), "on_dsp", s.on_dsp, "vtcm_bytes",
                          (json_int_t)s.in_vtcm, "threshold_percent", 100 * hx_guard_tap_threshold(t), "tokens", (json_int_t)s.tokens,
                          "not_finite", (json_int_t)s.not_finite, "told", (json_int_t)s.told, "projected", (json_int_t)s.projected,
                          "teh_percent_mean", percent_or_null(s.teh_sum / (double)n, n), "teh_percent_most",
                          percent_or_null(s.teh_most, n), "energy_percent_mean", percent_or_null(s.energy_sum / (double)n, n));

    (void)kv;
    if (!s.on_dsp)
        json_object_set_new(j, "left_most", json_real(s.left_most));
    return j;
}

const struct hx_method hx_method_tap_guard = {
    .name = "guard",
    .seam = HX_SEAM_TAP,
    .about = "a few directions are looked at in what the output matrix reads, and projected out of it",
    .options = options,
    .check = check,
    .open.tap = open_guard,
    .reports = "guard",
    .report = report,
};
