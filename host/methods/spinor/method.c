/* KV methods `spinor` and `spinor-attn`: 63-byte blocks that the DSP codes, without and with attention where they are; and
 * `spinor-cpu`, the same blocks without a DSP. */
#include <errno.h>

#include "block_report.h"
#include "cal_choose.h"
#include "engine/plan.h"
#include "kv_spinor.h"
#include "kv_spinor_attn.h"

/* Of those that give rows: where blocks are. */
#define PAGE_OPTIONS                                                                                                  \
        {.name = "page-kv", .flags = HX_OPTION_PAGES,                                                                 \
         .help = "blocks of past positions live in a file, a thread reads ahead"},                                    \
        {.name = "page-positions", .arg = "N", .def = "64", .min = 1, .max = 1 << 20, .of = "page-kv",                \
         .help = "of a layer, in one page"}

/* Of all these caches: what blocks hold. */
#define BLOCK_OPTIONS                                                                                                 \
        {.name = "cal", .arg = "FILE", .flags = HX_OPTION_IDLE_OK,                                                    \
         .help = "calibration of the blocks (beside the model, or the shipped one)"},                                 \
        {.name = "calibrate-on", .arg = "TEXT", .flags = HX_OPTION_IDLE_OK,                                           \
         .help = "calibrate on a text file at start instead"},                                                        \
        {.name = "uncalibrated", .flags = HX_OPTION_IDLE_OK,                                                          \
         .help = "no calibration: the first lanes, predicted by the Moebius sum (basis vht2 or vht2w)"},              \
        {.name = "calib", .arg = "TEXT", .flags = HX_OPTION_IDLE_OK, .means = "calibrate-on", .help = ""},            \
        {.name = "basis", .arg = "B", .names = hx_block_basis_names, .flags = HX_OPTION_IDLE_OK,                      \
         .help = "vht2 | vht2w | klt: what blocks hold (klt, or as in --cal)"},                                       \
        {.name = "k-rope", .arg = "pre|post", .names = hx_cal_k_rope_names, .flags = HX_OPTION_IDLE_OK,               \
         .help = "K coded before or after RoPE (pre, or as in --cal)"},                                               \
        {.name = "skeleton", .arg = "N", .min = 1, .max = HX_BLOCK_MAX_SKEL, .flags = HX_OPTION_IDLE_OK,              \
         .help = "skeleton lanes of a block (14, or as in --cal)"},                                                   \
        {.name = "residual", .arg = "N", .min = 1, .max = HX_BLOCK_MAX_RES, .flags = HX_OPTION_IDLE_OK,               \
         .help = "residual lanes of a block (60 at head dimension 128, which is also the most, or as in --cal)"},     \
        {.name = "k", .arg = "before|after", .names = hx_cal_k_names, .flags = HX_OPTION_IDLE_OK, .means = "k-rope",  \
         .help = ""},                                                                                                 \
    {                                                                                                                 \
        .name = NULL                                                                                                  \
    }

static const struct hx_option options[] = {
    {.name = "density", .arg = "D", .def = "batched", .names = hx_kv_spinor_densities,
     .flags = HX_OPTION_IDLE_OK | HX_OPTION_REPORTED,
     .help = "per-vector | per-layer | batched | per-token | queue: how work is cut into calls"},
    PAGE_OPTIONS,
    BLOCK_OPTIONS,
};

static const struct hx_option cpu_options[] = {PAGE_OPTIONS, BLOCK_OPTIONS};

static int check(const struct hx_plan *p, struct hx_error *err)
{
    if (hx_plan_given(p, "page-kv") && hx_kv_spinor_by_token(hx_plan_text(p, "density")))
        return hx_error_set(err, -EINVAL, "%s %s has the blocks of all layers in one call: they cannot be paged",
                            hx_plan_spell(p, "density"), hx_plan_text(p, "density"));
    if (hx_plan_given(p, "cal") && hx_plan_given(p, "calibrate-on"))
        return hx_error_set(err, -EINVAL, "%s is a calibration, another would be made on %s: they exclude each other",
                            hx_plan_text(p, "cal"), hx_plan_text(p, "calibrate-on"));
    if (!hx_plan_given(p, "uncalibrated"))
        return 0;
    if (hx_plan_given(p, "cal") || hx_plan_given(p, "calibrate-on"))
        return hx_error_set(err, -EINVAL, "%suncalibrated and a calibration exclude each other", hx_plan_prefix(p));
    if (hx_plan_given(p, "basis") && hx_plan_index(p, "basis") == HX_BASIS_KLT)
        return hx_error_set(err, -EINVAL, "%suncalibrated: basis klt is nothing but calibration; legal: vht2, vht2w",
                            hx_plan_prefix(p));
    return 0;
}

static int check_attn(const struct hx_plan *p, struct hx_error *err)
{
    if (hx_plan_given(p, "page-kv"))
        return hx_error_set(err, -EINVAL, "attention on the DSP has its blocks there; %s has them in a file of the host's",
                            hx_plan_spell(p, "page-kv"));
    if (hx_kv_attn_refuses(hx_plan_text(p, "density")))
        return hx_error_set(err, -EINVAL, "attention on the DSP needs a call per layer at least; %s %s makes less",
                            hx_plan_spell(p, "density"), hx_plan_text(p, "density"));
    if (hx_plan_given(p, "k-rope") && hx_plan_index(p, "k-rope") == 0)
        return hx_error_set(err, -EINVAL, "attention on the DSP needs blocks of K after RoPE; %s pre cannot be scored "
                            "without decoding", hx_plan_spell(p, "k-rope"));
    return check(p, err);
}

