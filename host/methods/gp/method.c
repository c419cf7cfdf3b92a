/* Draft method `gp:RANK`: the model itself guesses, with wq, wk and wv of a layer made of low rank (host/methods/lowrank).  It maps the
 * verifier's file, so that weights are in memory once; its K and V are f32 in memory, whatever the verifier's are.
 * Source: the published GRC, as its drafter. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/plan.h"
#include "methods/lowrank/linear_lowrank.h"
#include "methods/model/engine_draft.h"
#include "online.h"

extern const struct hx_method hx_method_linear_lowrank;

static const char *const decays[] = {"sqrt", "linear", NULL}, *const samples[] = {"difference", "state", NULL};

/* The first ones are told about with linear method lowrank, whose settings they become; behind them its own. */
static const struct hx_option options[] = {
    {.name = "wproj-format", .arg = "f32|f16|q8_0", .def = "f32", .flags = HX_OPTION_SHAPES},
    {.name = "wproj-cache", .arg = "DIR|none"},
    {.name = "basis-from", .arg = "weights|text", .def = "weights"},
    {.name = "basis-text", .arg = "FILE"},
    {.name = "axex-rank-plan", .arg = "FILE"},
    {.name = "axex-sink-bypass", .arg = "FILE"},
    {.name = "axex-thermal", .flags = HX_OPTION_SHAPES},
    {.name = "axex-thermal-least", .arg = "R", .def = "32", .min = HX_LOWRANK_STEP, .max = HX_LOWRANK_MOST, .of = "axex-thermal",
     .flags = HX_OPTION_SHAPES},
    {.name = "axex-thermal-low", .arg = "C", .def = "65", .max = 200, .of = "axex-thermal", .flags = HX_OPTION_SHAPES | HX_OPTION_REAL},
    {.name = "axex-thermal-high", .arg = "C", .def = "85", .max = 200, .of = "axex-thermal", .flags = HX_OPTION_SHAPES | HX_OPTION_REAL},
    {.name = "axex-thermal-power", .arg = "W", .def = "0", .max = 1000, .of = "axex-thermal", .flags = HX_OPTION_SHAPES | HX_OPTION_REAL},
    {.name = "axex-online-basis", .help = "bases turn towards what guesses were wrong at, by Oja's rule"},
    {.name = "online-eta", .arg = "E", .def = "0.01", .max = 1, .of = "axex-online-basis", .flags = HX_OPTION_REAL,
     .help = "how far the first step goes"},
    {.name = "online-decay", .arg = "sqrt|linear", .def = "sqrt", .names = decays, .of = "axex-online-basis",
     .help = "later ones so much less by the root of their number, as published, or by that"},
    {.name = "online-from", .arg = "difference|state", .def = "difference", .names = samples, .of = "axex-online-basis",
     .help = "towards what comes into the model's matrices less what comes into the drafter's, or that of the model alone"},
    {.name = NULL},
};

/* 1: the drafter's engine has it, too. */
static int is_passed_on(const struct hx_option *o)
{
    return hx_method_has(&hx_method_linear_lowrank, o->name);
}

enum { MOST = 20 };

struct settings {
    char *list[MOST];
    size_t n;
};

/* value NULL: a flag. */
static int add(struct settings *s, const char *name, const char *value, struct hx_error *err)
{
    if (asprintf(&s->list[s->n], "%s%s%s", name, value ? "=" : "", value ? value : "") >= 0) {
        s->n++;
        return 0;
    }
    s->list[s->n] = NULL;
    return hx_error_set(err, -ENOMEM, "draft gp: out of memory");
}

static int fill_in(struct settings *s, const struct hx_plan *p, struct hx_error *err)
{
    char map[48];
    int rc;

    snprintf(map, sizeof(map), "lowrank:%.32s", hx_plan_draft_arg(p));
    rc = add(s, "kv", "f32", err);
    if (!rc)
        rc = add(s, "linear", map, err);
    for (const struct hx_option *of = options; of->name && !rc; of++)
        if (is_passed_on(of) && hx_plan_given(p, of->name))
            rc = add(s, of->name, of->arg ? hx_plan_text(p, of->name) : NULL, err);
    return rc;
}

static struct hx_linear_method *lowrank_of(const struct hx_draft *d)
{
    return hx_engine_draft_engine(d)->core->linear[0].open;
}

/* With bases that turn. */
static int open_online(struct hx_draft **out, struct hx_engine_draft_cfg *cfg, const struct hx_open *o, struct hx_error *err)
{
    const struct hx_plan *p = o->plan;
    const struct hx_online_cfg how = {hx_plan_real(p, "online-eta"), (enum hx_oja_decay)hx_plan_index(p, "online-decay"),
                                      hx_plan_index(p, "online-from") == 1};
    struct hx_engine_draft_follower follower;
    struct hx_online *online;
    int rc = hx_online_open(&online, o->model, &how, err);

    if (rc)
        return rc;
    follower = hx_online_follower(online);
    cfg->follower = &follower;
    rc = hx_engine_draft_open(out, cfg, o, err); /* online is the drafter's from here on */
    if (rc)
        return rc;
    rc = hx_linear_lowrank_own(lowrank_of(*out), err);
    if (!rc)
        rc = hx_online_begin(online, lowrank_of(*out), err);
    if (rc) {
        hx_draft_close(*out);
        *out = NULL;
    }
    return rc;
}

static int open_gp(struct hx_draft **out, const struct hx_open *o, struct hx_error *err)
{
    struct settings s = {.n = 0};
    struct hx_engine_draft_cfg cfg = {.name = "gp", .settings = (const char *const *)s.list};
    int rc = fill_in(&s, o->plan, err);

    if (!rc)
        rc = hx_plan_given(o->plan, "axex-online-basis") ? open_online(out, &cfg, o, err) : hx_engine_draft_open(out, &cfg, o, err);
    while (s.n)
        free(s.list[--s.n]);
    return rc;
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_engine *e = hx_engine_draft_engine(self);
    json_t *j = hx_method_linear_lowrank.report(e->core->linear[0].open, e->kv, e->plan);

    (void)kv;
    (void)p;
    if (j && hx_engine_draft_follower(self))
        json_object_set_new(j, "online", hx_online_json(hx_engine_draft_follower(self)));
    return j;
}

const struct hx_method hx_method_draft_gp = {
    .name = "gp",
    .seam = HX_SEAM_DRAFT,
    .about = "the model with wq, wk, wv of low rank",
    .arg = "RANK",
    .arg_min = 1,
    .arg_max = 65536,
    .arg_needed = 1,
    .options = options,
    .open.draft = open_gp,
    .reports = "gp",
    .report = report,
};
