/* Tap method `capture`: what flows through the model goes to a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "engine/plan.h"

static const struct hx_option options[] = {
    {.name = "capture", .arg = "FILE", .flags = HX_OPTION_CHOOSES,
     .help = "write hidden states, inputs of matrices, Q, K or V of every token to FILE"},
    {.name = "capture-points", .arg = "LIST", .def = "after_ffn",
     .help = "which: embedding after_attn after_ffn before_norm in_qkv q k v in_o in_ffn in_down in_out, or all"},
    {.name = "capture-layers", .arg = "FROM[-TO]", .help = "of these layers only, from 0 (all)"},
    {.name = NULL},
};

/* "2" or "2-5"; NULL: all.  Numbers beyond size_t become SIZE_MAX, a layer that no model has. */
static int parse_layers(const char *text, struct hx_capture_cfg *cfg)
{
    char *end;

    cfg->from = 0;
    cfg->to = SIZE_MAX;
    if (!text)
        return 0;
    if (*text < '0' || *text > '9')
        return -EINVAL;
    cfg->from = cfg->to = strtoull(text, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        cfg->to = strtoull(end + 1, &end, 10);
    return *end || cfg->to < cfg->from ? -EINVAL : 0;
}

static int configure(const struct hx_plan *p, struct hx_capture_cfg *cfg, struct hx_error *err)
{
    struct hx_error detail = {""};

    cfg->path = hx_plan_text(p, "capture");
    if (!cfg->path || !*cfg->path)
        return hx_error_set(err, -EINVAL, "tap capture needs %s FILE", hx_plan_spell(p, "capture"));
    if (parse_layers(hx_plan_text(p, "capture-layers"), cfg))
        return hx_error_set(err, -EINVAL, "%s: '%.32s' is not FROM or FROM-TO", hx_plan_spell(p, "capture-layers"),
                            hx_plan_text(p, "capture-layers"));
    if (hx_capture_points(hx_plan_text(p, "capture-points"), &cfg->points, &detail))
        return hx_error_set(err, -EINVAL, "%s: %s", hx_plan_spell(p, "capture-points"), detail.text);
    return 0;
}

static int check(const struct hx_plan *p, struct hx_error *err)
{
    struct hx_capture_cfg cfg;

    return configure(p, &cfg, err);
}

/* All layers, or those that were asked for, which the model has to have. */
static int check_layers(const struct hx_open *o, struct hx_capture_cfg *cfg, struct hx_error *err)
{
    const char *text = hx_plan_text(o->plan, "capture-layers");
    const size_t n_layer = o->model->n_layer;
    const char *last;

    if (!text)
        cfg->to = n_layer - 1;
    if (cfg->to < n_layer)
        return 0;
    last = strchr(text, '-') ? strchr(text, '-') + 1 : text;
    return hx_error_set(err, -EINVAL, "%s: layer %.40s; the model has %zu, from 0",
                        hx_plan_spell(o->plan, "capture-layers"), last, n_layer);
}

/* The second process of a pair sees the same as the first one, which writes it. */
static int close_nothing(struct hx_tap *t, struct hx_error *err)
{
    (void)t;
    (void)err;
    return 0;
}

static const struct hx_tap_ops nothing_ops = {.name = "capture", .close = close_nothing};
static struct hx_tap nothing = {.ops = &nothing_ops}; /* of no points, and constant */

static int open_capture(struct hx_tap **out, const struct hx_open *o, struct hx_error *err)
{
    struct hx_capture_cfg cfg;
    int rc = configure(o->plan, &cfg, err);

    if (!rc)
        rc = check_layers(o, &cfg, err);
    if (!rc && hx_plan_is_second(o->plan)) {
        *out = &nothing;
        return 0;
    }
    return rc ? rc : hx_capture_open(out, &cfg, o->model, err);
}

const struct hx_method hx_method_tap_capture = {
    .name = "capture",
    .seam = HX_SEAM_TAP,
    .about = "what flows through the model goes to a file",
    .options = options,
    .check = check,
    .open.tap = open_capture,
};