/* Closes the cache if it cannot. */
static int take_guesses(struct hx_kv **kv, const struct hx_cal *cal, struct hx_error *err)
{
    int rc = hx_kv_spinor_take_guesses(*kv, cal, err);

    if (rc) {
        hx_kv_close(*kv);
        *kv = NULL;
    }
    return rc;
}

/* The calibration of the plan, or for an attention that needs it K after RoPE; then `open` of a cache. */
static int open_with(struct hx_kv **out, const struct hx_open *o, int attn,
                     int (*open)(struct hx_kv **out, const struct hx_model *m, const struct hx_cal *cal,
                                 const char *density, int packets, size_t n_ctx, struct hx_error *err),
                     struct hx_error *err)
{
    struct hx_cal *cal = NULL;
    int rc = hx_cal_choose(&cal, o, attn, err);

    if (!rc)
        rc = open(out, o->model, cal, hx_plan_text(o->plan, "density"), hx_plan_packets(o->plan), o->n_ctx, err);
    if (!rc && !attn && hx_plan_guesses(o->plan))
        rc = take_guesses(out, cal, err);
    hx_cal_free(cal);
    return rc;
}

/* As the plan has it; closes the cache if it cannot be. */
static int page(struct hx_kv **kv, const struct hx_open *o, struct hx_error *err)
{
    const struct hx_pager_how anyhow = {0};
    int rc = 0;

    if (hx_plan_given(o->plan, "page-kv"))
        rc = hx_kv_spinor_page(*kv, hx_plan_number(o->plan, "page-positions"), o->paging ? o->paging : &anyhow, err);
    if (!rc)
        return 0;
    hx_kv_close(*kv);
    *kv = NULL;
    return rc;
}

static int open_spinor(struct hx_kv **out, const struct hx_open *o, struct hx_error *err)
{
    int rc = open_with(out, o, 0, hx_kv_spinor_open, err);

    return rc ? rc : page(out, o, err);
}

static int open_attn(struct hx_kv **out, const struct hx_open *o, struct hx_error *err)
{
    return open_with(out, o, 1, hx_kv_spinor_attn_open, err);
}

static int open_cpu(struct hx_kv **out, const struct hx_open *o, struct hx_error *err)
{
    struct hx_cal *cal = NULL;
    int rc = hx_cal_choose(&cal, o, 0, err);

    if (!rc)
        rc = hx_kv_spinor_cpu_open(out, o->model, cal, o->n_ctx, err);
    hx_cal_free(cal);
    return rc ? rc : page(out, o, err);
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    int k_after_rope;
    const struct hx_codec_format *f = hx_kv_spinor_format(self, &k_after_rope);
    json_t *j = hx_block_report(f, k_after_rope), *paging = hx_kv_spinor_paging(self);

    (void)kv;
    (void)p;
    if (j && paging)
        json_object_set_new(j, "paging", paging);
    return j;
}

static json_t *report_attn(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    (void)kv;
    (void)p;
    return hx_block_report(hx_kv_spinor_attn_format(self), 1);
}

static struct hx_calls calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    const struct hx_calls c = hx_kv_spinor_calls(hx_plan_text(p, "density"), s->n_layer, s->n_kv, pos);
    const struct hx_calls sent = hx_plan_sends(p, c.invokes);

    return (struct hx_calls){sent.invokes, sent.packets + c.packets};
}

static struct hx_calls calls_attn(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    (void)pos; /* whatever it is */
    return hx_plan_sends(p, hx_kv_attn_calls(hx_plan_text(p, "density"), s->n_layer, s->n_kv));
}

const struct hx_method hx_method_kv_spinor_attn = {
    .name = "spinor-attn",
    .seam = HX_SEAM_KV,
    .about = "63-byte blocks coded by the DSP, attention where they are (--offload attn)",
    .options = options,
    .needs = HX_TRAIT_RIG | HX_TRAIT_CALIBRATION,
    .gives = HX_TRAIT_DSP | HX_TRAIT_ATTEND,
    .check = check_attn,
    .open.kv = open_attn,
    .reports = "block",
    .report = report_attn,
    .calls = calls_attn,
};

const struct hx_method hx_method_kv_spinor = {
    .name = "spinor",
    .seam = HX_SEAM_KV,
    .about = "63-byte blocks coded by the DSP",
    .options = options,
    .needs = HX_TRAIT_RIG | HX_TRAIT_CALIBRATION,
    .gives = HX_TRAIT_DSP | HX_TRAIT_ROWS | HX_TRAIT_TREE,
    .offloaded = &hx_method_kv_spinor_attn,
    .check = check,
    .open.kv = open_spinor,
    .reports = "block",
    .report = report,
    .calls = calls,
};

const struct hx_method hx_method_kv_spinor_cpu = {
    .name = "spinor-cpu",
    .seam = HX_SEAM_KV,
    .about = "the same 63-byte blocks, coded by this CPU",
    .options = cpu_options,
    .needs = HX_TRAIT_CALIBRATION,
    .gives = HX_TRAIT_ROWS | HX_TRAIT_TREE,
    .check = check,
    .open.kv = open_cpu,
    .reports = "block",
    .report = report,
};
