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

extern const struct hx_method hx_method_linear_lowrank;

/* Told about with linear method lowrank, whose settings they become. */
static const struct hx_option options[] = {
    {.name = "wproj-format", .arg = "f32|f16|q8_0", .def = "f32", .flags = HX_OPTION_SHAPES},
    {.name = "wproj-cache", .arg = "DIR|none"},
    {.name = "basis-from", .arg = "weights|text", .def = "weights"},
    {.name = "basis-text", .arg = "FILE"},
    {.name = NULL},
};

enum { MOST = 8 };

struct settings {
    char *list[MOST];
    size_t n;
};

static int add(struct settings *s, const char *name, const char *value, struct hx_error *err)
{
    if (asprintf(&s->list[s->n], "%s=%s", name, value) >= 0) {
        s->n++;
        return 0;
    }
    s->list[s->n] = NULL;
    return hx_error_set(err, -ENOMEM, "draft gp: out of memory");
}

static int open_gp(struct hx_draft **out, const struct hx_open *o, struct hx_error *err)
{
    struct settings s = {.n = 0};
    struct hx_engine_draft_cfg cfg = {.name = "gp", .settings = (const char *const *)s.list};
    char map[48];
    int rc;

    snprintf(map, sizeof(map), "lowrank:%.32s", hx_plan_draft_arg(o->plan));
    rc = add(&s, "kv", "f32", err);
    if (!rc)
        rc = add(&s, "linear", map, err);
    for (const struct hx_option *of = options; of->name && !rc; of++)
        if (hx_plan_given(o->plan, of->name))
            rc = add(&s, of->name, hx_plan_text(o->plan, of->name), err);
    if (!rc)
        rc = hx_engine_draft_open(out, &cfg, o, err);
    while (s.n)
        free(s.list[--s.n]);
    return rc;
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_engine *e = hx_engine_draft_engine(self);

    (void)kv;
    (void)p;
    return hx_method_linear_lowrank.report(e->core->linear[0].open, e->kv, e->plan);
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
