/* Choice of the calibration, see cal_choose.h. */
#include "cal_choose.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cal_moebius.h"
#include "calibrate.h"
#include "engine/plan.h"
#include "geometry.h"

/* Of all shipped files the default's name has no suffix. */
#define SHIPPED "hexrig-tiny"
static const struct hx_cal_cfg preferred = {.basis = HX_BASIS_KLT, .code = HX_CODE_SIGN};

/* What was asked for; -1: nothing. */
struct wish {
    int basis, k_after_rope;
    size_t n_skel, n_res; /* 0: nothing */
};

static struct wish read_wish(const struct hx_plan *p, int attn)
{
    struct wish w = {-1, -1, hx_plan_number(p, "skeleton"), hx_plan_number(p, "residual")};

    if (hx_plan_given(p, "basis"))
        w.basis = (int)hx_plan_index(p, "basis");
    if (hx_plan_given(p, "k-rope"))
        w.k_after_rope = (int)hx_plan_index(p, "k-rope");
    else if (attn && !hx_plan_given(p, "cal"))
        w.k_after_rope = 1;
    return w;
}

static struct hx_cal_cfg wanted(const struct wish *w)
{
    struct hx_cal_cfg c = preferred;

    if (w->basis >= 0)
        c.basis = (uint32_t)w->basis;
    if (w->k_after_rope >= 0)
        c.k_after_rope = w->k_after_rope;
    c.n_skel = w->n_skel;
    c.n_res = w->n_res;
    return c;
}

static int check_lanes(const struct hx_cal *cal, const char *path, const struct wish *w, struct hx_error *err)
{
    const struct hx_block_shape *s = cal->format.shape;
    const size_t n_skel = w->n_skel ? w->n_skel : s->n_skel, n_res = w->n_res ? w->n_res : s->n_res;

    if (n_skel == s->n_skel && n_res == s->n_res)
        return 0;
    return hx_error_set(err, -EINVAL, "%s: calibration for %u skeleton and %u residual lanes, not %zu and %zu", path, s->n_skel,
                        s->n_res, n_skel, n_res);
}

static int check_wish(const struct hx_cal *cal, const char *path, const struct wish *w,
                      struct hx_error *err)
{
    if (w->basis >= 0 && (uint32_t)w->basis != cal->format.basis)
        return hx_error_set(err, -EINVAL, "%s: calibration for basis %s, not %s", path,
                          hx_block_basis_names[cal->format.basis], hx_block_basis_names[w->basis]);
    if (w->k_after_rope >= 0 && w->k_after_rope != cal->k_after_rope)
        return hx_error_set(err, -EINVAL, "%s: calibration for K %s RoPE, not %s it", path,
                            hx_cal_k_names[cal->k_after_rope], hx_cal_k_names[w->k_after_rope]);
    return check_lanes(cal, path, w, err);
}

static int read_matching(struct hx_cal **out, const struct hx_model *m, const char *path,
                         const struct wish *w, struct hx_error *err)
{
    int rc = hx_cal_read(out, path, err);

    if (rc)
        return rc;
    if ((*out)->fingerprint != m->fingerprint)
        rc = hx_error_set(err, -EINVAL, "%s: calibration of another model (fingerprint %016" PRIx64
                        ", %s has %016" PRIx64 ")", path, (*out)->fingerprint,
                        hx_gguf_name(m->file), m->fingerprint);
    else
        rc = check_wish(*out, path, w, err);
    if (rc) {
        hx_cal_free(*out);
        *out = NULL;
    }
    return rc;
}

/* MODEL.gguf -> MODEL.cal, malloc'ed; NULL when the name does not end so. */
static char *beside(const char *model)
{
    static const char from[] = ".gguf", to[] = ".cal";
    size_t n = strlen(model);
    char *path;

    if (n < sizeof(from) - 1 || strcmp(model + n - (sizeof(from) - 1), from))
        return NULL;
    path = strdup(model);
    if (path)
        memcpy(path + n - (sizeof(from) - 1), to, sizeof(to));
    return path;
}

