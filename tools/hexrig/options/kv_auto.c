/* Chooses between blocks and f32 for a model by what calibration there is, see kv_auto.h. */
#include "kv_auto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/arch/arch.h"
#include "methods/spinor/cal_choose.h"
#include "model/model.h"

#define TEXT "books-holdout.txt"

/* The option that makes no sense without blocks, as it is spelled; NULL: none was given. */
static const char *asks_for_blocks(const struct hx_plan *p)
{
    static const char *const names[] = {"density", "basis", "k-rope", "skeleton", "residual", "page-kv", NULL};

    if (hx_plan_offload(p) & (HX_OFFLOAD_KV | HX_OFFLOAD_ATTN))
        return "--offload";
    for (size_t i = 0; names[i]; i++)
        if (hx_plan_given(p, names[i]))
            return hx_plan_spell(p, names[i]);
    return NULL;
}

/* 1: the plan's cache is one by default that looks for a calibration.  *attn: attention is where its blocks are. */
static int looks_for_calibration(const struct hx_plan *p, int *attn)
{
    const struct hx_method *kv = hx_plan_method(p, HX_SEAM_KV);

    *attn = (kv->gives & HX_TRAIT_ATTEND) != 0;
    return kv->needs & HX_TRAIT_CALIBRATION && !hx_plan_given(p, "cal") && !hx_plan_given(p, "calibrate-on") &&
           !hx_plan_given(p, "uncalibrated");
}

/* 0: there is one; -ENOENT: there is none; others: that is for whoever opens the model to say. */
static int find_calibration(const struct hx_engine_opts *o, const struct hx_plan *p, int attn)
{
    struct hx_error unsaid = {""};
    struct hx_model *m = NULL;
    struct hx_cal *cal = NULL;
    int rc = hx_model_open(&m, o->model, hx_archs, &unsaid);

    if (!rc)
        rc = hx_cal_choose(&cal, &(struct hx_open){.plan = p, .model = m, .model_path = o->model, .share = o->share}, attn,
                           &unsaid);
    else
        rc = -EIO;
    hx_cal_free(cal);
    hx_model_close(m);
    return rc;
}

static int calibrate_on_shipped_text(struct hx_engine_opts *o, const char *asked, struct hx_error *err)
{
    char *text;
    int rc;

    if (asprintf(&text, "%s/" TEXT, o->share) < 0)
        return hx_error_set(err, -ENOMEM, "out of memory");
    rc = hx_plan_set(o->plan, "calibrate-on", text, err);
    snprintf(o->kv_why, sizeof(o->kv_why), "spinor, calibrated on the shipped " TEXT ": %s asks for blocks, and there is no "
             "calibration for this model", asked);
    free(text);
    return rc;
}

static int take_f32(struct hx_engine_opts *o, struct hx_error *err)
{
    snprintf(o->kv_why, sizeof(o->kv_why), "f32: there is no calibration for this model (hexrig block calibrate makes one, "
             "--calibrate-on TEXT another)");
    return hx_plan_set(o->plan, "kv", "f32", err);
}

static int choose(struct hx_engine_opts *o, const struct hx_plan *tried, struct hx_error *err)
{
    const char *asked = asks_for_blocks(tried);
    int attn, found, rc = 0;

    if (!looks_for_calibration(tried, &attn)) {
        if (hx_plan_kv_auto(o->plan))
            snprintf(o->kv_why, sizeof(o->kv_why), "%s: the other options leave no choice",
                     hx_plan_method(tried, HX_SEAM_KV)->name);
        return 0;
    }
    if (o->model == o->default_model && !hx_plan_kv_auto(o->plan))
        return 0;
    found = find_calibration(o, tried, attn);
    if (found == -ENOENT)
        rc = asked ? calibrate_on_shipped_text(o, asked, err) : take_f32(o, err);
    else if (!found && hx_plan_kv_auto(o->plan))
        snprintf(o->kv_why, sizeof(o->kv_why), "%s: there is a calibration for this model",
                 hx_plan_method(tried, HX_SEAM_KV)->name);
    return rc;
}

int hx_kv_auto(struct hx_engine_opts *o, struct hx_error *err)
{
    struct hx_error unsaid = {""};
    struct hx_plan *tried = NULL;
    int rc;

    if (!(o->flags & HX_PLAN_KV_AUTO) || (hx_plan_given(o->plan, "kv") && !hx_plan_kv_auto(o->plan)))
        return 0;
    rc = hx_plan_copy(&tried, o->plan, err);
    if (!rc && hx_plan_resolve(tried, &unsaid) == 0) /* else the plan itself says why not */
        rc = choose(o, tried, err);
    hx_plan_close(tried);
    if (!rc && *o->kv_why)
        fprintf(stderr, "hexrig %s: cache %s\n", o->cmd, o->kv_why);
    return rc;
}
