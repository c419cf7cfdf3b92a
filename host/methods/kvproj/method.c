/* KV methods `proj` and `proj-attn`: coefficients of K and V in a basis of each head, on this CPU, or on the DSP with attention where
 * they are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/plan.h"
#include "methods/spinor/cal_file.h"
#include "proj_cache.h"
#include "proj_cache_dsp.h"

enum { AFTER_ROPE = 1 }; /* in hx_cal_k_rope_names */

static const struct hx_option options[] = {
    {.name = "axex-kv", .arg = "R", .min = 1, .max = 1 << 12, .flags = HX_OPTION_CHOOSES,
     .help = "coefficients that are kept of each K and each V of a head (half of the head dimension)"},
    {.name = "kv-basis", .arg = "B", .names = hx_kv_basis_names,
     .help = "weight | calib: directions of wk and wv, or of the K and V of a text (weight, or as in --kv-basis-file)"},
    {.name = "kv-basis-file", .arg = "FILE", .help = "the basis is read from FILE, or written there where there is none"},
    {.name = "kv-z", .arg = "Z", .def = "f16", .names = hx_kv_z_names, .help = "a coefficient as f16 | f32"},
    {.name = "k-rope", .arg = "pre|post", .names = hx_cal_k_rope_names, .flags = HX_OPTION_IDLE_OK},
    {.name = "calibrate-on", .arg = "TEXT", .flags = HX_OPTION_IDLE_OK},
    {.name = NULL},
};

/* --- the basis */

/* What was said. */
struct wish {
    int from, k_after_rope; /* -1: nothing */
    const char *text, *file;
};

static struct wish read_wish(const struct hx_plan *p, int attn)
{
    struct wish w = {-1, attn ? AFTER_ROPE : -1, hx_plan_text(p, "calibrate-on"), hx_plan_text(p, "kv-basis-file")};

    if (hx_plan_given(p, "kv-basis"))
        w.from = (int)hx_plan_index(p, "kv-basis");
    else if (w.text)
        w.from = HX_KV_BASIS_CALIB;
    if (hx_plan_given(p, "k-rope"))
        w.k_after_rope = (int)hx_plan_index(p, "k-rope");
    return w;
}

static int check_wish(const struct hx_kv_basis *b, const struct wish *w, struct hx_error *err)
{
    if (w->from >= 0 && w->from != (int)b->from)
        return hx_error_set(err, -EINVAL, "%s: basis %s, not %s", w->file, hx_kv_basis_names[b->from], hx_kv_basis_names[w->from]);
    if (w->k_after_rope >= 0 && w->k_after_rope != b->k_after_rope)
        return hx_error_set(err, -EINVAL, "%s: basis of K %s RoPE, not %s it", w->file, hx_cal_k_names[b->k_after_rope],
                            hx_cal_k_names[w->k_after_rope]);
    return 0;
}

static int make(struct hx_kv_basis **out, const struct hx_open *o, const struct wish *w, struct hx_error *err)
{
    const int after = w->k_after_rope != 0;
    int rc;

    if (w->from != HX_KV_BASIS_CALIB)
        return hx_kv_basis_of_weights(out, o->model, after, err);
    rc = w->text ? hx_kv_basis_of_text(out, o->model, after, w->text, err)
                 : hx_error_set(err, -ENOENT, "%s is not there, and %s says on what text to make it",
                                w->file, hx_plan_spell(o->plan, "calibrate-on"));
    return rc;
}

/* A shape without a model has no basis, and needs none. */
static int choose(struct hx_kv_basis **out, const struct hx_open *o, int attn, struct hx_error *err)
{
    const struct wish w = read_wish(o->plan, attn);
    int rc;

    if (!o->model->file)
        return hx_kv_basis_units(out, o->model, w.k_after_rope != 0, err);
    if (w.file && access(w.file, F_OK) == 0) {
        rc = hx_kv_basis_read(out, w.file, o->model, err);
        if (!rc)
            rc = check_wish(*out, &w, err);
    } else {
        rc = make(out, o, &w, err);
        if (!rc && w.file)
            rc = hx_kv_basis_write(*out, w.file, err);
    }
    if (rc) {
        hx_kv_basis_free(*out);
        *out = NULL;
    }
    return rc;
}

static int check(const struct hx_plan *p, struct hx_error *err)
{
    const struct wish w = read_wish(p, 0);

    if (w.from == HX_KV_BASIS_CALIB && !w.text && !w.file)
        return hx_error_set(err, -EINVAL, "%s calib needs %scalibrate-on TEXT, or %skv-basis-file FILE", hx_plan_spell(p, "kv-basis"),
                            hx_plan_prefix(p), hx_plan_prefix(p));
    if (w.from == HX_KV_BASIS_WEIGHT && w.text)
        return hx_error_set(err, -EINVAL, "%s weight and a text to calibrate on exclude each other", hx_plan_spell(p, "kv-basis"));
    return 0;
}