static int none(const struct hx_open *o, struct hx_error *err)
{
    const char *dash = hx_plan_prefix(o->plan);

    return hx_error_set(err, -ENOENT, "%s: no calibration for this model; use %scal FILE, or %scalibrate-on TEXT, or make a "
                        "file with `hexrig block calibrate`, or %skv f32",
                        hx_gguf_name(o->model->file), dash, dash, dash);
}

/* hexrig-tiny.cal, or hexrig-tiny-BASIS-K.cal; malloc'ed, NULL: out of memory. */
static char *shipped(const char *share, const struct hx_cal_cfg *c)
{
    char *path;
    int n;

    if (c->basis == preferred.basis && c->k_after_rope == preferred.k_after_rope)
        n = asprintf(&path, "%s/" SHIPPED ".cal", share);
    else
        n = asprintf(&path, "%s/" SHIPPED "-%s-%s.cal", share, hx_block_basis_names[c->basis],
                     hx_cal_k_names[c->k_after_rope]);
    return n < 0 ? NULL : path;
}

static int read_shipped(struct hx_cal **out, const struct hx_open *o, const struct wish *w, struct hx_error *err)
{
    const struct hx_cal_cfg c = wanted(w);
    char *path = shipped(o->share, &c);
    int rc;

    if (!path)
        return hx_error_set(err, -ENOMEM, "out of memory");
    if (access(path, F_OK)) {
        free(path);
        return none(o, err);
    }
    rc = hx_cal_read(out, path, err);
    if (!rc && (*out)->fingerprint != o->model->fingerprint)
        rc = none(o, err);
    if (!rc)
        rc = check_lanes(*out, path, w, err);
    free(path);
    if (rc) {
        hx_cal_free(*out);
        *out = NULL;
    }
    return rc;
}

/* A geometry's. */
static int noise(struct hx_cal **out, const struct hx_model *m, const struct hx_cal_cfg *c, struct hx_error *err)
{
    const struct hx_geometry g = {.name = "without a model", .n_layer = m->n_layer, .n_kv = m->n_kv, .dh = m->dh};

    return hx_geometry_cal(out, &g, c, err);
}

/* By --uncalibrated: the same table for all slots. */
static int uncalibrated(struct hx_cal **out, const struct hx_model *m, const struct hx_cal_cfg *c, struct hx_error *err)
{
    const uint32_t basis = c->basis == HX_BASIS_KLT ? HX_BASIS_VHT2 : c->basis; /* klt: nobody asked */
    struct hx_codec_format f;
    struct hx_cal *cal;

    if (hx_codec_format_lanes(&f, m->dh, c->n_skel, c->n_res, basis, c->code))
        return hx_error_set(err, -EINVAL, "there are no blocks of head dimension %zu with these lanes", m->dh);
    cal = hx_cal_alloc(&f, (uint32_t)(m->n_layer * 2 * m->n_kv));
    if (!cal)
        return hx_error_set(err, -ENOMEM, "out of memory");
    cal->k_after_rope = c->k_after_rope;
    cal->fingerprint = m->fingerprint;
    for (size_t slot = 0; slot < cal->n_slots; slot++)
        hx_moebius_table(&f, hx_cal_table(cal, slot));
    *out = cal;
    return 0;
}

int hx_cal_choose(struct hx_cal **out, const struct hx_open *o, int attn, struct hx_error *err)
{
    const struct wish w = read_wish(o->plan, attn);
    const struct hx_cal_cfg c = wanted(&w);
    const struct hx_model *m = o->model;
    char *path;
    int rc;

    if (!m->file)
        return noise(out, m, &c, err);
    if (hx_plan_given(o->plan, "uncalibrated"))
        return uncalibrated(out, m, &c, err);
    if (hx_plan_given(o->plan, "cal"))
        return read_matching(out, m, hx_plan_text(o->plan, "cal"), &w, err);
    if (hx_plan_given(o->plan, "calibrate-on"))
        return hx_calibrate_text(out, m, &c, hx_plan_text(o->plan, "calibrate-on"), err);
    path = o->model_path ? beside(o->model_path) : NULL;
    if (path && access(path, F_OK) == 0)
        rc = read_matching(out, m, path, &w, err);
    else
        rc = o->share ? read_shipped(out, o, &w, err) : none(o, err);
    free(path);
    return rc;
}