static int check_attn(const struct hx_plan *p, struct hx_error *err)
{
    if (hx_plan_given(p, "k-rope") && hx_plan_index(p, "k-rope") != AFTER_ROPE)
        return hx_error_set(err, -EINVAL, "attention on the DSP needs K after RoPE; of %s pre there are no scores without K itself",
                            hx_plan_spell(p, "k-rope"));
    return check(p, err);
}

/* --- open */

static size_t rank_of(const struct hx_plan *p, size_t dh)
{
    return hx_plan_given(p, "axex-kv") ? (size_t)hx_plan_number(p, "axex-kv") : (dh + 1) / 2;
}

static enum hx_kv_z z_of(const struct hx_plan *p)
{
    return (enum hx_kv_z)hx_plan_index(p, "kv-z");
}

/* A rank that cannot be is told before work is done on a basis. */
static int begin(struct hx_kv_basis **basis, const struct hx_open *o, int attn, struct hx_error *err)
{
    int rc = hx_kv_proj_check_rank(rank_of(o->plan, o->model->dh), o->model->dh, err);

    *basis = NULL;
    return rc ? rc : choose(basis, o, attn, err);
}

static int open_cpu(struct hx_kv **out, const struct hx_open *o, struct hx_error *err)
{
    struct hx_kv_basis *basis;
    int rc = begin(&basis, o, 0, err);

    if (!rc)
        rc = hx_kv_proj_open(out, o->model, basis, rank_of(o->plan, o->model->dh), z_of(o->plan), o->n_ctx, err);
    hx_kv_basis_free(basis);
    return rc;
}

static int open_attn(struct hx_kv **out, const struct hx_open *o, struct hx_error *err)
{
    struct hx_kv_basis *basis;
    int rc = begin(&basis, o, 1, err);

    if (!rc)
        rc = hx_kv_proj_dsp_open(out, o->model, basis, rank_of(o->plan, o->model->dh), z_of(o->plan), hx_plan_packets(o->plan), o->n_ctx,
                                 err);
    hx_kv_basis_free(basis);
    return rc;
}

/* --- reports */

static json_t *form(const struct hx_kv *kv, const struct hx_plan *p, const struct hx_kv_proj_kind *kind)
{
    const size_t rank = rank_of(p, kv->dh), bytes = rank * hx_kv_z_bytes(z_of(p));

    return json_pack("{s:I, s:s, s:s, s:s, s:I, s:f, s:f}", "rank", (json_int_t)rank, "basis", hx_kv_basis_names[kind->from], "k_rope",
                     hx_cal_k_rope_names[kind->k_after_rope], "z", hx_kv_z_names[z_of(p)], "bytes", (json_int_t)bytes, "ratio_f32",
                     4 * (double)kv->dh / (double)bytes, "ratio_f16", 2 * (double)kv->dh / (double)bytes);
}

static json_t *part(const struct hx_kv *kv, int is_v)
{
    const struct hx_kv_proj_seen s = hx_kv_proj_seen(kv, is_v);

    return json_pack("{s:I, s:f, s:f}", "vectors", (json_int_t)s.vectors, "error", s.mean, "error_max", s.max);
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_kv_proj_kind kind = hx_kv_proj_kind(kv);
    json_t *j = form(kv, p, &kind);

    (void)self;
    if (j) {
        json_object_set_new(j, "k", part(kv, 0));
        json_object_set_new(j, "v", part(kv, 1));
    }
    return j;
}

static json_t *report_attn(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_kv_proj_places at = hx_kv_proj_dsp_places(kv);
    json_t *j = form(kv, p, &at.kind);

    (void)self;
    if (j) {
        json_object_set_new(j, "past_bytes", json_integer((json_int_t)at.past));
        json_object_set_new(j, "basis_bytes", json_integer((json_int_t)at.bases));
        json_object_set_new(j, "basis_bytes_in_vtcm", json_integer((json_int_t)at.bases_in_vtcm));
    }
    return j;
}

/* One of each layer. */
static struct hx_calls calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    (void)pos; /* whatever it is */
    return hx_plan_sends(p, (double)s->n_layer);
}

const struct hx_method hx_method_kv_proj_attn = {
    .name = "proj-attn",
    .seam = HX_SEAM_KV,
    .about = "projected K and V on the DSP, attention over their coefficients (--offload attn)",
    .options = options,
    .needs = HX_TRAIT_RIG,
    .gives = HX_TRAIT_DSP | HX_TRAIT_ATTEND,
    .check = check_attn,
    .open.kv = open_attn,
    .reports = "proj",
    .report = report_attn,
    .calls = calls,
};

const struct hx_method hx_method_kv_proj = {
    .name = "proj",
    .seam = HX_SEAM_KV,
    .about = "projections of K and V: some coefficients of each in a basis of its head",
    .options = options,
    .gives = HX_TRAIT_ROWS | HX_TRAIT_TREE,
    .offloaded = &hx_method_kv_proj_attn,
    .check = check,
    .open.kv = open_cpu,
    .reports = "proj",
    .report = report,
};
